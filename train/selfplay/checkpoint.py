"""The checkpoint that a trainer leaves, with its card, and the networks of one that another trainer begins with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.core.switches import known_to, known_today, widened
from agents.learned import features
from agents.learned.neural import save_policy
from perudo_env.engine.variant import Variant
from train.core.measured import Measured, measured_table
from train.core.run import provenance
from train.core.state import Arrays, load_state, save_state, weights_hash
from train.core.trainer import NetworkTrainer
from train.selfplay import values


def write_checkpoint(
    folder: Path, trainer: NetworkTrainer, title: str, command: str, kinds: Sequence[tuple[Variant, int]],
    final: Sequence[Measured], snapshots: Sequence[str] = (), *, inputs: str = "relative", networks: Arrays | None = None,
    met: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write a trainer's checkpoint to ``folder`` with its card: how it was made and what was measured.

    ``networks`` are all that a later run needs to begin with (``run.start_from``), the critic among them. ``met`` are the agents
    that it was trained against.
    """
    weights, seed, decisions = trainer.kept_weights(), trainer.run.seed, trainer.decisions
    variants, seats = list(dict.fromkeys(v for v, _ in kinds)), sorted({n for _, n in kinds})
    card = (
        f"# {title}\n\nTrained by `{command}` for {decisions:,} decisions of self-play, seed {seed}; the average "
        f"plays, and samples. Self-play by networks gives no bound on exploitability: where NashConv is listed, it was "
        f"computed exactly.{best_words(trainer)}{met_words(met)}\n\nPlays {', '.join(map(str, variants))} with {', '.join(map(str, seats))} seats.\n\n"
        f"Measured of what plays:\n\n{measured_table(final).markdown()}\n"
    )
    made = {
        "trainer": command, "seed": seed, "decisions": decisions, **provenance(),
        "weights_hash": weights_hash(weights), "snapshots": list(snapshots), "met": list(met),
        **({"best_decisions": trainer.best.decisions} if trainer.best else {}), "evaluation": [m._asdict() for m in final],
    }  # fmt: skip
    save_policy(folder, weights, variants, seats, made, card, inputs=inputs)
    if networks is not None:
        save_state(folder / "training.safetensors", networks, {"decisions": decisions, "switches": known_today()})


def best_words(trainer: NetworkTrainer) -> str:
    """Which point of the curve plays, where the best is kept."""
    if trainer.best is None:
        return ""
    return (
        f"\n\nWhat plays is the best of {trainer.best.points} points of the curve, that after {trainer.best.decisions:,} decisions, by the mean "
        f"win share, or where none was measured the least mean NashConv; games that chose it flatter it a little."
    )


def met_words(met: Sequence[str]) -> str:
    """Whom an agent was trained against."""
    return (
        f"\n\nBesides itself it met in training, and may have learnt to beat: {', '.join(dict.fromkeys(met))}."
        if met
        else ""
    )


def starting_networks(path: Path) -> Arrays:
    """The networks of another run's state (``run.start_from``), widened where they know fewer switches than this version.

    Raises ``ValueError`` for a file that holds no state.
    """
    arrays, about = load_state(path)
    known = known_to(about, path)
    places = dict.fromkeys(("actor", "average", "critic"), features.SWITCHES_AT) | {
        "values.network": values.SWITCHES_AT
    }
    first_layers = {f"{network}.layers.0.weight": start for network, start in places.items()}
    return arrays | {
        name: widened(arrays[name], start, known) for name, start in first_layers.items() if name in arrays
    }
