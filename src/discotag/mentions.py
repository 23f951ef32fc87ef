"""Mentions, sentences and documents, the data types that all other modules use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import total_ordering
from itertools import chain, pairwise, repeat
from operator import attrgetter, index
from typing import Any, ClassVar, Final, TypeGuard

from discotag.counts import counted
from discotag.errors import InputError

Fragment = tuple[int, int]
"""A half-open run `(start, end)` of words, or of characters where a docstring says so."""

Place = tuple[str, int | None]
"""A file, and a line in it, counted from 1, or None where that is not known."""


class MentionError(InputError):
    """Raised if a mention is invalid, by itself or in its sentence."""


class SentenceError(InputError):
    """Raised if the words, offsets and text of a sentence or document do not agree."""


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A label and the runs of words it covers.

    Fragments are sorted, and those that touch become one. Mentions are equal if label and
    fragments are; they sort by position, then by label.

    Args:
        label: What kind of mention this is; not empty.
        fragments: Half-open word ranges, at least one.
        text: The words of the mention; a `Sentence` fills it in.
        spans: The characters of each fragment in the document's text, half-open; a `Sentence` fills
            them in where its text is known.
        score: The probability a model gave to this mention.

    Raises:
        MentionError: A fragment is empty, inverted, negative or overlaps another.

    Example:
        >>> Mention("ADR", [(1, 2), (7, 8)]).discontinuous
        True
        >>> Mention("ADR", [(2, 3), (1, 2)]).fragments
        ((1, 3),)
    """

    label: str
    fragments: tuple[Fragment, ...]
    text: str | None = field(default=None, kw_only=True)
    score: float | None = field(default=None, kw_only=True)
    spans: tuple[Fragment, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label or not self.label.isprintable():
            raise MentionError(f"a mention needs a printable label, got {self.label!r}")
        if not _is_one_run(self.fragments):
            object.__setattr__(self, "fragments", _normalised(self.fragments))

    @property
    def start(self) -> int:
        """The first word."""
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        """One past the last word."""
        return self.fragments[-1][1]

    @property
    def discontinuous(self) -> bool:
        """Whether there is more than one fragment."""
        return len(self.fragments) > 1

    @property
    def words(self) -> tuple[int, ...]:
        """The indices of all words, in order."""
        return tuple(word for start, end in self.fragments for word in range(start, end))

    def shifted(self, by: int) -> Mention:
        """Return the same mention, `by` words further on."""
        moved = tuple([(start + by, end + by) for start, end in self.fragments])
        if moved[0][0] < 0:
            raise MentionError(f"mention {self} cannot be moved by {by} words")
        return Mention._unchecked(self.label, moved, self.text, self.score, self.spans)

    def with_score(self, score: float | None) -> Mention:
        """Return the same mention with another score."""
        return Mention._unchecked(self.label, self.fragments, self.text, score, self.spans)

    @classmethod
    def _unchecked(
        cls,
        label: str,
        fragments: tuple[Fragment, ...],
        text: str | None,
        score: float | None,
        spans: tuple[Fragment, ...] | None,
    ) -> Mention:
        """Make a mention of a label and fragments that were checked before."""
        new = object.__new__(cls)
        put = object.__setattr__
        put(new, "label", label)
        put(new, "fragments", fragments)
        put(new, "text", text)
        put(new, "score", score)
        put(new, "spans", spans)
        return new

    def to_dict(self) -> dict[str, Any]:
        """Return the mention as plain data; what is not known is left out.

        Example:
            >>> toes = Mention("ADR", [(0, 1)])
            >>> sentence = Sentence(["toes"], [toes], text="toes", offsets=[(0, 4)])
            >>> sentence.mentions[0].to_dict()
            {'label': 'ADR', 'text': 'toes', 'spans': [[0, 4]], 'fragments': [[0, 1]]}
        """
        data: dict[str, Any] = {"label": self.label}
        if self.text is not None:
            data["text"] = self.text
        if self.spans is not None:
            data["spans"] = [list(span) for span in self.spans]
        data["fragments"] = [list(fragment) for fragment in self.fragments]
        return data if self.score is None else data | {"score": self.score}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mention:
        """Return the mention that `to_dict` gave as plain data.

        Raises:
            MentionError: The data is not that of a mention.

        Example:
            >>> Mention.from_dict({"label": "ADR", "fragments": [[0, 1]], "score": 0.5}).score
            0.5
        """
        try:
            label, fragments = data["label"], data["fragments"]
            spans = data.get("spans")
            places = None if spans is None else tuple((first, end) for first, end in spans)
            text, score = data.get("text"), data.get("score")
            if score is not None:
                score = float(score)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise MentionError(f"this is not the data of a mention: {error!r}") from None
        return cls(label, fragments, text=text, score=score, spans=places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mention):
            return NotImplemented
        return self.fragments == other.fragments and self.label == other.label

    def __hash__(self) -> int:
        return hash((self.label, self.fragments))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Mention):
            return NotImplemented
        return (self.fragments, self.label) < (other.fragments, other.label)

    def __str__(self) -> str:
        ranges = " ".join(f"{start}:{end}" for start, end in self.fragments)
        shown = "" if self.text is None else f" {self.text!r}"
        return f"{self.label}{shown} [{ranges}]"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and the mentions in them, with the positions of the words in the text if known.

    Args:
        words: The words.
        mentions: The mentions, in any order; they are sorted, and their `text` is filled in.
            Duplicates are kept, because some corpora have them.
        text: The sentence as it was written.
        offsets: For each word its half-open character range in `text`.
        start: Where `text` begins in the text of the document.
        candidates: Further mentions that a model did not predict, but that a person should look at
            because they may be right; see `Tagger.predict`.

    Raises:
        MentionError: A mention reaches past the last word.
        SentenceError: Only one of text and offsets is given, or they do not match the words.

    Example:
        >>> sentence = Sentence(["toes", "are", "painful"], [Mention("ADR", [(0, 1), (2, 3)])])
        >>> sentence.mentions[0].text
        'toes painful'
    """

    words: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()
    text: str | None = field(default=None, kw_only=True)
    offsets: tuple[Fragment, ...] | None = field(default=None, kw_only=True)
    start: int = field(default=0, kw_only=True)
    candidates: tuple[Mention, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise SentenceError("words must be a list of words, not one string")
        object.__setattr__(self, "words", tuple(self.words))
        if self.start < 0:
            raise SentenceError(f"a sentence cannot start at character {self.start}")
        if (self.text is None) != (self.offsets is None):
            raise SentenceError("a sentence has both text and offsets, or neither")
        if self.text is not None and self.offsets is not None:
            object.__setattr__(self, "offsets", _checked_offsets(self))
        self._take(self.mentions, self.candidates)

    @classmethod
    def unchecked(
        cls,
        words: tuple[str, ...],
        text: str | None,
        offsets: tuple[Fragment, ...] | None,
        start: int,
    ) -> Sentence:
        """Make a sentence of words, text and offsets that are known to agree."""
        new = object.__new__(cls)
        put = object.__setattr__
        put(new, "words", words)
        put(new, "mentions", ())
        put(new, "text", text)
        put(new, "offsets", offsets)
        put(new, "start", start)
        put(new, "candidates", ())
        return new

    def with_mentions(
        self, mentions: Iterable[Mention], candidates: Iterable[Mention] = ()
    ) -> Sentence:
        """Return the same sentence with other mentions and candidates."""
        new = Sentence.unchecked(self.words, self.text, self.offsets, self.start)
        new._take(mentions, candidates)
        return new

    def _take(self, mentions: Iterable[Mention], candidates: Iterable[Mention]) -> None:
        put = object.__setattr__
        for name, given in (("mentions", mentions), ("candidates", candidates)):
            taken = sorted(given, key=_POSITION)
            for mention in taken:
                check_inside(mention, len(self.words))
            put(self, name, tuple([self._spelt(each) for each in taken]))

    def characters(self, mention: Mention) -> tuple[Fragment, ...]:
        """Return the fragments of a mention as character ranges of the document's text.

        Raises:
            SentenceError: The text of this sentence is not known.
        """
        if self.offsets is None:
            raise SentenceError("a sentence without text has no character offsets")
        check_inside(mention, len(self.words))
        return tuple(
            (self.start + self.offsets[first][0], self.start + self.offsets[end - 1][1])
            for first, end in mention.fragments
        )

    def _repr_html_(self) -> str:
        """Return a drawing, for notebooks."""
        from discotag.render.html_drawing import draw_html

        return draw_html(self)

    def _to_dict(self, in_text: bool) -> dict[str, Any]:
        """Return words and places as plain data; `in_text`: whether the document has a text."""
        data: dict[str, Any] = {"words": list(self.words)}
        if self.text is not None and self.offsets is not None:
            data["start"] = self.start
            if in_text:
                data["end"] = self.start + len(self.text)
            else:
                data["text"] = self.text
            data["starts"] = [self.start + first for first, _ in self.offsets]
        elif self.start:
            data["start"] = self.start
        return data

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any], text: str | None) -> Sentence:
        """Return the sentence of words and places, in this text if it is known."""
        words, start, starts = tuple(data["words"]), data.get("start", 0), data.get("starts")
        if isinstance(data["words"], str) or not all(isinstance(each, str) for each in words):
            raise TypeError(f"words must be a list of texts, got {data['words']!r}")
        if starts is None:
            return cls(words, start=start)
        places = [first - start for first in starts]
        offsets = [(at, at + len(word)) for at, word in zip(places, words, strict=True)]
        own = data["text"] if text is None else text[start : data["end"]]
        return cls(words, text=own, offsets=tuple(offsets), start=start)

    def _spelt(self, mention: Mention) -> Mention:
        """Return a mention with its text, and its spans if the text of the sentence is known."""
        spans = None
        if self.text is None or self.offsets is None:
            parts = [word for start, end in mention.fragments for word in self.words[start:end]]
        else:
            offsets, text = self.offsets, self.text
            inner = [(offsets[first][0], offsets[end - 1][1]) for first, end in mention.fragments]
            parts = [text[start:end] for start, end in inner]
            spans = tuple((self.start + start, self.start + end) for start, end in inner)
        spelling = " ".join(parts)
        if mention.text == spelling and mention.spans == spans:
            return mention
        return Mention._unchecked(mention.label, mention.fragments, spelling, mention.score, spans)


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences in order, and the text that they come from, if known.

    Documents are equal if sentences, text and id are.

    Args:
        sentences: The sentences.
        text: The text that they come from.
        id: The name of the document.
        extra: Other data of the document, such as a rating or a date, as values that JSON can
            represent, or dates and times. JSON lines and tables keep it; other formats do not.
        place: The file that the document was read from, and the line where it begins, if known.

    Raises:
        SentenceError: The text of a sentence is not at its `start` in `text`, or the sentences
            are not in order.

    Example:
        >>> document = Document([Sentence(["Tired", "."]), Sentence(["Sore", "."])])
        >>> document.words
        ('Tired', '.', 'Sore', '.')
    """

    FIELDS: ClassVar = frozenset({"discotag", "id", "text", "mentions", "candidates", "sentences"})
    """What `extra` cannot replace in plain data."""

    sentences: tuple[Sentence, ...]
    text: str | None = field(default=None, kw_only=True)
    id: str | None = field(default=None, kw_only=True)
    extra: Mapping[str, Any] = field(default_factory=dict, kw_only=True, compare=False, repr=False)
    place: Place | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(self.sentences))
        if self.text is None:
            return
        passed = 0
        for number, sentence in enumerate(self.sentences):
            start, text = sentence.start, sentence.text
            if text is None:
                raise SentenceError(
                    f"sentence {number} has no text and offsets, but the document has a text"
                )
            if start < passed or not self.text.startswith(text, start):
                raise SentenceError(
                    f"sentence {number} is not at character {start} of the document's text, or "
                    "begins before the previous one ends"
                )
            passed = start + len(text)

    @classmethod
    def unchecked(
        cls,
        sentences: tuple[Sentence, ...],
        text: str | None,
        id: str | None = None,
        extra: Mapping[str, Any] | None = None,
        place: Place | None = None,
    ) -> Document:
        """Make a document of sentences that are known to be in its text."""
        new = object.__new__(cls)
        put = object.__setattr__
        put(new, "sentences", sentences)
        put(new, "text", text)
        put(new, "id", id)
        put(new, "extra", {} if extra is None else extra)
        put(new, "place", place)
        return new

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain data, as `discotag.corpora.formats.jsonl` describes it.

        Example:
            >>> sentence = Sentence(["Sore", "toes"], [Mention("ADR", [(0, 2)])])
            >>> Document([sentence], id="7").to_dict()["mentions"]
            [{'label': 'ADR', 'text': 'Sore toes', 'fragments': [[0, 2]]}]
        """
        data: dict[str, Any] = {}
        if self.id is not None:
            data["id"] = self.id
        if self.text is not None:
            data["text"] = self.text
        data["mentions"] = [mention.to_dict() for mention in self.mentions]
        if candidates := self.candidates:
            data["candidates"] = [mention.to_dict() for mention in candidates]
        data["sentences"] = [each._to_dict(self.text is not None) for each in self.sentences]
        extra = {key: value for key, value in self.extra.items() if key not in self.FIELDS}
        return data | extra

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Document:
        """Return the document that `to_dict` gave as plain data.

        `discotag.corpora.read` reads files of such data, which people may have written; it reports
        what is wrong in them, and where.

        Raises:
            InputError: The data is not that of a document.

        Example:
            >>> document = Document([Sentence(["Sore", "toes"], [Mention("ADR", [(0, 2)])])])
            >>> Document.from_dict(document.to_dict()) == document
            True
        """
        try:
            text, sentences = data.get("text"), data["sentences"]
            extra = {key: value for key, value in data.items() if key not in cls.FIELDS}
            plain = [Sentence._from_dict(each, text) for each in sentences]
            found = [
                [Mention.from_dict(each) for each in data.get(kind, ())]
                for kind in ("mentions", "candidates")
            ]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise SentenceError(f"this is not the data of a document: {error!r}") from None
        passed = 0
        filled = []
        for sentence in plain:
            end = passed + len(sentence.words)
            own = [[each for each in kind if passed <= each.start < end] for kind in found]
            filled.append(
                sentence.with_mentions(*[[each.shifted(-passed) for each in kind] for kind in own])
            )
            passed = end
        for mention in chain(*found):
            check_inside(mention, passed)
        return cls(tuple(filled), text=text, id=data.get("id"), extra=extra)

    def with_mentions(
        self,
        mentions: Iterable[Iterable[Mention]],
        candidates: Iterable[Iterable[Mention]] | None = None,
    ) -> Document:
        """Return the same document with other mentions and candidates.

        Args:
            mentions: Those of each sentence.
            candidates: The same; None: there are none.
        """
        others = repeat((), len(self.sentences)) if candidates is None else candidates
        found = zip(self.sentences, mentions, others, strict=True)
        sentences = tuple([each.with_mentions(*own) for each, *own in found])
        if type(self) is not Document:
            return replace(self, sentences=sentences)
        return Document.unchecked(sentences, self.text, self.id, self.extra, self.place)

    def _repr_html_(self) -> str:
        """Return a drawing, for notebooks."""
        from discotag.render.html_drawing import draw_html

        return draw_html(self)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all sentences."""
        return tuple(word for sentence in self.sentences for word in sentence.words)

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The mentions of all sentences, their fragments counted in the document's words."""
        return self._shifted([sentence.mentions for sentence in self.sentences])

    @property
    def candidates(self) -> tuple[Mention, ...]:
        """The candidates of all sentences, counted in the same way."""
        return self._shifted([sentence.candidates for sentence in self.sentences])

    def _shifted(self, mentions: Sequence[Sequence[Mention]]) -> tuple[Mention, ...]:
        found: list[Mention] = []
        passed = 0
        for sentence, own in zip(self.sentences, mentions, strict=True):
            found.extend(mention.shifted(passed) for mention in own)
            passed += len(sentence.words)
        return tuple(found)


