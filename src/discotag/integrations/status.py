"""The status of mentions: whether somebody has what is mentioned, or it is denied, past or feared.

Phrases decide, as in NegEx and ConText (Chapman et al. 2001, Harkema et al. 2009): a cue such as
"denies" holds for the mentions after it until its clause ends, or until another cue. Words of a
mention are never cues, so "no appetite" is present, and "can't sleep" does not deny the headache
that follows it. The phrases are for English.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final, NamedTuple

from discotag.integrations.status_phrases import MENTION, Status, patterns
from discotag.mentions import Document, Mention, Sentence
from discotag.words import Splitter

ENDING: Final = re.compile(r"(?<=\w)[,.;:!?](?=[,.;:!?]*$)")
"""Matches signs at the end of words that are separated by spaces alone."""

SPLITTER: Final = Splitter()

SIGNS: Final = str.maketrans(dict.fromkeys("’‘ʼ´`", "'") | {MENTION: ""})
"""How other signs for an apostrophe are read, and that of mentions."""

LISTED: Final = re.compile(
    r"(?: ?(?:,|/|-|and|or|nor|&|\0|the|any|of|in|on|a|mild|severe|new|acute)(?= |$))* ?"
)
"""Matches what stands between mentions of a list."""

IN_OR: Final = re.compile(r"(?: (?!but |no )(?:,|\0|\w+)){1,8}? n?or ")
"""Matches what follows a mention in a list whose last item is joined with "or"."""

REACH: Final = 400
"""How many characters a list can have between a mention and a phrase after it."""

WRITER: Final = re.compile(r"\b(?:i|me|my|mine|we|pt|patient)\b")
"""Found in phrases after which a sentence is no longer about "my sister"."""

FILLERS: Final = frozenset(
    ("a", "also", "any", "as", "even", "ever", "just", "of", "really", "that", "the")
)
"""What may stand between two phrases that belong together, as in "denies any history of"."""

FAMILY: Final = re.compile(r"\b(?:my|our|mine)\b")
"""Found in phrases such as "my sister"."""

RANK: Final[tuple[Status, ...]] = ("other", "denied", "possible", "past", "present")
"""Which of the phrases that belong together decides."""


class Cue(NamedTuple):
    """A phrase in a sentence.

    Attributes:
        start: The place of its first character.
        end: The place after its last character.
        status: The status of the mentions that it holds for; None where a clause ends.
        after: Whether it holds for mentions before it.
        repeated: Whether the same words occur before.
    """

    start: int
    end: int
    status: Status | None
    after: bool
    repeated: bool = False


class Scope(NamedTuple):
    """Phrases that belong together, and hold for the mentions after them.

    Attributes:
        status: The status of these mentions.
        cue: The phrase that decides.
        last: The last phrase.
    """

    status: Status
    cue: Cue
    last: Cue


def statuses(document: Document) -> list[Status]:
    """Return the status of each mention of a document, in the order of `document.mentions`.

    It is `present`, what the person has whom the text is about; `denied`; `past`, of that person
    long ago or before the treatment; `possible`, as it is feared, asked or warned of; or `other`,
    of another person.

    Example:
        >>> from discotag import load
        >>> document = load()("Fails to reveal rash on arms and legs. Swollen ankles and feet.")
        >>> list(zip([mention.text for mention in document.mentions], statuses(document)))
        ... # doctest: +NORMALIZE_WHITESPACE
        [('rash on legs', 'denied'), ('rash on arms', 'denied'),
         ('Swollen feet', 'present'), ('Swollen ankles', 'present')]
    """
    return [status for sentence in document.sentences for status in _statuses(sentence)]


def _statuses(sentence: Sentence) -> list[Status]:
    if not sentence.mentions:
        return []
    phrases = _Phrases(sentence)
    return [phrases.status(mention) for mention in sentence.mentions]


class _Phrases:
    """The phrases of a sentence, and what holds after each of them."""

    def __init__(self, sentence: Sentence) -> None:
        self.text, self.places = _plain(sentence)
        found = _cues(self.text)
        self.after = [cue for cue in found if cue.after]
        self.starts = [cue.start for cue in self.after]
        self.cues = sorted(found, key=lambda cue: cue.end)
        self.ends = [cue.end for cue in self.cues]
        self.scopes: list[Scope | None] = [None]
        for cue in self.cues:
            self.scopes.append(self._next(self.scopes[-1], cue))

    def status(self, mention: Mention) -> Status:
        """Return the status of a mention."""
        start, end = self.places[mention.start], self.places[mention.end - 1] + len(MENTION)
        scope = self._scope(start, self.places[mention.fragments[-1][0]])
        after, between = self._after(end)
        if after is None or after.status is None:
            return scope.status if scope else "present"
        if scope is None:
            return after.status
        if scope.status == "present":
            asked = self.text.startswith("?", after.start) and self._names(WRITER, scope.cue)
            return "present" if asked else after.status
        own = self.text.rfind(MENTION, scope.cue.end, start) < 0
        if own and scope.status == "denied" and self.text.endswith("free", 0, after.end):
            return "present"
        return scope.status if own or (between and after.status == "present") else after.status

    def _next(self, scope: Scope | None, cue: Cue) -> Scope | None:
        """Return what holds after a phrase, given what holds before it."""
        if cue.after:
            return None if self.text.endswith(f"{MENTION} ", 0, cue.start) else scope
        if cue.status is None:
            return None
        new = Scope(cue.status, cue, cue)
        if scope is None:
            return new
        if cue.status == "present" and scope.status == "other":
            if self._names(WRITER, cue):
                return new
            if self._names(FAMILY, scope.cue):
                return scope
        between = self.text[scope.last.end : cue.start].split()
        if not FILLERS.issuperset(between):
            return new
        return min(scope._replace(last=cue), new, key=lambda each: RANK.index(each.status))

    def _names(self, people: re.Pattern[str], cue: Cue) -> bool:
        """Return whether one of these people is named in a phrase."""
        return people.search(self.text, cue.start, cue.end) is not None

    def _scope(self, start: int, last: int) -> Scope | None:
        """Return what holds for a mention, by the phrases before it and in its gaps.

        Args:
            start: The place of its first word.
            last: The place of its last fragment.
        """
        number = bisect_right(self.ends, start)
        scope = first = self.scopes[number]
        for cue in self.cues[number : bisect_right(self.ends, last)]:
            if not cue.after and cue.status != "present":
                scope = self._next(scope, cue) if cue.status else first
        return None if scope and self._is_for_others(scope.last, start) else scope

    def _is_for_others(self, cue: Cue, start: int) -> bool:
        """Return whether a mention comes after those that are denied one by one.

        So does the cough in "no rash, no fever, mild cough".
        """
        if cue.status != "denied" or not cue.repeated:
            return False
        comma = self.text.rfind(" ,", cue.end, start)
        return comma >= 0 and not IN_OR.match(self.text, comma)

    def _after(self, end: int) -> tuple[Cue | None, bool]:
        """Return the phrase that holds for a mention before it, and whether others are between."""
        number = bisect_left(self.starts, end)
        if number == len(self.after) or self.starts[number] > end + REACH:
            return None, False
        cue = self.after[number]
        between = self.text[end : cue.start].strip()
        listed = MENTION in between and LISTED.fullmatch(between) is not None
        return (cue, listed) if listed or not between else (None, False)


def _plain(sentence: Sentence) -> tuple[str, list[int]]:
    """Return the words in lower case, with a sign for each of a mention, and the place of each.

    Words are split as by default, as other words than these may be separated by spaces alone.
    """
    inside = {word for mention in sentence.mentions for word in mention.words}
    parts: list[str] = []
    places, place = [], 0
    for number, given in enumerate(sentence.words):
        places.append(place)
        word = given.lower().translate(SIGNS)
        if number in inside:
            own = [MENTION, *ENDING.findall(word)]
        else:
            own = [word[start:end] for start, end in SPLITTER.word_ranges(word)]
        parts += own
        place += sum(len(part) + 1 for part in own)
    return " ".join(parts), places


def _cues(text: str) -> list[Cue]:
    """Return the phrases of a sentence in order, without those that are parts of longer ones."""
    found = [
        Cue(match.start(), match.end(), status, after)
        for pattern, status, after in patterns()
        for match in pattern.finditer(text)
    ]
    found.sort(key=lambda cue: (cue.start, -cue.end))
    kept: list[Cue] = []
    seen: set[str] = set()
    longest = {False: (0, 0), True: (0, 0)}
    for cue in found:
        place, word = (cue.start, cue.end), text[cue.start : cue.end]
        if cue.end > longest[cue.after][1] or place == longest[cue.after]:
            kept.append(cue._replace(repeated=word in seen))
            longest[cue.after] = place
            seen.add(word)
    return kept
