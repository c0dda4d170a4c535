"""The command line, run in this process and, for its speed and exit code, in one of its own."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from perudo_env import Game
from perudo_env.__main__ import EXAMPLE, main
from perudo_env.engine.variant import SWITCHES, VARIANTS
from perudo_env.render.picture import picture
from perudo_env.render.text import text


@pytest.mark.parametrize("name", VARIANTS)
def test_rules_are_printed_in_both_languages(name, capsys):
    assert main(["rules", "--preset", name]) == 0
    out = capsys.readouterr().out
    assert f"Rules in force: {name}" in out
    assert f"Règles en vigueur : {name}" in out
    assert all(f"({switch} = " in out for switch in SWITCHES)


def test_rules_with_overrides_in_one_language(capsys):
    assert main(["rules", "--preset", "box", "--set", "calza=anyone", "max_bid=unbounded", "--lang", "fr"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Règles en vigueur : box:calza=anyone,max_bid=unbounded")
    assert "Rules in force" not in out


def test_show_prints_the_legal_actions_and_why_others_are_not(capsys):
    assert main(["show", EXAMPLE, "6x4", "5x3", "calza"]) == 0
    out = capsys.readouterr().out
    game = Game.from_position(EXAMPLE)
    assert text(game) in out
    assert "legal: dudo, 6x4..20x4, 5x5..20x5, 5x6..20x6, 3P..20P" in out
    assert "\n6x4: legal\n" in out
    assert f"\n5x3: illegal ({game.why_illegal('5x3')})\n" in out
    assert f"\ncalza: illegal ({game.why_illegal('calza')})\n" in out


def test_show_in_french_takes_actions_on_either_side_of_the_option(capsys):
    assert main(["show", EXAMPLE, "--lang", "fr", "5x3", "dudo"]) == 0
    out = capsys.readouterr().out
    assert f"5x3: interdit ({Game.from_position(EXAMPLE).why_illegal('5x3', 'fr')})" in out
    assert "dudo: permis" in out


def test_show_in_a_calza_window_lists_calza_and_pass_only(capsys):
    assert main(["show", "box:calza=anyone 22344/13566/23456 opener=0 3x2"]) == 0
    assert "legal: calza, pass\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["show", "classic 22344/13577 opener=0"], "has no hands"),
        (["show", "classic 22344/13566 opener=0 5x4 1P"], "3 at least"),
        (["show", "classic 22344/13566 opener=5"], "opener"),
        (["show", "classic 223444/13566 opener=0"], "6"),
        (["show", EXAMPLE, "5z"], "'5z' is not an action"),
        (["show", EXAMPLE, "500x2"], "'500x2'"),
        (["rules", "--preset", "bax"], "did you mean 'box'"),
        (["rules", "--set", "calza=maybe"], "'maybe'"),
        (["rules", "--set", "calza"], "switch=value"),
        (["picture", EXAMPLE, "/dev/null/table.png"], "/dev/null"),
        (["picture", EXAMPLE, "table.png", "--viewer", "9"], "seat = 9"),
    ],
)
def test_what_cannot_be_is_said_on_stderr_with_code_2(argv, word, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{argv[0]}: ")
    assert word in err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["show", EXAMPLE, "--colour"])
    with pytest.raises(SystemExit, match="2"):
        main(["variants", "extra"])
    assert "unrecognized arguments: extra" in capsys.readouterr().err


def test_variants_lists_every_switch_of_every_preset(capsys):
    assert main(["variants"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["switch", *VARIANTS]
    for switch, line in zip(SWITCHES, lines[1:-1], strict=True):
        assert line.replace("*", "").split() == [switch, *(str(getattr(v, switch)) for v in VARIANTS.values())]


def test_picture_writes_the_pixels_that_render_draws(tmp_path, capsys):
    path = tmp_path / "table.png"
    assert main(["picture", EXAMPLE, str(path), "--viewer", "1"]) == 0
    assert np.array_equal(np.array(Image.open(path)), picture(Game.from_position(EXAMPLE), 1))


def test_the_command_line_loads_nothing_heavy():
    code = (
        "import sys; from perudo_env.__main__ import main; main(['rules', '--preset', 'box', '--lang', 'en']);"
        "print([m for m in ('torch', 'pygame', 'matplotlib', 'perudo_env.envs.aec') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "perudo_env", "rules"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
