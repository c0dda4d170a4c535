"""Configurations: what is wrong with one is said in a line, at once; and what a smoke run leaves to its user."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import train
from train.core.config import Section, describe, load_config, options_of, read_yaml
from train.evaluate import training
from train.evaluate.exploiter import Exploiter
from train.evaluate.tournament import schedule
from train.research import compare, deep_cfr, nfsp
from train.selfplay import distil, options, sb3

CONFIGS = Path(__file__).parents[2] / "configs"
KINDS: dict[str, type[Section]] = {
    "quickstart": sb3.SB3Config, "nfsp": nfsp.NFSPConfig, "deep_cfr": deep_cfr.DeepCFRConfig, "duel-distill": distil.DistilConfig,
    "compare": compare.CompareConfig, "tournament": schedule.TournamentConfig,
}  # fmt: skip
NESTED = "[" * 5000

BAD = {
    "ppo": {
        "learn.kl=[": "cannot be read as YAML",
        "learn.kl=*x": "aliases",
        "learn.kl=&x 1": "aliases",
        "learn.kl=!!python/name:os.system": "tags",
        "learn.kl=!!bool x": "tags",
        f"learn.kl={NESTED}": "nested too deeply",
        f"learn.kl={'[' * 150 + ']' * 150}": "learn.kl = [[[",
        "learn={kl: 1, kl: 2}": "'kl' is there twice",
        "learn.kl=\0": "cannot be read as YAML",
        "learn.epochs=2024-13-45": "month",
        "learn.epochs=yes": "in YAML",
        "learn.kl=0.3": "a magnet needs a weight above 0, and a weight a magnet",
        "learn.magnet=average": "a magnet needs a weight above 0",
        "learn.magnet=mean": "'none', 'last', 'average' or 'reference'",
        "learn.uniform=0.1": "only action_values weigh what the policy did not choose",
        "tables=[{variants: [classic], seats: [2], calza: [off]}]": "need quotes",
        "tables=[{variants: [classic], seats: [2], set: 3}]": "unknown key 'tables.0.set' (did you mean 'seats'?)",
        "evaluation.rounds=[{variant: classic, die: [1, 1]}]": "unknown key 'evaluation.rounds.0.die'",
        f"{'x' * 5000}=1": "unknown key",
        "tables=[]": "tables = []",
        "tables=[{variants: [], seats: [2]}]": "tables.0.variants = []",
        "tables=[{variants: [classic], seats: [9]}]": "tables.0.seats.0 = 9",
        "tables=[{variants: [classik], seats: [2]}]": "did you mean 'classic'",
        "tables=[{variants: [classic], seats: [2], dice: [1, 1, 1]}]": "3 numbers for 2 seats",
        "tables=[{variants: [classic], seats: [2], dice: [7, 1]}]": "7 is not a number of dice",
        "kl=0.1": "unknown key 'kl' (did you mean 'learn.kl'?)",
        "learn.hidden=[-1]": "learn.hidden.0 = -1",
        "learn.hidden=[100000000]": "learn.hidden.0 = 100000000",
        "run.device=cudaa": "'cudaa' is not on this machine",
        "run.device=meta": "'meta' is not on this machine",
        "run.seed=-1": "run.seed = -1",
        f"run.seed={2**64}": "less than",
        "run.torch_threads=100000": "run.torch_threads",
        "run.save_every=.nan": "finite",
        "learn.average=.nan": "finite",
        "learn.learning_rate=1e400": "finite",
        "values.learning_rate=1e300": "values.learning_rate = '1e300'",  # no float32
        "evaluation.tables=[{variant: x, seats: 2}]": "unknown variant 'x'",
        "evaluation.rounds=[{variant: classic, dice: [1, 9]}]": "evaluation.rounds.0.dice.1 = 9",
        f"evaluation.rounds={[1] * 2000}": "and 1999 more",
    },
    "quickstart": {
        "ppo.gamma=2": "ppo.gamma = 2", "ppo.clip_range=-1": "ppo.clip_range = -1", "pool.size=-1": "pool.size = -1",
        "ppo.average=.nan": "finite", "ppo.total_decisions=0": "greater than 0", "game.num_seats=9": "game.num_seats = 9",
        "ppo.batch_size=1": "a minibatch of one", "ppo.batch_size=8191": "a minibatch of one", "ppo.hidden=[0]": "ppo.hidden.0 = 0",
        "game.variant=classik": "did you mean 'classic'", "pool.latest_share=1.5": "pool.latest_share", "run.save_every=-1": "run.save_every",
    },
    "nfsp": {"learn.hidden=[-3]": "learn.hidden.0", "round.dice=[1]": "round.dice = [1]", "learn.epsilon=.nan": "finite"},
    "deep_cfr": {"learn.walks=-1": "learn.walks = -1", "round.dice=[0, 1]": "round.dice.0 = 0"},
    "duel-distill": {"tables=[]": "tables = []", "run.device=x": "'x' is not on this machine"},
    "compare": {"rounds=[]": "rounds = []", "seeds=[-1]": "seeds.0 = -1", "cpu_minutes=[0]": "cpu_minutes.0 = 0", "rounds=[{variant: x, dice: [1, 1]}]": "unknown variant"},
    "tournament": {"seats=[1]": "seats.0 = 1", "variants=[x]": "unknown variant", "games=true": "games = True"},
}  # fmt: skip


def kind_of(name: str) -> type[Section]:
    return KINDS.get(name, options.PPOConfig)


def refusal(name: str, path: Path, overrides: tuple[str, ...] = ()) -> str:
    """What is said of a configuration, which comes at once, in one line of moderate length."""
    begun = time.monotonic()
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - who calls looks at the words
        load_config(kind_of(name), path, overrides)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 600
    assert time.monotonic() - begun < 10, "no bomb"
    return said


def test_a_shipped_configuration_is_valid_and_holds_its_table_and_what_differs() -> None:
    for path in CONFIGS.glob("*.yaml"):
        kind = kind_of(path.stem)
        given, default = load_config(kind, path).model_dump(), kind().model_dump()
        for section, values in read_yaml(path).items():
            if section in ("tables", "game", "round", "seats"):
                continue
            for key in values if isinstance(default[section], dict) and default[section] else ("",):
                ours, usual = (t[section][key] if key else t[section] for t in (given, default))
                assert ours != usual, f"{path.name}: {section}.{key} has its default"


def test_every_option_has_its_line_and_its_default() -> None:
    for kind in (options.PPOConfig, *KINDS.values()):
        for key, default, line in options_of(kind):
            assert line, f"{kind.__module__}: {key} is told nowhere"
            # a section is what its keys make it; tables and rounds to measure at are named whole
            assert default is not ... or "." not in key or key.startswith(("evaluation.", "rounds.")), key
        for section in vars(kind()).values():
            if isinstance(section, Section):
                assert section == type(section)(), "a section given in part has the defaults of one not given"
    told = describe(options.PPOConfig).splitlines()
    assert "learn.hidden=[256, 256]              Widths of the network that plays." in told
    assert "evaluation.tables.N.seats            2 to 8." in told


def test_every_wrong_value_is_told_in_a_line() -> None:
    for name, values in BAD.items():
        for value, says in values.items():
            assert says in refusal(name, CONFIGS / f"{name}.yaml", (value,)), value


def test_every_wrong_file_is_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for content, says in (
        (bomb.encode(), "aliases (&, *) are not read here: write it out (line 1)"), (NESTED.encode(), "nested too deeply"),
        (f"a: {'{a: ' * 5000}".encode(), "nested too deeply"), (b"", "is empty"), (b"- 1", "is no configuration"), (b"\xff\xfe", "utf-8"),
        (b"#" * 2_000_000, "more than 1,000,000 bytes"),
        (b"play: 1\nplay: 2", "'play' is there twice (line 2)"), (b"a: !!python/object:os.system x", "tags"), (b"a:\n  b: [1,\n", "(line"),
    ):  # fmt: skip
        path.write_bytes(content)
        said = refusal("ppo", path)
        assert says in said
        assert said.startswith(str(path))
    assert "more than" in refusal("ppo", Path("/dev/zero"))


def test_what_is_right_stays_right() -> None:
    config = load_config(
        options.PPOConfig, CONFIGS / "ppo.yaml",
        ("learn.hidden=[]", "learn.kl=1e-3", "learn.magnet=last", "tables=[{variants: ['box:calza=anyone'], seats: [2], dice: [1, 5], calza: ['off']}]", "run.seed=0"),
    )  # fmt: skip
    assert config.learn.kl == 1e-3
    assert [str(v) for v, _ in options.kinds_of(config.tables)] == ["box"]
    assert load_config(deep_cfr.DeepCFRConfig, CONFIGS / "deep_cfr.yaml", ("learn.afresh=yes",)).learn.afresh is True


def test_a_smoke_run_leaves_what_its_user_gave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    for module, function in (
        (training, "train_ppo"), (training, "train_distil"), (training, "train_sb3"), (nfsp, "train"), (deep_cfr, "train"),
    ):  # fmt: skip
        monkeypatch.setattr(module, function, lambda config, *_: found.append(config) or {})
    for command, name, override in (
        ("ppo", "ppo", "play.tables=96"), ("nfsp", "nfsp", "learn.tables=96"), ("deep-cfr", "deep_cfr", "learn.walks=96"),
        ("distil", "duel-distill", "play.tables=96"), ("sb3", "quickstart", "ppo.num_envs=96"),
    ):  # fmt: skip
        assert train(command, CONFIGS / f"{name}.yaml", override, out=tmp_path / name, smoke=True) == 0
        section, _, key = override.partition("=")[0].partition(".")
        assert getattr(getattr(found[-1], section), key) == 96
        assert found[-1].run.save_every == 0, "what the smoke run sets where nothing is given"
    monkeypatch.setattr(compare, "compare", lambda config, *_: found.append(config) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train("compare", CONFIGS / "compare.yaml", "seeds=[5, 6]", out=tmp_path, smoke=True)
    assert (found[-1].seeds, found[-1].points) == ((5, 6), 2)


def test_an_exploiter_does_not_overrule_its_settings() -> None:
    for setting in ("run.seed=3", "learn.total_decisions=7", "tables=[]", "learn={}"):
        with pytest.raises(ValueError, match="is given by the command's other options"):
            Exploiter("uniform", settings=(setting,)).config()
