"""Text in pieces, and annotations that point into it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Mention, Sentence
from discotag.corpora import CorpusError, strict
from discotag.corpora.parsing.standoff import (
    MAX_GAP,
    UNITS,
    Annotation,
    Piece,
    Source,
    _Ruler,
    assembled,
    matches,
    writable,
)
from discotag.mentions import Document
from discotag.words import Splitter


def built(pieces, annotations=(), splitter=None, report=strict):
    source = Source("d", [Piece(*piece) for piece in pieces], annotations, "d.xml")
    return assembled(source, splitter or Splitter(), report)


def adr(*fragments, texts=()):
    return Annotation("T1", "ADR", fragments, texts)


def problems(pieces, *annotations):
    found = []
    document = built(pieces, annotations, report=found.append)
    return document, [problem.kind for problem in found]


def test_pieces_stand_at_their_offsets():
    document = built([(9, "Sore toes."), (2, "Title")])
    assert document.text == "\n\nTitle\n\nSore toes."
    assert [each.text for each in document.sentences] == ["Title", "Sore toes."]


def test_pieces_that_touch_are_sentences_of_their_own():
    document = built([(0, "Sore"), (4, "toes")])
    assert [each.text for each in document.sentences] == ["Sore", "toes"]
    whole = built([(0, "Sore"), (4, "toes")], splitter=Splitter("whole"))
    assert [each.text for each in whole.sentences] == ["Soretoes"]


def test_a_mention_joins_the_pieces_it_reaches():
    pieces = [(0, "One."), (5, "Sore"), (10, "and"), (14, "toes."), (20, "End.")]
    document = built(pieces, [adr((5, 9), (14, 18))])
    assert [each.text for each in document.sentences] == ["One.", "Sore\nand\ntoes.", "End."]
    assert document.mentions[0].text == "Sore toes"


def test_a_piece_that_is_given_twice():
    assert problems([(0, "Sore toes."), (5, "toes")])[1] == []
    document, kinds = problems([(0, "Sore toes."), (5, "feet")])
    assert kinds == ["overlapping"]
    assert document.text == "Sore toes."


def test_a_piece_far_away_is_left_out():
    document, kinds = problems([(0, "Sore"), (MAX_GAP + 5, "toes")])
    assert (document.text, kinds) == ("Sore", ["outside"])
    assert problems([(-3, "Sore")])[1] == ["overlapping"]


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (adr((4, 2)), "inverted"),
        (adr((2, 2)), "empty"),
        (adr(), "empty"),
        (adr((4, 5)), "empty"),
        (adr((5, 90)), "outside"),
        (adr((-2, 3)), "outside"),
        (adr((0, 4), (2, 9)), "overlapping"),
        (adr((0, 4), texts=("Some",)), "text_mismatch"),
        (Annotation("T1", "", ((0, 4),)), "syntax"),
        (Annotation("T1", "A\nB", ((0, 4),)), "syntax"),
    ],
)
def test_bad_annotations_are_left_out(annotation, kind):
    document, kinds = problems([(0, "Sore toes.")], annotation, adr((0, 9)))
    assert kinds == [kind]
    assert document.mentions == (Mention("ADR", [(0, 2)]),)


def test_odd_annotations_are_kept():
    document, kinds = problems([(0, "Sore toes.")], adr((5, 9), (0, 3)), adr((0, 4)), adr((0, 4)))
    assert kinds == ["duplicate", "widened"]
    assert [each.text for each in document.mentions] == ["Sore", "Sore", "Sore toes"]


def test_texts_of_fragments():
    text = "Sore toes and \n knees"
    for texts in [
        (),
        ("Sore", "knees"),
        ("Sore knees",),
        ("Sore ... knees",),
        ("Sore toes and knees",),
    ]:
        assert matches(text, adr((0, 4), (16, 21), texts=texts))
    assert not matches(text, adr((0, 4), (16, 21), texts=("Sore", "toes")))
    assert matches(text, adr((10, 21), texts=("and knees",)))


TEXT = "Naïve 😀 patient – sore toes."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_offsets_in_other_units(encoding):
    width = 2 if encoding == "utf-16-le" else 1

    def units(text):
        return len(text.encode(encoding)) // width

    start = units(TEXT) + 1 + units(TEXT[: TEXT.index("sore")])
    pieces = [(0, TEXT), (units(TEXT) + 1, TEXT)]
    found = []
    document = built(pieces, [adr((start, start + 9), texts=("sore toes",))], report=found.append)
    assert [problem.kind for problem in found] == ["offset_unit"]
    assert document.text == f"{TEXT}\n{TEXT}"
    assert document.mentions[0].text == "sore toes"
    assert document.sentences[1].mentions


def test_other_units_need_proof():
    at = TEXT.index("sore")
    good, wrong = adr((at, at + 4), texts=("sore",)), adr((0, 5), texts=("toes",))
    document, kinds = problems([(0, TEXT)], good, wrong)
    assert kinds == ["text_mismatch"]
    assert [each.text for each in document.mentions] == ["sore"]


@settings(deadline=None, max_examples=100)
@given(st.text(st.sampled_from("aï–😀 \n"), max_size=12), st.integers(0, 60))
def test_rulers_count_as_codecs_do(text, offset):
    for encoding, width in UNITS.values():
        coded = text.encode(encoding)
        ruler = _Ruler(text, encoding, width)
        assert ruler.length == len(coded) // width
        expected = len(coded[: offset * width].decode(encoding, "ignore"))
        beyond = max(offset - ruler.length, 0)
        assert ruler.characters(offset) == expected + beyond


def test_half_characters_are_refused():
    document, kinds = problems([(0, "Sore \ud800")])
    assert (document, kinds) == (None, ["encoding"])


@pytest.mark.parametrize(
    "document",
    [
        Document([Sentence(["so re"])]),
        Document([Sentence([""])]),
        Document([Sentence([])]),
        Document([Sentence(["a"])], id=""),
        Document([Sentence(["\ud800"])]),
        Document([Sentence(["a"])], id="\ud800"),
    ],
)
def test_what_cannot_be_written(document):
    with pytest.raises(CorpusError, match="cannot represent"):
        writable(document, "bioc-xml")
