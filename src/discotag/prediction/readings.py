"""Readings of regions as arrays, so that choosing among them takes few steps of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.mentions import Mention
from discotag.model.candidates import Bag, Candidates, tabulate_fragments
from discotag.model.tokenizer import ranges
from discotag.prediction.regions import Options, Regions

Indices = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]

SHORT: Final = 16
"""The most words of tag sequences that are kept in a catalogue."""

MOST_KEPT: Final = 1 << 16
"""The most mentions and tag sequences of a catalogue that is used again."""

MOST_WORDS: Final = 1 << 15
"""The most words of the bags of candidates that are scored together: with vectors of 768 numbers,
they take 100 MB."""

Read = Callable[[Numbers, npt.NDArray[np.bool_]], Sequence[Sequence[Mention]]]
"""Returns the mentions of tag sequences; takes whether to warn if some are left out."""


class Catalogue:
    """The mentions of tag sequences by number, so that each sequence is read once.

    Positions are counted from the first word of a sequence.

    Args:
        read: Returns the mentions of tag sequences.

    Attributes:
        mentions: The mentions, by number.
        sets: The numbers of the mentions of each set of mentions.
    """

    def __init__(self, read: Read) -> None:
        self.mentions: list[Mention] = []
        self.sets: list[tuple[int, ...]] = []
        self._read = read
        self._mention_numbers: dict[Mention, int] = {}
        self._set_numbers: dict[tuple[int, ...], int] = {}
        self._known: dict[bytes, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether a new catalogue should be used, to save memory."""
        return max(len(self.mentions), len(self._known)) > MOST_KEPT

    def find(self, tags: Numbers, warn: npt.NDArray[np.bool_]) -> Indices:
        """Return the number of the set of mentions of each tag sequence, (sequences,).

        Args:
            tags: (sequences, words); padding has negative tags.
            warn: Whether to warn if mentions of a sequence are left out.
        """
        rows = np.ascontiguousarray(tags, dtype=np.int16)
        keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
        different, first, place = np.unique(keys, return_index=True, return_inverse=True)
        names = [each.tobytes() for each in different]
        found = [self._known.get(name, -1) for name in names]
        new = [number for number, each in enumerate(found) if each < 0]
        if new:
            warned = np.zeros(len(different), dtype=bool)
            warned[place[warn]] = True
            for number, mentions in zip(
                new, self._read(rows[first[new]], warned[new]), strict=True
            ):
                numbers = (self._number_of(each) for each in mentions)
                found[number] = self.number_of_set(tuple(sorted(numbers)))
                if rows.shape[1] <= SHORT:
                    self._known[names[number]] = found[number]
        return np.array(found, dtype=np.int64)[place.ravel()]

    def number_of_set(self, members: tuple[int, ...]) -> int:
        """Return the number of a set of mentions, given by their ascending numbers."""
        found = self._set_numbers.setdefault(members, len(self.sets))
        if found == len(self.sets):
            self.sets.append(members)
        return found

    def _number_of(self, mention: Mention) -> int:
        number = self._mention_numbers.setdefault(mention, len(self.mentions))
        if number == len(self.mentions):
            self.mentions.append(mention)
        return number


class Sequences(NamedTuple):
    """The best tag sequences of some regions.

    Attributes:
        numbers: (regions,), the numbers of the regions.
        tags: (regions, k, words), the sequences; padding is negative.
        chances: (regions, k), their probabilities in the region by the tagger.
        compared: (regions, k), whether each is compared with the others.
        tables: (regions, words, tags), the marginals of the tagger in the region.
    """

    numbers: Indices
    tags: Indices
    chances: Numbers
    compared: npt.NDArray[np.bool_]
    tables: Numbers


