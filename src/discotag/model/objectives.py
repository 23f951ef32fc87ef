"""The training objectives."""

from __future__ import annotations

from enum import StrEnum


class Objective(StrEnum):
    """A loss of the paper: the log-partition minus the score of the gold mentions.

    Under semantic naming, the slots of a mention set can be named in several ways. The objectives
    differ in how the score of the gold mentions is computed.

    Attributes:
        NLL: The score of one naming.
        SOFT_EM: The log-sum-exp over all namings.
        HARD_EM: The score of the best naming, whose choice is held constant.
        WEAKLY_SOFT_EM, WEAKLY_HARD_EM: The same, without the namings that a lexicon excludes.
    """

    NLL = "nll"
    SOFT_EM = "soft_em"
    HARD_EM = "hard_em"
    WEAKLY_SOFT_EM = "weakly_soft_em"
    WEAKLY_HARD_EM = "weakly_hard_em"

    @property
    def uses_all_namings(self) -> bool:
        """Whether the objective looks at all namings."""
        return self is not Objective.NLL

    @property
    def uses_best_naming(self) -> bool:
        """Whether the objective takes the best naming, not the log-sum-exp over all."""
        return self in (Objective.HARD_EM, Objective.WEAKLY_HARD_EM)

    @property
    def uses_lexicon(self) -> bool:
        """Whether the objective uses the slots that a lexicon knows."""
        return self in (Objective.WEAKLY_SOFT_EM, Objective.WEAKLY_HARD_EM)
