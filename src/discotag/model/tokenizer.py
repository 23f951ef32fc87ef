"""The tokenizer: from words to the subwords that the encoder reads, and where each word is."""

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

from discotag.errors import InputError, one_line
from discotag.model.config import ModelConfig

Indices = npt.NDArray[np.int64]

MAX_SUBWORDS: Final = 32
"""The most subwords of a word. A longer word, such as a link or a sequence of bases, is represented
by its first subwords; it is still one word with one tag."""

MAX_CHARACTERS: Final = 1000
"""The most characters of a word that are tokenized, to save time; 32 subwords have far fewer."""

MAX_REMEMBERED: Final = 1 << 17
"""The most words whose subwords are cached; a word takes about 200 bytes."""

UNKNOWN: Final = ("[UNK]", "<unk>", "<|endoftext|>", "[PAD]", "<pad>")
"""Subwords for words without any, in order of preference, if the tokenizer has no unknown one."""


class TokenizerError(InputError):
    """Raised if a `tokenizer.json` cannot be used."""


class Chunk(NamedTuple):
    """A part of a batch that the encoder reads at a time.

    Attributes:
        windows: Its windows.
        width: The number of subwords of its longest window.
        words: The words whose first subword is in one of its windows.
    """

    windows: slice
    width: int
    words: slice


