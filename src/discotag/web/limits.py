"""The bounds of the service, so that no client can take all of its memory or time."""

from __future__ import annotations

from dataclasses import dataclass

from discotag.described import check_fields, described


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on requests; each is answered by an error of its own.

    `describe` tells what those are that the command has options for.

    Attributes:
        max_sentence: The most words of a sentence (413). It is tagged in one go, meanwhile others
            wait.
        buffered: The most bytes of all bodies that are in memory at a time (503).
        header_bytes: The most bytes of the request line and headers (400).
        connections: The most open connections (503).
        idle_seconds: The seconds that a connection may be idle between requests.
        shutdown_seconds: The seconds that requests have to end when the service is stopped.

    Raises:
        InputError: A bound is too low.
    """

    # A thousand posts have about 500,000 bytes; two cores tag about 10,000 words in a second.
    max_body: int = described(4 << 20, "The most bytes of a request.", least=1)
    max_texts: int = described(2000, "The most texts of a request.", least=1)
    max_text: int = described(200_000, "The most characters of a text.", least=1)
    max_words: int = described(100_000, "The most words of a request.", least=1)
    max_waiting: int = described(400_000, "The most words that wait to be tagged.", least=1)
    max_requests: int = described(256, "The most requests at a time.", least=1)
    max_seconds: float = described(60.0, "The most seconds for a request.", least=0.001)
    max_body_seconds: float = described(
        20.0, "The seconds that a client has to send a body.", least=0.001
    )
    max_sentence: int = 5_000
    buffered: int = 64 << 20
    header_bytes: int = 32 << 10
    connections: int = 512
    idle_seconds: float = 30.0
    shutdown_seconds: float = 20.0

    def __post_init__(self) -> None:
        check_fields(self)
