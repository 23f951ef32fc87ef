"""Sentences in batches: of like length, in an order that seed and epoch alone decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from discotag.mentions import Mention
from discotag.model.pieces import Encoded, collate

Indices = npt.NDArray[np.int64]
Marginals = npt.NDArray[np.float16]

BATCHES_SORTED: Final = 50
"""So many batches are sorted by length together: enough to save padding, and few enough that an
epoch mixes sentences anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A sentence to learn from.

    Attributes:
        encoded: Its subwords.
        mentions: The gold mentions; None where they are not known and only teachers speak.
        known_slots: What a lexicon says of slots, word to slot.
        teacher: (words, tags): the probabilities that teachers give to tags.
    """

    encoded: Encoded
    mentions: frozenset[Mention] | None
    known_slots: Mapping[int, int] = field(default_factory=dict)
    teacher: Marginals | None = None


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

    def __init__(self, examples: Sequence[Example], pad_id: int, rank: int, world: int) -> None:
        self.examples = examples
        self.pad_id = pad_id
        self.rank = rank
        self.world = world

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, numbers: Indices) -> dict[str, Any]:
        """The arguments of `Learner.forward`."""
        mine = [self.examples[number] for number in numbers[self.rank :: self.world]]
        arrays = collate([each.encoded for each in mine], self.pad_id)
        batch: dict[str, Any] = {name: torch.from_numpy(each) for name, each in arrays.items()}
        batch["mentions"] = [each.mentions or frozenset() for each in mine]
        batch["known_slots"] = [each.known_slots for each in mine]
        # The gradients of processes are averaged, so a sum over sentences is divided like this.
        batch["divisor"] = len(numbers) / self.world
        if any(each.teacher is not None for each in mine):
            batch["teacher"] = _padded(mine, arrays["mask"].shape[1])
            batch["labelled"] = torch.tensor([each.mentions is not None for each in mine])
        return batch


def _padded(examples: Sequence[Example], words: int) -> torch.Tensor:
    tags = next(each.teacher.shape[1] for each in examples if each.teacher is not None)
    table = np.zeros((len(examples), words, tags), dtype=np.float16)
    for row, each in enumerate(examples):
        if each.teacher is not None:
            table[row, : len(each.teacher)] = each.teacher
    return torch.from_numpy(table)


class Loader(DataLoader[dict[str, Any]]):
    """Gives the batches of an epoch, always the same for the same seed and epoch.

    Each epoch also begins with its own random state, so that one which is done again after an
    interruption drops out the same.
    """

    def __init__(
        self, examples: Sequence[Example], pad_id: int, batch_size: int, seed: int,
        *, rank: int = 0, world: int = 1,
    ) -> None:  # fmt: skip
        sizes = np.array([each.encoded.size for each in examples])
        self.order = Order(sizes, batch_size, seed)
        self.rank = rank
        super().__init__(
            Batches(examples, pad_id, rank, world), batch_size=None, sampler=self.order
        )

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose batches come next."""
        self.order.epoch = epoch

    def __iter__(self) -> Any:
        """Begin an epoch."""
        entropy = [self.order.seed, self.order.epoch, self.rank]
        torch.manual_seed(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
        return super().__iter__()
