"""The objectives of training."""

from __future__ import annotations

from enum import StrEnum


class Objective(StrEnum):
    """A loss of the paper: the log-partition minus the score of the gold mentions.

    Under semantic naming the slots of a mention set can be named in several ways.

    Attributes:
        NLL: The score of one tagging.
        SOFT_EM: The log-sum over all namings.
        HARD_EM: The score of the best naming, which is held constant.
        WEAKLY_SOFT_EM, WEAKLY_HARD_EM: The same, where a lexicon leaves out namings.
    """

    NLL = "nll"
    SOFT_EM = "soft_em"
    HARD_EM = "hard_em"
    WEAKLY_SOFT_EM = "weakly_soft_em"
    WEAKLY_HARD_EM = "weakly_hard_em"

    @property
    def uses_all_namings(self) -> bool:
        """Whether more than one naming counts."""
        return self is not Objective.NLL

    @property
    def uses_best_naming(self) -> bool:
        """Whether the best naming counts, not the sum over all."""
        return self in (Objective.HARD_EM, Objective.WEAKLY_HARD_EM)

    @property
    def uses_lexicon(self) -> bool:
        """Whether what a lexicon knows of slots counts."""
        return self in (Objective.WEAKLY_SOFT_EM, Objective.WEAKLY_HARD_EM)
