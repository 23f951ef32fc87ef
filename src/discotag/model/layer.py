"""The tagging layer: from scores to mentions, probabilities and losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import torch
from torch import Tensor, nn

from discotag.counts import counted
from discotag.errors import DiscotagError, InputError
from discotag.inference import gold as gold_module
from discotag.inference.backends import torch_backend as backend
from discotag.inference.gold import GoldBatch, collate_gold, gold_scores
from discotag.mentions import Mention, check_inside
from discotag.model.objectives import Objective
from discotag.scheme import Scheme, UnknownLabelError

REDUCTIONS: Final = ("mean", "word_mean", "sum", "none")

CACHED_SENTENCES: Final = 1 << 17
"""The number of sentences whose gold is cached: more than any corpus of the field has."""

find_gold = lru_cache(CACHED_SENTENCES)(gold_module.find_gold)
gold_of_tags = lru_cache(CACHED_SENTENCES)(gold_module.gold_of_tags)

Method = TypeVar("Method", bound=Callable[..., Any])


def _eager(method: Method) -> Method:
    """Exclude a method from `torch.compile`, which does not help with a loop over words."""
    return cast(Method, torch.compiler.disable(method))  # type: ignore[no-untyped-call]


@contextmanager
def _in_sentence(row: int) -> Iterator[None]:
    """Add the sentence of the batch to the message of errors."""
    try:
        yield
    except DiscotagError as error:
        error.args = (f"sentence {row} of the batch: {error}",)
        raise


class ScoresError(InputError):
    """Raised for invalid scores, masks or gold, or if a sentence has no possible tag sequence."""


class TaggingLayer(nn.Module):
    """A layer for any model that gives each word a score for each tag.

    All methods take `scores`, (batch, words, tags), with tags in the order of `scheme.tags`, and an
    optional `mask`, (batch, words), which is true for words. Any mask is allowed: padding left or
    right, or holes. Scores in half precision are computed in float32. Scores may be -inf, but not
    NaN or inf.

    Args:
        scheme: The scheme that defines the tags.
        arc_weights: Whether to learn a weight for each arc of the grammar, like the transition
            weights of a CRF; the paper has none.
        check: Whether to raise `ScoresError` if scores are NaN or inf, or if a sentence has no
            possible tag sequence. This synchronises with a GPU; without it, the results of such
            sentences are undefined.

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
        """Return the arguments that `repr` shows."""
        return f"{self.scheme}, arc_weights={self.arc_weights is not None}"

    def encode(self, mentions: Sequence[Iterable[Mention]], mask: Tensor) -> Tensor:
        """Return the tags of sentences with these mentions, (batch, words).

        They have the form of those of `decode`, and so can be targets of any loss on words. With
        semantic naming, they are one of several encodings; see `Scheme.encode`.

        Args:
            mentions: Those of each sentence; fragments count only words that are not masked out.
            mask: (batch, words), true for words.

        Raises:
            ScoresError: There are more or fewer sentences than rows of the mask.
            IncompatibleError: No tag sequence encodes the mentions of a sentence.
            MentionError: A mention reaches past the last word.
            UnknownLabelError: A mention has a label that the scheme does not have.
        """
        if len(mentions) != len(mask):
            rows = counted(len(mask), "row")
            raise ScoresError(f"got {counted(len(mentions), 'sentence')} for a mask of {rows}")
        numbers = {tag: number for number, tag in enumerate(self.scheme.tags)}
        mask = mask.bool()
        found = torch.full(mask.shape, -1, device=mask.device)
        for row, (words, own) in enumerate(zip(mask, mentions, strict=True)):
            with _in_sentence(row):
                tags = self.scheme.encode(int(words.sum()), own)
            found[row, words] = found.new_tensor([numbers[tag] for tag in tags])
        return found

    @_eager
    def decode(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the best tag sequences, (batch, words).

        Tags are indices into `scheme.tags`, and -1 for words that are masked out.
        """
        mask = self._checked(scores, mask)
        tags, best = backend.best_tags(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(best)
        return tags

    def decode_mentions(
        self, scores: Tensor, mask: Tensor | None = None
    ) -> list[frozenset[Mention]]:
        """Return the mentions that the best tags of each sentence encode.

        Fragments count only words that are not masked out.
        """
        names = self.scheme.tags
        return [
            self.scheme.decode([names[tag] for tag in row if tag >= 0])
            for row in self.decode(scores, mask).tolist()
        ]

    @_eager
    def log_partition(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the log-sum-exp of the scores of all well-formed sequences, (batch,).

        It can be differentiated once.
        """
        mask = self._checked(scores, mask)
        total = backend.log_partition(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(total)
        return total

    @_eager
    def marginals(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the probability of each tag of each word, (batch, words, tags).

        Words that are masked out have probabilities of 0. They have no gradient: a loss that should
        change the scores needs `log_partition` or the scores themselves.
        """
        mask = self._checked(scores, mask)
        found, total = backend.marginals(self.scheme.grammar, scores, mask, self.arc_weights)
        self._check_possible(total)
        return found

    @_eager
    def k_best(
        self, scores: Tensor, mask: Tensor | None = None, *, k: int
    ) -> tuple[Tensor, Tensor]:
        """Return the k best tag sequences and their scores, best first.

        If a sentence has fewer than k sequences, the remaining rows have score -inf and tags -1.
        The scores minus `log_partition` are log-probabilities.

        Returns:
            The tags, (batch, k, words), and the scores, (batch, k).
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
        """Draw tag sequences according to their probabilities.

        Args:
            scores: (batch, words, tags).
            mask: (batch, words).
            number: The number of sequences to draw for each sentence.
            generator: The source of random numbers; by default, PyTorch's global one.

        Returns:
            The tags, (batch, number, words), -1 for words that are masked out.
        """
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
        """Return the entropy of the distribution over sequences, in nats, (batch,).

        It can be differentiated any number of times.
        """
        if self.check:
            self.log_partition(scores.detach(), mask)  # raises if no sequence is possible
        mask = self._checked(scores, mask)
        if mask is not None:  # masked-out scores may be NaN
            scores = scores.masked_fill(~mask[..., None], 0)
        return backend.entropy(self.scheme.grammar, scores, mask, self.arc_weights)

    @_eager
    def mention_probability(
        self,
        scores: Tensor,
        mentions: Sequence[Iterable[Mention]],
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return the probability of each mention.

        It is exact: the sum of the probabilities of all sequences that encode the mention, alone or
        among others. It can be differentiated.

        Args:
            scores: (batch, words, tags).
            mentions: For each sentence, any mentions whose labels the scheme has. Fragments count
                only words that are not masked out.
            mask: (batch, words).

        Returns:
            The probabilities, (batch, mentions), in the order of iteration, padded with 0.
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
                        raise UnknownLabelError(f"the label of {mention} is not one of {known}")
        if order is not None:  # move the words to the left
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
        """Return the negative log-likelihood of the gold mentions, in nats.

        Args:
            scores: (batch, words, tags).
            gold: For each sentence, its mentions, whose fragments count only words that are not
                masked out; or tags, (batch, words), which are ignored where they are masked out.
            mask: (batch, words).
            objective: `nll`, of one naming of the slots; `soft_em`, of all namings together;
                `hard_em`, of the best naming; `weakly_soft_em` and `weakly_hard_em`, the same with
                `known_slots`. With structural naming there is one naming, and all are the same.
            reduction: `mean` over sentences, `word_mean` over words, `sum` or `none`.
            known_slots: For each sentence, the known slots of words. One known slot fixes the
                naming of its whole mention set; slots that contradict each other are ignored.

        Raises:
            IncompatibleError: If gold mentions do not fit the scheme; `Scheme.problems` lists the
                ones that do not.
            IllFormedError: If gold tags break a rule of the scheme.
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
            raise ScoresError(f"{objective} does not use known_slots; weakly_{objective} does")
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

        `log_partition` minus this is the loss. This method is for callers that prepare gold
        themselves with `discotag.inference.gold`; it does not check its arguments.

        Args:
            scores: (batch, words, tags).
            gold: The gold of the batch.
            objective: The objective.
            order: (batch, words), the position of each word in `scores`; None if word n is at n.
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
                    self.scheme.layers(length, listed)  # raises, and names the duplicate
                known = self._known(known_slots[row], length) if known_slots else frozenset()
                every = objective.uses_all_namings
                golds.append(find_gold(self.scheme, length, mentions, known, every, weighted))
        return collate_gold(golds)

    def _known(self, slots: Mapping[int, int], length: int) -> frozenset[tuple[int, int]]:
        for word, slot in slots.items():
            if word not in range(length) or slot not in range(self.scheme.slots):
                raise ScoresError(
                    f"known_slots has slot {slot!r} for word {word!r}; words must be from 0 to "
                    f"{length - 1}, slots from 0 to {self.scheme.slots - 1}"
                )
        return frozenset(slots.items())

    def levelled(self, scores: Tensor) -> Tensor:
        """Return scores minus the highest score of each word, in at least single precision.

        Differences of log-partitions stay the same and become more precise.
        """
        return backend.TOOLS.levelled(scores)

    def _taggings(self, gold: Tensor, mask: Tensor | None) -> list[tuple[str, ...]]:
        """Return gold tags by name, without those that are masked out."""
        names = dict(enumerate(self.scheme.tags))
        allowed = torch.ones_like(gold, dtype=torch.bool) if mask is None else mask
        return [
            tuple(names.get(tag, str(tag)) for tag, here in zip(tags, mine, strict=True) if here)
            for tags, mine in zip(gold.tolist(), allowed.tolist(), strict=True)
        ]

    def _words(self, scores: Tensor, mask: Tensor | None) -> tuple[list[int], Tensor | None]:
        """Return the number of words of each sentence and the position of each word.

        The positions are (batch, words), or None if no word is masked out.
        """
        if mask is None:
            return [scores.shape[1]] * len(scores), None
        order = (~mask).to(torch.int8).argsort(dim=1, stable=True)
        return mask.sum(1).tolist(), order

    def _checked(self, scores: Tensor, mask: Tensor | None) -> Tensor | None:
        """Return the mask for the backends: boolean, or None if it is True everywhere.

        Raises:
            ScoresError: If scores or mask have the wrong shape or type, or if `check` is set and
                scores are NaN or inf.
            DiscotagError: If a model with this layer is traced or exported.
        """
        tracing = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
        if tracing or torch.compiler.is_exporting():
            raise DiscotagError(
                "a TaggingLayer cannot be traced or exported, because its results would become "
                "constants: trace the model that gives the scores, and use the layer on its outputs"
            )
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
        """Raise `ScoresError` if a sentence has no tag sequence with a finite score."""
        if self.check:
            impossible = ~values.detach().isfinite()
            if bool(impossible.any()):
                sentence = impossible.nonzero()[0].item()
                raise ScoresError(
                    f"sentence {sentence}: no well-formed tag sequence has a finite score; "
                    "too many scores are -inf, or scores or arc weights are too large"
                )

    def _check_number(self, name: str, given: Sequence[object] | Tensor, scores: Tensor) -> None:
        if len(given) != len(scores):
            raise ScoresError(
                f"scores are for {counted(len(scores), 'sentence')}, but {name} for {len(given)}"
            )
