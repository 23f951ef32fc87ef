"""The guarantee of a model: which candidates to return so that few mentions are missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal, get_args

from discotag.described import is_number
from discotag.errors import InputError

Count = Literal["mentions", "documents"]
Unit = Literal["documents", "sentences"]
Match = Literal["exact", "overlap"]

MOST: Final = {"documents": 10, "sentences": 4}
"""The most mentions that a unit counts as. They must not be chosen by the sample."""

CHOICES: Final = {"count": get_args(Count), "unit": get_args(Unit), "match": get_args(Match)}


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A threshold for candidates, and what it guarantees; see `discotag.find_guarantee`.

    Attributes:
        threshold: The lowest score of candidates.
        target_recall: The share of mentions or documents that is found at least.
        confidence: The probability, over samples of labelled text, with which this holds.
        count: Whether it is the share of mentions, or of documents with a mention.
        unit: What text like that of the sample consists of, independent of each other.
        match: Whether a mention is found by a candidate that is the same, or that shares a word.
        units: The number of units with mentions in the sample.
        runtime: The runtime that computed the scores; others compute slightly different ones.
    """

    threshold: float
    target_recall: float
    confidence: float
    count: Count
    unit: Unit
    match: Match
    units: int
    runtime: str

    def __post_init__(self) -> None:
        for name in ("threshold", "target_recall", "confidence"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value < 1:
                raise TypeError(f"{name} must be between 0 and 1, got {value!r}")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise TypeError(
                    f"{name} must be {' or '.join(choices)}, got {getattr(self, name)!r}"
                )
        if type(self.units) is not int or self.units < 1:
            raise TypeError(f"units must be a whole number above 0, got {self.units!r}")
        if not isinstance(self.runtime, str):
            raise TypeError(f"runtime must be text, got {self.runtime!r}")

    @classmethod
    def from_dict(cls, data: object) -> Guarantee:
        """Return the guarantee that `dataclasses.asdict` gave as plain data.

        Raises:
            TypeError: If the data is not that of a guarantee.
        """
        if not isinstance(data, Mapping) or data.keys() != {each.name for each in fields(cls)}:
            raise TypeError(f"must have the fields of a guarantee, got {data!r}")
        return cls(**data)

    @property
    def distinct(self) -> bool:
        """Whether candidates that share words with others add nothing: one of them is enough."""
        return self.count == "documents" or self.match == "overlap"

    def __str__(self) -> str:
        finds = "finds" if self.match == "exact" or self.count == "documents" else "touches"
        what = f"the {self.unit} with a mention"
        if self.count == "mentions":
            most = MOST[self.unit]
            what = f"the mentions (a {self.unit[:-1]} with more than {most} counts as {most})"
        return (
            f"{finds} at least {self.target_recall} of {what}, with confidence "
            f"{self.confidence}, in text like the {self.units:,} {self.unit} with mentions "
            "that it was measured on"
        )


def usable(guarantee: Guarantee | None, runtime: str, bias: float) -> Guarantee:
    """Return the guarantee of a model if it holds for a prediction.

    Args:
        guarantee: The guarantee, or None.
        runtime: The runtime of the prediction.
        bias: What the prediction adds to the log-odds of mentions.

    Raises:
        InputError: There is no guarantee, or it was measured in another way.
    """
    if guarantee is None:
        raise InputError(
            "this model has no guarantee, which says what its candidates are; discotag calibrate "
            "finds one on labelled text"
        )
    if guarantee.runtime != runtime:
        raise InputError(
            f"the guarantee of this model was measured with the runtime {guarantee.runtime}, not "
            f"with {runtime}: use the runtime {guarantee.runtime}, or no candidates "
            "(--no-candidates, in Python candidates=False)"
        )
    if bias:
        raise InputError(
            f"the guarantee of this model was measured with a bias of 0, not {bias:g}: leave out "
            "the bias, or use no candidates (--no-candidates)"
        )
    return guarantee
