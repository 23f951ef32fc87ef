"""`discotag compare`: two annotations of the same text, neither of which is right."""

import json

import pytest

from discotag.cli.compare import KEYS
from discotag.errors import DiscotagError
from discotag.evaluation import KINDS
from shell import invoke

ANN = """\
pain in arms and legs since may
0,2 ADR|0,1,4,4 ADR

took [b]aspirin[/b]
1,1 Drug

no mention

"""
BEN = """\
pain in arms and legs since may
0,2 ADR|0,4 ADR

took [b]aspirin[/b]
1,1 ADR

no mention

"""


def run(*arguments, **options):
    return invoke("compare", *arguments, **options)


def ok(*arguments, **options):
    done = run(*arguments, **options)
    assert done.exception is None, done.output
    return done.stdout


@pytest.fixture
def sides(tmp_path):
    """The files of Ann and of Ben."""
    paths = tmp_path / "ann.txt", tmp_path / "ben.txt"
    for path, text in zip(paths, (ANN, BEN), strict=True):
        path.write_text(text, "utf-8")
    return paths


def test_agreement_and_differences_as_data(sides):
    data = json.loads(ok(*sides, "--json"))
    assert (data["first"], data["second"]) == tuple(map(str, sides))
    assert (data["documents"], data["sentences"], data["differing_sentences"]) == (3, 3, 2)
    everything = data["agreement"]["all"]
    assert (everything["first"], everything["second"], everything["both"]) == (3, 3, 1)
    assert everything["f1"] == pytest.approx(1 / 3)
    assert everything["labels"]["ADR"] == {"first": 2, "second": 3, "both": 1, "f1": 0.4}
    assert data["agreement"]["discontinuous"]["labels"]["ADR"]["first"] == 1
    assert {kind: both for kind, both in data["differences"].items() if any(both.values())} == {
        "label": {"first": 1, "second": 1},
        "gap_only_in_first": {"first": 1, "second": 1},
    }
    gap, label = data["differing"]
    assert (gap["document"], gap["id"], gap["sentence"]) == (1, None, 1)
    assert gap["words"][:3] == ["pain", "in", "arms"]
    (difference,) = gap["differences"]
    assert difference["kind"] == "gap_only_in_first"
    assert [mention["fragments"] for mention in difference["first"]] == [[[0, 2], [4, 5]]]
    assert [mention["text"] for mention in difference["second"]] == ["pain in arms and legs"]
    assert [each["label"] for each in label["differences"][0]["second"]] == ["ADR"]


def test_the_other_way_round_agreement_is_the_same(sides):
    one, other = (json.loads(ok(*each, "--json")) for each in (sides, sides[::-1]))
    assert one["agreement"]["all"]["f1"] == other["agreement"]["all"]["f1"]
    assert other["differences"]["gap_only_in_second"] == {"first": 1, "second": 1}


def test_tables_and_a_list(sides):
    ann, ben = sides
    shown = " ".join(ok(ann, ben).split())
    assert f"First: {ann} Second: {ben} Sentences: 3, with differences: 2; documents: 3" in shown
    assert "All mentions" in shown
    assert "ADR 40.00 2 3 1" in shown
    assert "all 33.33 3 3 1" in shown
    assert "discontinuous in the first, continuous in the second 1 1" in shown
    assert "document 1, sentence 1: pain in arms and legs since may first ADR" in shown
    assert "second ADR '[b]aspirin[/b]' [1:2]" in shown
    few = ok(ann, ben, "--shown", 1)
    assert "document 2" not in few
    assert "1 more sentence differs; --shown 2 or --json lists all" in few


def test_the_same_twice(sides):
    shown = ok(sides[0], sides[0])
    assert "with differences: 0" in shown
    assert "100.00" in shown
    assert "differences" not in shown.split("documents:")[1]


def test_without_mentions_there_is_no_agreement(tmp_path):
    path = tmp_path / "none.jsonl"
    path.write_text('{"text": "Fine."}\n', "utf-8")
    assert json.loads(ok(path, path, "--json"))["agreement"]["all"]["f1"] is None
    assert "–" in ok(path, path)


def test_standard_input(sides):
    data = json.loads(ok("-", sides[1], "--format", "inline", "--json", input=ANN))
    assert data["differing_sentences"] == 2
    done = run("-", "-")
    assert done.exit_code == 2
    assert "can only be read once" in done.output


def test_bad_input_is_one_line(sides, tmp_path):
    other, empty = tmp_path / "other.txt", tmp_path / "empty.jsonl"
    other.write_text(BEN.replace("since", "until"), "utf-8")
    empty.write_text('{"discotag": 2, "sentences": []}\n', "utf-8")
    place = "(document 1, sentence 1, word 6)"
    for arguments, message in (
        ((tmp_path / "none", sides[1]), f"{tmp_path / 'none'}: no such file or folder"),
        (
            (sides[0], other),
            f"{other}: there is 'since' {place} in {sides[0]}, but 'until' {place} in {other}",
        ),
        ((empty, empty), f"{empty}: no sentences to compare"),
    ):
        error = run(*arguments).exception
        assert isinstance(error, DiscotagError)
        assert str(error) == message


def test_every_kind_has_a_name_without_a_right_side():
    assert list(KEYS) == list(KINDS)
    assert len(set(KEYS.values())) == len(KINDS)
