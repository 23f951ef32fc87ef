"""Versions of a document: what one annotator has made of it.

A version begins with the mentions of the corpus, which are accepted, and in sentences without any
those of the model, which are proposed. Each action makes a new version of it; see
`discotag.annotate.versions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from discotag.annotate.actions import Action, Kind
from discotag.counts import counted
from discotag.errors import DiscotagError
from discotag.mentions import Document, Mention, Sentence, check_inside

Origin = Literal["model", "corpus", "person"]
Status = Literal["proposed", "accepted"]


class RefusedError(DiscotagError):
    """An action that cannot be applied to a version.

    Attributes:
        code: `conflict` if the version is no longer as the action assumes, `invalid` if the action
            can never be applied.
    """

    def __init__(self, code: Literal["conflict", "invalid"], message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Held:
    """A mention of a version.

    Attributes:
        mention: The mention; its score is that of the model.
        origin: Who made it.
        status: Whether a person has accepted it.
    """

    mention: Mention
    origin: Origin
    status: Status


Sentences = tuple[tuple[Held, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """An action that can be undone or redone.

    Attributes:
        name: What it did, such as `add ADR “sore toes”`.
        sentences: The mentions before it, or after it if it was undone.
        finished: Whether the version was finished then.
    """

    name: str
    sentences: Sentences
    finished: bool


@dataclass(frozen=True, slots=True)
class Version:
    """A document as one annotator has left it.

    Attributes:
        document: The document, for its words.
        sentences: The mentions of each sentence, sorted.
        finished: Whether the annotator has finished it.
        revision: The number of actions that made it.
        past: The steps that can be undone, the last one first to go.
        future: The steps that can be redone, the last one first to go.
    """

    document: Document
    sentences: Sentences
    finished: bool = False
    revision: int = 0
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()

    @property
    def mentions(self) -> tuple[tuple[Mention, ...], ...]:
        """The mentions of each sentence, also those that are only proposed."""
        return tuple(tuple(each.mention for each in held) for held in self.sentences)

    @property
    def accepted(self) -> tuple[tuple[Mention, ...], ...]:
        """The accepted mentions of each sentence."""
        return tuple(
            tuple(each.mention for each in held if each.status == "accepted")
            for held in self.sentences
        )


def begin(document: Document, proposals: Sequence[Iterable[Mention]] | None = None) -> Version:
    """Return the version that an annotator begins with.

    Args:
        document: The document with the mentions of the corpus.
        proposals: The mentions that the model found in each sentence, if it has been asked.
    """
    found: list[tuple[Held, ...]] = []
    for number, sentence in enumerate(document.sentences):
        if sentence.mentions:
            own = dict.fromkeys(mention.with_score(None) for mention in sentence.mentions)
            held = [Held(mention, "corpus", "accepted") for mention in own]
        elif proposals is not None:
            held = [Held(mention, "model", "proposed") for mention in proposals[number]]
        else:
            held = []
        found.append(in_order(held))
    return Version(document, tuple(found))


def in_order(held: Iterable[Held]) -> tuple[Held, ...]:
    """Return mentions sorted by position."""
    return tuple(sorted(held, key=lambda each: each.mention))


MOST_STEPS: Final = 500
"""The number of actions that can be undone: each keeps the mentions that were there before it."""

MOST_SPELLED: Final = 40
"""The most characters of a mention in the name of an action."""


def apply(version: Version, action: Action) -> Version:
    """Return the version after an action.

    Raises:
        RefusedError: The action does not fit the version.
    """
    if action.kind in ("undo", "redo"):
        return _stepped(version, action.kind)
    if version.finished and action.kind not in ("finish", "reopen"):
        raise RefusedError("conflict", "this document is finished; reopen it to change it")
    name, sentences, finished = CHANGES[action.kind](version, action)
    step = Step(name, version.sentences, version.finished)
    return Version(
        version.document,
        sentences,
        finished,
        version.revision + 1,
        (*version.past[-(MOST_STEPS - 1) :], step),
    )


def fold(version: Version, actions: Iterable[Action]) -> Version:
    """Return the version after several actions; raises as `apply`."""
    for action in actions:
        version = apply(version, action)
    return version


Change = tuple[str, Sentences, bool]
"""The name of a change, the mentions after it, and whether the version is then finished."""


def _add(version: Version, action: Action) -> Change:
    number, sentence, mention = _place(version, action, action.mention)
    held = version.sentences[number]
    there = _find(held, mention)
    if there is not None and there.status == "accepted":
        raise RefusedError("conflict", f"{_named(sentence, mention)} is there already")
    new = Held(mention, "person", "accepted")
    if there is not None:  # somebody drew what the model has proposed
        new = replace(there, status="accepted")
    held = in_order([*(each for each in held if each is not there), new])
    return f"add {_named(sentence, mention)}", _with(version, number, held), False


def _remove(version: Version, action: Action) -> Change:
    number, sentence, mention = _place(version, action, action.mention)
    old = _existing(version, number, sentence, mention)
    held = tuple(each for each in version.sentences[number] if each is not old)
    return f"remove {_named(sentence, mention)}", _with(version, number, held), False


def _accept(version: Version, action: Action) -> Change:
    number, sentence, mention = _place(version, action, action.mention)
    old = _existing(version, number, sentence, mention)
    if old.status == "accepted":
        raise RefusedError("conflict", f"{_named(sentence, mention)} is accepted already")
    held = tuple(_accepted(each) if each is old else each for each in version.sentences[number])
    return f"accept {_named(sentence, mention)}", _with(version, number, held), False


def _change(version: Version, action: Action) -> Change:
    number, sentence, mention = _place(version, action, action.mention)
    _, _, to = _place(version, action, action.to)
    old = _existing(version, number, sentence, mention)
    if to == mention:
        raise RefusedError("conflict", f"{_named(sentence, mention)} would stay as it is")
    if _find(version.sentences[number], to) is not None:
        raise RefusedError("conflict", f"{_named(sentence, to)} is there already")
    rest = [each for each in version.sentences[number] if each is not old]
    held = in_order([*rest, Held(to, "person", "accepted")])
    name = f"change {_named(sentence, mention)} to {_named(sentence, to)}"
    return name, _with(version, number, held), False


def _accept_all(version: Version, action: Action) -> Change:
    count = sum(each.status == "proposed" for held in version.sentences for each in held)
    if not count:
        raise RefusedError("conflict", "there is no proposal left to accept")
    return f"accept {counted(count, 'proposal')}", _all_accepted(version), False


def _finish(version: Version, action: Action) -> Change:
    if version.finished:
        raise RefusedError("conflict", "this document is finished already")
    return "finish the document", _all_accepted(version), True


def _reopen(version: Version, action: Action) -> Change:
    if not version.finished:
        raise RefusedError("conflict", "this document is open already")
    return "reopen the document", version.sentences, False


CHANGES: Final[dict[Kind, Callable[[Version, Action], Change]]] = {
    "add": _add,
    "remove": _remove,
    "accept": _accept,
    "change": _change,
    "accept_all": _accept_all,
    "finish": _finish,
    "reopen": _reopen,
}


def _stepped(version: Version, kind: Kind) -> Version:
    """Return the version after the last action is undone, or the last one that was is redone."""
    past, future = version.past, version.future
    steps = past if kind == "undo" else future
    if not steps:
        raise RefusedError("conflict", f"there is nothing to {kind}")
    step = steps[-1]
    back = Step(step.name, version.sentences, version.finished)
    if kind == "undo":
        past, future = past[:-1], (*future, back)
    else:
        past, future = (*past, back), future[:-1]
    revision = version.revision + 1
    return Version(version.document, step.sentences, step.finished, revision, past, future)


def _place(
    version: Version, action: Action, mention: Mention | None
) -> tuple[int, Sentence, Mention]:
    """Return the number of the sentence, the sentence and the mention of an action, checked."""
    number = action.sentence
    if number is None or mention is None:
        raise RefusedError("invalid", f"{action.kind} needs a sentence and a mention")
    if not 0 <= number < len(version.document.sentences):
        raise RefusedError("invalid", f"the document has no sentence {number}")
    sentence = version.document.sentences[number]
    try:
        check_inside(mention, len(sentence.words))
    except DiscotagError as error:
        raise RefusedError("invalid", str(error)) from None
    return number, sentence, mention


def _existing(version: Version, number: int, sentence: Sentence, mention: Mention) -> Held:
    found = _find(version.sentences[number], mention)
    if found is None:
        raise RefusedError("conflict", f"{_named(sentence, mention)} is no longer there")
    return found


def _find(held: Sequence[Held], mention: Mention) -> Held | None:
    return next((each for each in held if each.mention == mention), None)


def _with(version: Version, number: int, held: tuple[Held, ...]) -> Sentences:
    return (*version.sentences[:number], held, *version.sentences[number + 1 :])


def _accepted(held: Held) -> Held:
    return held if held.status == "accepted" else replace(held, status="accepted")


def _all_accepted(version: Version) -> Sentences:
    return tuple(tuple(map(_accepted, held)) for held in version.sentences)


def _named(sentence: Sentence, mention: Mention) -> str:
    """Return a mention as the name of an action shows it."""
    (spelled,) = sentence.with_mentions([mention]).mentions
    text = " ".join((spelled.text or "").split())
    if len(text) > MOST_SPELLED:
        text = f"{text[:MOST_SPELLED]}…"
    return f"{mention.label} “{text}”"
