"""What all commands share: help, version, how much is said, and how errors end."""

import logging
import sys
from pathlib import Path

import pytest
import typer

from discotag import cli
from discotag.cli import messages
from shell import discotag, invoke, python


def paths(group, *before):
    """Yield the words of each command in a group, and of the groups in it."""
    for name, command in group.commands.items():
        yield [*before, name]
        if hasattr(command, "commands"):
            yield from paths(command, *before, name)


COMMANDS = list(paths(typer.main.get_command(cli.app)))
GROUPS = [before for *before, _ in COMMANDS]


def test_the_commands_are_those_of_this_tree():
    """All of them, in a process, whatever discotag is installed."""
    found = Path(python("import discotag; print(discotag.__file__)").strip())
    assert found.is_relative_to(Path(__file__).parents[2] / "src")
    shown = discotag("--help", cwd="/").stdout
    assert shown == invoke("--help").stdout
    for command in COMMANDS:
        assert f"│ {command[0]} " in shown
    assert {*"predict train calibrate evaluate compare export benchmark serve annotate".split()} < {
        name for name, *_ in COMMANDS
    }


@pytest.mark.parametrize("command", [[], *COMMANDS], ids=" ".join)
def test_help(command):
    short, long = invoke(*command, "-h"), invoke(*command, "--help")
    assert (short.exit_code, short.stderr) == (0, "")
    assert short.stdout == long.stdout
    assert "<bool>" not in short.stdout
    if command not in GROUPS:
        assert "Examples" in short.stdout
        assert f"discotag {' '.join(command)} " in short.stdout.split("Examples")[1]
        for option in ("--verbose  -v", "--quiet    -q"):
            name, letter = option.split()
            assert name in short.stdout
            assert letter in short.stdout


def test_defaults_in_brackets_are_shown():
    assert "[default: the model that comes with discotag]" in " ".join(
        discotag("predict", "-h").stdout.replace("│", " ").split()
    )


def test_version_and_completion():
    assert discotag("-V").stdout == discotag("--version").stdout
    assert discotag("-V").stdout.startswith("discotag 0")
    assert "--install-completion" in discotag("--help").stdout


@pytest.mark.parametrize(
    "command",
    [["nope"], ["predict", "--nope"], ["scheme", "--slots", "x"], ["corpus", "convert", "a"]],
)
def test_wrong_usage_is_one_line(command):
    done = discotag(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("discotag: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(" --help\n")


def test_an_option_that_is_given_twice_is_named(tmp_path):
    posts = tmp_path / "posts.csv"
    posts.write_text("a,b\nsome pain,a rash\n")
    out = tmp_path / "found.jsonl"
    options = ["--text-column", "a", "--text-column=b", "--out", tmp_path / "x", "-o", out]
    done = discotag("predict", posts, *options)
    assert done.returncode == 0
    assert done.stderr.count("--text-column is given 2 times; the last one counts") == 1
    assert "--out is given 2 times" in done.stderr
    assert '"text":"a rash"' in out.read_text()


def test_flags_and_options_that_may_be_repeated_are_not():
    done = discotag("predict", "some pain", "--labels=ADR", "--labels=ADR", "--verbose", "-v")
    assert done.returncode == 0
    assert "given" not in done.stderr


def test_a_text_that_begins_with_a_dash_gets_advice():
    done = discotag("predict", "- dry mouth")
    assert done.returncode == 2
    assert "put -- before what begins with a dash; see discotag predict --help" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "cp1252"])
def test_terminals_without_unicode(tmp_path, encoding):
    """Drawings and messages stay readable, and data are never changed."""
    path = tmp_path / "crlf.txt"
    path.write_bytes("Pain in arms → bad.\r\nNo.\r\n".encode())
    options = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    drawn = discotag("predict", path, "--format", "terminal", **options)
    assert "============ ADR" in drawn.stdout.replace("-", "=")
    found = discotag("predict", path, "--format", "jsonl", **options)
    assert "→ bad.\\r\\nNo" in found.stdout
    assert discotag("scheme", "--help", **options).returncode == 0


@pytest.fixture
def lines(capsys):
    logger = logging.getLogger("discotag")
    before = logger.level, list(logger.handlers), logger.propagate

    def said(**verbosity):
        messages.set_verbosity(**verbosity)
        logging.getLogger("discotag.model").info("chose %s", "a\x1b[31mb")
        messages.say("wrote \x1b]0;x\x07")
        messages.warn("few\nlines")
        messages.fail("bad")
        return capsys.readouterr().err.splitlines()

    yield said
    logger.level, logger.handlers, logger.propagate = before


def test_how_much_is_said(lines):
    every = ["chose a·[31mb", "wrote ·]0;x·", "warning: few·lines", "discotag: bad"]
    assert lines(verbose=True) == every
    assert lines() == every[1:]
    assert lines(quiet=True) == every[3:]
    assert lines(quiet=True, verbose=True) == every[3:]


@pytest.mark.parametrize(("rank", "lines"), [("0", 1), ("1", 0)])
def test_of_several_processes_on_a_machine_one_speaks(rank, lines, monkeypatch, capsys):
    monkeypatch.setenv("LOCAL_RANK", rank)
    monkeypatch.setattr(cli, "FIRST_SAY", 0)
    monkeypatch.setattr(sys, "argv", ["discotag", "train", "--nonsense"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    messages.set_verbosity()
    assert caught.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == lines
