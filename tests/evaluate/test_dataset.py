"""Files of games turned into arrays: rows as the game showed them, returns as it paid, broken lines named."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from perudo_env import Game
from perudo_env.engine.actions import to_id
from perudo_env.engine.observation import layout
from tests.helpers import play_out
from train.__main__ import main as command
from train.evaluate.dataset import DatasetOptions, convert


def line_of(game: Game, *agents: str) -> str:
    told = {
        "variant": str(game.variant),
        "seats": game.num_seats,
        "agents": agents or ("odds", "uniform"),
        "record": game.record(),
    }
    return json.dumps(told) + "\n"


def games(number: int, variant: str = "box:calza=anyone,starting_dice=2", num_seats: int = 2) -> list[Game]:
    return [play_out(Game(variant, num_seats, seed), random.Random(seed)) for seed in range(number)]


@pytest.fixture
def written(tmp_path):
    played = games(6)
    path = tmp_path / "games.jsonl"
    path.write_text("".join(map(line_of, played)), encoding="utf-8")
    return path, tmp_path / "decisions.npz", played


def test_rows_are_what_the_seats_saw_and_did(written):
    path, out, played = written
    result = convert(DatasetOptions(path, out))
    data, row = np.load(out), 0
    for number, game in enumerate(played):
        shown = Game(game.variant, 2, game.seed)
        for word in (
            w for line in game.record().splitlines()[1:] for w in line.split()[1:] if "=" not in w and w != "palifico"
        ):
            assert (data["observation"][row] == shown.observation(shown.seat)).all()
            assert (data["action_mask"][row] == shown.action_mask()).all()
            assert data["action_mask"][row, data["action"][row]] == 1
            assert (data["seat"][row], data["game"][row], data["agent"][row]) == (shown.seat, number, shown.seat)
            assert data["returns"][row] == game.returns[shown.seat]
            assert (
                to_id(shown.events and next(a for a in shown.legal_actions() if str(a) == word)) == data["action"][row]
            )
            shown.act(word)
            row += 1
        assert shown.is_over
    assert row == result.decisions == len(data["action"]) > 20
    assert result.games == 6
    assert data["agents"].tolist() == ["odds", "uniform"]


def test_one_agent_alone(written):
    path, out, _ = written
    convert(DatasetOptions(path, out, agent="uniform"))
    data = np.load(out)
    assert len(data["seat"]) > 5
    assert set(data["seat"]) == {1}
    with pytest.raises(ValueError, match=r"agent = 'nobody' plays in none .* odds, uniform"):
        convert(DatasetOptions(path, out, agent="nobody"))


def test_small_tables_in_the_layout_of_a_large_one(tmp_path):
    path, out = tmp_path / "games.jsonl", tmp_path / "decisions.npz"
    small, large = games(1)[0], games(1, "classic", 3)[0]
    path.write_text(line_of(small) + line_of(large, "a", "b", "c"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: a table of 3 seats .* say --seats"):
        convert(DatasetOptions(path, out))
    result = convert(DatasetOptions(path, out, seats=3, max_quantity=15))
    data = np.load(out)
    assert data["observation"].shape == (result.decisions, layout(3, 15).size)
    assert (int(data["num_seats"]), int(data["max_quantity"])) == (3, 15)
    assert (data["action_mask"][np.arange(result.decisions), data["action"]] == 1).all()
    assert set(data["game"]) == {0, 1}


def test_a_half_written_last_line_is_named_and_the_games_before_it_kept(written, capsys):
    path, out, _ = written
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex("\n") - 30], encoding="utf-8")
    assert command(["dataset", str(path), str(out)]) == 2
    error = capsys.readouterr().err
    assert "line 6: the line is half written" in error
    assert "5 games before it are kept" in error
    assert set(np.load(out)["game"]) == set(range(5))
    assert command(["dataset", str(path), str(out), "--skip-broken"]) == 0
    assert "left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda told: told.pop("record"), "no record"),
        (lambda told: told.update(seats=3), "seats = 3 and 2 agents, but the record is of"),
        (lambda told: told.update(variant="classic"), "variant = classic"),
        (lambda told: told.update(agents="ab"), "name an agent per seat"),
        (lambda told: told.update(record=told["record"].rsplit(" ", 1)[0]), "the game is not over"),
        (lambda told: told.update(record=told["record"] + " 1x2"), "after the end of the round"),
        (lambda told: told.update(record=7), "does not begin a game record"),
    ],
)
def test_a_bad_line_in_the_middle(written, change, why):
    path, out, played = written
    told = json.loads(line_of(played[0]))
    change(told)
    path.write_text(line_of(played[0]) + json.dumps(told) + "\n" + line_of(played[1]), encoding="utf-8")
    with pytest.raises(ValueError, match=why):
        convert(DatasetOptions(path, out))
    assert set(np.load(out)["game"]) == {0}
    result = convert(DatasetOptions(path, out, skip_broken=True))
    assert set(np.load(out)["game"]) == {0, 2}
    assert [why in line and "line 2:" in line for line in result.broken] == [True]


def test_bad_files(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        convert(DatasetOptions(tmp_path / "none.jsonl", tmp_path / "a.npz"))
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ValueError, match="holds no game"):
        convert(DatasetOptions(tmp_path / "empty.jsonl", tmp_path / "a.npz"))
    with pytest.raises(ValueError, match=r"ends in \.npz"):
        convert(DatasetOptions(tmp_path / "empty.jsonl", tmp_path / "a.csv"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.jsonl"]
