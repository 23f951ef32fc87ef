"""CADEC: invented posts in its layout, with every oddity."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from discotag.corpora import CorpusError, read
from discotag.corpora.recipes import cadec, prepare

POSTS = {
    # name: (text, annotations)
    "DRUG.1": (
        "My hands and feet went numb.\n\nCould not\nsleep at all. Took Brandol\n",
        "T1\tADR 3 8;23 27\thands numb\n"
        "#1\tAnnotatorNotes T1\tfingers?\n"
        "T2\tADR 13 17;23 27\tfeet numb\n"
        "T3\tADR 30 39;40 45\tCould not sleep\n"  # across lines, broken at the line's end
        "T4\tDrug 59 66\tBrandol\n",
    ),
    "DRUG.2": (
        "Sore  toes\nFine",
        "T1\tADR 0 4;6 10\tSore toes\n"  # only white space between
        "T2\tADR 6 10\ttoes\n"
        "T3\tADR 6 10\ttoes\n"  # twice
        "T4\tADR 6 9\ttoe\n"  # cuts a word
        "T5\tADR 0 4\tsour\n"  # another text than at its offsets
        "T6\tADR 90 95\toutside\n"
        "T7\tADR 4 5\t \n"  # no word in it
        "T8\tADR ten 12\tbad\n"
        "T9\tADR 6 10\n"  # without its text
        "R1\tRel Arg1:T1 Arg2:T2\n",
    ),
    "DRUG.3": ("None\n", ""),
    "DRUG.4": ("Was dizzy.\r\nVery.\r\n", "T1\tADR 4 9\tdizzy\r\n"),
}


def folder(root: Path) -> Path:
    for name, (text, marks) in POSTS.items():
        for part, ending, content in (("text", "txt", text), ("original", "ann", marks)):
            path = root / "cadec" / part / f"{name}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
    (root / "cadec" / "meddra").mkdir()
    (root / "cadec" / "meddra" / "DRUG.1.ann").write_text("TT1\t10000 0 2\tMy\n")
    return root


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return folder(tmp_path / "download")


def mentions(path: Path) -> set[tuple[str | None, str, str | None, int]]:
    return {
        (document.id, mention.label, mention.text, len(mention.fragments))
        for document in read(path, "jsonl")
        for sentence in document.sentences
        for mention in sentence.mentions
    }


def test_without_lists_all_goes_to_one_file(corpus: Path, tmp_path: Path) -> None:
    summary = prepare("cadec", corpus, tmp_path / "out")
    assert mentions(tmp_path / "out" / "all.jsonl") == {
        ("DRUG.1", "ADR", "hands numb", 2),
        ("DRUG.1", "ADR", "feet numb", 2),
        ("DRUG.1", "ADR", "Could not\nsleep", 1),
        ("DRUG.2", "ADR", "Sore  toes", 1),
        ("DRUG.2", "ADR", "toes", 1),
        ("DRUG.2", "ADR", "Sore", 1),
        ("DRUG.4", "ADR", "dizzy", 1),
    }
    counts = summary.parts["all"]
    assert (counts["documents"], counts["sentences"], counts["words"]) == (4, 7, 24)
    assert (counts["mentions"], counts["discontinuous_mentions"]) == (10, 2)
    assert counts["discontinuous_sentences"] == 1
    assert summary.facts == {
        "annotations": 12,
        "annotations of Drug, not asked for": 1,
        "annotations across lines, their lines joined": 1,
        "annotations in pieces with only white space between, merged": 2,
    }
    assert summary.problems == {
        "duplicate": 3,
        "empty": 1,
        "outside": 1,
        "syntax": 1,
        "text_mismatch": 1,
        "widened": 1,
    }
    assert {(each.part, each.count) for each in summary.differences} == {
        ("all", "sentences"), ("all", "words"), ("all", "mentions"),
    }  # fmt: skip
    assert str(summary.differences[0]) == "all: sentences should be 7,597, found 7"
    problems = (tmp_path / "out" / "problems.json").read_text()
    assert '"path": "DRUG.2.ann", "line": 8' in problems
    assert str(tmp_path) not in problems


def test_a_zip_gives_the_same_as_its_folder(corpus: Path, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "cadec"), "zip", corpus)
    from_zip = prepare("cadec", packed, tmp_path / "a")
    from_folder = prepare("cadec", corpus / "cadec", tmp_path / "b")
    assert from_zip.parts == from_folder.parts
    for name in ("all.jsonl", "problems.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_all_labels(corpus: Path, tmp_path: Path) -> None:
    summary = prepare("cadec", corpus, tmp_path / "out", labels=["all"])
    assert ("DRUG.1", "Drug", "Brandol", 1) in mentions(tmp_path / "out" / "all.jsonl")
    assert summary.labels == cadec.LABELS
    assert summary.checked == 0  # published are the counts of ADR alone


def lists(folder: Path, **names: str) -> Path:
    folder.mkdir()
    for name, content in names.items():
        (folder / f"{name}.id").write_text(content)
    return folder


def test_split_lists(corpus: Path, tmp_path: Path) -> None:
    split = lists(
        tmp_path / "split",
        train="DRUG.1\ncadec/text/DRUG.2.txt\n",
        dev="",
        test="DRUG.3\r\nOTHER\n",
    )
    (split / "README").write_text("what the lists are")
    summary = prepare("cadec", corpus, tmp_path / "out", splits=[split])
    assert {part: count["documents"] for part, count in summary.parts.items()} == {
        "train": 2, "dev": 0, "test": 1,
    }  # fmt: skip
    assert summary.facts["documents in no list, left out"] == 1
    assert summary.problems["missing"] == 2
    assert summary.checked == 15
    assert {each.part for each in summary.differences} == {"train", "dev", "test", "all"}
    files = sorted((tmp_path / "split").glob("*.id"))
    again = prepare("cadec", corpus, tmp_path / "again", splits=files)
    assert again.parts == summary.parts


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            {"train": "DRUG.1\n", "test": "DRUG.1\n"},
            "train.id:1: .DRUG.1. is also in the list for test",
        ),
        (
            {"documents": "DRUG.1\n"},
            "no lists found; a list has one of train, dev, test in its name",
        ),
        ({"train-test": "DRUG.1\n"}, "no lists found"),
        ({"train": "import random\n"}, "no lists found"),
    ],
)
def test_bad_lists(names: dict[str, str], message: str, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=message):
        prepare("cadec", corpus, tmp_path / "out", splits=[lists(tmp_path / "split", **names)])


def test_a_file_that_is_given_must_be_a_list(corpus: Path, tmp_path: Path) -> None:
    split = lists(tmp_path / "split", **{"train-test": "DRUG.1\n"})
    with pytest.raises(CorpusError, match="must contain one of train, dev, test"):
        prepare("cadec", corpus, tmp_path / "out", splits=[split / "train-test.id"])


def test_what_lies_beside_the_lists_is_passed_over_and_named(corpus: Path, tmp_path: Path) -> None:
    split = lists(tmp_path / "split", train="DRUG.1\nDRUG.2\n", dev="DRUG.3\n", test="DRUG.4\n")
    alone = prepare("cadec", corpus, tmp_path / "alone", splits=[split])
    assert not [name for name in alone.passed_over if name.startswith("split/")]
    (split / "split_train_test.py").write_text("import random\n\nprint('DRUG.1')\n")
    (split / "make_test.py").write_text("print(1)\nfrom x import y\n")
    (split / "README.md").write_text("which posts are for training\n")
    (split / "train.pickle").write_bytes(b"\x80\x04DRUG.1\n")
    (split / ".train.id.swp").write_text("DRUG.9\n")
    (split / "old_test").mkdir()
    summary = prepare("cadec", corpus, tmp_path / "out", splits=[split])
    assert (summary.parts, summary.problems) == (alone.parts, alone.problems)
    assert [name for name in summary.passed_over if name.startswith("split/")] == [
        "split/.train.id.swp",
        "split/README.md",
        "split/make_test.py",
        "split/old_test",
        "split/split_train_test.py",
        "split/train.pickle",
    ]
    assert "split/split_train_test.py" in (tmp_path / "out" / "report.json").read_text()


@pytest.mark.parametrize("packed", [False, True])
def test_what_lies_beside_the_posts_is_passed_over_and_named(
    packed: bool, corpus: Path, tmp_path: Path
) -> None:
    alone = prepare("cadec", corpus, tmp_path / "alone")
    for name in (
        "__MACOSX/cadec/text/._DRUG.1.txt",
        "__MACOSX/cadec/original/._DRUG.1.ann",
        ".DS_Store",
        "cadec/text/.DS_Store",
        "cadec/text/count.py",
        "cadec/original/README",
    ):
        path = corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x00")
    source = Path(shutil.make_archive(str(tmp_path / "a"), "zip", corpus)) if packed else corpus
    summary = prepare("cadec", source, tmp_path / "out")
    assert (summary.parts, summary.problems) == (alone.parts, alone.problems)
    assert alone.passed_over == ("cadec/meddra/DRUG.1.ann",)
    assert sorted(summary.passed_over) == [
        ".DS_Store",
        "__MACOSX/cadec/original/._DRUG.1.ann",
        "__MACOSX/cadec/text/._DRUG.1.txt",
        "cadec/meddra/DRUG.1.ann",
        "cadec/original/README",
        "cadec/text/.DS_Store",
        "cadec/text/count.py",
    ]


def test_files_that_do_not_belong_together(corpus: Path, tmp_path: Path) -> None:
    (corpus / "cadec" / "text" / "DRUG.1.txt").unlink()
    (corpus / "cadec" / "original" / "DRUG.3.ann").unlink()
    (corpus / "cadec" / "text" / "DRUG.4.txt").write_bytes(b"na\xefve\n")
    (corpus / "cadec" / "original" / "DRUG.2.ann").write_bytes(b"T1\tADR 0 4\tSore\nT2\t\xff\n")
    summary = prepare("cadec", corpus, tmp_path / "out")
    assert summary.problems == {"encoding": 2, "missing": 2}
    assert summary.parts["all"]["documents"] == summary.parts["all"]["mentions"] == 1


def test_wrong_sources(tmp_path: Path) -> None:
    with pytest.raises(
        CorpusError, match="no folder has both text/ .* and original/ .* is this CADEC"
    ):
        prepare("cadec", tmp_path, tmp_path / "out")
    (tmp_path / "original").mkdir()
    (tmp_path / "text").mkdir()
    with pytest.raises(CorpusError, match="no documents were found; cadec needs the zip"):
        prepare("cadec", tmp_path, tmp_path / "out")
