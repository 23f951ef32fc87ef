"""Evaluation: precision, recall and F1, their intervals, and kinds of errors."""

from discotag.evaluation.alignment import AlignmentError, Pair, align
from discotag.evaluation.errors import KINDS, KindCount, Mistake, count_errors, find_errors
from discotag.evaluation.intervals import (
    Comparison,
    FigureIntervals,
    Interval,
    SliceComparison,
    SliceIntervals,
    compare,
    intervals,
)
from discotag.evaluation.scores import (
    SLICES,
    Counts,
    EvaluationError,
    Figures,
    Scores,
    SliceScores,
    Tally,
    add,
    score,
    tally,
    total,
)

__all__ = [
    "KINDS",
    "SLICES",
    "AlignmentError",
    "Comparison",
    "Counts",
    "EvaluationError",
    "FigureIntervals",
    "Figures",
    "Interval",
    "KindCount",
    "Mistake",
    "Pair",
    "Scores",
    "SliceComparison",
    "SliceIntervals",
    "SliceScores",
    "Tally",
    "add",
    "align",
    "compare",
    "count_errors",
    "find_errors",
    "intervals",
    "score",
    "tally",
    "total",
]
