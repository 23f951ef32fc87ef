"""Words to subwords: what the encoder reads, and where each word is in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from discotag.errors import InputError
from discotag.model.config import ModelConfig

Indices = npt.NDArray[np.int64]

MAX_SUBWORDS: Final = 32
"""A longer word keeps its first subwords: it is still one word with one tag, and what makes it
that long (a link, a sequence of bases) says nothing more to an encoder."""

MAX_CHARACTERS: Final = 1000
"""Characters of a word that are looked at: far more than 32 subwords have. It bounds the time."""

MAX_REMEMBERED: Final = 1 << 17
"""Words whose subwords are remembered; a word takes some 200 bytes."""

UNKNOWN: Final = ("[UNK]", "<unk>", "<|endoftext|>", "[PAD]", "<pad>")
"""Subwords that may replace a word that vanishes, where the tokenizer itself does not say."""


class TokenizerError(InputError):
    """A `tokenizer.json` that cannot be used."""


class Portion(NamedTuple):
    """A part of a batch that an encoder takes at a time.

    Attributes:
        windows: Its windows.
        width: Subwords of the longest of them.
        words: The words whose first subword is in one of them.
    """

    windows: slice
    width: int
    words: slice


@dataclass(frozen=True, eq=False)
class Batch:
    """Sentences as the arguments of a network.

    Attributes:
        numbers: (batch,): which sentences these are.
        lengths: (batch,): how many words each has.
        sizes: (windows,): how many subwords each window has.
        input_ids: (windows, subwords).
        mask: (batch, words): which are words.
        word_windows: For each word, sentence by sentence, the window of its first subword.
        word_positions: Where it is in the window.
    """

    numbers: Indices
    lengths: Indices
    sizes: Indices
    input_ids: Indices
    mask: npt.NDArray[np.bool_]
    word_windows: Indices
    word_positions: Indices

    @cached_property
    def attention_mask(self) -> Indices:
        """(windows, subwords): 1 for a subword, 0 for padding."""
        return (np.arange(self.input_ids.shape[1]) < self.sizes[:, None]).astype(np.int64)

    def portions(self, budget: int) -> Iterator[Portion]:
        """Yield windows that the encoder takes at a time: as many as fit a budget of subwords."""
        first, rows = 0, len(self.sizes)
        while first < rows:
            last, width = first, 0
            while last < rows:
                wider = max(width, int(self.sizes[last]))
                if last > first and wider * (last + 1 - first) > budget:
                    break
                last, width = last + 1, wider
            words = np.searchsorted(self.word_windows, (first, last)).tolist()
            yield Portion(slice(first, last), width, slice(*words))
            first = last

    def arguments(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arguments of `Network.forward` by their names."""
        windows, positions = np.zeros((2, *self.mask.shape), dtype=np.int64)
        windows[self.mask], positions[self.mask] = self.word_windows, self.word_positions
        return {
            "input_ids": self.input_ids,
            "attention_mask": self.attention_mask,
            "windows": windows,
            "positions": positions,
            "mask": self.mask,
        }


@dataclass(frozen=True, eq=False)
class EncodedSentences:
    """Sentences as the encoder reads them, in flat arrays.

    A sentence has one or more windows. Of two windows that have a word, the word belongs to the one
    where it is further from the edge.

    Attributes:
        subwords: The subwords of all windows by number, special ones included.
        window_starts: (windows + 1,): where each window begins in `subwords`.
        first_windows: (sentences + 1,): the first window of each sentence.
        first_words: (sentences + 1,): the first word of each sentence.
        word_windows: (words,): the window of the first subword of each word, counted from the first
            window of its sentence.
        word_positions: (words,): where it is in the window.
        pad_id: The subword of padding.
    """

    subwords: Indices
    window_starts: Indices
    first_windows: Indices
    first_words: Indices
    word_windows: Indices
    word_positions: Indices
    pad_id: int

    def __len__(self) -> int:
        return len(self.first_words) - 1

    @cached_property
    def window_sizes(self) -> Indices:
        """Subwords of each window."""
        return np.diff(self.window_starts)

    @cached_property
    def widths(self) -> Indices:
        """Subwords of the longest window of each sentence."""
        return np.maximum.reduceat(self.window_sizes, self.first_windows[:-1])

    @cached_property
    def heights(self) -> Indices:
        """Windows of each sentence."""
        return np.diff(self.first_windows)

    @cached_property
    def lengths(self) -> Indices:
        """Words of each sentence."""
        return np.diff(self.first_words)

    def windows_of(self, number: int) -> list[list[int]]:
        """Return the windows of one sentence."""
        first, last = self.first_windows[number : number + 2]
        bounds = self.window_starts[first : last + 1].tolist()
        return [self.subwords[start:end].tolist() for start, end in pairwise(bounds)]

    def batch(self, numbers: npt.ArrayLike) -> Batch:
        """Return some of the sentences, padded to the longest."""
        chosen = np.asarray(numbers, dtype=np.int64)
        heights, lengths = self.heights[chosen], self.lengths[chosen]
        rows = _ranges(self.first_windows[chosen], heights)
        sizes = self.window_sizes[rows]
        input_ids = np.full((len(rows), sizes.max(initial=0)), self.pad_id, dtype=np.int64)
        there = np.arange(input_ids.shape[1]) < sizes[:, None]
        input_ids[there] = self.subwords[_ranges(self.window_starts[rows], sizes)]
        mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
        words = _ranges(self.first_words[chosen], lengths)
        windows = self.word_windows[words] + np.repeat(np.cumsum(heights) - heights, lengths)
        return Batch(chosen, lengths, sizes, input_ids, mask, windows, self.word_positions[words])


