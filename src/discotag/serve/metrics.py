"""Figures of the service for Prometheus; no label ever has text of a client."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
"""The bounds of times; a short text takes 3 ms."""

SENTENCES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""The bounds of the sizes of batches."""

TYPE: Final = CONTENT_TYPE_LATEST


class Metrics:
    """The figures of one service."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "discotag_requests", "Requests.", ("path", "status"), registry=registry
        )
        self.seconds = Histogram(
            "discotag_request_seconds",
            "Time from the headers of a request to the end of its answer.",
            ("path",),
            buckets=SECONDS,
            registry=registry,
        )
        self.batches = Histogram(
            "discotag_batch_sentences",
            "Sentences of a batch.",
            buckets=SENTENCES,
            registry=registry,
        )
        self.words = Counter("discotag_words", "Words that were tagged.", registry=registry)
        self.mentions = Counter(
            "discotag_mentions", "Mentions that were found.", ("model", "label"), registry=registry
        )
        self.restarts = Counter(
            "discotag_engine_restarts", "Engines that ended and were replaced.", registry=registry
        )
        self.waiting = Gauge(
            "discotag_waiting_words", "Words that wait or are being tagged.", registry=registry
        )
        self.engines = Gauge("discotag_engines", "Engines that are ready.", registry=registry)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """Return all figures in the format of Prometheus."""
        return generate_latest(self._registry)
