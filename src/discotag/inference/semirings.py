"""Semirings: what it means to combine the values of sequences.

All are written for any array tools with the operations of `Toolbox`.
"""

from __future__ import annotations

from discotag.inference.toolbox import Array, Toolbox


class Max:
    """The best sequence."""

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def lift(self, weights: Array) -> Array:
        """Weights of arcs in the shape in which they are added to values."""
        return weights

    def total(self, values: Array) -> Array:
        """The sum along the first axis, the places of a fan."""
        return self.tools.max_down(values)

    def keep(self, where: Array, values: Array, others: Array) -> Array:
        """`values` for the sentences where `where` holds, else `others`."""
        return self.tools.where(where, values, others)


class Log(Max):
    """All sequences: the log of the sum of exp."""

    def total(self, values: Array) -> Array:
        """The log-sum along the first axis."""
        return self.tools.log_sum(values, 0)


class Best(Max):
    """The k best sequences: a value is a row of k, best first, -inf where there are fewer."""

    def __init__(self, tools: Toolbox, k: int) -> None:
        super().__init__(tools)
        self.k = k

    def lift(self, weights: Array) -> Array:
        """The same weight for each of the k."""
        return weights[..., None]

    def total(self, values: Array) -> Array:
        """The k best of all that stand along the first and the last axis."""
        ranked = self.ranked(values)
        order = self.tools.order_down(ranked)[: self.k]
        return self.tools.move_axis(self.tools.take_down(ranked, order), 0, -1)

    def ranked(self, values: Array) -> Array:
        """Places and ranks as one axis, the first; of equal values the lower place comes first."""
        moved = self.tools.move_axis(values, -1, 1)
        return moved.reshape(moved.shape[0] * moved.shape[1], *moved.shape[2:])

    def keep(self, where: Array, values: Array, others: Array) -> Array:
        """As in `Max`, for rows of k."""
        return self.tools.where(where[..., None], values, others)


class Entropy(Max):
    """The log-sum and the entropy, as the two channels of a value. -inf must not occur."""

    def lift(self, weights: Array) -> Array:
        """A weight counts in the log-sum alone."""
        return self.paired(weights, weights * 0)

    def paired(self, logs: Array, entropies: Array) -> Array:
        """Values from their two channels."""
        return self.tools.move_axis(self.tools.join([logs[None], entropies[None]]), 0, -1)

    def total(self, values: Array) -> Array:
        """The log-sum, and the entropy of choosing an arc plus that of what follows it."""
        logs, entropies = values[..., 0], values[..., 1]
        shares, log_shares = self.tools.softmax_down(logs)
        follow = (shares * (entropies - log_shares)).sum(0)
        return self.paired(self.tools.log_sum(logs, 0), follow)

    def keep(self, where: Array, values: Array, others: Array) -> Array:
        """As in `Max`, for both channels."""
        return self.tools.where(where[..., None], values, others)
