"""ShARe 2013 and 2014: invented notes in their layouts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from discotag.corpora import CorpusError, read
from discotag.corpora.recipes import prepare
from discotag.corpora.recipes.recipe import part_of
from discotag.corpora.recipes.share import DEV_SHARES

NOTE = "Atria are\ndilated. No murmur was heard. Fluid in both lungs; no fever."


def at(*words: str) -> list[tuple[int, int]]:
    """Where words stand in the note."""
    return [(NOTE.index(word), NOTE.index(word) + len(word)) for word in words]


DISORDERS = [
    at("Atria", "dilated"),
    at("murmur"),
    at("murmur"),  # twice
    at("dilated", "heard"),  # across sentences
    at("lungs", "Fluid"),  # in another order
    at("are", "dilated"),  # broken at the end of a line
    [(500, 510)],
]


def line(year: int, name: str, fragments: list[tuple[int, int]]) -> str:
    if year == 2013:
        offsets = "||".join(f"{start}||{end}" for start, end in fragments)
        return f"{name}.txt||Disease_Disorder||CUI-less||{offsets}\n"
    spans = ",".join(f"{start}-{end}" for start, end in fragments)
    return f"{name}.txt|{spans}|CUI-less|*no|*NULL|patient|*NULL\n"


def corpus(root: Path, year: int, training: int = 30) -> Path:
    """Two halves of texts and annotations; the first note of each has no disorder."""
    halves = {"Training": range(training), "Test": range(100, 105)}
    for half, numbers in halves.items():
        texts, annotations = root / half / "corpus", root / half / "gold_pipe"
        texts.mkdir(parents=True)
        annotations.mkdir()
        for number in numbers:
            name = f"{number:05}-NOTE"
            (texts / f"{name}.txt").write_text(NOTE)
            disorders = DISORDERS if number != numbers[0] else []
            content = "".join(line(year, name, fragments) for fragments in disorders)
            (annotations / f"{name}.pipe.txt").write_text(content)
    return root


@pytest.mark.parametrize("year", [2013, 2014])
def test_both_years(year: int, tmp_path: Path) -> None:
    source = corpus(tmp_path / "share", year)
    summary = prepare(f"share{year}", source, tmp_path / "out")
    parts = {part: list(read(tmp_path / "out" / f"{part}.jsonl")) for part in summary.parts}
    assert len(parts["test"]) == 5
    assert len(parts["train"]) + len(parts["dev"]) == 30
    for part in ("train", "dev"):
        assert parts[part]
        assert {part_of(document.id or "", DEV_SHARES) for document in parts[part]} == {part}
    none, *others = sorted(parts["test"], key=lambda document: document.id or "")
    assert none.mentions == ()
    for document in others:
        found = [[mention.text for mention in each.mentions] for each in document.sentences]
        assert found == [
            ["Atria dilated", "are\ndilated"],
            ["murmur", "murmur"],
            ["Fluid lungs"],
        ]
    counts = summary.parts["test"]
    names = ("sentences", "mentions", "discontinuous_mentions")
    assert [counts[name] for name in names] == [15, 20, 8]
    assert counts["discontinuous_sentences"] == 8
    annotated = 29 + 4
    assert summary.facts == {
        "annotations": annotated * len(DISORDERS),
        "annotations across sentences, left out": annotated,
        "annotations in pieces with only white space between, merged": annotated,
    }
    assert summary.problems == {"crosses": annotated, "duplicate": annotated, "outside": annotated}
    assert {(each.part, each.count) for each in summary.differences} == {
        (part, count)
        for part in ("test", "all")
        for count in ("sentences", "discontinuous_sentences")
    }


def test_archives_in_a_folder(tmp_path: Path) -> None:
    source = corpus(tmp_path / "share", 2014, training=3)
    packed = tmp_path / "packed"
    for half in ("Training", "Test"):
        shutil.make_archive(str(packed / half), "zip", source / half)
    (packed / "SHA256SUMS.txt").write_text("0\n")
    direct = prepare("share2014", source, tmp_path / "a")
    through = prepare("share2014", packed, tmp_path / "b")
    assert direct.parts == through.parts
    assert through.problems == {**direct.problems, "missing": 1}


def test_what_lies_beside_the_notes_is_passed_over_and_named(tmp_path: Path) -> None:
    source = corpus(tmp_path / "share", 2014, training=3)
    alone = prepare("share2014", source, tmp_path / "a")
    assert alone.passed_over == ()
    beside = ("Training/.DS_Store", "Training/count.py", "Test/README", "__MACOSX/Test/._1.txt")
    for name in beside:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(b"\xff")
    packed = tmp_path / "packed"
    shutil.make_archive(str(packed / "Training"), "zip", source / "Training")
    shutil.copytree(source / "Test", packed / "Test")
    summary = prepare("share2014", source, tmp_path / "b")
    assert (summary.parts, summary.problems) == (alone.parts, alone.problems)
    assert sorted(summary.passed_over) == sorted(beside)
    through = prepare("share2014", packed, tmp_path / "c")
    assert (through.parts, through.problems) == (alone.parts, alone.problems)
    assert sorted(through.passed_over) == [
        "Test/README",
        "Training.zip/.DS_Store",
        "Training.zip/count.py",
    ]


def test_a_list_says_what_is_dev(tmp_path: Path) -> None:
    source = corpus(tmp_path / "share", 2013, training=4)
    (tmp_path / "dev.txt").write_text("00001-NOTE.txt\n00003-NOTE\n00077-NOTE\n")
    summary = prepare("share2013", source, tmp_path / "out", splits=[tmp_path / "dev.txt"])
    dev = [document.id for document in read(tmp_path / "out" / "dev.jsonl")]
    assert dev == ["00001-NOTE", "00003-NOTE"]
    assert summary.problems["missing"] == 1
    assert summary.checked == 6


def test_one_file_of_annotations_for_all(tmp_path: Path) -> None:
    source = corpus(tmp_path / "share", 2014, training=2)
    lists = source / "Test" / "gold_pipe"
    header = "DD_DocName|DD_Spans|DD_CUI|NI_Norm\n"
    joined = header + "".join(path.read_text() for path in sorted(lists.iterdir()))
    shutil.rmtree(lists)
    (source / "Test" / "annotations.txt").write_text(joined)
    summary = prepare("share2014", source, tmp_path / "out")
    assert summary.parts["test"]["documents"] == 4  # of the first nothing says that it has none
    assert summary.problems["missing"] == 1


def test_gold_is_preferred_and_bad_lines_are_named(tmp_path: Path) -> None:
    source = corpus(tmp_path / "share", 2014, training=2)
    other = source / "Test" / "default_pipe"
    other.mkdir()
    (other / "00101-NOTE.pipe.txt").write_text(line(2014, "00101-NOTE", at("fever")))
    (other / "00200-NOTE.pipe.txt").write_text(line(2014, "00200-NOTE", at("fever")))
    (source / "Test" / "gold_pipe" / "00102-NOTE.pipe.txt").write_text(
        line(2013, "00102-NOTE", at("fever")) + "\n" + "00102-NOTE.txt|" + "9" * 5000 + "-2|C|\n"
    )
    shutil.copy(source / "Test/corpus/00101-NOTE.txt", other / "00101-NOTE.txt")
    summary = prepare("share2014", source, tmp_path / "out")
    assert summary.parts["test"]["mentions"] == 15
    assert summary.problems["syntax"] == 2
    assert summary.problems["missing"] == 1
    problems = (tmp_path / "out" / "problems.json").read_text()
    assert "the text has 2 annotation files; 00101-NOTE.pipe.txt is used" in problems
    assert "the text is given twice" in problems
    assert '"00102-NOTE.pipe.txt", "line": 3' in problems
    assert max(map(len, problems.splitlines())) < 300


def test_wrong_sources(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no texts .* named …train…; is this ShARe 2013"):
        prepare("share2013", tmp_path, tmp_path / "out")
    source = corpus(tmp_path / "share", 2014, training=2)
    for gold in source.rglob("gold_pipe"):
        shutil.rmtree(gold)
    with pytest.raises(CorpusError, match="no documents were found; share2014 needs"):
        prepare("share2014", source, tmp_path / "out")
