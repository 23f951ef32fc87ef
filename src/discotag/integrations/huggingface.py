"""A tagger as a callable like the pipelines of Hugging Face: text in, plain dictionaries out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from discotag.prediction.loading import load
from discotag.prediction.tagger import Tagger
from discotag.prediction.wanted import MENTIONS_ONLY, Wanted

Found = list[dict[str, Any]]
"""The mentions of a text, as `Mention.to_dict` describes them."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Finds mentions in texts, and returns them as plain dictionaries; made by `pipeline`.

    Attributes:
        tagger: The tagger.
        wanted: What is wanted of it.
    """

    tagger: Tagger
    wanted: Wanted = MENTIONS_ONLY

    @overload
    def __call__(self, texts: str) -> Found: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(  # type: ignore[overload-overlap]  # a list is read at once
        self, texts: list[str] | tuple[str, ...]
    ) -> list[Found]: ...
    @overload
    def __call__(self, texts: Iterable[str]) -> Iterator[Found]: ...
    def __call__(self, texts: str | Iterable[str]) -> Found | list[Found] | Iterator[Found]:
        """Return the mentions of a text, or those of each of several texts.

        Args:
            texts: A text, a list of texts, or any other iterable, which is read lazily.

        Returns:
            For a text, a list of dictionaries with `label`, `text`, `spans` (characters),
            `fragments` (words) and `score`; for a list of texts, a list of such lists; for another
            iterable, an iterator over them.
        """
        if isinstance(texts, str):
            return next(self._each([texts]))
        found = self._each(texts)
        return list(found) if isinstance(texts, list | tuple) else found

    def _each(self, texts: Iterable[str]) -> Iterator[Found]:
        documents = self.tagger.predict(texts, self.wanted)
        return ([mention.to_dict() for mention in each.mentions] for each in documents)


def pipeline(
    model: str | Path | Tagger | None = None,
    *,
    runtime: str | None = None,
    device: str | None = None,
    wanted: Wanted | None = None,
    **options: Any,
) -> Pipeline:
    """Return a callable that finds mentions in texts.

    It does not need transformers.

    Args:
        model: A folder, a name on the hub, or a tagger; by default, the bundled model.
        runtime: As in `discotag.load`.
        device: As in `discotag.load`.
        wanted: What is wanted of the model. There are no candidates.
        options: Fields of `discotag.prediction.Wanted`, such as `min_score`, instead of those of
            `wanted`.

    Example:
        >>> find = pipeline(min_score=0.5)
        >>> (mention,) = find("The pain I felt around the hipjoints was bad.")
        >>> mention["label"], mention["text"], mention["spans"]
        ('ADR', 'pain hipjoints', [[4, 8], [27, 36]])
    """
    tagger = model if isinstance(model, Tagger) else load(model, runtime=runtime, device=device)
    return Pipeline(tagger, Wanted.made(wanted, {**options, "candidates": False}))
