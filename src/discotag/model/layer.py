"""The tagging layer: scores in, sound mentions, probabilities and losses out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import torch
from torch import Tensor, nn

from discotag.errors import DiscotagError, InputError
from discotag.inference import gold as gold_module
from discotag.inference.backends import torch_backend as backend
from discotag.inference.gold import GoldBatch, collate_gold, gold_scores
from discotag.mentions import Mention, check_inside
from discotag.model.objectives import Objective
from discotag.scheme import Scheme, UnknownLabelError

REDUCTIONS: Final = ("mean", "word_mean", "sum", "none")

CACHED_SENTENCES: Final = 1 << 17
"""Sentences whose gold is found once and kept: more than any corpus of the field has."""

find_gold = lru_cache(CACHED_SENTENCES)(gold_module.find_gold)
gold_of_tags = lru_cache(CACHED_SENTENCES)(gold_module.gold_of_tags)

Method = TypeVar("Method", bound=Callable[..., Any])


def _eager(method: Method) -> Method:
    """Leave this out of what `torch.compile` compiles: the loop over words is not for it."""
    return cast(Method, torch.compiler.disable(method))  # type: ignore[no-untyped-call]


@contextmanager
def _in_sentence(row: int) -> Iterator[None]:
    """Let errors say which sentence of the batch they are about."""
    try:
        yield
    except DiscotagError as error:
        error.args = (f"sentence {row} of the batch: {error}",)
        raise


class ScoresError(InputError):
    """Scores, masks or gold of the wrong shape or kind, or that no tag sequence can have."""


class TaggingLayer(nn.Module):
    """A layer on top of any model that scores tags.

    All methods take `scores`, (batch, words, tags) in the order of `scheme.tags`, and an optional
    `mask`, (batch, words), of any form: padding left or right, holes. Half precision is computed in
    float32. Scores may be -inf, but neither NaN nor inf.

    Args:
        scheme: What the tags mean.
        arc_weights: Learn a weight for each arc of the grammar, as a CRF does for its transitions;
            the paper has none.
        check: Look for NaN and for sentences that no sequence is possible for, and raise
            `ScoresError`. It makes a GPU wait for its results; without it such sentences get
            whatever comes out.

    Example:
        >>> import torch
        >>> from discotag import Mention, Scheme, TaggingLayer
        >>> layer = TaggingLayer(Scheme(labels=("ADR",)))
        >>> scores = torch.randn(1, 5, 9, requires_grad=True)
        >>> pain = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]
        >>> layer.loss(scores, [pain]).backward()
        >>> layer.decode(scores).shape
        torch.Size([1, 5])
    """

    def __init__(self, scheme: Scheme, *, arc_weights: bool = False, check: bool = True) -> None:
        super().__init__()
        self.scheme = scheme
        self.check = check
        weights = torch.zeros(len(scheme.grammar.arcs))
        self.arc_weights = nn.Parameter(weights) if arc_weights else None

    def extra_repr(self) -> str:
        """What `print` shows of the layer."""
        return f"{self.scheme}, arc_weights={self.arc_weights is not None}"

    @_eager
    def decode(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """The best tags, (batch, words), as indices into `scheme.tags`; -1 under no mask."""
        mask = self._checked(scores, mask)
        tags, best = backend.best_tags(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(best)
        return tags

    def decode_mentions(
        self, scores: Tensor, mask: Tensor | None = None
    ) -> list[frozenset[Mention]]:
        """For each sentence the mentions that its best tags stand for, counted in its words."""
        names = self.scheme.tags
        return [
            self.scheme.decode([names[tag] for tag in row if tag >= 0])
            for row in self.decode(scores, mask).tolist()
        ]

    @_eager
    def log_partition(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """The log-sum of the scores of all well-formed sequences, (batch,); differentiable once."""
        mask = self._checked(scores, mask)
        total = backend.log_partition(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(total)
        return total

    @_eager
    def marginals(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """The probability of each tag of each word, (batch, words, tags); 0 under no mask."""
        mask = self._checked(scores, mask)
        found, total = backend.marginals(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(total)
        return found

    @_eager
    def topk(self, scores: Tensor, mask: Tensor | None = None, *, k: int) -> tuple[Tensor, Tensor]:
        """The k best sequences, (batch, k, words), and their scores, (batch, k), best first.

        Where fewer exist, the rest have score -inf and tags -1. Scores minus `log_partition` are
        log-probabilities.
        """
        if k < 1:
            raise ScoresError(f"k must be at least 1, got {k}")
        mask = self._checked(scores, mask)
        tags, best = backend.k_best(self.scheme.grammar, scores, mask, self.arc_weights, k)
        self._check_possible(best[:, 0])
        return tags, best

    @_eager
    def sample(
        self,
        scores: Tensor,
        mask: Tensor | None = None,
        *,
        number: int = 1,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Sequences drawn by their probability, (batch, number, words); -1 under no mask."""
        if number < 1:
            raise ScoresError(f"number must be at least 1, got {number}")
        mask = self._checked(scores, mask)
        tags, total = backend.sample(
            self.scheme.grammar, scores, mask, self.arc_weights, number, generator
        )
        self._check_possible(total)
        return tags

    @_eager
    def entropy(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """The entropy of the distribution over sequences, (batch,), in nats; differentiable."""
        if self.check:
            self.log_partition(scores.detach(), mask)  # refuses what has no distribution
        mask = self._checked(scores, mask)
        if mask is not None:  # nothing may come of padding, not even NaN
            scores = scores.masked_fill(~mask[..., None], 0)
        return backend.entropy(self.scheme.grammar, scores, mask, self.arc_weights)

    @_eager
    def mention_probability(
        self,
        scores: Tensor,
        mentions: Sequence[Iterable[Mention]],
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return the probability of each mention to be among those of its sentence.

        It is exact: a sum over all sequences that contain the mention, however they tag it.
        Differentiable.

        Args:
            scores: (batch, words, tags).
            mentions: For each sentence any mentions, counted in the words that have the mask.
            mask: (batch, words).

        Returns:
            (batch, most mentions of a sentence), in the order of iteration, 0 where a sentence has
            fewer.
        """
        mask = self._checked(scores, mask)
        scores = self.levelled(scores)
        self._check_possible(
            backend.log_partition(self.scheme.grammar, scores.detach(), mask, self.arc_weights)
        )
        lengths, order = self._words(scores, mask)
        self._check_number("mentions", mentions, scores)
        listed = [list(each) for each in mentions]
        for row, each in enumerate(listed):
            for mention in each:
                with _in_sentence(row):
                    check_inside(mention, lengths[row])
                    if mention.label not in self.scheme.labels:
                        known = " ".join(self.scheme.labels)
                        raise UnknownLabelError(f"the label of {mention} is none of {known}")
        if order is not None:  # words to the left, holes to the right
            scores = scores.gather(1, order[..., None].expand_as(scores))
        found = backend.mention_probabilities(
            self.scheme, scores, lengths, listed, self.arc_weights
        )
        sizes = [len(each) for each in listed]
        table = scores.new_zeros(len(scores), max(sizes, default=0))
        rows = torch.repeat_interleave(torch.tensor(sizes, dtype=torch.long))
        columns = torch.cat([torch.arange(0), *map(torch.arange, sizes)])
        places = (rows.to(scores.device), columns.to(scores.device))
        return table.index_put(places, found.to(table.dtype))

    @_eager
    def loss(
        self,
        scores: Tensor,
        gold: Sequence[Iterable[Mention]] | Tensor,
        mask: Tensor | None = None,
        *,
        objective: Objective | str = Objective.NLL,
        reduction: str = "mean",
        known_slots: Sequence[Mapping[int, int]] | None = None,
    ) -> Tensor:
        """How unlikely the gold mentions are, in nats.

        Args:
            scores: (batch, words, tags).
            mask: (batch, words).
            gold: For each sentence its mentions, counted in the words that have the mask; or tags,
                (batch, words), of which those under no mask are not looked at.
            objective: `nll`, of one tagging; `soft_em`, of all namings of the slots together;
                `hard_em`, of the best naming; `weakly_soft_em` and `weakly_hard_em`, the same where
                some slots are known. With structural naming they are all the same.
            reduction: `mean` over sentences, `word_mean` over words, `sum` or `none`.
            known_slots: For each sentence the slots that are known, word to slot. One names the
                slots of its whole mention set; where they contradict each other they name none.

        Raises:
            IncompatibleError: Gold mentions do not fit the scheme; `Scheme.problems` tells before.
            IllFormedError: Gold tags break a rule.
        """
        if objective not in list(Objective):
            raise ScoresError(f"objective must be one of {', '.join(Objective)}, got {objective!r}")
        objective = Objective(objective)
        if reduction not in REDUCTIONS:
            raise ScoresError(
                f"reduction must be one of {', '.join(REDUCTIONS)}, got {reduction!r}"
            )
        if objective.uses_lexicon and known_slots is None:
            raise ScoresError(f"{objective} needs known_slots")
        if objective in (Objective.SOFT_EM, Objective.HARD_EM) and known_slots is not None:
            raise ScoresError(f"{objective} takes no known_slots; weakly_{objective} does")
        mask = self._checked(scores, mask)
        scores = self.levelled(scores)
        total = backend.log_partition(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(total)
        lengths, order = self._words(scores, mask)
        self._check_number("gold", gold, scores)
        if known_slots is not None:
            self._check_number("known slots", known_slots, scores)
        if isinstance(gold, Tensor) and gold.shape != scores.shape[:2]:
            raise ScoresError(
                f"gold tags must have shape {tuple(scores.shape[:2])}, got {tuple(gold.shape)}"
            )
        batch = self._gold(gold, mask, lengths, objective, known_slots)
        losses = total - self.gold_scores(scores, batch, objective, order)
        if reduction == "none":
            return losses
        if reduction == "sum":
            return losses.sum()
        return losses.sum() / max(1, len(lengths) if reduction == "mean" else sum(lengths))

    forward = loss

    @_eager
    def gold_scores(
        self,
        scores: Tensor,
        gold: GoldBatch,
        objective: Objective,
        order: Tensor | None = None,
    ) -> Tensor:
        """Return the score that an objective gives to gold mentions, (batch,).

        `log_partition` minus this is the loss. For callers that keep the gold of sentences, as
        `discotag.inference.gold` finds it; nothing is checked.

        Args:
            scores: (batch, words, tags).
            gold: The gold of the batch.
            objective: The objective.
            order: (batch, words): the position of each word, where a mask leaves some out; by
                default words are where they are counted.
        """
        kind = torch.promote_types(scores.dtype, torch.float32)
        weights = None if self.arc_weights is None else self.arc_weights.to(kind)
        return cast(
            Tensor,
            gold_scores(
                backend.TOOLS, gold, order, scores.to(kind), weights,
                best=objective.uses_best_naming,
            ),
        )  # fmt: skip

    def _gold(
        self,
        gold: Sequence[Iterable[Mention]] | Tensor,
        mask: Tensor | None,
        lengths: Sequence[int],
        objective: Objective,
        known_slots: Sequence[Mapping[int, int]] | None,
    ) -> GoldBatch:
        taggings = self._taggings(gold, mask) if isinstance(gold, Tensor) else None
        weighted = self.arc_weights is not None
        golds = []
        for row, length in enumerate(lengths):
            with _in_sentence(row):
                if taggings is not None and not objective.uses_all_namings:
                    golds.append(gold_of_tags(self.scheme, taggings[row], weighted))
                    continue
                given = self.scheme.decode(taggings[row]) if taggings is not None else gold[row]
                listed = list(given)
                mentions = frozenset(listed)
                if len(mentions) < len(listed):
                    self.scheme.layers(length, listed)  # says which is given twice
                known = self._known(known_slots[row], length) if known_slots else frozenset()
                every = objective.uses_all_namings
                golds.append(find_gold(self.scheme, length, mentions, known, every, weighted))
        return collate_gold(golds)

    def _known(self, slots: Mapping[int, int], length: int) -> frozenset[tuple[int, int]]:
        for word, slot in slots.items():
            if word not in range(length) or slot not in range(self.scheme.slots):
                raise ScoresError(
                    f"known slot {word!r}: {slot!r}: words count from 0 to {length - 1}, "
                    f"slots from 0 to {self.scheme.slots - 1}"
                )
        return frozenset(slots.items())

    def levelled(self, scores: Tensor) -> Tensor:
        """Return the scores less the highest of each word, in at least single precision.

        That changes no difference between two log-sums, and leaves more digits for it.
        """
        return backend.TOOLS.levelled(scores)

    def _taggings(self, gold: Tensor, mask: Tensor | None) -> list[tuple[str, ...]]:
        """Gold given as indices, by name, without those under no mask."""
        names = dict(enumerate(self.scheme.tags))
        allowed = torch.ones_like(gold, dtype=torch.bool) if mask is None else mask
        return [
            tuple(names.get(tag, str(tag)) for tag, here in zip(tags, mine, strict=True) if here)
            for tags, mine in zip(gold.tolist(), allowed.tolist(), strict=True)
        ]

    def _words(self, scores: Tensor, mask: Tensor | None) -> tuple[list[int], Tensor | None]:
        """The number of words of each sentence, and the position of each word, (batch, words)."""
        if mask is None:
            return [scores.shape[1]] * len(scores), None
        order = (~mask).to(torch.int8).argsort(dim=1, stable=True)
        return mask.sum(1).tolist(), order

    def _checked(self, scores: Tensor, mask: Tensor | None) -> Tensor | None:
        """The mask as the backends want it; raises `ScoresError`."""
        tags = len(self.scheme.tags)
        if not isinstance(scores, Tensor) or not isinstance(mask, Tensor | None):
            raise ScoresError("scores and mask must be tensors")
        if scores.ndim != 3 or scores.shape[2] != tags or not scores.is_floating_point():
            raise ScoresError(
                f"scores must be floats of shape (batch, words, {tags}), "
                f"got {scores.dtype} of shape {tuple(scores.shape)}"
            )
        if mask is not None:
            if mask.shape != scores.shape[:2]:
                raise ScoresError(
                    f"the mask must have shape {tuple(scores.shape[:2])}, got {tuple(mask.shape)}"
                )
            mask = mask.to(device=scores.device, dtype=torch.bool)
            if not mask.is_cuda and bool(mask.all()):
                mask = None
        if self.check:
            bad = ~(scores.detach() < torch.inf)
            if mask is not None:
                bad &= mask[..., None]
            if bool(bad.any()):
                sentence, word, tag = bad.nonzero()[0].tolist()
                value = scores[sentence, word, tag].item()
                raise ScoresError(
                    f"sentence {sentence}, position {word}, tag {self.scheme.tags[tag]}: "
                    f"the score is {value}; scores must be numbers or -inf"
                )
        return mask

    def _check_possible(self, values: Tensor) -> None:
        """Raise if some sentence has no sequence of a finite score."""
        if self.check:
            impossible = ~values.detach().isfinite()
            if bool(impossible.any()):
                sentence = impossible.nonzero()[0].item()
                raise ScoresError(
                    f"sentence {sentence}: no well-formed tag sequence has a finite score; "
                    "too many of its scores are -inf, or they or the weights of arcs are too large"
                )

    def _check_number(self, name: str, given: Sequence[object] | Tensor, scores: Tensor) -> None:
        if len(given) != len(scores):
            raise ScoresError(f"{len(scores)} sentences have scores, but {len(given)} {name}")
