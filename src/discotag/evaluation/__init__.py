"""Gold and predicted mentions to figures."""

from discotag.evaluation.scores import (
    SLICES,
    Counts,
    EvaluationError,
    Figures,
    Scores,
    SliceScores,
    Tally,
    score,
    tally,
    total,
)

__all__ = [
    "SLICES",
    "Counts",
    "EvaluationError",
    "Figures",
    "Scores",
    "SliceScores",
    "Tally",
    "score",
    "tally",
    "total",
]