@dataclass(frozen=True, eq=False)
class Batch:
    """Sentences as the arguments of a network.

    Attributes:
        numbers: (batch,), the index of each sentence among those that were encoded.
        lengths: (batch,), the number of words of each sentence.
        sizes: (windows,), the number of subwords of each window.
        input_ids: (windows, subwords).
        mask: (batch, words), True for words, False for padding.
        word_windows: (all words,), the window of the first subword of each word, sentence by
            sentence.
        word_positions: (all words,), the position of that subword in its window.
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
        """The attention mask, (windows, subwords): 1 for subwords, 0 for padding."""
        return (np.arange(self.input_ids.shape[1]) < self.sizes[:, None]).astype(np.int64)

    def chunks(self, budget: int) -> Iterator[Chunk]:
        """Yield parts of the batch, each with as many windows as fit a budget of subwords."""
        first, rows = 0, len(self.sizes)
        while first < rows:
            last, width = first, 0
            while last < rows:
                wider = max(width, int(self.sizes[last]))
                if last > first and wider * (last + 1 - first) > budget:
                    break
                last, width = last + 1, wider
            words = np.searchsorted(self.word_windows, (first, last)).tolist()
            yield Chunk(slice(first, last), width, slice(*words))
            first = last

    def arguments(self) -> dict[str, npt.NDArray[Any]]:
        """Return the keyword arguments of `Network.forward`."""
        encoded = {"input_ids": self.input_ids, "attention_mask": self.attention_mask}
        return encoded | self.word_places()

    def word_places(self) -> dict[str, npt.NDArray[Any]]:
        """Return where words begin: `windows`, `positions` and `mask`, (batch, words) each."""
        windows, positions = np.zeros((2, *self.mask.shape), dtype=np.int64)
        windows[self.mask], positions[self.mask] = self.word_windows, self.word_positions
        return {"windows": windows, "positions": positions, "mask": self.mask}


@dataclass(frozen=True, eq=False)
class EncodedSentences:
    """Sentences as the encoder reads them, in flat arrays.

    A sentence has one or more windows. A word that is in two windows belongs to the one where it is
    further from the edge.

    Attributes:
        subwords: The ids of the subwords of all windows, special ones included.
        window_starts: (windows + 1,), where each window begins in `subwords`.
        first_windows: (sentences + 1,), the first window of each sentence.
        first_words: (sentences + 1,), the first word of each sentence.
        word_windows: (words,), the window of the first subword of each word, counted from the first
            window of its sentence.
        word_positions: (words,), the position of that subword in its window.
        pad_id: The id of the padding subword.
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
        """The number of subwords of each window."""
        return np.diff(self.window_starts)

    @cached_property
    def widths(self) -> Indices:
        """The number of subwords of the longest window of each sentence."""
        return np.maximum.reduceat(self.window_sizes, self.first_windows[:-1])

    @cached_property
    def heights(self) -> Indices:
        """The number of windows of each sentence."""
        return np.diff(self.first_windows)

    @cached_property
    def lengths(self) -> Indices:
        """The number of words of each sentence."""
        return np.diff(self.first_words)

    def windows_of(self, number: int) -> list[list[int]]:
        """Return the subwords of each window of a sentence."""
        first, last = self.first_windows[number : number + 2]
        bounds = self.window_starts[first : last + 1].tolist()
        return [self.subwords[start:end].tolist() for start, end in pairwise(bounds)]

    @cached_property
    def totals(self) -> Indices:
        """The number of subwords of all windows of each sentence."""
        return np.diff(self.window_starts[self.first_windows])

    def batch(self, numbers: npt.ArrayLike) -> Batch:
        """Return these sentences as a batch, padded to the longest."""
        chosen = np.asarray(numbers, dtype=np.int64)
        heights, lengths = self.heights[chosen], self.lengths[chosen]
        words = ranges(self.first_words[chosen], lengths)
        windows = self.word_windows[words] + np.repeat(np.cumsum(heights) - heights, lengths)
        rows = ranges(self.first_windows[chosen], heights)
        return self._batch(chosen, rows, lengths, words, windows)

    def parts(self, number: int, budget: int) -> Iterator[Batch]:
        """Yield the windows of a sentence, as many at a time as fit a budget of subwords.

        Each part is a batch of one sentence, with the words that belong to its windows.
        """
        first, end = self.first_words[number : number + 2]
        windows = self.word_windows[first:end]
        height = int(self.heights[number])
        step = max(1, budget // int(self.widths[number]))
        chosen = np.array([number])
        for start in range(0, height, step):
            begin, stop = np.searchsorted(windows, (start, start + step))
            words = np.arange(first + begin, first + stop)
            rows = self.first_windows[number] + np.arange(start, min(start + step, height))
            own = windows[begin:stop] - start
            yield self._batch(chosen, rows, np.array([len(words)]), words, own)

    def _batch(
        self, numbers: Indices, rows: Indices, lengths: Indices, words: Indices, windows: Indices
    ) -> Batch:
        """Return windows as a batch.

        Args:
            numbers: The sentences.
            rows: Their windows.
            lengths: The number of words of each sentence.
            words: All these words.
            windows: For each of them, its window in the batch.
        """
        sizes = self.window_sizes[rows]
        input_ids = np.full((len(rows), sizes.max(initial=0)), self.pad_id, dtype=np.int64)
        there = np.arange(input_ids.shape[1]) < sizes[:, None]
        input_ids[there] = self.subwords[ranges(self.window_starts[rows], sizes)]
        mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
        return Batch(numbers, lengths, sizes, input_ids, mask, windows, self.word_positions[words])


class _Known(NamedTuple):
    """A cache of the subwords of words.

    Attributes:
        number: The number of each word.
        starts, sizes: For each number, where the word's subwords begin in `subwords`, and how many
            there are.
        subwords: The subwords of all words.
    """

    number: dict[str, int]
    starts: Indices
    sizes: Indices
    subwords: Indices


def _nothing_known() -> _Known:
    return _Known({}, *(np.empty(0, dtype=np.int64) for _ in range(3)))


class WordTokenizer:
    """A tokenizer for sentences that are already split into words. It is thread-safe.

    Every word gets at least one subword: the unknown one, if the tokenizer's normalisation removes
    all of its characters. Sentences that do not fit into a window are split into windows that
    overlap.

    Args:
        tokenizer: A tokenizer of the `tokenizers` library; its truncation and padding are turned
            off.
        config: The configuration, for the size of windows.

    Raises:
        TokenizerError: If the special subwords leave no room in a window.
    """

    def __init__(self, tokenizer: Tokenizer, config: ModelConfig) -> None:
        self.pad_id = _pad_id(tokenizer)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in a text is not special
        self.tokenizer = tokenizer
        self.unknown_id = _unknown_id(tokenizer)
        self.before, self.after = _special_ids(tokenizer)
        self.room = config.window - len(self.before) - len(self.after)
        if self.room < 1:
            raise TokenizerError(
                f"its {len(self.before) + len(self.after)} special subwords fill the window of "
                f"{config.window}"
            )
        # Windows begin at the first subword of a word, so no word may be longer than the stride.
        self.stride = max(1, self.room - min(config.overlap, self.room // 2))
        self.most = min(MAX_SUBWORDS, self.stride)
        self._known = _nothing_known()
        self._lock = Lock()

    @classmethod
    def from_file(cls, path: str | Path, config: ModelConfig) -> WordTokenizer:
        """Read a `tokenizer.json`.

        Raises:
            TokenizerError: If the file does not exist or cannot be used.
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
        """Read the text of a `tokenizer.json`.

        Raises:
            TokenizerError: If it cannot be used.
        """
        try:
            if '"ByteLevel"' in text:
                text = _with_prefix_spaces(text)
            return cls(Tokenizer.from_str(text), config)
        except TokenizerError:
            raise
        except Exception as error:  # the library raises plain Exception
            raise TokenizerError(f"not a tokenizer that can be read: {one_line(error)}") from None

    def fit_encoder(self, vocabulary: object, pad_id: object) -> None:
        """Use the encoder's padding subword, and check that the encoder knows all subwords.

        Args:
            vocabulary: The size of the encoder's vocabulary; not checked if it is not an integer.
            pad_id: The encoder's padding subword, on which positions depend in some encoders; if it
                is not an integer, the tokenizer's own is used.

        Raises:
            TokenizerError: If the tokenizer has a subword that is not in the encoder's vocabulary.
        """
        if type(pad_id) is int:
            self.pad_id = pad_id
        if type(vocabulary) is not int:
            return
        special = {
            number
            for number, token in self.tokenizer.get_added_tokens_decoder().items()
            if token.special  # never produced from text
        }
        known = self.tokenizer.get_vocab(with_added_tokens=True).items()
        own = {number: name for name, number in known if number not in special}
        ids = [*self.before, *self.after, self.pad_id, self.unknown_id, *own]
        low, high = min(ids), max(ids)
        if low < 0 or high >= vocabulary:
            wrong = low if low < 0 else high
            raise TokenizerError(
                f"it has subword {wrong} ({own.get(wrong, 'a special one')!r}), but the encoder "
                f"has {vocabulary} subwords, from 0 to {vocabulary - 1}"
            )

    def as_json(self) -> str:
        """Return the text of a `tokenizer.json` that produces the same subwords."""
        return str(self.tokenizer.to_str(pretty=True))

    def encode(self, sentences: Sequence[Sequence[str]]) -> EncodedSentences:
        """Tokenize sentences, each a list of words, and split long ones into windows."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        words = list(chain.from_iterable(sentences))
        numbers, known = self._look_up(words)
        sizes = known.sizes[numbers]
        # An unknown subword at the end, for empty sentences if there are no special subwords.
        subwords = known.subwords[ranges(known.starts[numbers], sizes)]
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
            # In the middle of the overlap, words change from the first window to the second.
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
        """Return the subwords of windows, special ones included, and where each window begins."""
        before, after = len(self.before), len(self.after)
        window_starts = _starts(sizes + before + after)
        joined = np.empty(window_starts[-1], dtype=np.int64)
        joined[ranges(window_starts[:-1] + before, sizes)] = subwords[ranges(begins, sizes)]
        joined[window_starts[:-1, None] + np.arange(before)] = self.before
        joined[window_starts[1:, None] - after + np.arange(after)] = self.after
        return joined, window_starts

    def _look_up(self, words: list[str]) -> tuple[Indices, _Known]:
        """Return the numbers of words, and the cache that these numbers refer to."""
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
        """Return the cache with further words; a word has the same subwords everywhere."""
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
        """Yield where windows begin, always at the first subword of a word."""
        start = 0
        yield start
        while start + self.room < total:
            wanted = start + self.stride
            start = int(firsts[np.searchsorted(firsts, wanted, side="right") - 1])
            yield start


def _starts(sizes: Indices) -> Indices:
    """Return where consecutive ranges of these sizes begin, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def ranges(starts: Indices, sizes: Indices) -> Indices:
    """Return the concatenation of ranges that begin at `starts` and have these sizes.

    Example:
        >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
        [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


def _numbers(words: list[str], known: _Known) -> Indices:
    return np.fromiter(map(known.number.__getitem__, words), dtype=np.int64, count=len(words))


def _readable(word: str) -> str:
    """Return a word that the tokenizer accepts: not too long, without lone surrogates."""
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
    """Let a byte-level tokenizer put a space before each word, as it does inside a text."""
    data = json.loads(text)
    waiting = [data.get("pre_tokenizer")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") == "ByteLevel":
                part["add_prefix_space"] = True
            waiting.extend(part.get("pretokenizers", ()))
    return json.dumps(data)
