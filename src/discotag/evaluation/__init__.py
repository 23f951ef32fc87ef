"""Two sets of annotated documents compared: figures, intervals, calibration, differences."""

from discotag.evaluation.alignment import GOLD_AND_PREDICTIONS, AlignmentError, Names, Pair, align
from discotag.evaluation.curves import (
    Bin,
    Point,
    calibration,
    calibration_error,
    precision_recall,
)
from discotag.evaluation.differences import (
    KINDS,
    Difference,
    describe_kinds,
    find_differences,
)
from discotag.evaluation.intervals import (
    Comparison,
    FigureIntervals,
    Interval,
    SliceComparison,
    SliceIntervals,
    compare,
    intervals,
)
from discotag.evaluation.report import KindCount, Report
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
    "GOLD_AND_PREDICTIONS",
    "KINDS",
    "SLICES",
    "AlignmentError",
    "Bin",
    "Comparison",
    "Counts",
    "Difference",
    "EvaluationError",
    "FigureIntervals",
    "Figures",
    "Interval",
    "KindCount",
    "Names",
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
    "describe_kinds",
    "find_differences",
    "intervals",
    "precision_recall",
    "score",
    "tally",
    "total",
]
