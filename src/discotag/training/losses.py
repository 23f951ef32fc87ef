"""The loss of a training: a sum of terms, each of which gives a number for each sentence.

To add a term, such as a second objective or a head that exists in training only:

1. write a subclass of `Term`. What `forward` can use is in `Step`: the encoder's vectors, the
   scores, the log-partition, the gold taggings and, with teachers, their distributions. Parameters
   of the term are trained, clipped and saved in checkpoints like those of the network; they are not
   part of the model that comes out;
2. add a setting for it, for example its weight, to `Settings`. `Term.from_settings` reads it, and
   `discotag train` has an option for it;
3. list the class in `TERMS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from discotag.inference.backends.torch_tools import to_device
from discotag.inference.gold import Gold, GoldBatch
from discotag.mentions import Mention
from discotag.model.candidates import tabulate
from discotag.model.network import Network
from discotag.model.objectives import Objective
from discotag.prediction.decoding import read_batch
from discotag.training.batching import encode_batch
from discotag.training.processes import is_launched
from discotag.training.settings import Settings

Numbers = npt.NDArray[Any]

ROUNDS: Final = 8
"""The number of tag sequences whose mentions are candidates in training."""

LARGEST_SET: Final = 16
"""Larger mention sets give no candidates in training: in its first steps, the network finds sets of
thousands of mentions."""


@dataclass(eq=False)
class Step:
    """What the terms of a loss can use.

    Attributes:
        network: The network.
        vectors: The encoder's vectors of words, (batch, words, size).
        scores: The scores of tags, (batch, words, tags).
        mask: Whether there is a word, (batch, words).
        batch: The rest of what `Batches` gives.
        encode: Computes vectors and scores.
    """

    network: Network
    vectors: Tensor
    scores: Tensor
    mask: Tensor
    batch: Mapping[str, Any]
    encode: Callable[[], tuple[Tensor, Tensor]] | None = None

    def again(self) -> Step:
        """Return the same step with vectors and scores that are computed again.

        They differ by dropout, and cost as much time and memory as the first ones.
        """
        assert self.encode is not None
        return Step(self.network, *self.encode(), self.mask, self.batch, self.encode)

    @cached_property
    def log_partition(self) -> Tensor:
        """The log-partition of each sentence, (batch,), computed once for all terms."""
        return self.network.layer.log_partition(self.scores, self.mask)

    @property
    def labelled(self) -> Tensor | None:
        """Whether each sentence has gold mentions, (batch,); None: all have."""
        return self.batch.get("labelled")

    @cached_property
    def discontinuous(self) -> Tensor:
        """Whether each sentence has a discontinuous mention, (batch,)."""
        found = [any(each.discontinuous for each in mentions) for mentions in self.mentions]
        return to_device(torch.tensor(found), self.scores.device)

    @property
    def mentions(self) -> Sequence[Sequence[Mention]]:
        """The gold mentions of each sentence."""
        found: Sequence[Sequence[Mention]] = self.batch["mentions"]
        return found

    @cached_property
    def gold(self) -> GoldBatch:
        """The gold taggings of the batch."""
        gold = Gold(*(self.batch[f"gold_{name}"] for name in Gold._fields))
        return GoldBatch(self.batch["gold_row"], gold, self.batch["gold_group_row"])


class Term(nn.Module, ABC):
    """A term of the loss.

    Attributes:
        in_second_pass: Whether it is part of the loss in the second pass of adversarial training.
    """

    in_second_pass: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Settings, network: Network, *, taught: bool) -> Self | None:
        """Return the term that the settings ask for, or None if they do not.

        Args:
            settings: The settings.
            network: The network that is trained.
            taught: Whether there are teachers.
        """

    @abstractmethod
    def forward(self, step: Step) -> Tensor:
        """Return what the term adds to the loss of each sentence, (batch,)."""


class GoldTerm(Term):
    """The loss of an objective, on sentences that have gold mentions.

    Args:
        objective: The objective.
        weight: Its share in the loss.
        discontinuous_weight: The weight of sentences with discontinuous mentions.
    """

    def __init__(
        self, objective: Objective, weight: float = 1.0, discontinuous_weight: float = 1.0
    ) -> None:
        super().__init__()
        self.objective = objective
        self.weight = weight
        self.discontinuous_weight = discontinuous_weight

    @classmethod
    def from_settings(cls, settings: Settings, network: Network, *, taught: bool) -> Self:
        """Return the term of the objective; teachers take their share of its weight."""
        weight = 1 - settings.teacher_weight if taught else 1.0
        return cls(settings.objective, weight, settings.discontinuous_weight)

    def forward(self, step: Step) -> Tensor:
        """Return the log-partition minus the score of the gold mentions."""
        scored = step.network.layer.gold_scores(step.scores, step.gold, self.objective)
        losses = self.weight * (step.log_partition - scored)
        if self.discontinuous_weight != 1:
            losses = losses * step.discontinuous.float().mul(self.discontinuous_weight - 1).add(1)
        return losses if step.labelled is None else torch.where(step.labelled, losses, 0.0)


class TeacherTerm(Term):
    """The cross-entropy of the teachers' distribution q and the network's p over tag sequences.

    As p is a product of scores of words over the partition, only q's marginals of tags are needed:

        H(q, p) = log Z - sum over words and tags of q(word, tag) * score(word, tag)

    Args:
        weight: Its share in the loss of sentences that have gold mentions; for others it is 1.
    """

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    @classmethod
    def from_settings(cls, settings: Settings, network: Network, *, taught: bool) -> Self | None:
        """Return the term if there are teachers."""
        return cls(settings.teacher_weight) if taught else None

    def forward(self, step: Step) -> Tensor:
        """Return the weighted cross-entropy."""
        teacher: Tensor = step.batch["teacher"]
        expected = (teacher.float() * step.scores).sum((1, 2))
        losses = step.log_partition - expected
        if step.labelled is None:
            return self.weight * losses
        return torch.where(step.labelled, self.weight, 1.0) * losses


class MentionTerm(Term):
    """The binary cross-entropy of the mention scorer, on mentions that the network might find.

    Candidates are the gold mentions, those that teachers consider, and those of `ROUNDS` tag
    sequences: the best one, and the best ones under scores with Gumbel noise, which are close to
    samples of the network's distribution (Papandreou and Yuille 2011) and take one call of the
    fastest kernel. The target of a candidate is whether it is gold; with teachers, this is mixed
    with the probability that they give it.

    The second pass of adversarial training is for the tagger alone, so candidates are drawn once
    per step. docs/experiments.md compares this with a scorer that learns in both passes.

    Args:
        teacher_weight: The share of the teachers in the targets of sentences that have gold
            mentions; in others it is 1.
    """

    in_second_pass = False

    def __init__(self, teacher_weight: float = 0.0) -> None:
        super().__init__()
        self.teacher_weight = teacher_weight

    @classmethod
    def from_settings(cls, settings: Settings, network: Network, *, taught: bool) -> Self | None:
        """Return the term if the network has a mention scorer."""
        if network.scorer is None:
            return None
        return cls(settings.teacher_weight if taught else 0.0)

    def forward(self, step: Step) -> Tensor:
        """Return the sum over the candidates of each sentence."""
        network = step.network
        assert network.scorer is not None
        rows, width = step.mask.shape
        tags, lengths = self._draw(step)
        drawn = read_batch(network.layer.scheme, tags, LARGEST_SET, warn=False)
        targets = self._targets(step, drawn)
        table = tabulate(
            [list(each) for each in targets],
            lengths,
            np.arange(rows) * width,
            network.layer.scheme.labels,
        )
        scores: Tensor = network.scorer(step.vectors.flatten(0, 1), table)
        values = np.array([value for each in targets for value in each.values()], np.float32)
        row = np.repeat(np.arange(rows), [len(each) for each in targets])
        wanted, place = (to_device(torch.from_numpy(each), scores.device) for each in (values, row))
        losses = nn.functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none")
        return scores.new_zeros(rows).index_add(0, place, losses)

    def _draw(self, step: Step) -> tuple[Numbers, Numbers]:
        """Return tag sequences, (rounds * batch, words), and the lengths of sentences."""
        with torch.no_grad():
            noise = torch.empty_like(step.scores[None].expand(ROUNDS, -1, -1, -1)).exponential_()
            noise = noise.log_().neg_()
            noise[0] = 0
            # Scores that are not numbers have no well-formed best tags; their loss tells of them.
            noisy = (step.scores.nan_to_num(0, 0, 0) + noise).flatten(0, 1)
            tags = step.network.layer.decode(noisy, step.mask.repeat(ROUNDS, 1))
            packed = torch.cat([tags.flatten(), step.mask.sum(1)]).cpu().numpy()  # one copy
        rows = len(step.mask)
        return packed[:-rows].reshape(ROUNDS * rows, -1), packed[-rows:]

    def _targets(
        self, step: Step, drawn: Sequence[Sequence[Mention]]
    ) -> list[dict[Mention, float]]:
        """Return the candidates of each sentence, with what the scorer should say."""
        found: list[dict[Mention, float]] = []
        known = [dict.fromkeys(each, 1.0) for each in step.mentions]
        for row, gold in enumerate(known):
            chances, share = {}, 0.0
            if "chances" in step.batch:
                chances = step.batch["chances"][row]
                share = self.teacher_weight if step.batch["labelled_rows"][row] else 1.0
            more = dict.fromkeys(chain.from_iterable(drawn[row :: len(known)]), 0.0)
            if step.network.layer.scheme.slots > 1:  # others have no discontinuous mentions
                more |= dict.fromkeys(find_joined(gold), 0.0)
            found.append(
                {
                    each: (1 - share) * gold.get(each, 0.0) + share * chances.get(each, 0.0)
                    for each in gold | more | chances
                }
            )
        return found


def find_joined(gold: Iterable[Mention]) -> Iterator[Mention]:
    """Yield mentions that wrongly join words of two separate mentions around a conjunction.

    For "rash and chest pain" this is "rash … pain", for "chest pain and rash" it is "chest … rash".

    Args:
        gold: The mentions of a sentence. Two are around a conjunction if they are continuous, have
            the same label, and exactly one word is between them.

    Example:
        >>> rash, pain = Mention("ADR", [(0, 1)]), Mention("ADR", [(2, 4)])
        >>> [str(each) for each in find_joined([rash, pain])]
        ['ADR [0:1 3:4]']
    """
    alone = sorted(each for each in gold if not each.discontinuous)
    for first, second in pairwise(alone):
        (start, end), (begin, stop) = first.fragments[0], second.fragments[0]
        if first.label == second.label and end + 1 == begin:
            for place in range(begin + 1, stop):
                yield Mention(first.label, ((start, end), (place, stop)))
            for place in range(start + 1, end):
                yield Mention(first.label, ((start, place), (begin, stop)))


TERMS: Final[list[type[Term]]] = [GoldTerm, TeacherTerm, MentionTerm]
"""All terms that there are."""


def make_terms(settings: Settings, network: Network, *, taught: bool) -> list[Term]:
    """Return the terms of the loss that the settings ask for.

    Args:
        settings: The settings.
        network: The network that is trained.
        taught: Whether there are teachers to learn from.
    """
    made = [kind.from_settings(settings, network, taught=taught) for kind in TERMS]
    return [each for each in made if each is not None]


class Learner(nn.Module):
    """A network with its loss: the module that the trainer trains.

    Args:
        network: The network, which computes the scores.
        terms: The terms of the loss.
    """

    def __init__(self, network: Network, terms: Sequence[Term]) -> None:
        super().__init__()
        self.network = network
        self.terms = nn.ModuleList(terms)
        self._second_pass = False

    def heads(self) -> list[nn.Parameter]:
        """Return all parameters that are not the encoder's."""
        encoder = set(map(id, self.network.encoder.parameters()))
        return [each for each in self.parameters() if id(each) not in encoder]

    @contextmanager
    def second_pass(self) -> Iterator[None]:
        """Leave out the terms that are not part of the second pass of adversarial training."""
        self._second_pass = True
        try:
            yield
        finally:
            self._second_pass = False

    def forward(
        self,
        windows: Tensor,
        positions: Tensor,
        mask: Tensor,
        divisor: float,
        **batch: Any,
    ) -> Tensor:
        """Return the loss of a batch that `Batches` made."""

        def encode() -> tuple[Tensor, Tensor]:
            hidden = encode_batch(self.network, batch)
            # The gradient of `index_select` is one sum; that of indexing sorts the indices first.
            places = windows * hidden.shape[1] + positions
            vectors = hidden.flatten(0, 1).index_select(0, places.flatten()).view(*mask.shape, -1)
            # Levelled scores change no difference of log-sums, and leave more digits for it.
            return vectors, self.network.layer.levelled(self.network.score(vectors))

        vectors, scores = encode()
        step = Step(self.network, vectors, scores, mask, batch, encode)
        terms = [each for each in self.terms if each.in_second_pass or not self._second_pass]
        losses: Tensor = sum((term(step) for term in terms), scores.new_zeros(len(scores)))
        loss = losses.sum() / divisor
        if len(terms) < len(self.terms) and is_launched():
            # Processes that train together expect gradients of the same parameters in each pass.
            loss = loss + 0 * sum(each.sum() for each in self.heads())
        return loss
