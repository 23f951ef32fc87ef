"""Batches of sentences, in an order that only seed and epoch decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from discotag.inference.gold import Gold, GoldTable
from discotag.mentions import Mention
from discotag.model.network import Network
from discotag.model.tokenizer import Batch, EncodedSentences, ranges

Indices = npt.NDArray[np.int64]
Marginals = npt.NDArray[np.float16]

SIMILAR: Final = 0.6
"""On a CPU, a window is encoded together with longer ones if it has at least this share of their
subwords. Random batches are mostly padding: this halves the time of a step with MiniLM."""

ROW_MULTIPLE: Final = 8
"""The number of subwords of a row is a multiple of this, because the fused attention of PyTorch
copies masks that are not aligned."""

ALIGNMENT: Final = 16
"""Arrays in a buffer begin at multiples of this number of bytes."""


class Taught(NamedTuple):
    """What teachers say about a sentence.

    Attributes:
        marginals: The probabilities of tags, (words, tags).
        mentions: The probabilities of the mentions that they consider.
    """

    marginals: Marginals
    mentions: Mapping[Mention, float]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sentences to learn from.

    Attributes:
        encoded: Their subwords.
        golds: The gold taggings of each; of a sentence without mentions where they are not known.
        labelled: Whether the mentions of each sentence are known.
        mentions: The mentions of each sentence.
        teacher: What teachers say about each sentence; or None.
    """

    encoded: EncodedSentences
    golds: Sequence[Gold]
    labelled: npt.NDArray[np.bool_]
    mentions: Sequence[Sequence[Mention]]
    teacher: Sequence[Taught] | None = None

    def __len__(self) -> int:
        return len(self.encoded)


