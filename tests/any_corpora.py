"""Corpora of all kinds, for hypothesis."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from discotag import Document, Mention, Sentence
from discotag.corpora import FORMATS
from discotag.marks import Marked, spelled
from discotag.words import Splitter

AS_WRITTEN = Splitter("lines", "spaces")
"""Gives the words of a document back that was written out without a text of its own."""

CORPORA = {name: each for name, each in FORMATS.items() if each.table is None}
"""The formats of corpora, and of plain text."""

WRITERS = [name for name, each in CORPORA.items() if each.write is not None]

FLAT = {name for name, each in CORPORA.items() if not each.overlaps}
"""Formats that hold continuous mentions only, which do not overlap."""

SENTENCES_ONLY = {name for name, each in CORPORA.items() if not each.keeps_text}
"""Formats that know neither ids nor texts."""

# All scripts, emoji, combining marks, zero-width signs; what XML has no way to say is left out.
CHARACTERS = st.characters(
    exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp", "Cn"), exclude_characters="\ufffe\uffff"
)
ODD_WORDS = [
    "#", "|", ";", "-", "0,0", "<b>", "&amp;", '"', "\\", "\\n", "{}", "[", "\ufeff", "\u200b",
    "\u200d", "🙂", "👩‍👩‍👧", "e\u0301", "\u0301", "症状", "كتاب", "\u202e", "T1", "O",
    "B-ADR", "'", "�",
]  # fmt: skip
words = st.one_of(st.sampled_from(ODD_WORDS), st.text(CHARACTERS, min_size=1, max_size=5))
labels = st.one_of(
    st.sampled_from(["ADR", "Drug", "B-ADR", "Über", "症状", "a.b/c", "adr"]),
    st.text(
        st.characters(categories=("L", "N", "P", "S"), exclude_characters="|"),
        min_size=1,
        max_size=4,
    ),
)


@st.composite
def sentences(draw: st.DrawFn, flat: bool = False, scores: bool = False) -> Sentence:
    """Words without white space; mentions that nest, overlap, have gaps or stand there twice."""
    found = draw(st.lists(words, min_size=1, max_size=8))
    mentions: list[Mention] = []
    free = set(range(len(found)))
    for _ in range(draw(st.integers(0, 4))):
        chosen = draw(st.sets(st.sampled_from(range(len(found))), min_size=1, max_size=5))
        if flat:
            chosen = set(range(min(chosen), max(chosen) + 1))
            if not chosen <= free:
                continue
            free -= chosen
        score = draw(st.none() | st.floats(0, 1)) if scores else None
        runs = [(word, word + 1) for word in chosen]
        mentions.append(Mention(draw(labels), runs, score=score))
    if mentions and not flat and draw(st.booleans()):
        mentions.append(mentions[0])
    return Sentence(found, mentions)


def documents(flat: bool = False) -> st.SearchStrategy[list[Document]]:
    """Documents without texts or ids."""
    several = st.lists(sentences(flat), min_size=1, max_size=3).map(Document)
    return st.lists(several, max_size=3)


TEXTS = st.text(
    st.one_of(
        st.sampled_from(list("ab.A  \n\r\t,;é🙂\u0301\u200b\u2028\u00a0\ufeff症ك")),
        CHARACTERS,
    ),
    max_size=60,
)


@st.composite
def marks(draw: st.DrawFn, text: str) -> list[Marked]:
    """Labels on characters of a text, also such as hold no word or cut one."""
    found = []
    for _ in range(draw(st.integers(0, 3)) if text else 0):
        places = (
            draw(
                st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True).filter(
                    lambda places: len(places) % 2 == 0
                )
            )
            if len(text) > 0
            else []
        )
        places.sort()
        found.append(Marked(draw(labels), tuple(zip(places[::2], places[1::2], strict=True))))
    return found


@st.composite
def documents_of_text(draw: st.DrawFn) -> tuple[Splitter, Document]:
    """A document with an id, and the splitter that cut it from its text."""
    text = draw(TEXTS)
    sentences = draw(st.sampled_from(["auto", "lines", "whole"]))
    splitter = Splitter(sentences, draw(st.sampled_from(["pattern", "spaces"])))
    name = draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True))
    found = splitter.document(text, draw(marks(text)), id=name, complain=lambda *flaw: None)
    return splitter, splitter.document(text, spelled(found)[1], id=name)


def contents(documents: Iterable[Document]) -> list[tuple[Sequence[str], Sequence[Mention]]]:
    """The words and mentions of all sentences, which every format keeps."""
    return [(each.words, each.mentions) for found in documents for each in found.sentences]
