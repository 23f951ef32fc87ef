"""PsyTAR: a miniature workbook with every oddity of the real one, and the real one."""

from __future__ import annotations

import builtins
import json
import zipfile
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag.corpora import CorpusError, read
from discotag.corpora.recipes import prepare, psytar
from discotag.corpora.recipes.psytar import WAYS, find
from discotag.corpora.recipes.recipe import Order
from discotag.corpora.tables import workbook as module
from discotag.errors import DiscotagError
from real_corpora import CORPORA, needs_corpora

SENTENCES = [
    ("id", "comment_id", "drug_id", "sentence_index", "sentences", "ADR"),
    (1, 1, "lexapro.1", 1, " Sore arms and legs, no sleep. ", 1),
    (2, 1, "lexapro.1", 2, "I slept alot.", 1),
    (3, 1, "lexapro.1", 3, "Fine now", None),
    (4, 2, "zoloft.7", 1, "Headaches; then nausea, for a week.", 1),
    (5, 2, "zoloft.7", 2, "headache, dizzy, headache.", 1),
    (6, 2, "zoloft.7", 2, "The same index again: tired.", 1),
    (7, 3, "cymbalta.3", 1, None, None),
    (8, 4, "effexorXR.4", 1, "none. ", None),
    (None, None, None, None, None, "=SUM(F1:F9)"),
]
IDENTIFIED = [
    ("id", "drug_id", "sentence_index", "sentences", "{0}1", "{0}2", "{0}3", "note"),
    (1, "lexapro.1", 1, "Sore arms and legs, no sleep.", "sore arms", "sore legs ", "no  sleep"),
    (2, "lexapro.1", 2, "I slept alot.", "slept a lot", "was rude", None, "no string"),
    (3, "zoloft.7", 1, "Headaches; then nausea, for a week.", "headache", "nausea, week", " "),
    (4, "zoloft.7", 2, "headache, dizzy, headache", "headache", "headache", "headache", None),
    (5, "zoloft.7", 2, "The same index again: tired.", "TIRED", 7, None),
    (6, "zoloft.99", 1, "No such post.", "post"),
    (None, None, None, None, "nothing"),
]  # fmt: skip


def workbook(path: Path, **sheets: list[tuple[object, ...]]) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "License"  # the first sheet has no rows
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def labelled(label: str) -> list[tuple[object, ...]]:
    header = tuple(name.format(label) for name in IDENTIFIED[0])
    return [header, *IDENTIFIED[1:]]


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    sheets = {f"{label}_Identified ": labelled(label) for label in psytar.LABELS}
    return workbook(tmp_path / "mini.xlsx", Sentence_Labeling=SENTENCES, **sheets)