@dataclass(frozen=True, eq=False)
class Readings:
    """The readings of the regions of a batch.

    Candidates are the mentions of the readings, region by region. An entry is a candidate in a
    reading. A sequence is a tag sequence of a region; those with the same mentions are a reading.
    Sequences that are much less probable than the best one are not compared with it.

    Attributes:
        regions: The regions.
        catalogue: The mentions, whose positions are counted from the first word of a region.
        region: (readings,), the region of each reading, ascending.
        sets: (readings,), the number of the set of its mentions in the catalogue.
        chances: (readings,), the probabilities of readings; those of a region add up to 1.
        entry_reading: (entries,), the reading of each entry.
        entry_candidate: (entries,), the candidate of each entry.
        candidate_region: (candidates,), the region of each candidate.
        candidate_mention: (candidates,), its number in the catalogue.
        sequences: The best sequences of each region, or nothing if nobody asked.
        sequence_reading: (sequences,), the reading of each of those that are compared.
    """

    regions: Regions
    catalogue: Catalogue
    region: Indices
    sets: Indices
    chances: Numbers
    entry_reading: Indices
    entry_candidate: Indices
    candidate_region: Indices
    candidate_mention: Indices
    sequences: Sequence[Sequences]
    sequence_reading: Indices

    @classmethod
    def make(
        cls,
        regions: Regions,
        catalogue: Catalogue,
        region: Indices,
        sets: Indices,
        chances: Numbers,
        sequences: Sequence[Sequences] = (),
    ) -> Readings:
        """Return the readings of tag sequences.

        Args:
            regions: The regions.
            catalogue: The catalogue.
            region: The region of each sequence, in any order.
            sets: The number of the set of its mentions.
            chances: Its probability.
            sequences: The same and other sequences, if wanted.
        """
        keys, place = np.unique(region * len(catalogue.sets) + sets, return_inverse=True)
        chances = np.bincount(place.ravel(), chances, len(keys))
        region, sets = np.divmod(keys, max(1, len(catalogue.sets)))
        different, which = np.unique(sets, return_inverse=True)
        members = [catalogue.sets[number] for number in different.tolist()]
        counts = np.array([len(each) for each in members], dtype=np.int64)
        flat = np.array([number for each in members for number in each], dtype=np.int64)
        sizes, starts = counts[which], (np.cumsum(counts) - counts)[which]
        reading = np.repeat(np.arange(len(keys)), sizes)
        mention = flat[ranges(starts, sizes)]
        number = max(1, len(catalogue.mentions))
        candidates, candidate = np.unique(region[reading] * number + mention, return_inverse=True)
        candidate_region, candidate_mention = np.divmod(candidates, number)
        return cls(
            regions,
            catalogue,
            region,
            sets,
            chances,
            reading,
            candidate.ravel(),
            candidate_region,
            candidate_mention,
            sequences,
            place.ravel(),
        )

    def without(self, rejected: npt.NDArray[np.bool_]) -> Readings:
        """Return the readings without some of the candidates.

        Readings that differ in these only become one. The order of the other candidates is kept.

        Args:
            rejected: (candidates,), whether each is left out.
        """
        gone = rejected[self.entry_candidate]
        sets = self.sets.copy()
        for reading in np.unique(self.entry_reading[gone]).tolist():
            entries = slice(*np.searchsorted(self.entry_reading, (reading, reading + 1)))
            kept = self.entry_candidate[entries][~gone[entries]]
            members = tuple(self.candidate_mention[kept].tolist())
            sets[reading] = self.catalogue.number_of_set(members)
        made = Readings.make(
            self.regions, self.catalogue, self.region, sets, self.chances, self.sequences
        )
        merged = made.sequence_reading  # of the readings before
        return replace(made, sequence_reading=merged[self.sequence_reading])

    @cached_property
    def discontinuous(self) -> npt.NDArray[np.bool_]:
        """Whether each candidate is discontinuous."""
        different, which = np.unique(self.candidate_mention, return_inverse=True)
        mentions = (self.catalogue.mentions[number] for number in different.tolist())
        found = np.array([each.discontinuous for each in mentions], dtype=bool)
        return found[which.ravel()]

    @cached_property
    def candidate_chances(self) -> Numbers:
        """The probability of each candidate: the sum over the readings that have it."""
        weights = self.chances[self.entry_reading]
        found: Numbers = np.bincount(self.entry_candidate, weights, len(self.candidate_region))
        return found

    def tables(self, lengths: Indices, labels: Sequence[str]) -> Iterator[Candidates]:
        """Yield the candidates as a mention scorer reads them, some at a time to save memory.

        Args:
            lengths: The number of words of each sentence of the batch.
            labels: The labels of the scheme.
        """
        different, which = np.unique(self.candidate_mention, return_inverse=True)
        mentions = [self.catalogue.mentions[number] for number in different.tolist()]
        counts = np.array([len(each.fragments) for each in mentions], dtype=np.int64)
        fragments = np.array([each for mention in mentions for each in mention.fragments])
        index = {label: number for number, label in enumerate(labels)}
        label = np.array([index[each.label] for each in mentions], dtype=np.int64)
        # The words of all bags are those of the mention, of its gaps, and some more.
        words = np.array([each.end - each.start + len(Bag) for each in mentions], dtype=np.int64)
        rows = self.regions.rows[self.candidate_region]
        starts = self.regions.starts[self.candidate_region]
        bases = np.cumsum(lengths) - lengths
        slices = np.cumsum(words[which]) // MOST_WORDS
        for part in np.split(np.arange(len(which)), np.flatnonzero(np.diff(slices)) + 1):
            chosen = which[part]
            sizes = counts[chosen]
            of = np.repeat(np.arange(len(part)), sizes)
            places = ranges((np.cumsum(counts) - counts)[chosen], sizes)
            moved = fragments.reshape(-1, 2)[places] + starts[part][of, None]
            yield tabulate_fragments(
                of,
                moved[:, 0],
                moved[:, 1],
                lengths[rows[part]],
                bases[rows[part]],
                label[chosen],
            )

    def best(self, gains: Numbers) -> Indices:
        """Return the candidates of the best reading of each region.

        The best reading has the highest log-probability plus gains.

        Args:
            gains: (candidates,), what each candidate adds.
        """
        order = np.lexsort((self._totals(gains), self.region))
        last = np.append(np.diff(self.region[order]) > 0, True)[: len(order)]
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[last]] = True
        return self.entry_candidate[chosen[self.entry_reading]]

    def log_weights(self, gains: Numbers) -> Numbers:
        """Return the logarithm of the probability of each reading with gains, (readings,).

        The probability is proportional to `chance * exp(sum of the gains of its candidates)`; those
        of the readings of a region add up to 1.

        Args:
            gains: As in `best`.
        """
        totals = self._totals(gains)
        starts = np.flatnonzero(np.diff(self.region, prepend=-1))
        sizes = np.diff(np.append(starts, len(totals)))
        totals -= np.repeat(np.maximum.reduceat(totals, starts), sizes)
        found: Numbers = totals - np.repeat(np.log(np.add.reduceat(np.exp(totals), starts)), sizes)
        return found

    def weighed(self, gains: Numbers) -> list[tuple[int, list[tuple[float, frozenset[Mention]]]]]:
        """Return the sentence of each region, and its readings with their probabilities.

        The best comes first. Sequences that are not compared keep their probabilities, and those
        that are share the rest in proportion to their weights. The best reading is that of `best`:
        at least one compared reading has more than its share, and each sequence that is not
        compared has less than `exp(-5)` times the probability of the best sequence.

        Args:
            gains: As in `best`.
        """
        chances = np.exp(self.log_weights(gains)) * self._compared_chances()[self.region]
        listed = [
            {
                frozenset(options.mentions[index] for index in indices): chance
                for chance, indices in options.readings
            }
            for options, _ in self.options(chances)
        ]
        starts = self.regions.starts.tolist()
        for some in self.sequences:
            others = ~some.compared & (some.chances > 0)
            sets = self.catalogue.find(some.tags[others], np.zeros(others.sum(), dtype=bool))
            numbers = np.repeat(some.numbers, others.sum(1)).tolist()
            for number, each, chance in zip(numbers, sets, some.chances[others], strict=True):
                members = (self.catalogue.mentions[one] for one in self.catalogue.sets[each])
                mentions = frozenset(one.shifted(starts[number]) for one in members)
                listed[number][mentions] = listed[number].get(mentions, 0.0) + float(chance)
        return [
            (row, sorted(((c, m) for m, c in each.items() if c > 0), key=lambda one: -one[0]))
            for row, each in zip(self.regions.rows.tolist(), listed, strict=True)
        ]

    def write_marginals(self, gains: Numbers, tables: Numbers) -> None:
        """Write the probabilities of the tags of the words of regions, by the weighed readings.

        Args:
            gains: As in `best`.
            tables: (batch, words, tags); the other words are left as they are.
        """
        chances = np.exp(self.log_weights(gains)) * self._compared_chances()[self.region]
        ends = np.cumsum([each.compared.sum() for each in self.sequences])[:-1]
        readings = np.split(self.sequence_reading, ends)
        for some, reading in zip(self.sequences, readings, strict=True):
            of, place = np.nonzero(some.compared)
            before = some.chances[of, place]
            # A reading may have several sequences.
            sums = np.bincount(reading, before, len(chances))
            gained = (chances[reading] / sums[reading] - 1) * before
            sequence, word = np.nonzero(some.tags[of, place] >= 0)
            tags = some.tags[of[sequence], place[sequence], word]
            new = some.tables.astype(np.float64)
            np.add.at(new, (of[sequence], word, tags), gained[sequence])
            new = new.clip(0)
            sizes = self.regions.sizes[some.numbers]
            inside, word = np.nonzero(np.arange(new.shape[1]) < sizes[:, None])
            numbers = some.numbers[inside]
            row = new[inside, word]
            tables[self.regions.rows[numbers], self.regions.starts[numbers] + word] = row / row.sum(
                1, keepdims=True
            )

    def _compared_chances(self) -> Numbers:
        """Return the probability of all sequences of each region that are compared."""
        found = np.zeros(len(self.regions.rows))
        for some in self.sequences:
            found[some.numbers] = (some.chances * some.compared).sum(1)
        return found

    def _totals(self, gains: Numbers) -> Numbers:
        sums = np.bincount(self.entry_reading, gains[self.entry_candidate], len(self.region))
        found: Numbers = np.log(self.chances) + sums
        return found

    def mention(self, candidate: int) -> Mention:
        """Return a candidate, with positions in its sentence."""
        start = int(self.regions.starts[self.candidate_region[candidate]])
        return self.catalogue.mentions[int(self.candidate_mention[candidate])].shifted(start)

    def by_sentence(
        self, numbers: Indices, scores: Numbers | None = None
    ) -> dict[int, list[Mention]]:
        """Return candidates as mentions, for each sentence that has any.

        Args:
            numbers: The candidates.
            scores: The scores of all candidates; None: the mentions have none.
        """
        found: dict[int, list[Mention]] = {}
        rows = self.regions.rows[self.candidate_region[numbers]]
        for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
            mention = self.mention(number)
            if scores is not None:
                mention = mention.with_score(float(scores[number]))
            found.setdefault(row, []).append(mention)
        return found

    def options(self, chances: Numbers | None = None) -> list[tuple[Options, Indices]]:
        """Return the readings of each region as objects, with the numbers of its candidates.

        Args:
            chances: (readings,), what takes the place of their probabilities.
        """
        chances = self.chances if chances is None else chances
        every = range(len(self.regions.rows) + 1)
        firsts = np.searchsorted(self.candidate_region, every).tolist()
        begins = np.searchsorted(self.region, every).tolist()
        entries = np.searchsorted(self.entry_reading, range(len(self.region) + 1)).tolist()
        found = []
        for number, row in enumerate(self.regions.rows.tolist()):
            first, end = firsts[number], firsts[number + 1]
            readings = [
                (
                    float(chances[each]),
                    (self.entry_candidate[entries[each] : entries[each + 1]] - first).tolist(),
                )
                # Of equally good ones, `best` takes the last.
                for each in reversed(range(begins[number], begins[number + 1]))
            ]
            readings.sort(key=lambda each: -each[0])
            mentions = [self.mention(each) for each in range(first, end)]
            found.append((Options(row, mentions, readings), np.arange(first, end)))
        return found
