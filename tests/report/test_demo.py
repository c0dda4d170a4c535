"""The demo: its command for each trainer, and the range over seeds."""

import pytest

from train.core.measured import exact
from train.report.demo import Demo, DemoOptions, range_table, read_demos, run


@pytest.mark.parametrize("by", ["ppo", "sb3"])
def test_the_demo_trains_each_seed_and_says_how_to_play(by, tmp_path, capsys):
    run(DemoOptions(by, seeds=(1, 2), out=tmp_path, smoke=True))
    printed = capsys.readouterr().out
    assert printed.rstrip().endswith(f"-m agents play --agents {tmp_path / 'seed-2' / 'checkpoint'}")
    runs = read_demos(tmp_path / "demo.csv")
    assert [(d.by, d.seed) for d in runs] == [(by, 1), (by, 2)]
    assert {m.against for m in runs[0].shares} == {"uniform", "odds", "threshold", "bluffer", "inference"}
    assert all(d.cpu_seconds > 0 for d in runs)


def test_the_range_stands_by_trainer():
    def demo(by, seed, share, seconds):
        return Demo(by, seed, seconds, (exact("win_share", share, "t")._replace(against="odds"),))

    table = range_table([demo("ppo", 1, 0.5, 60), demo("ppo", 2, 0.7, 180), demo("sb3", 1, 0.25, 30)])
    assert table.rows == [
        ("odds", "0.600 (0.500 to 0.700)", "0.250 (0.250 to 0.250)"),
        ("minutes of one core", "2.0 (1.0 to 3.0)", "0.5 (0.5 to 0.5)"),
    ]