def test_a_miniature_workbook_with_every_oddity(mini: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = prepare("psytar", mini, out)
    documents = {
        document.id: document
        for part in ("train", "dev", "test")
        for document in read(out / f"{part}.jsonl", "jsonl")
    }
    assert set(documents) == {"lexapro.1", "zoloft.7", "effexorXR.4"}
    found = {
        (sentence.text, mention.text, mention.fragments)
        for document in documents.values()
        for sentence in document.sentences
        for mention in sentence.mentions
    }
    assert found == {
        ("Sore arms and legs, no sleep.", "Sore arms", ((0, 2),)),
        ("Sore arms and legs, no sleep.", "Sore legs", ((0, 1), (3, 4))),
        ("Sore arms and legs, no sleep.", "no sleep", ((5, 7),)),
        ("I slept alot.", "slept alot", ((1, 3),)),
        ("Headaches; then nausea, for a week.", "Headaches", ((0, 1),)),
        ("Headaches; then nausea, for a week.", "nausea week", ((3, 4), (7, 8))),
        ("headache, dizzy, headache.", "headache", ((0, 1),)),
        ("headache, dizzy, headache.", "headache", ((4, 5),)),
        ("The same index again: tired.", "tired", ((5, 6),)),
    }
    assert [len(document.sentences) for document in documents.values()].count(3) == 2
    assert documents["lexapro.1"].text == ("Sore arms and legs, no sleep.\nI slept alot.\nFine now")
    missing = json.loads((out / "not_found.json").read_text())
    assert {(row["sheet"], row["row"], row["string"]) for row in missing} == {
        ("ADR_Identified", 3, "was rude"),
        ("ADR_Identified", 6, "7"),
        ("ADR_Identified", 7, "post"),
    }
    assert missing[0]["sentence"] == "I slept alot."
    assert summary.problems == {"duplicate": 1, "not_found": 3}
    assert summary.facts["ADR strings"] == 13
    assert summary.facts["strings found"] == 10
    assert summary.facts["posts without a sentence"] == 1
    assert summary.facts["strings given twice"] == 1
    assert {difference.count for difference in summary.differences} == {
        "posts", "rows of sentences", "ADR strings",
    }  # fmt: skip
    report = json.loads((out / "report.json").read_text())
    assert report["facts"] == summary.facts
    assert sum(part["mentions"] for part in report["parts"].values()) == 9


def test_longer_strings_are_placed_first(tmp_path: Path) -> None:
    sentence = "sore toes, and sore"
    path = workbook(
        tmp_path / "one.xlsx",
        Sentence_Labeling=[SENTENCES[0], (1, 1, "zoloft.1", 1, sentence, 1)],
        ADR_Identified=[labelled("ADR")[0], (1, "zoloft.1", 1, sentence, "sore", "sore toes")],
    )
    prepared = psytar.cook(path, Order(("ADR",)))
    (document,) = (each for part in prepared.parts.values() for each in part)
    assert {mention.fragments for mention in document.mentions} == {((0, 2),), ((4, 5),)}


def test_labels_are_chosen(mini: Path, tmp_path: Path) -> None:
    both = prepare("psytar", mini, tmp_path / "both", labels=["WD", "ADR"])
    assert both.labels == ("ADR", "WD")
    every = prepare("psytar", mini, tmp_path / "every", labels=["all"])
    assert every.labels == psytar.LABELS
    mentions = [part["mentions"] for part in every.parts.values()]
    assert sum(mentions) == 2 * sum(part["mentions"] for part in both.parts.values()) == 36
    with pytest.raises(DiscotagError, match="psytar has no label 'adr'; use ADR, WD, SSI, DI"):
        prepare("psytar", mini, tmp_path / "none", labels=["adr"])
    with pytest.raises(DiscotagError, match="has its own split"):
        prepare("psytar", mini, tmp_path / "none", splits=["dev.txt"])


@pytest.mark.parametrize(
    ("sentence", "string", "expected"),
    [
        ("my arms hurt", "Arms  hurt", (((1, 3),), WAYS[0])),
        ("pain , in arms", "pain in arms", (((0, 4),), WAYS[1])),
        ("pain in my arms and legs", "pain in legs", (((0, 2), (5, 6)), WAYS[1])),
        ("nausea - the first week", "nausea; first week", (((0, 1), (3, 5)), WAYS[1])),
        ("i dont care", "don't care", (((1, 3),), WAYS[2])),
        ("weight - loss", "weightloss", (((0, 3),), WAYS[2])),
        ("a lot , of it", "alot", (((0, 2),), WAYS[2])),
        ("weight , loss", "weightloss", None),
        ("no insomina here", "insomnia", (((1, 2),), WAYS[3])),
        ("headaches in the head", "headache head", (((0, 1), (3, 4)), WAYS[3])),
        ("a gain", "pain", None),
        ("legs and arms", "arms legs", None),
        ("the roofracing thoughts", "racing thoughts", None),
        ("a ; b", ";", None),
        ("a b", "", None),
        ("", "a", None),
    ],
)
def test_find(sentence: str, string: str, expected: object) -> None:
    assert find(sentence.split(), string) == expected


def test_a_run_that_is_free_is_preferred() -> None:
    words = "bad pain , some pain".split()
    assert find(words, "pain") == (((1, 2),), WAYS[0])
    assert find(words, "pain", [((0, 2),)]) == (((4, 5),), WAYS[0])
    assert find(words, "pain", [((0, 2),), ((3, 5),)]) == (((1, 2),), WAYS[0])


WORDS = st.lists(st.sampled_from(["a", "b", "c", ","]), max_size=7)


@settings(deadline=None, max_examples=200)
@given(WORDS, st.lists(st.sampled_from(["a", "b", "c", ","]), min_size=1, max_size=4))
def test_find_is_as_tight_as_any_place(words: list[str], wanted: list[str]) -> None:
    found = find(words, " ".join(wanted))
    size, bare = len(wanted), [word for word in wanted if word != ","]
    runs = [start for start in range(len(words)) if words[start : start + size] == wanted]
    places = [
        chosen
        for chosen in combinations(range(len(words)), len(bare))
        if [words[at] for at in chosen] == bare
    ]
    if not bare or not (runs or places):
        assert found is None
        return
    assert found is not None
    (fragments, way) = found
    if runs:
        assert (fragments, way) == (((runs[0], runs[0] + size),), WAYS[0])
        return
    assert way == WAYS[1]
    covered = [at for start, end in fragments for at in range(start, end)]
    assert [words[at] for at in covered if words[at] != ","] == bare
    assert covered[-1] - covered[0] == min(chosen[-1] - chosen[0] for chosen in places)
    for (_, end), (start, _) in pairwise(fragments):
        assert set(words[end:start]) - {","}


def one_slip(one: str, other: str) -> bool:
    """By trying every slip there is."""
    letters = "abcde"
    slips = set()
    for at in range(len(one) + 1):
        slips |= {one[:at] + letter + one[at:] for letter in letters}
        slips |= {one[:at] + letter + one[at + 1 :] for letter in letters}
        slips |= {one[:at] + one[at + 1 :], one[:at] + one[at : at + 2][::-1] + one[at + 2 :]}
    return other in slips


@settings(deadline=None, max_examples=300)
@given(st.text("abcde", min_size=5, max_size=7), st.data())
def test_one_slip(one: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(one)))
    other = one[:at] + data.draw(st.text("abcde", max_size=2)) + one[at + 1 :]
    if len(other) >= psytar.LONG_WORD:
        assert psytar._one_slip(one, other) == one_slip(one, other)