_POSITION: Final = attrgetter("fragments", "label")
"""What mentions are sorted by."""


def check_inside(mention: Mention, length: int) -> None:
    """Raise `MentionError` if the mention reaches past the last of `length` words."""
    if mention.fragments[-1][1] > length:
        raise MentionError(
            f"mention {mention} reaches past the end of its sentence, "
            f"which has {counted(length, 'word')}"
        )


def locate(words: Sequence[str], wanted: Sequence[str]) -> tuple[Fragment, ...] | None:
    """Find `wanted` in `words`: as a run, or else as the shortest ordered subsequence.

    If several are equally short, the first is returned, with its words as far right as possible.

    Returns:
        Fragments, or None if the words do not occur in this order.

    Example:
        >>> locate("pain in my arms and legs".split(), ["pain", "legs"])
        ((0, 1), (5, 6))
    """
    best: list[int] | None = None
    for last in range(len(words) - 1, -1, -1):
        if not wanted or words[last] != wanted[-1]:
            continue
        places = [last]  # matched from the right: the latest start for this end
        for word in reversed(wanted[:-1]):
            place = places[-1] - 1
            while place >= 0 and words[place] != word:
                place -= 1
            if place < 0:  # nor will it be found for an earlier end
                return None if best is None else _normalised([(at, at + 1) for at in best])
            places.append(place)
        places.reverse()
        if best is None or places[-1] - places[0] <= best[-1] - best[0]:
            best = places
    return None if best is None else _normalised([(at, at + 1) for at in best])


