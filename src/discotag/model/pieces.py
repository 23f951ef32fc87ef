"""Words to subwords: what the encoder reads, and where each word stands in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from discotag.errors import DiscotagError
from discotag.model.config import ModelConfig

Indices = npt.NDArray[np.int64]

MOST_PIECES: Final = 32
"""A longer word keeps its first subwords: it is still one word with one tag, and what makes it
that long (a link, a sequence of bases) says nothing more to an encoder."""

MOST_CHARACTERS: Final = 1000
"""Of a word that are looked at: far more than 32 subwords have, and it bounds the time."""

MOST_REMEMBERED: Final = 1 << 17
"""Words whose subwords are remembered; a word costs some 200 bytes."""

UNKNOWN: Final = ("[UNK]", "<unk>", "<|endoftext|>", "[PAD]", "<pad>")
"""What may stand for a word that vanishes, where the tokenizer itself does not say."""


class InvalidTokenizer(DiscotagError):
    """A `tokenizer.json` that cannot be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One sentence as the encoder reads it.

    Attributes:
        windows: Subwords by number, special ones included; at least one window.
        places: (words, 2): for each word the window, and the position in it, of its first subword;
            of two windows that have it, the one where it stands further from the edge.
    """

    windows: list[list[int]]
    places: Indices

    @property
    def size(self) -> int:
        """How many subwords the windows have together."""
        return sum(map(len, self.windows))


class Pieces:
    """A tokenizer for sentences that are words already.

    Every word gets at least one subword: the unknown one, if nothing is left of it after
    normalisation. A sentence with more subwords than a window has is cut into windows that overlap.

    Args:
        tokenizer: Of the `tokenizers` library. It is changed: it no longer cuts off or pads.
        config: Says how long windows are.
    """

    def __init__(self, tokenizer: Tokenizer, config: ModelConfig) -> None:
        self.pad_id = _pad_id(tokenizer)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
        self.tokenizer = tokenizer
        self.unknown_id = _unknown_id(tokenizer)
        self.before, self.after = _special_ids(tokenizer)
        self.room = config.window - len(self.before) - len(self.after)
        if self.room < 1:
            raise InvalidTokenizer(
                f"its {len(self.before) + len(self.after)} special subwords fill the window of "
                f"{config.window}"
            )
        # A further window begins at the first subword of a word, so no word may fill the step.
        self.stride = max(1, self.room - min(config.overlap, self.room // 2))
        self.most = min(MOST_PIECES, self.stride)
        self._remembered: dict[str, tuple[int, ...]] = {}

    @classmethod
    def from_file(cls, path: str | Path, config: ModelConfig) -> Pieces:
        """Read a `tokenizer.json`.

        Raises:
            InvalidTokenizer: It is not there, or cannot be read.
        """
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidTokenizer(f"{path}: cannot be read: {error}") from None
        try:
            return cls.from_json(text, config)
        except InvalidTokenizer as error:
            raise InvalidTokenizer(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, text: str, config: ModelConfig) -> Pieces:
        """Read the text of a `tokenizer.json`; raises as `from_file`."""
        try:
            if '"ByteLevel"' in text:
                text = _with_prefix_spaces(text)
            return cls(Tokenizer.from_str(text), config)
        except InvalidTokenizer:
            raise
        except Exception as error:  # the library raises plain Exception
            line = " ".join(str(error).split()) or type(error).__name__
            raise InvalidTokenizer(f"not a tokenizer that can be read: {line}") from None

    def fit_encoder(self, vocabulary: object, pad_id: object) -> None:
        """Take the encoder's subword of padding, and check that the encoder knows all subwords.

        Args:
            vocabulary: How many subwords the encoder has; not a number where it does not say.
            pad_id: The encoder's own, by which some count positions; None for the tokenizer's.

        Raises:
            InvalidTokenizer: A subword that text can give is beyond the encoder's vocabulary.
        """
        if type(pad_id) is int:
            self.pad_id = pad_id
        if type(vocabulary) is not int:
            return
        special = {
            number
            for number, token in self.tokenizer.get_added_tokens_decoder().items()
            if token.special  # never found in text
        }
        known = self.tokenizer.get_vocab(with_added_tokens=True).items()
        own = {number: name for name, number in known if number not in special}
        ids = [*self.before, *self.after, self.pad_id, self.unknown_id, *own]
        low, high = min(ids), max(ids)
        if low < 0 or high >= vocabulary:
            wrong = low if low < 0 else high
            raise InvalidTokenizer(
                f"it gives subword {wrong} ({own.get(wrong, 'a special one')!r}), but the "
                f"encoder's vocabulary has {vocabulary}: 0 to {vocabulary - 1}"
            )

    def as_json(self) -> str:
        """The text of a `tokenizer.json` that gives the same subwords."""
        return str(self.tokenizer.to_str(pretty=True))

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
        """The sentences, each a list of words, as the encoder reads them."""
        known = self._remembered
        new = {word for words in sentences for word in words if word not in known}
        if len(known) + len(new) > MOST_REMEMBERED:
            # Another dictionary, not an emptied one: other threads may still look into this.
            known = self._remembered = {}
            new = {word for words in sentences for word in words}
        if new:
            known.update(self._cut(sorted(new)))
        if len(known) > MOST_REMEMBERED:
            self._remembered = {}
        return [self._encode([known[word] for word in words]) for words in sentences]

    def _cut(self, words: list[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
        """For each word its subwords; a word is cut the same way wherever it stands."""
        given = [_readable(word) for word in words]
        encoding = self.tokenizer.encode(given, is_pretokenized=True, add_special_tokens=False)
        found: list[list[int]] = [[] for _ in words]
        for piece, number in zip(encoding.ids, encoding.word_ids, strict=True):
            found[number or 0].append(piece)  # never None: there are no special subwords
        for word, pieces in zip(words, found, strict=True):
            yield word, tuple(pieces[: self.most]) or (self.unknown_id,)

    def _encode(self, words: list[tuple[int, ...]]) -> Encoded:
        before, after = self.before, self.after
        pieces = [piece for word in words for piece in word]
        sizes = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        places = np.zeros((len(words), 2), dtype=np.int64)
        firsts = np.cumsum(sizes) - sizes
        if len(pieces) <= self.room:
            places[:, 1] = firsts + len(before)
            return Encoded([[*before, *pieces, *after] or [self.unknown_id]], places)
        starts = list(self._starts(firsts, len(pieces)))
        windows = [[*before, *pieces[start : start + self.room], *after] for start in starts]
        begin = np.array(starts)
        # Halfway through what two windows share, words pass from the first to the second.
        middles = (begin[1:] + begin[:-1] + self.room + 1) // 2
        places[:, 0] = np.searchsorted(middles, firsts, side="right")
        places[:, 1] = firsts - begin[places[:, 0]] + len(before)
        return Encoded(windows, places)

    def _starts(self, firsts: Indices, total: int) -> Iterator[int]:
        """Where windows begin, always with a word; the last reaches the end."""
        start = 0
        yield start
        while start + self.room < total:
            wanted = start + self.stride
            start = int(firsts[np.searchsorted(firsts, wanted, side="right") - 1])
            yield start


def collate(encoded: Sequence[Encoded], pad_id: int) -> dict[str, npt.NDArray[Any]]:
    """A batch of sentences as arrays, by the names of the arguments of `Network.forward`.

    Returns:
        `input_ids` and `attention_mask`, (windows, subwords); `windows` and `positions`, (batch,
        words): where the first subword of each word stands; `mask`, (batch, words): which are
        words.
    """
    rows = [window for each in encoded for window in each.windows]
    width = max(map(len, rows), default=0)
    input_ids = np.full((len(rows), width), pad_id, dtype=np.int64)
    attention_mask = np.zeros_like(input_ids)
    for row, window in enumerate(rows):
        input_ids[row, : len(window)] = window
        attention_mask[row, : len(window)] = 1
    words = max((len(each.places) for each in encoded), default=0)
    places = np.zeros((2, len(encoded), words), dtype=np.int64)
    mask = np.zeros((len(encoded), words), dtype=np.bool_)
    passed = 0
    for row, each in enumerate(encoded):
        length = len(each.places)
        places[:, row, :length] = each.places.T
        places[0, row, :length] += passed
        mask[row, :length] = True
        passed += len(each.windows)
    return {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "windows": places[0],
        "positions": places[1],
        "mask": mask,
    }


def _readable(word: str) -> str:
    """The word for the tokenizer: not too long, and without halves of characters."""
    word = word[:MOST_CHARACTERS]
    if word.isascii():
        return word
    return word.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _pad_id(tokenizer: Tokenizer) -> int:
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    return _first_known(tokenizer, ("[PAD]", "<pad>", "<|endoftext|>"))


def _unknown_id(tokenizer: Tokenizer) -> int:
    model = tokenizer.model
    if getattr(model, "unk_id", None) is not None:  # Unigram
        return int(model.unk_id)
    named = getattr(model, "unk_token", None)
    return _first_known(tokenizer, UNKNOWN if named is None else (named, *UNKNOWN))


def _first_known(tokenizer: Tokenizer, names: Iterable[str]) -> int:
    found = (tokenizer.token_to_id(name) for name in names)
    return next((number for number in found if number is not None), 0)


def _special_ids(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The special subwords that stand before and after a sentence."""
    probe = ["a"]
    bare = tokenizer.encode(probe, is_pretokenized=True, add_special_tokens=False).ids
    full = tokenizer.encode(probe, is_pretokenized=True, add_special_tokens=True).ids
    at = next(n for n in range(len(full) + 1) if full[n : n + len(bare)] == bare)
    return full[:at], full[at + len(bare) :]


def _with_prefix_spaces(text: str) -> str:
    """Byte-level tokenizers take a word for the rest of one unless a space stands before it."""
    data = json.loads(text)
    waiting = [data.get("pre_tokenizer")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") == "ByteLevel":
                part["add_prefix_space"] = True
            waiting.extend(part.get("pretokenizers", ()))
    return json.dumps(data)
