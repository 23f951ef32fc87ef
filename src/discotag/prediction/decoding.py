"""Decoding: from scores to mentions with probabilities, on the device of the scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import exp, log, prod
from types import MappingProxyType, ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.errors import InputError
from discotag.inference.gold import collate_gold, find_gold, gold_scores
from discotag.inference.toolbox import Array
from discotag.mentions import Mention
from discotag.model.calibration import Calibration, log_odds
from discotag.model.candidates import Candidates
from discotag.prediction.pipeline import Work
from discotag.prediction.predictions import LeftOut, Review
from discotag.prediction.readings import Catalogue, Readings, Sequences
from discotag.prediction.regions import USUAL, WIDE, Search, find_regions, find_runs
from discotag.prediction.wanted import MENTIONS_ONLY, Wanted
from discotag.scheme import Layers, Scheme

Numbers = npt.NDArray[Any]

MAX_MENTIONS: Final = 1000
"""The most mentions of a mention set. A set of k slots with n components each has n^k mentions,
so a bad prediction could fill the memory; annotated sets are far smaller."""

SHORT: Final = 12
"""The most words of a run of tags whose mentions are cached."""

DIGITS: Final = 6
"""The number of decimal places of probabilities: single precision has no more."""

MOST_CELLS: Final = 1 << 24
"""The most values of regions or stretches that are decoded together, to save memory."""


Reading = tuple[float, list[Mention]]
"""A probability, and the mentions of a sentence."""


class Tagging(NamedTuple):
    """A tag sequence of a sentence.

    Attributes:
        value: The logarithm of its probability.
        exact: The logarithm of the probability of its reading.
        mentions: The mentions that it encodes.
    """

    value: float
    exact: float
    mentions: frozenset[Mention]


class Ask(NamedTuple):
    """What a `Decoder` is asked about sentences.

    Attributes:
        wanted: What a caller wants of the prediction.
        bias: What is added to the log-odds of each mention, that of the model included.
        review: Which candidates there are; None: there are none.
        probabilities: Whether mentions have scores.
    """

    wanted: Wanted = MENTIONS_ONLY
    bias: float = 0.0
    review: Review | None = None
    probabilities: bool = True

    def kept(self, found: Found, left_out: LeftOut) -> tuple[Sequence[Mention], Sequence[Mention]]:
        """Return the mentions and the candidates of a sentence that are wanted.

        Args:
            found: What was found in it.
            left_out: Counts the mentions that are left out, if there are no candidates.
        """
        wanted, mentions, candidates = self.wanted, found.mentions, found.candidates
        if wanted.labels:
            mentions, candidates = wanted.kept(mentions), wanted.kept(candidates)
        if self.review is None:
            return left_out.keep(mentions, wanted.min_score), ()
        return self.review.split(mentions, candidates, wanted.min_score)


class Found(NamedTuple):
    """What is found in a sentence; empty where nobody has asked.

    Attributes:
        mentions: What is predicted.
        candidates: What a wide search finds, predicted or not.
        taggings: The best tag sequences that its readings need.
        compared: The score of each mention that was compared.
        marginals: The probabilities of tags, (words, tags); None if nobody has asked.
    """

    mentions: Sequence[Mention] = ()
    candidates: Sequence[Mention] = ()
    taggings: Sequence[Tagging] = ()
    compared: Mapping[Mention, float] = MappingProxyType({})
    marginals: Numbers | None = None


NOTHING: Final = Found()


class TooManyMentions(UserWarning):
    """Warns that a mention set was left out because it has too many mentions."""


def read_batch(
    scheme: Scheme, tags: Numbers, most: int | None = None, *, warn: Numbers | bool = True
) -> list[list[Mention]]:
    """Return the mentions that tag sequences encode, (batch, words), sorted.

    Mention sets of too many mentions are left out, with the warning `TooManyMentions`.

    Args:
        scheme: The scheme.
        tags: The tag sequences, as indices into `scheme.tags`; padding has negative tags.
        most: Larger mention sets are left out; by default, those of more than `MAX_MENTIONS`.
        warn: Whether to warn of those, for all sequences or for each.

    Example:
        >>> (found,) = read_batch(Scheme(("ADR",)), np.array([[0, 1, 2]]))
        >>> [str(mention) for mention in found]
        ['ADR [1:3]']
    """
    most = MAX_MENTIONS if most is None else most
    warned = np.broadcast_to(warn, len(tags)).tolist()
    # No mention extends over a word with the tag O, which is 0.
    runs = find_runs(tags > 0)
    listed = tags.tolist()
    found: list[list[Mention]] = [[] for _ in listed]
    for row, start, size in zip(*(each.tolist() for each in runs), strict=True):
        mentions, left_out = _read_run(scheme, tuple(listed[row][start : start + size]), most)
        found[row] += [mention.shifted(start) for mention in mentions]
        for number in left_out if warned[row] else ():
            warnings.warn(
                f"a mention set of {number} mentions was left out; the limit is {most}",
                TooManyMentions,
                stacklevel=2,
            )
    return found


def _read_run(
    scheme: Scheme, tags: tuple[int, ...], most: int
) -> tuple[tuple[Mention, ...], list[int]]:
    """Return the mentions of a run of tags other than O, and the sizes of sets left out."""
    read = _read_short_run if len(tags) <= SHORT else _read_any_run
    return read(scheme, tags, most)


def _read_any_run(
    scheme: Scheme, tags: tuple[int, ...], most: int
) -> tuple[tuple[Mention, ...], list[int]]:
    layers = scheme.read([scheme.tags[tag] for tag in tags])
    sizes = [prod(len(parts) for parts in group.slots if parts) for group in layers.sets]
    kept = [group for group, size in zip(layers.sets, sizes, strict=True) if size <= most]
    mentions = Layers(layers.length, tuple(kept), layers.continuous).mentions
    return tuple(sorted(mentions)), [size for size in sizes if size > most]


# Most mentions come from a few different runs, such as that of a single word.
_read_short_run = lru_cache(maxsize=1 << 14)(_read_any_run)


class Decoder:
    """Decodes the scores of sentences.

    Its methods are generators for `run_pipeline`. They take scores, (batch, words, tags), as arrays
    of the backend, and the number of words of each sentence.

    Args:
        scheme: The scheme that defines the tags.
        backend: The module of `discotag.inference.backends` for the scores.
        weights: The arc weights of the scheme's grammar, or None.
        scorer: Computes the log-odds of candidates from the vectors of words; None: the model has
            no mention scorer.
        calibration: How the scores of mentions become probabilities; None: they are the tagger's
            probabilities.
        least: The lowest score of a discontinuous mention, see `ModelConfig`.
        bias: The model's own bias. What a `bias` exceeds it by is added to the log-odds of the
            scores that are compared with `least`, too.
    """

    def __init__(
        self,
        scheme: Scheme,
        backend: ModuleType,
        weights: Array | None = None,
        scorer: Callable[[Array, Candidates], Array] | None = None,
        calibration: Calibration | None = None,
        least: float = 0.0,
        bias: float = 0.0,
    ) -> None:
        self.scheme = scheme
        self.backend = backend
        self.weights = weights
        self.scorer = scorer
        self.calibration = calibration
        self.least = least
        self.bias = bias
        self._catalogue = Catalogue(self._read)

    def chooses(self, bias: float) -> bool:
        """Return whether there is something to choose by."""
        return self.scorer is not None or bias != 0

    def judged(
        self,
        scores: Array,
        vectors: Array | None,
        lengths: Numbers,
        search: Search = USUAL,
        *,
        weighing: bool = False,
    ) -> Work[tuple[Readings, Numbers] | None]:
        """Find readings, and the mention scorer's log-odds of their candidates; 0 without one.

        Args:
            scores: (batch, words, tags).
            vectors: (all words, size), for the mention scorer.
            lengths: The number of words of each sentence.
            search: As in `readings`, which returns the readings.
            weighing: The same.

        Raises:
            InputError: If scores are not finite.
        """
        readings = yield from self.readings(scores, lengths, search, weighing=weighing)
        if readings is None:
            return None
        number = len(readings.candidate_region)
        if self.scorer is None or not number:
            return readings, np.zeros(number)
        waiting = [
            self.backend.fetch(self.scorer(vectors, table))
            for table in readings.tables(lengths, self.scheme.labels)
        ]
        yield
        odds = np.concatenate([each.wait()[0] for each in waiting]).astype(np.float64)
        _check(odds)
        return readings, odds

    def _chosen(self, readings: Readings, odds: Numbers, ask: Ask) -> dict[int, list[Mention]]:
        """Return the mentions of the best reading of each region, by sentence.

        The score of a reading is its log-probability plus, for each of its mentions, the log-odds
        that the mention scorer gives and the bias.
        """
        chosen = readings.best(odds + ask.bias)
        scores = self._scores(readings, odds) if ask.probabilities else None
        found = readings.by_sentence(chosen, scores)
        return {row: sorted(each) for row, each in found.items()}

    def _trusted(self, readings: Readings, odds: Numbers, bias: float) -> tuple[Readings, Numbers]:
        """Return readings without discontinuous mentions whose score is too low.

        Args:
            readings: The readings.
            odds: The log-odds of their candidates.
            bias: The total bias.

        Returns:
            The readings that are left, and the log-odds of the candidates that are left.
        """
        if self.calibration is None or not self.least or not readings.discontinuous.any():
            return readings, odds
        scores = self.calibration.probability(
            readings.candidate_chances, odds, readings.discontinuous
        )
        enough = log_odds(scores) + (bias - self.bias) >= log_odds(np.array(self.least))
        rejected = readings.discontinuous & ~enough
        if not rejected.any():
            return readings, odds
        return readings.without(rejected), odds[~rejected]

    def _scores(self, readings: Readings, odds: Numbers) -> Numbers:
        """Return the scores of all candidates."""
        return self._calibrated(readings.discontinuous, readings.candidate_chances, odds)

    def _calibrated(
        self, discontinuous: Numbers, chances: Numbers, odds: Numbers | None = None
    ) -> Numbers:
        """Return the scores of mentions: probabilities, calibrated if the model is."""
        if self.calibration is not None:
            chances = self.calibration.probability(chances, odds, discontinuous)
        found: Numbers = chances.astype(np.float64).clip(0, 1).round(DIGITS)
        return found

    def best(
        self, scores: Array, lengths: Numbers, *, probabilities: bool = True
    ) -> Work[dict[int, list[Mention]]]:
        """Find the mentions that the best tags of each sentence encode, with their probabilities.

        Only the tags of sentences that have mentions are copied to the host.

        Returns:
            The mentions of each sentence that has any, by its row in the batch.

        Raises:
            InputError: If scores are not finite.
        """
        mask = self._mask(scores, lengths)
        tags, best = self.backend.best_tags(self.scheme.grammar, scores, mask, self.weights)
        # Most sentences have no mentions: all their tags are O, which is 0.
        flags = self.backend.fetch((tags > 0).any(1), best)
        yield
        busy, best = flags.wait()
        _check(best)
        rows = np.flatnonzero(busy)
        if not len(rows):
            return {}
        taken = self.backend.fetch(self.backend.take(tags, rows))
        yield
        found = read_batch(self.scheme, taken.wait()[0])
        if probabilities:
            sizes = lengths[rows].tolist()
            chances = self.backend.fetch(
                self.backend.mention_probabilities(
                    self.scheme, self.backend.take(scores, rows), sizes, found, self.weights
                )
            )
            yield
            every = [each.discontinuous for mentions in found for each in mentions]
            values = self._calibrated(np.array(every, dtype=bool), chances.wait()[0])
            listed = iter(values.tolist())
            found = [[each.with_score(next(listed)) for each in mentions] for mentions in found]
        return dict(zip(rows.tolist(), found, strict=True))

    def candidates(
        self, scores: Array, vectors: Array | None, lengths: Numbers, least: float
    ) -> Work[dict[int, list[Mention]]]:
        """Find the mentions of the readings of a wide search, whether or not they are predicted.

        Args:
            scores: (batch, words, tags).
            vectors: (all words, size), for the mention scorer.
            lengths: The number of words of each sentence.
            least: The lowest score of those that are returned.

        Returns:
            The candidates of each sentence that has any, with their scores, by its row in the
            batch.

        Raises:
            InputError: If scores are not finite.
        """
        judged = yield from self.judged(scores, vectors, lengths, WIDE)
        if judged is None:
            return {}
        values = self._scores(*judged)
        return judged[0].by_sentence(np.flatnonzero(values >= least), values)

    def readings(
        self,
        scores: Array,
        lengths: Numbers,
        search: Search = USUAL,
        *,
        weighing: bool = False,
    ) -> Work[Readings | None]:
        """Find the regions of each sentence that may have mentions, and their k best readings.

        Readings that are much less probable than the best one are left out, and the probabilities
        of the others are scaled to add up to 1.

        Args:
            scores: (batch, words, tags).
            lengths: The number of words of each sentence.
            search: How far to look.
            weighing: Whether the sequences are wanted, for `Readings.weighed` and
                `Readings.write_marginals`.

        Returns:
            The readings; None if there is no region.

        Raises:
            InputError: If scores are not finite.
        """
        k = self.sequences(search.k)
        grammar = self.scheme.grammar
        busy = np.arange(len(lengths))
        if self.weights is None:
            waiting = self.backend.fetch(self._doubt(scores, lengths))
            yield
            (doubt,) = waiting.wait()
            _check(doubt)
            busy = np.flatnonzero(doubt > -np.log(search.certain))
            if not len(busy):
                return None
        taken, sizes = self.backend.take(scores, busy), lengths[busy]
        table, total = self.backend.marginals(
            grammar, taken, self._mask(taken, sizes), self.weights
        )
        waiting = self.backend.fetch(table[:, :, 0], total)
        yield
        outside, totals = waiting.wait()
        _check(totals)
        found_regions = find_regions(outside, sizes, search.certain)
        regions = found_regions._replace(rows=busy[found_regions.rows])
        jobs = []
        for numbers in buckets(regions.sizes, k * len(self.scheme.tags)):
            some = regions.taken(numbers)
            width = int(some.sizes.max())
            words = (some.starts[:, None] + np.arange(width)).clip(max=scores.shape[1] - 1)
            rows = self.backend.place(some.rows, scores)
            taken = scores[rows[:, None], self.backend.place(words, scores)]
            mask = self._mask(taken, some.sizes)
            tags, values = self.backend.k_best(grammar, taken, mask, self.weights, k)
            more = ()
            if weighing:
                more = self.backend.marginals(grammar, taken, mask, self.weights)
            jobs.append((numbers, self.backend.fetch(tags, values, *more)))
        if not jobs:
            return None
        yield
        if self._catalogue.is_full:
            self._catalogue = Catalogue(self._read)
        parts = [
            self._found(self._catalogue, search.log_ratio, numbers, *fetched.wait())
            for numbers, fetched in jobs
        ]
        *joined, sequences = zip(*parts, strict=True)
        region, sets, chances = map(np.concatenate, joined)
        kept = sequences if weighing else ()
        return Readings.make(regions, self._catalogue, region, sets, chances, kept)

    def _read(self, tags: Numbers, warn: Numbers) -> list[list[Mention]]:
        return read_batch(self.scheme, tags, warn=warn)

    def _found(
        self,
        catalogue: Catalogue,
        log_ratio: float,
        numbers: Numbers,
        tags: Numbers,
        values: Numbers,
        tables: Numbers | None = None,
        totals: Numbers | None = None,
    ) -> tuple[Numbers, Numbers, Numbers, Sequences | None]:
        """Return the region, the set of mentions and the probability of compared sequences.

        With marginals and partitions, the sequences themselves are returned, too.
        """
        kept = values >= values[:, :1] - log_ratio
        shares = np.exp(values - values[:, :1]) * kept
        shares /= shares.sum(1, keepdims=True)
        most_probable = np.zeros_like(kept)
        most_probable[:, 0] = True
        sets = catalogue.find(tags[kept], most_probable[kept])
        sequences = None
        if tables is not None and totals is not None:
            chances = np.exp(values.astype(np.float64) - totals[:, None])
            sequences = Sequences(numbers, tags, chances, kept, tables)
        return np.repeat(numbers, kept.sum(1)), sets, shares[kept], sequences

    def _doubt(self, scores: Array, lengths: Numbers) -> Array:
        """Return a bound on -log of the probability that a sentence has no mention, (batch,).

        If all tag sequences were well-formed, the tags of words would be independent, and this
        would be exact; as some are not, those that remain are more probable. Most sentences have
        no mention, and this is computed much faster than marginals.
        """
        log_odds = self.backend.TOOLS.log_sum(scores, 2) - scores[:, :, 0]
        mask = self._mask(scores, lengths)
        return (log_odds if mask is None else log_odds * mask).sum(1)

    def answer(
        self, scores: Array, vectors: Array | None, lengths: Numbers, ask: Ask
    ) -> Work[list[Found]]:
        """Find all that is asked about each sentence, from the same scores.

        Args:
            scores: (batch, words, tags).
            vectors: (all words, size), for the mention scorer.
            lengths: The number of words of each sentence.
            ask: What is asked.
        """
        wanted, k = ask.wanted, ask.wanted.alternatives
        chooses = self.chooses(ask.bias)
        judged, trusted, taggings, tables = None, None, None, None
        if chooses or wanted.compared:
            weighing = chooses and (k > 0 or wanted.marginals)
            judged = yield from self.judged(scores, vectors, lengths, weighing=weighing)
        if not chooses:
            found = yield from self.best(scores, lengths, probabilities=ask.probabilities)
        else:
            trusted = None if judged is None else self._trusted(*judged, ask.bias)
            found = {} if trusted is None else self._chosen(*trusted, ask)
        more: dict[int, list[Mention]] = {}
        if ask.review is not None:
            more = yield from self.candidates(scores, vectors, lengths, ask.review.least)
        if not (k or wanted.compared or wanted.marginals):
            busy = {row: Found(found.get(row, ()), more.get(row, ())) for row in {*found, *more}}
            return [busy.get(row, NOTHING) for row in range(len(lengths))]
        if k and chooses:
            taggings = self._weighed(trusted, len(lengths), ask.bias, k)
        elif k:
            taggings = yield from self.taggings(scores, lengths, k)
        if wanted.marginals:
            tables = yield from self._tables(scores, lengths)
            if trusted is not None:
                readings, odds = trusted
                tables = np.array(tables)  # what is fetched may be read-only
                readings.write_marginals(odds + ask.bias, tables)
        compared: dict[int, list[Mention]] = {}
        if wanted.compared and judged is not None:
            scored = self._scores(*judged)
            compared = judged[0].by_sentence(np.arange(len(scored)), scored)
        return [
            Found(
                found.get(row, ()),
                more.get(row, ()),
                taggings[row] if taggings else (),
                {each: each.score or 0.0 for each in compared.get(row, ())},
                None if tables is None else tables[row, :length],
            )
            for row, length in enumerate(lengths.tolist())
        ]

    def _weighed(
        self, trusted: tuple[Readings, Numbers] | None, sentences: int, bias: float, k: int
    ) -> list[list[Tagging]]:
        """Return the k best readings of each sentence by the tagger and the mention scorer.

        A reading of a sentence is one for each of its regions, see `Readings.weighed`.
        """
        regions: list[list[tuple[int, list[Tagging]]]] = [[] for _ in range(sentences)]
        if trusted is not None:
            readings, odds = trusted
            for row, listed in readings.weighed(odds + bias):
                each = [Tagging(log(chance), log(chance), mentions) for chance, mentions in listed]
                regions[row].append((0, each))
        return [join_taggings(each, k) for each in regions]

    def taggings(self, scores: Array, lengths: Numbers, k: int) -> Work[list[list[Tagging]]]:
        """Find the best tag sequences of each sentence that k readings need, best first.

        The mention scorer has no say in it. The probability of a reading is exact: it is that of
        exactly these mentions and no others. With semantic naming, it is a sum over all namings.
        """
        mask = self._mask(scores, lengths)
        arguments = (self.scheme.grammar, scores, mask, self.weights)
        total = self.backend.log_partition(*arguments)
        tags, best = self.backend.k_best(*arguments, self.sequences(k))
        waiting = self.backend.fetch(total, tags, best)
        yield
        totals, sequences, values = waiting.wait()
        _check(totals)
        logs = values.astype(np.float64) - totals[:, None]
        found = []
        for tagged, scored in zip(sequences, logs, strict=True):
            possible = scored > -np.inf
            readings = map(frozenset, read_batch(self.scheme, tagged[possible]))
            each = zip(scored[possible].tolist(), readings, strict=True)
            found.append([Tagging(value, value, mentions) for value, mentions in each])
        if self.scheme.structural:
            return found
        different = [list(dict.fromkeys(each.mentions for each in row)) for row in found]
        sums = self.backend.fetch(self._log_sums(scores, lengths, different))
        yield
        exact = iter(sums.wait()[0].tolist())
        by_reading = [
            {mentions: next(exact) - total for mentions in row}
            for row, total in zip(different, totals.tolist(), strict=True)
        ]
        return [
            [each._replace(exact=sums[each.mentions]) for each in row]
            for row, sums in zip(found, by_reading, strict=True)
        ]

    def sequences(self, k: int) -> int:
        """Return the number of best tag sequences among which k readings are looked for."""
        # Under semantic naming, several tag sequences encode the same mentions.
        return k if self.scheme.structural else 2 * k

    def marginals(self, scores: Array, lengths: Numbers) -> Work[list[Numbers]]:
        """Find the tagger's own probability of each tag of each word, (words, tags) for each."""
        tables = yield from self._tables(scores, lengths)
        return [table[:length] for table, length in zip(tables, lengths.tolist(), strict=True)]

    def _tables(self, scores: Array, lengths: Numbers) -> Work[Numbers]:
        """Find the marginals of the tagger, (batch, words, tags)."""
        mask = self._mask(scores, lengths)
        found, total = self.backend.marginals(self.scheme.grammar, scores, mask, self.weights)
        waiting = self.backend.fetch(found, total)
        yield
        tables: Numbers
        tables, totals = waiting.wait()
        _check(totals)
        return tables

    def _mask(self, scores: Array, lengths: Numbers) -> Array | None:
        words = scores.shape[1]
        if len(lengths) and lengths.min() == words:
            return None
        return self.backend.place(np.arange(words) < lengths[:, None], scores)

    def _log_sums(
        self, scores: Array, lengths: Numbers, readings: Sequence[list[frozenset[Mention]]]
    ) -> Array:
        """Return the log-sum-exp over all tag sequences that encode each reading."""
        weighted = self.weights is not None
        golds, rows = [], []
        for row, each in enumerate(readings):
            for mentions in each:
                length = int(lengths[row])
                golds.append(find_gold(self.scheme, length, mentions, frozenset(), True, weighted))
                rows.append(row)
        taken = self.backend.take(scores, np.array(rows, dtype=np.int64))
        return gold_scores(self.backend.TOOLS, collate_gold(golds), None, taken, self.weights)