def _is_one_run(fragments: object) -> bool:
    """Return whether this is a valid `((start, end),)`, the most common case."""
    if type(fragments) is not tuple or len(fragments) != 1:
        return False
    pair = fragments[0]
    if type(pair) is not tuple or len(pair) != 2:
        return False
    start, end = pair
    return type(start) is type(end) is int and 0 <= start < end


def _normalised(fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
    """Sort the fragments and join those that touch."""
    try:
        pairs = sorted((index(start), index(end)) for start, end in fragments)
    except (TypeError, ValueError):
        raise MentionError(
            f"fragments must be pairs (start, end) of whole numbers, got {fragments!r}"
        ) from None
    if not pairs:
        raise MentionError("a mention needs at least one fragment")
    if pairs[0][0] < 0:
        raise MentionError(f"fragment {pairs[0]} begins before the first word, 0")
    for start, end in pairs:
        if start >= end:
            kind = "empty" if start == end else "inverted"
            raise MentionError(f"fragment {(start, end)} is {kind}: it must end after it starts")
    if len(pairs) == 1:
        return (pairs[0],)
    joined = [pairs[0]]
    for before, after in pairwise(pairs):
        if after[0] < before[1]:
            raise MentionError(f"fragments {before} and {after} overlap")
        if after[0] == before[1]:
            joined[-1] = (joined[-1][0], after[1])
        else:
            joined.append(after)
    return tuple(joined)


def _spell(offsets: object, words: tuple[str, ...], text: str) -> TypeGuard[tuple[Fragment, ...]]:
    """Return whether the offsets are valid tuples that match the words; a quick check."""
    if type(offsets) is not tuple or len(offsets) != len(words):
        return False
    passed = 0
    for word, pair in zip(words, offsets, strict=True):
        if type(pair) is not tuple or len(pair) != 2:
            return False
        start, end = pair
        if type(start) is not int or type(end) is not int or not passed <= start <= end:
            return False
        if text[start:end] != word:
            return False
        passed = end
    return passed <= len(text)


def _checked_offsets(sentence: Sentence) -> tuple[Fragment, ...]:
    words, text = sentence.words, sentence.text or ""
    given = sentence.offsets
    if _spell(given, words, text):
        return given
    try:
        offsets = tuple((index(start), index(end)) for start, end in sentence.offsets or ())
    except (TypeError, ValueError):
        raise SentenceError("offsets must be pairs (start, end) of whole numbers") from None
    if len(words) != len(offsets):
        raise SentenceError(f"{counted(len(words), 'word')} but {counted(len(offsets), 'offset')}")
    passed = 0
    for number, (word, (start, end)) in enumerate(zip(words, offsets, strict=True)):
        if not passed <= start <= end <= len(text) or text[start:end] != word:
            raise SentenceError(
                f"word {number}, {word!r}, is not at characters {start} to {end}, "
                f"where the text has {text[max(start, 0) : max(end, 0)]!r}"
            )
        passed = end
    return offsets
