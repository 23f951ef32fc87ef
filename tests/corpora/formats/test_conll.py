import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from any_corpora import contents
from discotag import Document, Mention, Sentence
from discotag.corpora import CorpusError, read, write
from discotag.corpora.formats.conll import tagged
from discotag.corpora.parsing import files
from discotag.corpora.parsing.tags import untagged
from samples import DATA


def corpus(tmp_path, text):
    """What is read from a file with this text, and what was wrong."""
    path = tmp_path / "a.conll"
    path.write_text(text, encoding="utf-8")
    problems = []
    found = list(read(path, "conll", report=problems.append))
    return found, [(problem.kind, problem.line) for problem in problems]


def shown(documents):
    return [[str(m) for m in document.mentions] for document in documents]


def test_documents():
    found = list(read(DATA / "conll/documents.conll"))
    assert [[each.words for each in document.sentences] for document in found] == [
        [("Sore", "toes", "since", "Monday"), ("#", "2", "helped")],
        [("Tired", "dizzy")],
    ]
    assert shown(found) == [
        ["ADR 'Sore toes' [0:2]"],
        ["ADR 'Tired' [0:1]", "ADR 'dizzy' [1:2]"],
    ]


def test_bioes():
    found = list(read(DATA / "conll/bioes.tsv"))
    assert shown(found) == [
        ["ADR 'Sore red toes' [0:3]"],
        ["ADR 'Tired' [0:1]", "Drug 'pills' [2:3]"],
    ]


def test_a_tag_that_goes_on_where_nothing_began_is_reported_and_read():
    problems = []
    found = list(read(DATA / "conll/iob1.conll", report=problems.append))
    assert shown(found) == [["ADR 'Sore toes' [0:2]", "ADR 'Tired' [2:3]"], []]
    assert [(p.kind, p.line, p.severity) for p in problems] == [("ill_formed", 1, "warning")]


TAGS = ["O", *(f"{letter}-{label}" for letter in "BIES" for label in ("X", "Y"))]


@given(st.lists(st.sampled_from(TAGS), max_size=9))
def test_tags_are_read_as_seqeval_reads_them(tags):
    mentions, _ = untagged(tags)
    assert [(m.label, m.start, m.end - 1) for m in mentions] == get_entities(tags)


@given(st.lists(st.sampled_from(TAGS), max_size=9))
def test_bilou_and_bmes_are_bioes_by_other_names(tags):
    for names in ("ELSU", "IM"):
        renamed = [
            tag[0].translate(str.maketrans(names[::2], names[1::2])) + tag[1:] for tag in tags
        ]
        assert untagged(renamed) == untagged(tags)


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=9))
def test_wrong_tags_are_those_that_bio_does_not_allow(tags):
    expected = [
        number
        for number, tag in enumerate(tags)
        if tag[0] == "I" and (number == 0 or tags[number - 1][2:] != tag[2:])
    ]
    mentions, wrong = untagged(tags)
    assert wrong == expected
    rewritten = tagged(len(tags), mentions)
    assert untagged(rewritten) == (mentions, [])


def test_columns_by_tabs_or_spaces(tmp_path):
    rows = "a\tx\tB-X\nb  y   I-X\nnew york\tO\n \n\t\nc O"
    found, problems = corpus(tmp_path, rows)
    assert [document.words for document in found] == [("a", "b", "new york"), ("c",)]
    assert shown(found) == [["X 'a b' [0:2]"], []]
    assert not problems


def test_comments_stand_ahead_of_sentences_only(tmp_path):
    found, problems = corpus(
        tmp_path, "# id 1 domain=en\n# O\na O\n# O\n\n#\n# x\ty\n#\tB-X\n\n# B-cell B-cell O\nb O\n"
    )
    assert [document.words for document in found] == [("#", "a", "#"), ("#",), ("b",)]
    assert not problems


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("alone", "expected a word and its tag, got 'alone'"),
        ("a\tB", "the tag 'B' has no label; write B-LABEL"),
        ("a\tX-Y", "a tag must be O or look like B-LABEL, got 'X-Y'"),
        ("a\tB-", "got 'B-'"),
        ("a\t", "got ''"),
        ("\tO", "there is no word before the tag"),
        ("a\tB-\u200b", "look like B-LABEL"),
    ],
)
def test_bad_rows_leave_their_sentence_out(tmp_path, row, message):
    found, problems = corpus(tmp_path, f"good\tO\n\na\tO\n{row}\nb\tO\n\ngood\tO\n")
    assert [document.words for document in found] == [("good",), ("good",)]
    assert problems == [("syntax", 4)]
    with pytest.raises(CorpusError, match=f"conll:4: .*{message}"):
        list(read(tmp_path / "a.conll", "conll"))


def test_a_bad_line_leaves_its_sentence_out(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"a\tO\nb\xff\tO\n\nc\tO\n")
    problems = []
    assert [d.words for d in read(path, report=problems.append)] == [("c",)]
    assert [(p.kind, p.line) for p in problems] == [("encoding", 2)]


def test_sentences_and_documents_have_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE", 30)
    long = "a\tO\n" * 20
    found, problems = corpus(
        tmp_path, f"{long}\nb\tO\n\n-DOCSTART-\n\n{long}\nc\tO\n\n-DOCSTART-\n\nd\tO\n"
    )
    assert [document.words for document in found] == [("b",), ("d",)]
    assert problems == [("too_long", 11), ("too_long", 36)]


def test_documents_and_sentences_are_told_apart(tmp_path):
    one = [Document([Sentence(["a"])])] * 2
    write(one, tmp_path / "one", "conll")
    assert "-DOCSTART-" not in (tmp_path / "one").read_text()
    several = [*one, Document([Sentence(["b"]), Sentence(["c"])]), *one, Document([])]
    write(several, tmp_path / "several", "conll")
    assert (tmp_path / "several").read_text().count("-DOCSTART-") == 4
    again = list(read(tmp_path / "several", "conll"))
    assert [len(document.sentences) for document in again] == [1, 1, 2, 1, 1, 0]
    assert contents(again) == contents(several)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence("a b c".split(), [Mention("X", [(0, 1), (2, 3)])]), "it is discontinuous"),
        (Sentence("a b".split(), [Mention("X", [(0, 2)]), Mention("Y", [(1, 2)])]), "overlaps"),
        (Sentence(["a"], [Mention("X", [(0, 1)])] * 2), "overlaps another"),
        (Sentence(["-DOCSTART-"]), "which begins a document"),
    ],
)
def test_what_is_not_flat_is_refused(tmp_path, sentence, message):
    with pytest.raises(CorpusError, match=message):
        write([Document([sentence])], tmp_path / "out", "conll")
    assert not list(tmp_path.iterdir())
