"""An engine: a process that tags batches of sentences for the service, which starts it.

It reads messages from standard input and writes an answer to each to standard output. It ends when
its input does, so that it does not outlive the service. A message is its length in eight bytes,
followed by JSON:

- first `{"models": [[name, folder, runtime, device], ...]}`; answered by `{}` when all are loaded;
- then `{"model": name, "wanted": {...}, "sentences": [[word, ...], ...]}` with fields of `Wanted`,
  answered by `{"found": [...]}` with an item for each sentence, `[mentions, candidates, readings]`.
  Mentions and candidates are `[[label, fragments, score], ...]`, and readings `[[probability,
  [[label, fragments, null], ...]], ...]`.

What cannot be done is answered by `{"error": message}`.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, Final

from discotag.errors import one_line
from discotag.mentions import Mention, Sentence
from discotag.prediction.wanted import Wanted

if TYPE_CHECKING:
    from discotag.prediction.tagger import Tagger

LENGTH: Final = 8
"""The bytes of the length of a message."""

BUDGET: Final = 64
"""The most subwords per call of the encoder on a CPU. Batches of requests have a dozen sentences of
all lengths; in larger calls, up to a third of the subwords would be padding (measured: a text takes
1.46 ms instead of 1.83 in batches of 12)."""

WARM_UP: Final = "The pain I was experiencing around the hipjoints was incredible."
"""A text that is tagged before the first request, because the first call of a model is slow."""


def packed(message: object) -> bytes:
    """Return a message as bytes."""
    content = json.dumps(message).encode()
    return len(content).to_bytes(LENGTH, "big") + content


def main() -> None:
    """Tag batches until standard input ends."""
    for name in (signal.SIGINT, signal.SIGTERM):  # they are for the service, which ends this
        signal.signal(name, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # a warning may have parts of a text
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    taggers: dict[str, Tagger] = {}
    while (message := _read(sys.stdin.buffer)) is not None:
        try:
            answer = _answer(message, taggers)
        except Exception as error:  # a single batch must not end the engine
            private = "sentences" in message  # the error may have parts of a text
            answer = {"error": type(error).__name__ if private else one_line(error)}
        answers.write(packed(answer))
        answers.flush()


def _read(stream: IO[bytes]) -> dict[str, Any] | None:
    """Return the next message, or None at the end."""
    size = stream.read(LENGTH)
    content = stream.read(int.from_bytes(size, "big")) if len(size) == LENGTH else b""
    return json.loads(content) if content else None


def _answer(message: dict[str, Any], taggers: dict[str, Tagger]) -> dict[str, Any]:
    if "models" in message:
        taggers.update(_load(message["models"]))
        return {}
    sentences = [Sentence.unchecked(tuple(words), None, None, 0) for words in message["sentences"]]
    analysed = taggers[message["model"]].analyse(sentences, Wanted(**message["wanted"]))
    return {
        "found": [
            (
                _plain(each.sentence.mentions),
                _plain(each.sentence.candidates),
                [(one.probability, _plain(one.sentence.mentions)) for one in each.alternatives],
            )
            for each in analysed
        ]
    }


def _load(models: Sequence[Sequence[Any]]) -> dict[str, Tagger]:
    from discotag.prediction.loading import load
    from discotag.prediction.runtimes import OnnxRuntime

    found = {}
    for name, folder, runtime, device in models:
        found[name] = tagger = load(folder, runtime=runtime, device=device)
        if isinstance(tagger.runtime, OnnxRuntime) and tagger.runtime.device == "cpu":
            tagger.runtime.budget = BUDGET
        next(tagger.predict([WARM_UP], candidates=False))
    gc.freeze()  # what is loaded stays: garbage collection need not look at it again and again
    return found


def _plain(mentions: Sequence[Mention]) -> list[tuple[Any, ...]]:
    return [(each.label, each.fragments, each.score) for each in mentions]
