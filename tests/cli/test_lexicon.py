import json

import pytest

from discotag.cli.lexicon import SHOWN_PROBLEMS
from discotag.lexicon import LexiconError
from shell import invoke

ESCAPE = "\x1b[31m\x9b2J\x07"


def run(*arguments):
    return invoke("lexicon", *arguments)


@pytest.fixture
def meta(tmp_path):
    """A Metathesaurus of invented names."""
    folder = tmp_path / "META"
    folder.mkdir()
    (folder / "MRSTY.RRF").write_text("C0000001|T023|A1|Some Type|AT1||\n")
    line = "C0000001|ENG|P|L1|PF|S1|Y|A1||||INVENTED|{}|X1|{}|0|N|256|\n"
    names = [("PT", "Left foo bone"), ("AB", "lfb")]
    (folder / "MRCONSO.RRF").write_text("".join(line.format(*name) for name in names))
    return folder


def test_from_umls_to_matches(meta, tmp_path):
    out = tmp_path / "body.tsv"
    done = run("umls", meta, out)
    assert done.exit_code == 0
    assert "different terms written" in done.stdout
    assert str(out) in done.stderr.replace("\n", "")
    found = run("match", "sore left foo bones", "--lexicon", out, "--json")
    assert json.loads(found.stdout) == [
        {
            "fragment": [1, 4],
            "text": "left foo bones",
            "term": "left foo bone",
            "source": "C0000001",
        }
    ]


def test_counts_for_programs(meta, tmp_path):
    done = run("umls", meta, tmp_path / "body.tsv", "--json")
    counts = json.loads(done.stdout)
    assert (counts["lines"], counts["abbreviations"], counts["terms"]) == (2, 1, 1)


def test_bad_lines(meta, tmp_path):
    with (meta / "MRCONSO.RRF").open("a") as stream:
        stream.write("bad \x1b line\n" * (SHOWN_PROBLEMS + 5))
    refused = run("umls", meta, tmp_path / "body.tsv")
    assert refused.exit_code == 1
    assert isinstance(refused.exception, LexiconError)
    assert "MRCONSO.RRF:3: " in str(refused.exception)
    done = run("umls", meta, tmp_path / "body.tsv", "--skip-bad", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["bad"] == SHOWN_PROBLEMS + 5
    assert done.stderr.count("MRCONSO.RRF:") == SHOWN_PROBLEMS
    assert "left out: 5 more lines" in done.stderr


def test_match_with_the_default_lexicon():
    done = run("match", "pain around the hipjoints [/b]")
    assert done.exit_code == 0
    assert "hip joint" in done.stdout
    nothing = run("match", "tired")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert "no term" in nothing.stderr
    assert json.loads(run("match", "tired", "--json").stdout) == []


def test_escape_sequences_of_texts_and_lexicons_are_not_passed_on(meta, tmp_path):
    lexicon = tmp_path / "body.tsv"
    lexicon.write_text(f"# discotag lexicon 1\nknee{ESCAPE}\tsource{ESCAPE}\n", "utf-8")
    found = run("match", f"sore knee{ESCAPE}", "--lexicon", lexicon)
    assert found.exit_code == 0
    assert "knee·[31m·2J·" in found.stdout
    with (meta / "MRCONSO.RRF").open("a") as stream:
        stream.write(f"bad{ESCAPE}\n")
    out = tmp_path / f"out{ESCAPE}.tsv"
    done = run("umls", meta, out, "--skip-bad")
    assert (done.exit_code, out.exists()) == (0, True)
    assert "left out" in done.stderr
    for shown in (found.stdout, found.stderr, done.stdout, done.stderr):
        assert all(sign.isprintable() for sign in shown.replace("\n", ""))


@pytest.mark.parametrize("arguments", [["umls"], ["match"], ["umls", "META"], ["odd"]])
def test_wrong_usage_exits_2(arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["umls", "match"])
def test_help_has_an_example(command):
    assert f"discotag lexicon {command}" in " ".join(run(command, "--help").stdout.split())
