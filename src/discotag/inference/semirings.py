"""Semirings: how a sweep combines the values of sequences."""

from __future__ import annotations

from discotag.inference.toolbox import Array, Toolbox


class Max:
    """The maximum: the score of the best sequence."""

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def lift(self, weights: Array) -> Array:
        """Return the scores of arcs in the shape in which they are added to values."""
        return weights

    def total(self, values: Array) -> Array:
        """Combine the values along the first axis, which are the places of a fan."""
        return self.tools.max_down(values)

    def keep(self, where: Array, values: Array, others: Array) -> Array:
        """Return `values` for the sentences where `where` is true, `others` for the rest."""
        return self.tools.where(where, values, others)


class Log(Max):
    """The log-sum-exp over all sequences."""

    def total(self, values: Array) -> Array:
        """Return the log-sum-exp along the first axis."""
        return self.tools.log_sum(values, 0)


class KBest(Max):
    """The scores of the k best sequences: a value is a row of k scores, best first.

    Rows are padded with -inf if there are fewer than k sequences.
    """

    def __init__(self, tools: Toolbox, k: int) -> None:
        super().__init__(tools)
        self.k = k

    def lift(self, weights: Array) -> Array:
        """Return scores that are added to each of the k."""
        return weights[..., None]

    def total(self, values: Array) -> Array:
        """Return the k best values along the first and the last axis together."""
        ranked = self.ranked(values)
        order = self.tools.order_down(ranked)[: self.k]
        return self.tools.move_axis(self.tools.take_down(ranked, order), 0, -1)

    def ranked(self, values: Array) -> Array:
        """Return values with places and ranks as one axis, the first, sorted by place."""
        moved = self.tools.move_axis(values, -1, 1)
        return moved.reshape(moved.shape[0] * moved.shape[1], *moved.shape[2:])

    def keep(self, where: Array, values: Array, others: Array) -> Array:
        """Select as in `Max.keep`, for rows of k."""
        return self.tools.where(where[..., None], values, others)


class Entropy(Max):
    """The log-sum-exp and the entropy, as two channels of a value. -inf is not allowed."""

    def lift(self, weights: Array) -> Array:
        """Return scores that are added to the log-sum-exp only."""
        return self.paired(weights, weights * 0)

    def paired(self, logs: Array, entropies: Array) -> Array:
        """Return values made of these two channels."""
        return self.tools.move_axis(self.tools.join([logs[None], entropies[None]]), 0, -1)

    def total(self, values: Array) -> Array:
        """Return the log-sum-exp, and the entropy of the choice of an arc plus what follows it."""
        logs, entropies = values[..., 0], values[..., 1]
        shares, log_shares = self.tools.softmax_down(logs)
        follow = (shares * (entropies - log_shares)).sum(0)
        return self.paired(self.tools.log_sum(logs, 0), follow)

    def keep(self, where: Array, values: Array, others: Array) -> Array:
        """Select as in `Max.keep`, for both channels."""
        return self.tools.where(where[..., None], values, others)
