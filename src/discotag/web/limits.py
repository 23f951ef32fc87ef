"""The bounds of the service, so that no client can take all of its memory or time."""

from __future__ import annotations

from dataclasses import dataclass, fields

from discotag.errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on requests; each is answered by an error of its own.

    Attributes:
        body: The most bytes of a body (413). A thousand posts have about 500,000.
        body_seconds: The seconds that a client has to send a body (408).
        header_bytes: The most bytes of the request line and headers (400).
        idle_seconds: The seconds that a connection may be idle between requests.
        connections: The most open connections (503).
        requests: The most requests at a time (503).
        buffered: The most bytes of all bodies that are in memory at a time (503).
        texts: The most texts, or sentences of words, of a request (413).
        text: The most characters of a text (413).
        words: The most words of a request (413). Two cores tag about 10,000 in a second.
        sentence: The most words of a sentence (413). It is tagged in one go, meanwhile others wait.
        waiting: The most words of all requests that wait to be tagged (503).
        seconds: The seconds after which a request is given up (504).
        shutdown_seconds: The seconds that requests have to end when the service is stopped.
    """

    body: int = 4 << 20
    body_seconds: float = 20.0
    header_bytes: int = 32 << 10
    idle_seconds: float = 30.0
    connections: int = 512
    requests: int = 256
    buffered: int = 64 << 20
    texts: int = 2000
    text: int = 200_000
    words: int = 100_000
    sentence: int = 5_000
    waiting: int = 400_000
    seconds: float = 60.0
    shutdown_seconds: float = 20.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise InputError(f"the limit {each.name} must be above 0, got {value}")