def plan(sentences: int, batch_size: int, seed: int, epoch: int) -> list[Indices]:
    """Return the batches of an epoch, with every sentence once, in random order.

    All batches have the same size, or one sentence less, so that none is small. Sentences of all
    lengths are mixed: gradients are clipped, and batches of long sentences, which have most of the
    discontinuous mentions, would be clipped more than others.

    Example:
        >>> batches = plan(5, 2, seed=1, epoch=0)
        >>> sorted(map(len, batches)), sorted(np.concatenate(batches).tolist())
        ([1, 2, 2], [0, 1, 2, 3, 4])
    """
    order = np.random.default_rng([seed, epoch]).permutation(sentences)
    return np.array_split(order, -(-sentences // batch_size))


class Packed(dict[str, Any]):
    """The arguments of `Learner.forward`; its tensors are parts of one buffer.

    A GPU gets all of them in one copy, and the host does not wait for it. By default each tensor is
    copied by itself, and the host waits for the GPU each time.

    Args:
        arrays: The tensors, as arrays.
        pin: Whether the buffer is in page-locked memory, from which a GPU copies by itself.
        others: Arguments that are not tensors.
    """

    def __init__(
        self, arrays: Mapping[str, npt.NDArray[Any]], *, pin: bool = False, **others: Any
    ) -> None:
        self.places = {}
        end = 0
        for name, each in arrays.items():
            self.places[name] = slice(end, end + each.nbytes)
            end += -(-each.nbytes // ALIGNMENT) * ALIGNMENT
        self.buffer = torch.empty(end, dtype=torch.uint8, pin_memory=pin)
        self.kinds = {
            name: (torch.from_numpy(each[:0]).dtype, each.shape) for name, each in arrays.items()
        }
        self.others = others
        raw = self.buffer.numpy()
        for name, each in arrays.items():
            raw[self.places[name]].view(each.dtype)[:] = each.ravel()
        super().__init__(self._parts(self.buffer))

    def to(self, device: torch.device) -> dict[str, Any]:
        """Return the arguments on a device, without waiting for the copy."""
        if device.type == "cpu":
            return dict(self)
        return self._parts(self.buffer.to(device, non_blocking=True))

    def _parts(self, buffer: torch.Tensor) -> dict[str, Any]:
        parts: dict[str, Any] = dict(self.others)
        for name, (kind, shape) in self.kinds.items():
            parts[name] = buffer[self.places[name]].view(kind).view(shape)
        return parts


class Batches(Dataset[Packed]):
    """The batches of each epoch; with several processes, each takes its share.

    Args:
        examples: The sentences.
        batch_size: Sentences per batch, over all processes.
        seed: Decides the order.
        rank: The number of this process.
        world: The number of processes.
        pin: Whether batches are in page-locked memory, for a GPU.
        share_rows: Whether several windows share a row; the network must support it.
    """

    def __init__(
        self,
        examples: Examples,
        batch_size: int,
        seed: int,
        *,
        rank: int = 0,
        world: int = 1,
        pin: bool = False,
        share_rows: bool = False,
    ) -> None:
        self.examples = examples
        self.batch_size = batch_size
        self.seed = seed
        self.golds = GoldTable(examples.golds)
        self.rank = rank
        self.world = world
        self.pin = pin
        self.share_rows = share_rows

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-len(self.examples) // self.batch_size)

    def epoch(self, number: int) -> Iterator[Packed]:
        """Return the batches of an epoch, always the same for the same seed and number.

        Each epoch also begins with a random state of its own, so that an epoch which is repeated
        after an interruption has the same dropout.
        """
        entropy = [self.seed, number, self.rank]
        torch.manual_seed(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
        order: Any = plan(len(self.examples), self.batch_size, self.seed, number)
        return iter(DataLoader(self, batch_size=None, sampler=order, collate_fn=_as_it_is))

    def __getitem__(self, numbers: Indices) -> Packed:
        """Return the arguments of `Learner.forward`; long sentences come first."""
        examples = self.examples
        mine = numbers[self.rank :: self.world]
        mine = mine[np.argsort(-examples.encoded.widths[mine], kind="stable")]
        batch = examples.encoded.batch(mine)
        if self.share_rows:
            arrays = in_shared_rows(batch, examples.encoded.pad_id)
        else:
            arrays = batch.arguments()
        row, gold, group_row = self.golds.batch(mine)
        entries = {"row": row, **gold._asdict(), "group_row": group_row}
        arrays |= {f"gold_{name}": each for name, each in entries.items()}
        others: dict[str, Any] = {"mentions": [examples.mentions[number] for number in mine]}
        if examples.teacher is not None:
            taught = [examples.teacher[number] for number in mine]
            marginals = [each.marginals for each in taught]
            arrays["teacher"] = _padded(marginals, arrays["mask"].shape[1])
            arrays["labelled"] = examples.labelled[mine]
            others["chances"] = [each.mentions for each in taught]
            others["labelled_rows"] = arrays["labelled"].tolist()
        # The gradients of processes are averaged, so a sum over sentences is divided like this.
        return Packed(arrays, pin=self.pin, divisor=len(numbers) / self.world, **others)


def _padded(tables: Sequence[Marginals], words: int) -> Marginals:
    padded = np.zeros((len(tables), words, tables[0].shape[1]), dtype=np.float16)
    for row, each in zip(padded, tables, strict=True):
        row[: len(each)] = each
    return padded


def _as_it_is(batch: Any) -> Any:
    return batch


def in_shared_rows(batch: Batch, pad_id: int) -> dict[str, npt.NDArray[Any]]:
    """Return the arguments of `Learner.forward`, with several windows in a row where they fit.

    A random batch is mostly padding if each window has its own row. Here a row has as many subwords
    as the longest window, and each window is put into the first row with room for it.

    Args:
        batch: The batch. If long windows come first, fewer rows are needed.
        pad_id: The padding subword.
    """
    width = -(-int(batch.sizes.max()) // ROW_MULTIPLE) * ROW_MULTIPLE
    rows, starts = fit_rows(batch.sizes.tolist(), width)
    shape = (int(rows.max()) + 1, width)
    places = ranges(rows * width + starts, batch.sizes)
    input_ids = np.full(shape, pad_id, dtype=np.int64)
    owners = np.full(shape, -1, dtype=np.int64)
    offsets = np.zeros(shape, dtype=np.int64)
    input_ids.flat[places] = batch.input_ids[batch.attention_mask > 0]
    owners.flat[places] = np.repeat(np.arange(len(rows)), batch.sizes)
    offsets.flat[places] = ranges(np.zeros_like(batch.sizes), batch.sizes)
    moved = replace(
        batch,
        word_windows=rows[batch.word_windows],
        word_positions=starts[batch.word_windows] + batch.word_positions,
    )
    encoded = {"input_ids": input_ids, "owners": owners, "offsets": offsets}
    return encoded | moved.word_places()


def fit_rows(sizes: Sequence[int], width: int) -> tuple[Indices, Indices]:
    """Return the row of each window, and where it begins there.

    Args:
        sizes: The number of subwords of each window, at most `width`.
        width: The number of subwords of a row.

    Example:
        >>> fit_rows([10, 6, 5, 4], 10)
        (array([0, 1, 2, 1]), array([0, 0, 0, 6]))
    """
    filled: list[int] = []
    rows, starts = [], []
    for size in sizes:
        row = next((row for row, used in enumerate(filled) if used + size <= width), len(filled))
        if row == len(filled):
            filled.append(0)
        rows.append(row)
        starts.append(filled[row])
        filled[row] += size
    return np.array(rows), np.array(starts)


def encode_batch(network: Network, batch: Mapping[str, Tensor]) -> Tensor:
    """Return the encoder's vectors of all subwords of a batch that `Batches` made."""
    if "owners" in batch:
        return network.encode_rows(batch["input_ids"], batch["owners"], batch["offsets"])
    return encode_in_groups(network.encode, batch["input_ids"], batch["attention_mask"])


def encode_in_groups(
    encode: Callable[[Tensor, Tensor], Tensor], input_ids: Tensor, attention_mask: Tensor
) -> Tensor:
    """Return the encoder's vectors of all subwords, (windows, subwords, size).

    On a CPU, windows of similar size are encoded together, with little padding. On a GPU, several
    small calls take longer than one with more padding; `in_shared_rows` avoids it there, for
    encoders that allow it.

    Args:
        encode: The encoder: returns the vectors of windows.
        input_ids: (windows, subwords).
        attention_mask: (windows, subwords).
    """
    if input_ids.device.type != "cpu":
        return encode(input_ids, attention_mask)
    parts = []
    for rows, width in similar_rows(attention_mask.sum(1).tolist()):
        found = encode(input_ids[rows, :width], attention_mask[rows, :width])
        parts.append(nn.functional.pad(found, (0, 0, 0, input_ids.shape[1] - width)))
    return torch.cat(parts)


def similar_rows(sizes: Sequence[int]) -> Iterator[tuple[slice, int]]:
    """Yield neighbouring windows of similar size, with the size of the largest of them.

    Args:
        sizes: The number of subwords of each window, best in descending order.

    Example:
        >>> list(similar_rows([10, 8, 5, 4]))
        [(slice(0, 2, None), 10), (slice(2, 4, None), 5)]
    """
    first, smallest, largest = 0, sizes[0], sizes[0]
    for row, size in enumerate(sizes):
        smallest, wider = min(smallest, size), max(largest, size)
        if smallest < SIMILAR * wider:
            yield slice(first, row), largest
            first, smallest, wider = row, size, size
        largest = wider
    yield slice(first, len(sizes)), largest