def test_wrong_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: Path, message: str) -> None:
        with pytest.raises(CorpusError, match=message):
            prepare("psytar", path, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    fails(tmp_path / "none.xlsx", "no such file")
    fails(tmp_path, "this is a folder; give the workbook")
    text = tmp_path / "text.xlsx"
    text.write_text("id,drug_id\n")
    fails(text, "not a workbook")
    with zipfile.ZipFile(tmp_path / "zip.xlsx", "w") as packed:
        packed.writestr("a.txt", "a")
    fails(tmp_path / "zip.xlsx", "not a workbook")
    fails(
        workbook(tmp_path / "a.xlsx", Sheet=[("a",)]),
        "no sheet named 'Sentence_Labeling'; sheets are",
    )
    fails(
        workbook(tmp_path / "b.xlsx", Sentence_Labeling=SENTENCES),
        "no sheet named 'ADR_Identified'",
    )
    fails(workbook(tmp_path / "c.xlsx", Sentence_Labeling=[("id",)]), "no column 'drug_id'")
    fails(workbook(tmp_path / "d.xlsx", Sentence_Labeling=[]), "'Sentence_Labeling' has no column")
    empty = [SENTENCES[0]], labelled("ADR")[:1]
    nothing = workbook(tmp_path / "e.xlsx", Sentence_Labeling=empty[0], ADR_Identified=empty[1])
    fails(nothing, "no documents were found; psytar needs PsyTAR_dataset.xlsx")
    monkeypatch.setattr(psytar, "MAX_FILE", 100)
    fails(nothing, "a sheet of the workbook has more than")
    monkeypatch.setattr(module, "MAX_SHARED", 100)
    fails(nothing, "the workbook has texts of more than")


def test_xml_that_expands_is_refused(mini: Path, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xlsx"
    laughs = b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><worksheet>&c;</worksheet>'
    with zipfile.ZipFile(mini) as old, zipfile.ZipFile(bomb, "w") as new:
        for name in old.namelist():
            new.writestr(name, laughs if name.endswith("sheet2.xml") else old.read(name))
    with pytest.raises(CorpusError, match="not a workbook"):
        prepare("psytar", bomb, tmp_path / "out")


def test_without_openpyxl(mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name == "openpyxl":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(DiscotagError, match=r"pip install openpyxl pyarrow"):
        prepare("psytar", mini, tmp_path / "out")


@needs_corpora
def test_the_real_workbook(tmp_path: Path) -> None:
    path = CORPORA / "PsyTAR_dataset.xlsx"
    summary = prepare("psytar", path, tmp_path, labels=["all"])
    assert not summary.differences
    strings = sum(summary.facts[f"{label} strings"] for label in psytar.LABELS)
    assert strings == 7415
    assert summary.facts["strings found"] == 7346
    assert summary.facts["strings found"] / strings > 0.96
    assert len(json.loads((tmp_path / "not_found.json").read_text())) == 69
    assert sum(part["discontinuous_mentions"] for part in summary.parts.values()) == 421
    documents = {part: list(read(tmp_path / f"{part}.jsonl")) for part in summary.parts}
    names = Counter(document.id for each in documents.values() for document in each)
    assert set(names.values()) == {1}
    assert len(names) == 886
    assert {part: len(each) for part, each in documents.items()} == {
        "train": 616, "dev": 77, "test": 193,
    }  # fmt: skip
