"""A slow, plain referee for Perudo, written from RULES.md alone.

It exists to disagree with a faster engine, so nothing here is clever. Comments in quotes cite RULES.md.
Seats are numbered clockwise from 0. A bid is (quantity, face). Face 1 is the Paco.
The referee never draws randomness: `roll(round, seat, n)` hands it the dice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.reference_presets import VALUES

Bid = tuple[int, int]
Event = tuple

DUDO, CALZA, PASS = 0, 1, 2
FIRST_BID_ID = 3
IDS_PER_QUANTITY = 6  # always six faces per quantity, whatever num_faces is
PACO = 1


def bid_to_id(quantity: int, face: int) -> int:
    return FIRST_BID_ID + IDS_PER_QUANTITY * (quantity - 1) + (face - 1)


def id_to_bid(action_id: int) -> Bid:
    offset = action_id - FIRST_BID_ID
    return offset // IDS_PER_QUANTITY + 1, offset % IDS_PER_QUANTITY + 1


def ordinary_raise(rule: str, old: Bid, new: Bid) -> bool:
    """The switch `raise_rule`, for two bids on ordinary faces."""
    old_q, old_f = old
    q, f = new
    if rule == "one_axis":
        only_quantity_up = q > old_q and f == old_f
        only_face_up = q == old_q and f > old_f
        return only_quantity_up or only_face_up
    if rule == "monotone":
        return q >= old_q and f >= old_f and not (q == old_q and f == old_f)
    if rule == "quantity_any_face":
        return q > old_q or (q == old_q and f > old_f)
    raise ValueError(f"unknown raise_rule {rule!r}")


def halved_raise(rule: str, old: Bid, new: Bid) -> bool:
    """paco_bids = halved: the paragraph "Pacos, in every preset"."""
    old_q, old_f = old
    q, f = new
    if old_f == PACO and f == PACO:
        return q > old_q  # "Pacos to more Pacos: p' > p"
    if old_f == PACO:
        return q >= 2 * old_q + 1  # "from p Pacos to a face 2..6: q >= 2p + 1, any face"
    if f == PACO:
        return q >= (old_q + 1) // 2  # "p >= ceil(Q/2)"; a minimum, never an exact amount
    return ordinary_raise(rule, old, new)


def face_rank(face: int, paco_bids: str, num_faces: int) -> int:
    """paco_bids = top_face or low_face: where the Paco stands among the faces, as a bid."""
    if face == PACO and paco_bids == "top_face":
        return num_faces + 1
    return face  # low_face: 1 is already the lowest number


def raise_allowed(switches: dict, is_palifico: bool, old: Bid, new: Bid) -> bool:
    """May `new` follow `old`? The cap K is checked elsewhere."""
    if is_palifico:
        # "the face is fixed by the opening bid for everybody, only the quantity rises"
        return new[1] == old[1] and new[0] > old[0]
    rule, paco_bids = switches["raise_rule"], switches["paco_bids"]
    if paco_bids == "halved":
        return halved_raise(rule, old, new)
    old_ranked = (old[0], face_rank(old[1], paco_bids, switches["num_faces"]))
    new_ranked = (new[0], face_rank(new[1], paco_bids, switches["num_faces"]))
    return ordinary_raise(rule, old_ranked, new_ranked)


def opening_allowed(switches: dict, is_palifico: bool, bid: Bid) -> bool:
    """May a round open with this bid? Only an opening on Pacos is ever refused."""
    if bid[1] != PACO:
        return True
    return is_palifico or switches["paco_open"] == "always"


def count_face(hands: Sequence[Sequence[int]], face: int, pacos_wild: bool) -> int:
    """How many dice on the table hold a bid on this face."""
    count = 0
    for hand in hands:
        for die in hand:
            if die == face or (die == PACO and pacos_wild):
                count += 1
    return count


def payoffs(ranks: Sequence[int], played: Sequence[bool]) -> list[float]:
    """Place 1 pays +1, every other place -1/(n-1); tied seats get the mean of the places they occupy."""
    n = sum(played)
    result = []
    for seat, rank in enumerate(ranks):
        if not played[seat]:
            result.append(0.0)
            continue
        tied = sum(1 for other, r in enumerate(ranks) if played[other] and r == rank)
        places = range(rank, rank + tied)
        result.append(sum(1.0 if place == 1 else -1.0 / (n - 1) for place in places) / tied)
    return result


class Referee:
    def __init__(
        self,
        switches: dict,
        num_seats: int,
        roll: Callable[[int, int, int], Sequence[int]],
        *,
        dice: Sequence[int] | None = None,
        opener: int | None = None,
        first_opener: int = 0,
        palifico: bool = False,
        max_rounds: int | None = None,
        total_at_start: int | None = None,
    ) -> None:
        if set(switches) != set(VALUES):
            raise ValueError(f"wrong switches: {set(switches) ^ set(VALUES)}")
        for name, value in switches.items():
            if value not in VALUES[name]:
                raise ValueError(f"{name} = {value!r}")
        if switches["dice_counts"] == "hidden" and switches["max_bid"] == "dice_in_play":
            raise ValueError("hidden with dice_in_play would leak the total through the mask")
        if num_seats < 2:
            raise ValueError("at least two seats")
        if max_rounds is not None and max_rounds < 1:
            raise ValueError("max_rounds counts from 1")

        self.switches = dict(switches)
        self.num_seats = num_seats
        self.max_rounds = max_rounds
        self._roll = roll

        most = switches["starting_dice"]
        self.dice: list[int] = [most] * num_seats if dice is None else list(dice)
        if len(self.dice) != num_seats or any(not 0 <= d <= most for d in self.dice):
            raise ValueError(f"bad dice {self.dice}")
        # A seat that starts without dice does not play: it has no place among those who do.
        self.played: list[bool] = [d > 0 for d in self.dice]
        if sum(self.played) < 2:
            raise ValueError("at least two seats need dice")
        # T0; worked positions come from the middle of a game and give it themselves.
        self.total_at_start = sum(self.dice) if total_at_start is None else total_at_start

        # What everybody saw of each seat's dice: how many it began with, less those it lost, with those it took back.
        self.remembered: list[int] = list(self.dice)

        self.over = False
        self.truncated = False
        self.ranks: list[int] | None = None
        self.returns: list[float] | None = None
        # The place of each seat that went out; None while it lives. Those who never played come last.
        self._place: list[int | None] = [None if p else sum(self.played) + 1 for p in self.played]
        self._had_palifico: set[int] = set()  # for palifico = once

        first = first_opener if opener is None else opener
        if not 0 <= first < num_seats:
            raise ValueError(f"bad opener {first}")
        self.round = 0
        self.start_events: list[Event] = [self._begin_round(self._living_from(first), palifico)]

    # ---- who is next

    def _living_from(self, seat: int) -> int:
        """This seat, or if it is out "the next living seat clockwise"."""
        while self.dice[seat] == 0:
            seat = (seat + 1) % self.num_seats
        return seat

    def _next_living(self, seat: int) -> int:
        return self._living_from((seat + 1) % self.num_seats)

    # ---- rounds

    def _begin_round(self, opener: int, is_palifico: bool) -> Event:
        self.round += 1
        self.opener = opener
        self.is_palifico = is_palifico
        if is_palifico:
            self._had_palifico.add(opener)
        self.standing: Bid | None = None
        self.bidder: int | None = None
        self.bids: list[tuple[int, int, int]] = []
        self.in_window = False
        self.seat: int | None = opener
        self.hands: list[list[int]] = []
        for seat, n in enumerate(self.dice):
            hand = sorted(self._roll(self.round, seat, n)) if n > 0 else []
            if len(hand) != n or any(not 1 <= die <= self.switches["num_faces"] for die in hand):
                raise ValueError(f"roll gave seat {seat} {hand} for {n} dice")
            self.hands.append(hand)
        return ("round", self.round, opener, is_palifico)

    def highest_quantity(self) -> int:
        """K, the switch `max_bid`."""
        if self.switches["max_bid"] == "dice_in_play":
            return sum(len(hand) for hand in self.hands)
        if self.switches["max_bid"] == "starting_dice":
            return self.total_at_start
        return 2 * self.total_at_start + 1  # unbounded

    # ---- what may be said

    def _bid_allowed(self, bid: Bid) -> bool:
        if self.standing is None:
            return opening_allowed(self.switches, self.is_palifico, bid)
        return raise_allowed(self.switches, self.is_palifico, self.standing, bid)

    def legal_ids(self) -> list[int]:
        if self.over:
            return []
        if self.in_window:
            return [CALZA, PASS]
        ids = []
        if self.standing is not None:  # "Dudo and Calza need a standing bid"
            ids.append(DUDO)
            if self.switches["calza"] == "on_turn":
                ids.append(CALZA)
        for quantity in range(1, self.highest_quantity() + 1):
            for face in range(1, self.switches["num_faces"] + 1):
                if self._bid_allowed((quantity, face)):
                    ids.append(bid_to_id(quantity, face))
        return ids

    def act(self, action_id: int) -> list[Event]:
        if action_id not in self.legal_ids():
            raise ValueError(f"action {action_id} is not legal")
        assert self.seat is not None
        if action_id >= FIRST_BID_ID:
            events = self._bid(*id_to_bid(action_id))
        else:
            events = {DUDO: self._dudo, CALZA: self._calza, PASS: self._pass}[action_id]()
        for event in events:
            if event[0] in ("lose", "gain"):
                self.remembered[event[1]] += 1 if event[0] == "gain" else -1
        return events

    def counts_told(self, viewer: int, memory: str) -> list[int]:
        """How many dice the viewer is told each seat has; 0 where it is not told, or the seat is out."""
        if self.switches["dice_counts"] == "public" or memory == "perfect":
            return self.remembered
        return [len(hand) if seat == viewer else 0 for seat, hand in enumerate(self.hands)]

    # ---- the four things a seat can say

    def _bid(self, quantity: int, face: int) -> list[Event]:
        speaker = self.seat
        self.standing = (quantity, face)
        self.bidder = speaker
        self.bids.append((speaker, quantity, face))
        self.seat = self._next_living(speaker)
        # anyone: "after each bid every living seat but the bidder is asked in turn order, starting with the seat to act"
        self.in_window = self.switches["calza"] == "anyone"
        return [("bid", speaker, quantity, face)]

    def _pass(self) -> list[Event]:
        speaker = self.seat
        self.seat = self._next_living(speaker)
        if self.seat == self.bidder:
            # Everybody was asked: "if all pass, the seat to act raises or says Dudo".
            self.in_window = False
            self.seat = self._next_living(self.bidder)
        return [("pass", speaker)]

    def _dudo(self) -> list[Event]:
        doubter = self.seat
        count = self._count()
        events: list[Event] = [("dudo", doubter), self._reveal(count)]
        # "Count >= quantity: the doubter loses one die; else the bidder does."
        loser = doubter if count >= self.standing[0] else self.bidder
        return events + self._end_round(speaker=loser, change=-1)

    def _calza(self) -> list[Event]:
        caller = self.seat
        count = self._count()
        events: list[Event] = [("calza", caller), self._reveal(count)]
        if count != self.standing[0]:
            change = -1  # "Wrong: the caller loses one"
        elif self.dice[caller] < self.switches["starting_dice"]:
            change = +1  # "takes one lost die back, never above starting_dice"
        else:
            change = 0  # "a caller with all its dice gains nothing"
        return events + self._end_round(speaker=caller, change=change)

    def _count(self) -> int:
        # "Pacos are not wild" in a palifico round.
        wild = self.switches["pacos_wild"] and not self.is_palifico
        return count_face(self.hands, self.standing[1], wild)

    def _reveal(self, count: int) -> Event:
        quantity, face = self.standing
        return ("reveal", self.bidder, quantity, face, tuple(tuple(hand) for hand in self.hands), count)

    # ---- the end of a round and of the game

    def _end_round(self, speaker: int, change: int) -> list[Event]:
        """`speaker` lost a die or said Calza: the only seat whose dice move, and the next opener."""
        events: list[Event] = []
        before = self.dice[speaker]
        self.dice[speaker] = before + change
        if change == -1:
            events.append(("lose", speaker, self.dice[speaker]))
        if change == +1:
            events.append(("gain", speaker, self.dice[speaker]))

        if self.switches["rounds"] == "one":
            return events + self._finish_one_round(speaker, change)

        living = sum(1 for d in self.dice if d > 0)
        if self.dice[speaker] == 0:
            self._place[speaker] = living + 1  # "the first seat out is last"
            events.append(("out", speaker, living + 1))
        if living == 1:
            return events + self._finish_game(truncated=False)
        if self.max_rounds is not None and self.round >= self.max_rounds:
            return events + self._finish_game(truncated=True)

        # Palifico "Trigger: a seat drops from two dice to one"; that seat is also the next opener.
        dropped = before == 2 and self.dice[speaker] == 1
        rule = self.switches["palifico"]
        is_palifico = dropped and (rule == "each_drop" or (rule == "once" and speaker not in self._had_palifico))
        # "the seat that lost a die, or said Calza; if it is out, the next living seat clockwise"
        events.append(self._begin_round(self._living_from(speaker), is_palifico))
        return events

    def _finish_game(self, truncated: bool) -> list[Event]:
        ranks = []
        for seat in range(self.num_seats):
            if self._place[seat] is not None:
                ranks.append(self._place[seat])
            else:
                # Living seats: "rank by dice left, ties shared" (1, 1, 3). The last survivor gets 1.
                ranks.append(1 + sum(1 for d in self.dice if d > self.dice[seat]))
        return self._finish(ranks, payoffs(ranks, self.played), truncated)

    def _finish_one_round(self, speaker: int, change: int) -> list[Event]:
        """ "the change in own dice, the other seats sharing the opposite equally" """
        others = sum(self.played) - 1
        returns = []
        for seat in range(self.num_seats):
            if not self.played[seat]:
                returns.append(0.0)
            elif seat == speaker:
                returns.append(float(change))
            else:
                returns.append(-change / others)
        ranks = []
        for seat in range(self.num_seats):
            if not self.played[seat]:
                ranks.append(sum(self.played) + 1)  # never played: last
            else:
                better = [s for s in range(self.num_seats) if self.played[s] and returns[s] > returns[seat]]
                ranks.append(1 + len(better))
        return self._finish(ranks, returns, truncated=False)

    def _finish(self, ranks: list[int], returns: list[float], truncated: bool) -> list[Event]:
        self.over, self.truncated = True, truncated
        self.ranks, self.returns = ranks, returns
        self.seat, self.in_window = None, False
        return [("over", tuple(ranks), truncated)]