def best_readings(taggings: Sequence[Tagging], k: int) -> list[Reading]:
    """Return the k most probable readings of tag sequences, best first."""
    found: dict[frozenset[Mention], float] = {}
    for each in taggings:
        found.setdefault(each.mentions, each.exact)
    return [
        (round(min(1.0, exp(value)), DIGITS), sorted(mentions))
        for mentions, value in sorted(found.items(), key=lambda item: -item[1])[:k]
    ]


def join_taggings(stretches: Sequence[tuple[int, Sequence[Tagging]]], most: int) -> list[Tagging]:
    """Return the best tag sequences of a sentence from those of its stretches, best first.

    Args:
        stretches: For each, the word from which its words are counted, and its tag sequences.
        most: The most tag sequences to return.
    """
    values = exact = np.zeros(1)
    steps: list[tuple[Numbers, Numbers]] = []
    for _, taggings in stretches:
        further, more, _ = zip(*taggings, strict=True)
        sums = np.add.outer(values, further).ravel()
        best = np.argsort(-sums, kind="stable")[:most]
        values, exact = sums[best], np.add.outer(exact, more).ravel()[best]
        steps.append(np.divmod(best, len(taggings)))
    found = []
    for place, value, other in zip(range(len(values)), values, exact, strict=True):
        mentions: list[Mention] = []
        for (start, taggings), (before, own) in zip(stretches[::-1], steps[::-1], strict=True):
            mentions += (each.shifted(start) for each in taggings[own[place]].mentions)
            place = before[place]
        found.append(Tagging(float(value), float(other), frozenset(mentions)))
    return found


def buckets(sizes: Numbers, by_word: int, least: int = 4) -> Iterator[npt.NDArray[np.int64]]:
    """Yield groups of regions or stretches of similar size, of at most `MOST_CELLS` values each.

    Args:
        sizes: The number of words of each.
        by_word: The number of values for each word.
        least: Sizes up to this one are similar.
    """
    order = np.argsort(sizes, kind="stable")
    widths = np.ceil(np.log2(np.maximum(sizes[order], least))).astype(np.int64)
    for width in np.unique(widths).tolist():
        group = order[widths == width]
        number = max(1, MOST_CELLS // (by_word << width))
        for start in range(0, len(group), number):
            yield group[start : start + number]


def _check(values: Numbers) -> None:
    if not np.isfinite(values).all():
        raise InputError(
            "the model gives scores that are not numbers; its weights are damaged, or too large"
        )
