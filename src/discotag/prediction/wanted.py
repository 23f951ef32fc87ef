"""What a caller wants of a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from discotag.described import check_fields, described, plain
from discotag.errors import InputError
from discotag.mentions import Mention
from discotag.model.config import MOST_BIAS


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a caller wants of a prediction.

    Every way to ask for one takes these options: `Tagger.predict` and its relatives, the options of
    `discotag predict`, the fields of requests to the service, the configuration of the spaCy
    component, engines and pipelines. They are made from this declaration.

    Attributes:
        labels: Only find mentions of these labels; none: of all labels of the model. The mentions
            of the others take part in the choice of readings and are left out afterwards.
        min_score: Leave out mentions with a lower probability.
        bias: What is added to the log-odds of each mention when readings are compared, besides the
            model's own `config.bias`. 0 is the model's own setting; above 0, more mentions are
            found and more of them are wrong; below 0, fewer are found. With 1, a mention is
            preferred as if its odds were e = 2.7 times as high.
        candidates: Whether sentences get `candidates`, besides their mentions: what a person should
            look at so that few mentions are missed, as the guarantee of the model says. By default,
            they do if the model has one; see `discotag.find_guarantee`. A number is the lowest
            score of candidates, which needs no guarantee. Mentions that `min_score` leaves out are
            candidates, too.
        batch_size: The most sentences of a batch; by default, batches are limited by their number
            of subwords only.
        alternatives: The most readings of a sentence to return besides, for `Tagger.analyse` and
            the service. With a mention scorer or a bias, up to eight of each region are listed.
            With semantic naming, they are those of twice as many tag sequences, so a reading with
            many namings may be missed. With `labels`, readings that differ in other labels only
            are one, whose probability is the sum of those that were listed; that of the prediction
            is still the first one.
        marginals: Whether to return the probabilities of tags, for `Tagger.analyse`.
        compared: Whether to return the score of every mention that was compared, for
            `Tagger.analyse`.

    Raises:
        InputError: If a value has a wrong type or is out of range.

    Example:
        >>> Wanted(labels="ADR", min_score=0.5).labels
        ('ADR',)
        >>> Wanted(min_score=2)
        Traceback (most recent call last):
        ...
        discotag.errors.InputError: min_score must be from 0 to 1; got 2.0
    """

    labels: tuple[str, ...] = described(
        (),
        "Only find mentions of this label; may be repeated.",
        default_text="all labels of the model",
    )
    min_score: float = described(0.0, "Leave out mentions of a lower probability.", least=0, most=1)
    bias: float = described(
        0.0,
        "What is added to the log-odds of each mention: above 0 finds more mentions and makes more "
        "mistakes, below 0 finds fewer; 0 is the model's own setting.",
        least=-MOST_BIAS,
        most=MOST_BIAS,
    )
    candidates: bool | float | None = described(
        None,
        "Whether to add candidates to review, so that few mentions are missed.",
        default_text="if the model has a guarantee, see discotag calibrate",
    )
    batch_size: int | None = described(
        None, "The most sentences in a batch.", least=1, default_text="by their length"
    )
    alternatives: int = described(
        0, "Also return the most probable readings of each sentence, up to this many.", least=0
    )
    marginals: bool = False
    compared: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        score = self.candidates
        if score is not None and not isinstance(score, bool) and not 0 < score <= 1:
            raise InputError(f"candidates must be a score above 0, up to 1; got {score!r}")

    @classmethod
    def made(cls, wanted: Wanted | None, options: Mapping[str, Any]) -> Wanted:
        """Return what is wanted, changed by options that are given besides."""
        if wanted is None:
            return cls(**options)
        return replace(wanted, **options) if options else wanted

    def check_labels(self, known: Iterable[str]) -> None:
        """Raise `InputError` if a model with these labels does not have one that is wanted."""
        labels = tuple(known)
        missing = [each for each in self.labels if each not in labels]
        if missing:
            raise InputError(
                f"the model has no label {missing[0]!r}; its labels are {', '.join(labels)}"
            )

    def kept(self, mentions: Iterable[Mention]) -> list[Mention]:
        """Return the mentions that have one of the labels."""
        return [each for each in mentions if not self.labels or each.label in self.labels]

    def record(self) -> dict[str, Any]:
        """Return all options as plain data, by their names on the command line."""
        return {
            f"--{each.name.replace('_', '-')}": plain(getattr(self, each.name))
            for each in fields(self)
        }


MENTIONS_ONLY: Final = Wanted(candidates=False)
