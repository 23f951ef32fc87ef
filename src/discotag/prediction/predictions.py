"""The result of `Tagger.predict`: an iterator of documents that a notebook can show."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import floor
from typing import Final, NamedTuple

from discotag.counts import counted
from discotag.mentions import Document, Mention

SHOWN: Final = 5
"""The number of documents that a notebook shows."""


@dataclass(slots=True)
class LeftOut:
    """The mentions that were left out because of their scores, so far.

    Attributes:
        mentions: Their number.
        highest: The highest of their scores.
    """

    mentions: int = 0
    highest: float = 0.0

    def described(self, min_score: float) -> str:
        """Return a line that says that no mention has the score that was asked for."""
        lower = counted(self.mentions, "has a lower score", "have lower scores")
        # Not rounded up, so that the mention is found with this score.
        highest = floor(1000 * self.highest) / 1000
        return (
            f"no mention has a score of at least {min_score:g}; {lower}, the highest is {highest:g}"
        )

    def keep(self, mentions: Sequence[Mention], min_score: float) -> Sequence[Mention]:
        """Return the mentions of at least this score, and count the others."""
        if min_score <= 0 or not mentions:
            return mentions
        low = [each.score or 0.0 for each in mentions if (each.score or 0.0) < min_score]
        self.mentions += len(low)
        self.highest = max(self.highest, *low) if low else self.highest
        return [each for each in mentions if (each.score or 0.0) >= min_score]


class Review(NamedTuple):
    """Which candidates are returned besides mentions.

    Attributes:
        least: Their lowest score.
        distinct: Whether they share no word with mentions and with candidates of a higher score
            that have the same label: other readings of the same words are then left out.
    """

    least: float
    distinct: bool

    def split(
        self, mentions: Iterable[Mention], candidates: Iterable[Mention], min_score: float
    ) -> tuple[list[Mention], list[Mention]]:
        """Return the mentions of at least a score, and all others with the candidates."""
        mentions = list(mentions)
        kept = [each for each in mentions if (each.score or 0.0) >= min_score]
        low = [each for each in mentions if (each.score or 0.0) < min_score]
        others = [each for each in candidates if (each.score or 0.0) >= self.least]
        if self.distinct:
            others = distinct(mentions, others)
        return kept, low + [each for each in others if each not in mentions]


def distinct(mentions: Iterable[Mention], candidates: Iterable[Mention]) -> list[Mention]:
    """Return the candidates that share no word with a mention or a better candidate of their label.

    Whether a candidate is returned does not depend on those with a lower score.

    Example:
        >>> pain = Mention("ADR", [(1, 2)], score=0.2), Mention("ADR", [(1, 3)], score=0.1)
        >>> [each.score for each in distinct([], pain)]
        [0.2]
    """
    taken = {(each.label, place) for each in mentions for place in each.words}
    kept = []
    for each in sorted(candidates, key=lambda one: -(one.score or 0.0)):
        places = {(each.label, place) for place in each.words}
        if taken.isdisjoint(places):
            kept.append(each)
            taken |= places
    return kept


class Predictions(Iterator[Document]):
    """Documents with their mentions, found as they are asked for.

    A notebook that shows this object draws the next documents. They are found for that purpose, and
    kept: iterating afterwards returns them, too, and no document is lost. An error that occurs
    meanwhile is shown, and raised when the iteration comes to it.

    Args:
        documents: The documents.
        left_out: Counts the mentions that `min_score` leaves out of them.

    Attributes:
        left_out: The mentions that `min_score` has left out so far, of documents that were read
            ahead, too.
    """

    def __init__(self, documents: Iterator[Document], left_out: LeftOut | None = None) -> None:
        self.left_out = left_out or LeftOut()
        self._documents = documents
        self._ahead: deque[Document] = deque()
        self._error: Exception | None = None
        self._taken = 0

    def __next__(self) -> Document:
        document = self._ahead.popleft() if self._ahead else self._found()
        self._taken += 1
        return document

    def __repr__(self) -> str:
        taken = counted(self._taken, "document")
        return f"<Predictions, {taken} taken; use list() to get all of them>"

    def _found(self) -> Document:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return next(self._documents)

    def _repr_html_(self) -> str:
        from discotag.render.html_drawing import draw_documents

        while len(self._ahead) < SHOWN and self._error is None:
            try:
                self._ahead.append(next(self._documents))
            except StopIteration:
                break
            except Exception as error:
                self._error = error
        shown = list(islice(self._ahead, SHOWN))
        taken = counted(self._taken, "document was", "documents were")
        note = f"{taken} taken before these; list() gets all that follow."
        if self._error is not None:
            note = f"Then an error occurs: {self._error}"
        elif not shown:
            note = f"There are no more documents; {counted(self._taken, 'was', 'were')} taken."
        return draw_documents(shown, note)