class _Known(NamedTuple):
    """Words whose subwords are remembered.

    Attributes:
        number: The number of each word.
        starts, sizes: For each number, where its subwords begin in `subwords`, and how many.
        subwords: The subwords of all words.
    """

    number: dict[str, int]
    starts: Indices
    sizes: Indices
    subwords: Indices


def _nothing_known() -> _Known:
    return _Known({}, *(np.empty(0, dtype=np.int64) for _ in range(3)))


class WordTokenizer:
    """A tokenizer for sentences that are split into words already; threads can share it.

    Every word gets at least one subword: the unknown one, if nothing is left of it after
    normalisation. A sentence with more subwords than a window has is cut into windows that overlap.

    Args:
        tokenizer: A tokenizer of the `tokenizers` library. It is changed: it no longer cuts off or
            pads.
        config: Says how long windows are.

    Raises:
        TokenizerError: Its special subwords fill a window.
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
            raise TokenizerError(
                f"its {len(self.before) + len(self.after)} special subwords fill the window of "
                f"{config.window}"
            )
        # A further window begins at the first subword of a word, so no word may fill the step.
        self.stride = max(1, self.room - min(config.overlap, self.room // 2))
        self.most = min(MAX_SUBWORDS, self.stride)
        self._known = _nothing_known()
        self._lock = Lock()

    @classmethod
    def from_file(cls, path: str | Path, config: ModelConfig) -> WordTokenizer:
        """Read a `tokenizer.json`.

        Raises:
            TokenizerError: The file does not exist, or cannot be used.
        """
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TokenizerError(f"{path}: cannot be read: {error}") from None
        try:
            return cls.from_json(text, config)
        except TokenizerError as error:
            raise TokenizerError(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, text: str, config: ModelConfig) -> WordTokenizer:
        """Read the text of a `tokenizer.json`; raises as `from_file`."""
        try:
            if '"ByteLevel"' in text:
                text = _with_prefix_spaces(text)
            return cls(Tokenizer.from_str(text), config)
        except TokenizerError:
            raise
        except Exception as error:  # the library raises plain Exception
            line = " ".join(str(error).split()) or type(error).__name__
            raise TokenizerError(f"not a tokenizer that can be read: {line}") from None

    def fit_encoder(self, vocabulary: object, pad_id: object) -> None:
        """Take the encoder's subword of padding, and check that the encoder knows all subwords.

        Args:
            vocabulary: How many subwords the encoder has; not a number where it does not say.
            pad_id: The encoder's own, by which some count positions; None for the tokenizer's.

        Raises:
            TokenizerError: A subword that text can give is beyond the encoder's vocabulary.
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
            raise TokenizerError(
                f"it gives subword {wrong} ({own.get(wrong, 'a special one')!r}), but the "
                f"encoder's vocabulary has {vocabulary}: 0 to {vocabulary - 1}"
            )

    def as_json(self) -> str:
        """Return the text of a `tokenizer.json` that gives the same subwords."""
        return str(self.tokenizer.to_str(pretty=True))

    def encode(self, sentences: Sequence[Sequence[str]]) -> EncodedSentences:
        """Return the sentences, each a list of words, as the encoder reads them."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        words = list(chain.from_iterable(sentences))
        numbers, known = self._look_up(words)
        sizes = known.sizes[numbers]
        # The unknown subword at the end is what an encoder without special ones reads of no words.
        subwords = known.subwords[_ranges(known.starts[numbers], sizes)]
        subwords = np.append(subwords, self.unknown_id)
        first_words, firsts = _starts(lengths), _starts(sizes)
        starts = firsts[first_words]  # where each sentence begins in the subwords
        totals = np.diff(starts)
        word_windows = np.zeros(len(words), dtype=np.int64)
        word_positions = firsts[:-1] - np.repeat(starts[:-1], lengths)  # in the sentence, so far
        heights = np.ones(len(sentences), dtype=np.int64)
        cut: dict[int, Indices] = {}
        for number in np.flatnonzero(totals > self.room).tolist():
            here = slice(first_words[number], first_words[number + 1])
            begin = np.array(list(self._window_starts(word_positions[here], totals[number])))
            # Halfway through what two windows share, words pass from the first to the second.
            middles = (begin[1:] + begin[:-1] + self.room + 1) // 2
            word_windows[here] = np.searchsorted(middles, word_positions[here], side="right")
            word_positions[here] -= begin[word_windows[here]]
            cut[number], heights[number] = begin, len(begin)
        first_windows = _starts(heights)
        begins, lasts = np.repeat(starts[:-1], heights), np.repeat(starts[1:], heights)
        for number, begin in cut.items():
            begins[first_windows[number] : first_windows[number + 1]] += begin
        window_sizes = np.minimum(lasts - begins, self.room)
        if not self.before and not self.after:
            empty = window_sizes == 0
            begins[empty], window_sizes[empty] = len(subwords) - 1, 1
        return EncodedSentences(
            *self._joined(subwords, begins, window_sizes),
            first_windows,
            first_words,
            word_windows,
            word_positions + len(self.before),
            self.pad_id,
        )

    def _joined(
        self, subwords: Indices, begins: Indices, sizes: Indices
    ) -> tuple[Indices, Indices]:
        """Return the subwords of windows with special ones around them, and where windows begin."""
        before, after = len(self.before), len(self.after)
        window_starts = _starts(sizes + before + after)
        joined = np.empty(window_starts[-1], dtype=np.int64)
        joined[_ranges(window_starts[:-1] + before, sizes)] = subwords[_ranges(begins, sizes)]
        joined[window_starts[:-1, None] + np.arange(before)] = self.before
        joined[window_starts[1:, None] - after + np.arange(after)] = self.after
        return joined, window_starts

    def _look_up(self, words: list[str]) -> tuple[Indices, _Known]:
        """Return the numbers of words, and what is known of all numbers."""
        with self._lock:
            known = self._known
            try:
                numbers = _numbers(words, known)
            except KeyError:
                new = set(words) - known.number.keys()
                if len(known.number) + len(new) > MAX_REMEMBERED:
                    known, new = _nothing_known(), set(words)
                known = self._extended(known, sorted(new))
                numbers = _numbers(words, known)
                self._known = known if len(known.number) <= MAX_REMEMBERED else _nothing_known()
            return numbers, known

    def _extended(self, known: _Known, words: list[str]) -> _Known:
        """Return what is known with further words; each is cut the same way wherever it is."""
        found = self._cut(words)
        sizes = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        subwords = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=sizes.sum())
        starts = _starts(sizes)[:-1] + len(known.subwords)
        first = len(known.number)
        known.number.update((word, first + number) for number, word in enumerate(words))
        return _Known(
            known.number,
            np.concatenate([known.starts, starts]),
            np.concatenate([known.sizes, sizes]),
            np.concatenate([known.subwords, subwords]),
        )

    def _cut(self, words: list[str]) -> list[list[int]]:
        given = [_readable(word) for word in words]
        encoding = self.tokenizer.encode(given, is_pretokenized=True, add_special_tokens=False)
        found: list[list[int]] = [[] for _ in words]
        for subword, number in zip(encoding.ids, encoding.word_ids, strict=True):
            found[number or 0].append(subword)  # never None: there are no special subwords
        return [each[: self.most] or [self.unknown_id] for each in found]

    def _window_starts(self, firsts: Indices, total: int) -> Iterator[int]:
        """Yield where windows begin, always with a word; the last reaches the end."""
        start = 0
        yield start
        while start + self.room < total:
            wanted = start + self.stride
            start = int(firsts[np.searchsorted(firsts, wanted, side="right") - 1])
            yield start


def _starts(sizes: Indices) -> Indices:
    """Return where runs of these sizes begin if they follow each other, and where the last ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _ranges(starts: Indices, sizes: Indices) -> Indices:
    """Return the numbers from each start on, as many as its size says, in one array.

    Example:
        >>> _ranges(np.array([5, 0]), np.array([2, 3])).tolist()
        [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


def _numbers(words: list[str], known: _Known) -> Indices:
    return np.fromiter(map(known.number.__getitem__, words), dtype=np.int64, count=len(words))


def _readable(word: str) -> str:
    """Return the word for the tokenizer: not too long, and without halves of characters."""
    word = word[:MAX_CHARACTERS]
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
    """Return the special subwords before and after a sentence."""
    probe = ["a"]
    bare = tokenizer.encode(probe, is_pretokenized=True, add_special_tokens=False).ids
    full = tokenizer.encode(probe, is_pretokenized=True, add_special_tokens=True).ids
    at = next(n for n in range(len(full) + 1) if full[n : n + len(bare)] == bare)
    return full[:at], full[at + len(bare) :]


def _with_prefix_spaces(text: str) -> str:
    """Make byte-level tokenizers put a space before each word, so that it begins a word."""
    data = json.loads(text)
    waiting = [data.get("pre_tokenizer")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") == "ByteLevel":
                part["add_prefix_space"] = True
            waiting.extend(part.get("pretokenizers", ()))
    return json.dumps(data)
