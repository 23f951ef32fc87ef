"""Evaluation: precision, recall and F1, their intervals, calibration, and kinds of errors."""

from discotag.evaluation.alignment import AlignmentError, Pair, align
from discotag.evaluation.curves import (
    Bin,
    Point,
    calibration,
    calibration_error,
    precision_recall,
)
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
from discotag.evaluation.report import Report
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
    "Bin",
    "Comparison",
    "Counts",
    "EvaluationError",
    "FigureIntervals",
    "Figures",
    "Interval",
    "KindCount",
    "Mistake",
    "Pair",
    "Point",
    "Report",
    "Scores",
    "SliceComparison",
    "SliceIntervals",
    "SliceScores",
    "Tally",
    "add",
    "align",
    "calibration",
    "calibration_error",
    "compare",
    "count_errors",
    "find_errors",
    "intervals",
    "precision_recall",
    "score",
    "tally",
    "total",
]
