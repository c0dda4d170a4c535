"""Bids, calls and events as sentences, in English and French: whoever tells of a game asks here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from perudo_env.engine.actions import CALZA, DUDO, PACO, Action, Bid
from perudo_env.game import events as ev
from perudo_env.game.language import translations
from perudo_env.game.tokens import SPELLED


class Words:
    """The texts of one language, ``en`` or ``fr``; ``{name}`` in a text is filled with the value of that name.

    Bids are ``spelled``, as people say them, or in notation.
    """

    def __init__(self, language: str, spelled: bool = True) -> None:
        self.language, self.spelled = language, spelled
        self._texts = translations(language)

    def gettext(self, text: str, **values: object) -> str:
        """A text in this language."""
        return self._texts.gettext(text).format(**values)

    def ngettext(self, one: str, many: str, n: int, **values: object) -> str:
        """The one of two texts that goes with the number ``n``, which fills ``{n}``."""
        return self._texts.ngettext(one, many, n).format(n=n, **values)

    def pgettext(self, context: str, text: str, **values: object) -> str:
        """A text that would mean several things without its context."""
        return self._texts.pgettext(context, text).format(**values)

    # ------------------------------------------------------------------------------------------ bids and calls

    def number(self, n: int) -> str:
        """A small number as a word, a large one in digits; masculine in French, as Paco and every face are."""
        names = SPELLED["fr" if self.language == "fr" else "en"]
        return names[n] if n < len(names) else str(n)

    def bid(self, bid: Bid) -> str:
        """``three 4s``, ``one Paco``; ``trois 4``, ``un Paco``; or ``3x4``, ``1P``."""
        if not self.spelled:
            return str(bid)
        number = self.number(bid.quantity)
        if bid.face == PACO:
            return self.ngettext("{number} Paco", "{number} Pacos", bid.quantity, number=number)
        return self.ngettext("{number} {face}", "{number} {face}s", bid.quantity, number=number, face=bid.face)

    def action(self, action: Action) -> str:
        """A bid or a call, as a player says it."""
        if not self.spelled:
            return str(action)
        if isinstance(action, Bid):
            return self.bid(action)
        if action == DUDO:
            return self.gettext("Dudo")
        return self.gettext("Calza") if action == CALZA else self.gettext("Pass")

    def there_are(self, count: int) -> str:
        """How many dice a count found, without a full stop."""
        return self.ngettext("There is {n}", "There are {n}", count) if count else self.gettext("There is none")

    def level(self, name: str) -> str:
        """The name of a level; other names stay as they are."""
        _ = self.gettext
        known = {"novice": _("novice"), "regular": _("regular"), "expert": _("expert"), "master": _("master")}
        return known.get(name, name)

    def seed_origin(self, chosen: bool | None) -> str:
        """Who fixed the dice of a game; nothing for a game that does not tell."""
        if chosen is None:
            return ""
        if chosen:
            return self.gettext("The seed was chosen, and whoever chose it can know all dice.")
        return self.gettext("The seed was drawn at random; nobody chose it.")

    def face(self, face: int) -> str:
        """What one die shows, for those who do not see it."""
        return self.gettext("Paco") if face == PACO else str(face)

    def percent(self, share: float, decimals: int = 0) -> str:
        """A share from 0 to 1: ``42.1%``; in French with its comma and thin space, ``42,1 %``."""
        number = f"{100 * share:.{decimals}f}"
        return number.replace(".", ",") + "\u202f%" if self.language == "fr" else number + "%"

    def seat(self, seat: int) -> str:
        """A seat that has no name but its number: ``seat 0``."""
        return self.gettext("seat {n}", n=seat)

    def labelled(self, label: str, text: str) -> str:
        """``Ann: ...``, or ``Ann : ...`` in French."""
        return self.gettext("{label}: {what}", label=label, what=text)

    def hand(self, faces: Sequence[int]) -> str:
        """Dice in a list: ``Paco, 3, 3``."""
        return ", ".join(map(self.face, faces)) or self.gettext("no dice")

    def winners(self, names: Sequence[str]) -> str:
        """Who wins: ``Ann wins the game.``, ``Ann, Bo and Eve win the game.``"""
        *others, last = names
        told = self.gettext("{names} and {last}", names=", ".join(others), last=last) if others else last
        return self.ngettext("{name} wins the game.", "{name} win the game.", len(names), name=told)

    # ------------------------------------------------------------------------------------------ what happened

    def event(self, event: ev.Event, names: Sequence[str], *, hidden: bool = False) -> str:
        """One sentence for an event; ``names`` are those of the seats, ``hidden`` that nobody is told how many dice are left."""
        match event:
            case ev.RolledOff(rolls):
                sums = ", ".join(f"{names[seat]} {total}" for seat, total in rolls)
                return self.gettext("Two dice each for the first turn: {sums}.", sums=sums)
            case ev.RoundStarted(round, opener, False):
                return self.gettext("Round {round}: {name} opens.", round=round, name=names[opener])
            case ev.RoundStarted(round, opener, True):
                return self.gettext("Round {round}: Palifico! {name} opens.", round=round, name=names[opener])
            case ev.BidMade(seat, bid):
                return self.gettext("{name}: {bid}.", name=names[seat], bid=self.bid(bid))
            case ev.Passed(seat):
                return self.gettext("{name} lets Calza pass.", name=names[seat])
            case ev.DudoSaid(seat):
                return self.gettext("{name}: Dudo!", name=names[seat])
            case ev.CalzaSaid(seat):
                return self.gettext("{name}: Calza!", name=names[seat])
            case ev.DieLost(seat, left) if hidden and left > 0:
                return self.gettext("{name} loses a die.", name=names[seat])
            case ev.DieRegained(seat, _) if hidden:
                return self.gettext("{name} takes a die back.", name=names[seat])
            case _:
                return self._end_of_round(event, names)

    def _end_of_round(self, event: ev.Event, names: Sequence[str]) -> str:
        match event:
            case ev.Revealed(bidder, bid, _, count):
                counted = (
                    self.ngettext("the count is {n} die", "the count is {n} dice", count)
                    if count
                    else self.gettext("there is none")
                )
                return self.gettext(
                    "{name} had bid {bid}: {count}.", name=names[bidder], bid=self.bid(bid), count=counted
                )
            case ev.DieLost(seat, left):
                if left == 0:
                    return self.gettext("{name} loses the last die.", name=names[seat])
                return self.ngettext(
                    "{name} loses a die and has {n} left.",
                    "{name} loses a die and has {n} left.",
                    left,
                    name=names[seat],
                )
            case ev.DieRegained(seat, left):
                return self.ngettext(
                    "{name} takes a die back and has {n}.",
                    "{name} takes a die back and has {n}.",
                    left,
                    name=names[seat],
                )
            case ev.Eliminated(seat, place):
                return self.gettext("{name} is out of the game, at place {place}.", name=names[seat], place=place)
            case ev.GameOver(ranks, truncated):
                first = [names[seat] for seat, place in enumerate(ranks) if place == 1]
                if truncated:
                    return self.gettext("The limit of rounds ends the game. First: {names}.", names=", ".join(first))
                return self.winners(first)
        raise TypeError(f"{event!r} is not an event")


@cache
def words(language: str, *, spelled: bool = True) -> Words:
    """The texts of a language; anything but French gives English."""
    return Words(language, spelled)
