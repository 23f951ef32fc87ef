"""Bootstrap intervals of the figures, and a paired test between two systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from discotag.evaluation.scores import SLICES, EvaluationError, Tally
from discotag.extras import how_to_install

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEVEL: Final = 0.95
RESAMPLES: Final = 2_000
"""The number of bootstrap resamples: 50 of them are beyond each end of a 95% interval."""
PERMUTATIONS: Final = 9_999
"""The number of permutations of a test. With the observed one there are 10,000, so the smallest
p-value is 0.0002."""
CELLS: Final = 1_000_000
"""The size of a batch of resamples: 8 MB per array, independent of the number of units."""

Array = NDArray[np.float64]
Seed = int | np.random.Generator


@dataclass(frozen=True, slots=True)
class Interval:
    """The ends of a 95% interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FigureIntervals:
    """An interval for each figure."""

    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True, slots=True)
class SliceIntervals:
    """The intervals of one slice: micro, macro, and for each label."""

    micro: FigureIntervals
    macro: FigureIntervals
    labels: dict[str, FigureIntervals]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The F1 of a second system minus the F1 of a first, with its interval and p-value.

    The p-value is the share of random exchanges of the two systems' predictions, unit by unit, that
    give a difference at least as large as the observed one (two-sided).
    """

    difference: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class SliceComparison:
    """The comparison of two systems in one slice."""

    micro: Comparison
    macro: Comparison


def intervals(units: Sequence[Tally], *, seed: Seed = 0) -> dict[str, SliceIntervals]:
    """Compute percentile bootstrap intervals of the figures for each slice.

    Args:
        units: The counts of each sentence or document; these are the units of resampling.
        seed: The seed of the random numbers.

    Raises:
        EvaluationError: There are fewer than two units, or SciPy is not installed.

    Example:
        >>> from discotag.evaluation import Counts
        >>> units = [{("all", "ADR"): Counts(1, 1, n % 2)} for n in range(100)]
        >>> f1 = intervals(units)["all"].micro.f1
        >>> f1.low < 0.5 < f1.high
        True
    """
    keys = _keys(units)
    table = _table(units, keys)
    parts = [_part(keys, name) for name in SLICES]

    def statistic(weights: Array) -> Array:
        sums = _sums(table, weights)
        return np.concatenate([_rows(sums[part]) for part in parts])

    ends = _bootstrap(statistic, len(units), seed)
    found: dict[str, SliceIntervals] = {}
    for name, part in zip(SLICES, parts, strict=True):
        labels = [label for _, label in keys[part]]
        rows = [FigureIntervals(*(next(ends) for _ in range(3))) for _ in range(2 + len(labels))]
        found[name] = SliceIntervals(rows[0], rows[1], dict(zip(labels, rows[2:], strict=True)))
    return found


def compare(
    first: Sequence[Tally], second: Sequence[Tally], *, seed: Seed = 0
) -> dict[str, SliceComparison]:
    """Compare the F1 of two systems on the same units, for each slice.

    The interval of the difference comes from a paired bootstrap, the p-value from a paired
    permutation test.

    Args:
        first: The counts of the first system for each sentence or document.
        second: The counts of the second system, in the same order.
        seed: The seed of the random numbers.

    Raises:
        EvaluationError: The numbers of units differ or are below two, or SciPy is not installed.

    Example:
        >>> from discotag.evaluation import Counts
        >>> worse = [{("all", "ADR"): Counts(1, 1, 0)}] * 20
        >>> better = [{("all", "ADR"): Counts(1, 1, 1)}] * 20
        >>> compare(worse, better)["all"].micro.difference
        1.0
    """
    if len(first) != len(second):
        raise EvaluationError(
            f"one system has {len(first)} units and the other {len(second)}; "
            "compare them on the same gold"
        )
    random = np.random.default_rng(seed)
    keys = _keys([*first, *second])
    one, other = _table(first, keys), _table(second, keys)
    parts = [_part(keys, name) for name in SLICES]

    def difference(weights: Array) -> Array:
        """Return the differences of micro and macro F1 for each slice."""
        before, after = _sums(one, weights), _sums(other, weights)
        return np.concatenate(
            [(_rows(after[part]) - _rows(before[part]))[[MICRO_F1, MACRO_F1]] for part in parts]
        )

    observed = iter(difference(np.ones((1, len(first))))[:, 0].tolist())
    ends = _bootstrap(difference, len(first), random)
    found: dict[str, SliceComparison] = {}
    for name, part in zip(SLICES, parts, strict=True):
        rows = slice(3 * part.start, 3 * part.stop)
        micro = _p_value(one[rows], other[rows], MICRO_F1, random)
        single = part.stop - part.start <= 1  # then macro and micro are the same
        macro = micro if single else _p_value(one[rows], other[rows], MACRO_F1, random)
        found[name] = SliceComparison(
            *(Comparison(next(observed), next(ends), p_value) for p_value in (micro, macro))
        )
    return found


MICRO_F1, MACRO_F1 = 2, 5
"""The rows of these figures in the result of `_rows`."""

Key = tuple[str, str]


def _keys(units: Iterable[Tally]) -> list[Key]:
    return sorted({key for unit in units for key in unit})


def _part(keys: Sequence[Key], name: str) -> slice:
    """Return the range of the keys of a slice."""
    places = [place for place, key in enumerate(keys) if key[0] == name]
    return slice(places[0], places[-1] + 1) if places else slice(0, 0)


def _table(units: Sequence[Tally], keys: Sequence[Key]) -> csr_array[Any]:
    """Build a table: rows are gold, predicted and correct counts of each key, columns are units."""
    sparse = _scipy().sparse
    row_of = {key: 3 * number for number, key in enumerate(keys)}
    cells = [
        (row_of[key] + sort, column, count)
        for column, unit in enumerate(units)
        for key, counts in unit.items()
        for sort, count in enumerate((counts.gold, counts.predicted, counts.correct))
        if count
    ]
    rows, columns, values = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    shape = (3 * len(keys), len(units))
    table: csr_array[Any] = sparse.csr_array((values.astype(float), (rows, columns)), shape=shape)
    return table


def _sums(table: csr_array[Any], weights: Array) -> Array:
    """Return weighted sums of the counts by key, for each row of weights of the units."""
    sums: Array = table @ weights.T
    return sums.reshape(-1, 3, len(weights))


def _rows(sums: Array) -> Array:
    """Return precision, recall and F1: micro, macro, and of each label."""
    labels = _figures(sums)
    macro = labels.sum(axis=0) / max(len(labels), 1)
    return np.concatenate([_figures(sums.sum(axis=0)[None])[0], macro, *labels])


def _figures(counts: Array) -> Array:
    gold, predicted, correct = np.moveaxis(counts, 1, 0)
    pairs = ((correct, predicted), (correct, gold), (2 * correct, gold + predicted))
    return np.stack(
        [np.divide(part, all_, out=np.zeros_like(part), where=all_ > 0) for part, all_ in pairs],
        axis=1,
    )


def _bootstrap(statistic: Callable[[Array], Array], units: int, seed: Seed) -> Iterator[Interval]:
    """Yield the interval of each row of `statistic(weights)`; weights count draws of the units.

    The intervals are percentiles: corrected intervals (BCa) leave out each unit in turn, which
    takes time and memory quadratic in the number of units.
    """
    if units < 2:
        raise EvaluationError(f"intervals need at least two units, got {units}")
    stats = _scipy().stats

    def of_indices(drawn: NDArray[np.int64], axis: int) -> Array:
        own = drawn + units * np.arange(len(drawn))[:, None]
        weights = np.bincount(own.ravel(), minlength=own.size).reshape(own.shape)
        return statistic(weights.astype(float))

    interval = stats.bootstrap(
        (np.arange(units),),
        of_indices,
        n_resamples=RESAMPLES,
        batch=_batch(units),
        vectorized=True,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    for low, high in zip(interval.low, interval.high, strict=True):
        yield Interval(float(low), float(high))


def _p_value(one: csr_array[Any], other: csr_array[Any], row: int, random: Seed) -> float:
    """Return the p-value of the difference in row `row` of the figures of a slice.

    Units with the same counts for both systems are left out, since exchanging them changes nothing.
    Random exchanges are passed to `monte_carlo_test`, which is many times faster here than
    `permutation_test`, which shuffles each pair.
    """
    change = (other - one).tocsc()
    units = np.unique(change.nonzero()[1])
    if not len(units):
        return 1.0
    change = change[:, units]
    first, second = (_sums(table, np.ones((1, table.shape[1]))) for table in (one, other))

    def difference(exchanged: NDArray[np.int8], axis: int) -> Array:
        """Return the difference after exchanging the units that have a 1."""
        moved = _sums(change, np.atleast_2d(exchanged).astype(float))
        after: Array = (_rows(second - moved) - _rows(first + moved))[row]
        return after.reshape(exchanged.shape[:-1])

    generator = np.random.default_rng(random)
    tested = _scipy().stats.monte_carlo_test(
        np.zeros(len(units), dtype=np.int8),
        lambda size: generator.integers(0, 2, size=size, dtype=np.int8),
        difference,
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=_batch(len(units)),
    )
    return float(tested.pvalue)


def _batch(units: int) -> int:
    return max(1, CELLS // units)


def _scipy() -> Any:
    try:
        import scipy.sparse
        import scipy.stats
    except ModuleNotFoundError as error:
        raise EvaluationError(
            f"intervals and comparisons need SciPy: {how_to_install('corpora')}"
        ) from error
    return scipy
