"""Sentences in batches: of like length, in an order that seed and epoch alone decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from discotag.inference.gold import Gold, collate_gold
from discotag.model.tokenizer import EncodedSentences

Indices = npt.NDArray[np.int64]
Marginals = npt.NDArray[np.float16]

BATCHES_SORTED: Final = 50
"""So many batches are sorted by length together: enough to save padding, and few enough that an
epoch mixes sentences anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sentences to learn from.

    Attributes:
        encoded: Their subwords.
        golds: The gold of each, as a loss needs it; of no mentions where they are not known.
        labelled: Whether the mentions of each are known.
        teacher: For each, (words, tags), the probabilities that teachers give to tags; or None.
    """

    encoded: EncodedSentences
    golds: Sequence[Gold]
    labelled: npt.NDArray[np.bool_]
    teacher: Sequence[Marginals] | None = None

    def __len__(self) -> int:
        return len(self.encoded)


def plan(sizes: Indices, batch_size: int, seed: int, epoch: int) -> list[Indices]:
    """The batches of an epoch: every sentence once, neighbours in length together.

    Batches are of one size, or one less, so that none is small.

    Example:
        >>> batches = plan(np.array([3, 9, 1, 7, 5]), 2, seed=1, epoch=0)
        >>> sorted(map(len, batches)), sorted(np.concatenate(batches).tolist())
        ([1, 2, 2], [0, 1, 2, 3, 4])
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(sizes))
    chunk = batch_size * BATCHES_SORTED
    parts = [order[start : start + chunk] for start in range(0, len(order), chunk)]
    order = np.concatenate([part[np.argsort(sizes[part], kind="stable")] for part in parts])
    batches = np.array_split(order, -(-len(order) // batch_size))
    return [batches[number] for number in random.permutation(len(batches))]


class Order(Sampler[Indices]):
    """The batches of the current epoch."""

    def __init__(self, sizes: Indices, batch_size: int, seed: int) -> None:
        self.sizes = sizes
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0

    def __len__(self) -> int:
        return -(-len(self.sizes) // self.batch_size)

    def __iter__(self) -> Iterator[Indices]:
        return iter(plan(self.sizes, self.batch_size, self.seed, self.epoch))


class Batches(Dataset[dict[str, Any]]):
    """Batches by the numbers of their sentences; of several processes each takes its share."""

    def __init__(self, examples: Examples, rank: int, world: int) -> None:
        self.examples = examples
        self.rank = rank
        self.world = world

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, numbers: Indices) -> dict[str, Any]:
        """Return the arguments of `Learner.forward`."""
        examples = self.examples
        mine = numbers[self.rank :: self.world]
        arrays = examples.encoded.batch(mine).arguments()
        batch: dict[str, Any] = {name: torch.from_numpy(each) for name, each in arrays.items()}
        row, gold, group_row = collate_gold([examples.golds[number] for number in mine])
        entries = {"row": row, **gold._asdict(), "group_row": group_row}
        batch["gold"] = {name: torch.from_numpy(each) for name, each in entries.items()}
        # The gradients of processes are averaged, so a sum over sentences is divided like this.
        batch["divisor"] = len(numbers) / self.world
        if examples.teacher is not None:
            taught = [examples.teacher[number] for number in mine]
            batch["teacher"] = _padded(taught, arrays["mask"].shape[1])
            batch["labelled"] = torch.from_numpy(examples.labelled[mine])
        return batch


def _padded(tables: Sequence[Marginals], words: int) -> torch.Tensor:
    padded = np.zeros((len(tables), words, tables[0].shape[1]), dtype=np.float16)
    for row, each in zip(padded, tables, strict=True):
        row[: len(each)] = each
    return torch.from_numpy(padded)


class Loader(DataLoader[dict[str, Any]]):
    """Gives the batches of an epoch, always the same for the same seed and epoch.

    Each epoch also begins with its own random state, so that one which is done again after an
    interruption drops out the same.
    """

    def __init__(
        self, examples: Examples, batch_size: int, seed: int, *, rank: int = 0, world: int = 1
    ) -> None:
        sizes = examples.encoded.widths * examples.encoded.heights
        self.order = Order(sizes, batch_size, seed)
        self.rank = rank
        super().__init__(Batches(examples, rank, world), batch_size=None, sampler=self.order)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose batches come next."""
        self.order.epoch = epoch

    def __iter__(self) -> Any:
        """Begin an epoch."""
        entropy = [self.order.seed, self.order.epoch, self.rank]
        torch.manual_seed(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
        return super().__iter__()
