"""Finding mentions for requests: documents, shared batches, and what was found."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

from discotag.errors import InputError, one_line
from discotag.mentions import Document
from discotag.model.guarantee import usable
from discotag.prediction.wanted import Wanted
from discotag.serve.answers import check_size, fill, make_documents
from discotag.serve.batching import Scheduler
from discotag.serve.engine import Found, Task
from discotag.serve.metrics import Metrics
from discotag.serve.models import ServedModel
from discotag.serve.schemas import PredictRequest
from discotag.web.errors import ServiceError
from discotag.web.protection import Policy

P = ParamSpec("P")
R = TypeVar("R")

LONG: Final = 10_000
"""The characters from which a request is handled by a thread; splitting that many takes 2 ms."""


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes share.

    Attributes:
        models: The models; the first is the default.
        policy: Who may use the service.
        scheduler: Gives batches to engines.
        metrics: Counts.
    """

    models: Sequence[ServedModel]
    policy: Policy
    scheduler: Scheduler
    metrics: Metrics

    async def find(
        self, request: PredictRequest, model: ServedModel, wanted: Wanted
    ) -> tuple[list[Document], list[Found]]:
        """Return documents with mentions, and what an engine found in each sentence.

        Raises:
            ServiceError: There is too much to tag, it takes too long, or the model does not have
                what is wanted.
        """
        limits = self.policy.limits
        try:
            wanted.check_labels(model.scheme.labels)
        except InputError as error:
            raise ServiceError(422, "unknown_label", one_line(error)) from None
        if wanted.candidates:
            try:
                usable(model.config.guarantee, model.runtime, wanted.bias)
            except InputError as error:
                raise ServiceError(422, "no_candidates", one_line(error)) from None
        try:
            async with asyncio.timeout(limits.max_seconds):
                size = check_size(request, limits)
                splitter = model.config.splitter()
                documents = await aside(size, make_documents, request, splitter, limits)
                words = [each.words for document in documents for each in document.sentences]
                found = await self.scheduler.tag(Task(model.name, wanted), words)
        except TimeoutError:
            raise ServiceError(
                504, "too_late", f"the texts were not tagged within {limits.max_seconds:g} s"
            ) from None
        self.metrics.words.inc(sum(map(len, words)))
        filled = await aside(size, fill, documents, found)
        labels = Counter(
            mention.label
            for document in filled
            for sentence in document.sentences
            for mention in sentence.mentions
        )
        for label, number in labels.items():
            self.metrics.mentions.labels(model.name, label).inc(number)
        return filled, found


async def aside(size: int, function: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """Call a function, in a thread if it has much to do, so that other requests need not wait.

    Args:
        size: The characters or bytes that it works on.
        function: The function.
        given: Its arguments.
        named: The same.
    """
    if size <= LONG:
        return function(*given, **named)
    return await asyncio.to_thread(function, *given, **named)
