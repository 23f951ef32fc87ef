"""Reads the three-line inline format, for tests only."""

from collections.abc import Iterable, Iterator

from discotag import Mention, Sentence


def read_inline(lines: Iterable[str]) -> Iterator[Sentence]:
    """Words; `start,end,start,end LABEL|…`, inclusive; an empty line."""
    rows = [line.rstrip("\n") for line in lines]
    for words, mentions in zip(rows[::3], rows[1::3], strict=True):
        yield Sentence(words.split(), [_mention(m) for m in mentions.split("|") if m])


def _mention(text: str) -> Mention:
    numbers, label = text.split(" ")
    ends = [int(number) for number in numbers.split(",")]
    return Mention(
        label, [(start, end + 1) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    )
