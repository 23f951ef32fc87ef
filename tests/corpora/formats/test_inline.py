import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import CorpusError, read, write
from samples import DATA


def corpus(tmp_path, text):
    """What is read from a file with this text, and what was wrong."""
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    problems = []
    found = list(read(path, "inline", report=problems.append))
    return found, [(problem.kind, problem.line) for problem in problems]


def slow_reading(path):
    """The sentences of a file that is as it should be, read with no care for anything else."""
    rows = path.read_text("utf-8").split("\n")
    sentences = []
    for words, mentions in zip(rows[:-1:3], rows[1::3], strict=True):
        found = []
        for mention in filter(None, mentions.split("|")):
            numbers, label = mention.split(" ")
            ends = [int(number) for number in numbers.split(",")]
            found.append(
                Mention(label, [(s, e + 1) for s, e in zip(ends[::2], ends[1::2], strict=True)])
            )
        sentences.append(Sentence(words.split(" "), found))
    return sentences


def test_reading():
    sore, fine = read(DATA / "inline/two.txt")
    assert sore.words == ("Sore", "toes", "and", "knees")
    assert [str(mention) for mention in sore.mentions] == [
        "ADR 'Sore knees' [0:1 3:4]",
        "ADR 'Sore toes' [0:2]",
    ]
    assert (fine.words, fine.mentions) == (("Fine", "."), ())


def test_craft_is_read_as_a_slow_reader_does_and_written_as_it_was(tmp_path):
    path = DATA / "craft_200.txt"
    found = list(read(path))
    assert [document.sentences[0] for document in found] == slow_reading(path)
    write(found, tmp_path / "out", "inline")
    again = (tmp_path / "out").read_text("utf-8").split("\n")
    before = path.read_text("utf-8").split("\n")
    assert again[::3] == before[::3]
    assert [sorted(row.split("|")) for row in again] == [sorted(row.split("|")) for row in before]


@pytest.mark.parametrize(
    ("mentions", "kind"),
    [
        ("0,1", "syntax"),
        ("0,1 A B", "syntax"),
        ("0,1,2 A", "syntax"),
        ("0;1 A", "syntax"),
        ("-1,1 A", "syntax"),
        ("٠,١ A", "syntax"),
        ("0,9999999999 A", "syntax"),
        ("0,0 A|", "syntax"),
        ("0,0 A\u200b", "syntax"),
        ("1,0 A", "inverted"),
        ("0,4 A", "outside"),
        ("0,1,1,2 A", "overlapping"),
        ("0,0 A|0,0 A", "duplicate"),
    ],
)
def test_bad_mentions_are_left_out(tmp_path, mentions, kind):
    found, problems = corpus(tmp_path, f"a b c d\n{mentions}|2,2 B\n\ne\n\n\n")
    assert problems == [(kind, 2)]
    assert [document.words for document in found] == [("a", "b", "c", "d"), ("e",)]
    assert Mention("B", [(2, 3)]) in found[0].mentions


def test_a_missing_empty_line_is_reported_and_the_rest_read(tmp_path):
    found, problems = corpus(tmp_path, "a\n0,0 A\nb\n0,0 A\n\nc\n0,0 A\n\n")
    assert problems == [("syntax", 3)]
    assert [document.words for document in found] == [("c",)]


def test_empty_lines_too_many_are_no_sentences(tmp_path):
    found, problems = corpus(tmp_path, "\n\na\n0,0 A\n\n\n \n\nb\n\n\n")
    assert [document.words for document in found] == [("a",), ("b",)]
    assert not problems


def test_a_bad_line_leaves_its_sentence_out(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n0,0 A\n\n\xff\n0,0 A\n\nb\n0,0 \xff\n\nc\n0,0 A\n\n")
    problems = []
    found = list(read(tmp_path / "a", report=problems.append))
    assert [document.words for document in found] == [("a",), ("c",)]
    assert [(problem.kind, problem.line) for problem in problems] == [
        ("encoding", 4),
        ("encoding", 8),
    ]


def test_labels_with_a_bar_are_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"the label 'A\|B'"):
        write([Document([Sentence(["a"], [Mention("A|B", [(0, 1)])])])], tmp_path / "out", "inline")
