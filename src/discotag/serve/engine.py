"""An engine: a process that tags batches of sentences for the service, which starts it.

It reads messages from standard input and writes an answer to each to standard output. It ends when
its input does, so that it does not outlive the service. Messages and answers are pickled, after
their length in eight bytes:

- first a list of `Source`; answered by an empty list when all are loaded;
- then a `Task` and lists of words; answered by a `Found` for each of them.

What cannot be done is answered by a message, a text.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from discotag.errors import one_line
from discotag.mentions import Mention, Sentence
from discotag.prediction.wanted import MENTIONS_ONLY, Wanted

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


@dataclass(frozen=True, slots=True)
class Source:
    """What an engine loads a model from.

    Attributes:
        name: The name of the model in the service.
        folder: The folder of the model.
        runtime: As in `discotag.load`.
        device: As in `discotag.load`.
    """

    name: str
    folder: str
    runtime: str | None = None
    device: str | None = None


class Task(NamedTuple):
    """What to do with sentences; those with the same task share batches.

    Attributes:
        model: The name of the model.
        wanted: What is wanted of it.
    """

    model: str
    wanted: Wanted = MENTIONS_ONLY


class Found(NamedTuple):
    """What is found in a sentence.

    Attributes:
        mentions: Its mentions.
        candidates: Its candidates.
        alternatives: Its most probable readings: the probability and the mentions of each.
    """

    mentions: Sequence[Mention]
    candidates: Sequence[Mention] = ()
    alternatives: Sequence[tuple[float, Sequence[Mention]]] = ()


def packed(message: object) -> bytes:
    """Return a message as bytes."""
    content = pickle.dumps(message)
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
        answer: list[Found] | str = []
        try:
            if taggers:
                task, sentences = message
                answer = _find(task, sentences, taggers)
            else:
                taggers = _load(message)
        except Exception as error:  # a single batch must not end the engine
            # The error of a batch may have parts of a text.
            answer = type(error).__name__ if taggers else one_line(error)
        answers.write(packed(answer))
        answers.flush()


def _read(stream: IO[bytes]) -> Any:
    """Return the next message, or None at the end."""
    size = stream.read(LENGTH)
    content = stream.read(int.from_bytes(size, "big")) if len(size) == LENGTH else b""
    return pickle.loads(content) if content else None


def _find(
    task: Task, sentences: Sequence[Sequence[str]], taggers: Mapping[str, Tagger]
) -> list[Found]:
    given = [Sentence.unchecked(tuple(words), None, None, 0) for words in sentences]
    return [
        Found(
            each.sentence.mentions,
            each.sentence.candidates,
            [(one.probability, one.sentence.mentions) for one in each.alternatives],
        )
        for each in taggers[task.model].analyse(given, task.wanted)
    ]


def _load(sources: Sequence[Source]) -> dict[str, Tagger]:
    from discotag.prediction.loading import load
    from discotag.prediction.runtimes import OnnxRuntime

    found = {}
    for each in sources:
        found[each.name] = tagger = load(each.folder, runtime=each.runtime, device=each.device)
        if isinstance(tagger.runtime, OnnxRuntime) and tagger.runtime.device == "cpu":
            tagger.runtime.budget = BUDGET
        next(tagger.predict([WARM_UP], candidates=False))
    gc.freeze()  # what is loaded stays: garbage collection need not look at it again and again
    return found
