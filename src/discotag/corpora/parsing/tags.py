"""Tags of words, in BIO (IOB1 or IOB2), BIOES, BILOU or BMES."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from discotag.mentions import Mention

TAG: Final = re.compile(r"O|[BIESLUM]-(.+)")
BARE_TAG: Final = re.compile(r"[BIESLUM]")

BEGINS: Final = frozenset("BSU")
ENDS: Final = frozenset("ESLU")


def is_tag(text: str) -> bool:
    """Return whether a text is `O`, or a letter and a printable label such as `B-ADR`."""
    match = TAG.fullmatch(text)
    return match is not None and (match[1] is None or match[1].isprintable())


def flaw_of(tag: str) -> str | None:
    """Return what is wrong with a tag; None if it is good.

    Example:
        >>> flaw_of("B")
        "the tag 'B' has no label; write B-LABEL"
    """
    if BARE_TAG.fullmatch(tag):
        return f"the tag {tag!r} has no label; write {tag}-LABEL"
    return None if is_tag(tag) else f"a tag must be O or look like B-LABEL, got {tag!r}"


def untagged(tags: Iterable[str]) -> tuple[list[Mention], list[int]]:
    """Return the mentions that tags encode, and the words where one begins with a wrong tag.

    Example:
        >>> mentions, wrong = untagged(["O", "I-ADR", "I-ADR", "B-ADR"])
        >>> [str(mention) for mention in mentions], wrong
        (['ADR [1:3]', 'ADR [3:4]'], [1])
    """
    mentions: list[Mention] = []
    wrong: list[int] = []
    start, label = 0, ""  # of the open mention; the label is empty if there is none
    number = -1
    for number, tag in enumerate(tags):
        letter, new = tag[0], tag[2:]
        begins = letter in BEGINS or (new != "" and new != label)
        if label and (begins or not new):
            mentions.append(Mention(label, ((start, number),)))
            label = ""
        if begins:
            start, label = number, new
            if letter not in BEGINS:
                wrong.append(number)
        if letter in ENDS:
            mentions.append(Mention(label, ((start, number + 1),)))
            label = ""
    if label:
        mentions.append(Mention(label, ((start, number + 1),)))
    return mentions, wrong
