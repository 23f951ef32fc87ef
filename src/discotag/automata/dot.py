"""Automata as Graphviz text."""

from __future__ import annotations

from discotag.automata.automaton import EPSILON, Automaton, Symbol


def to_dot(automaton: Automaton, *, name: str = "automaton") -> str:
    """Return an automaton as Graphviz text, with one edge for all symbols between two states.

    Example:
        >>> from discotag.automata import unfold
        >>> print(to_dot(unfold("a", 0, lambda state, symbol: 0, lambda state: True)))
        digraph "automaton" {
          rankdir=LR;
          start [shape=point];
          0 [shape=doublecircle];
          start -> 0;
          0 -> 0 [label="a"];
        }
    """
    edges: dict[tuple[int, int], list[str]] = {}
    for source, symbol, target in automaton.arcs:
        edges.setdefault((source, target), []).append(_shown(symbol))
    lines = [f"digraph {_quoted(name)} {{", "  rankdir=LR;", "  start [shape=point];"]
    for state in automaton.states:
        shape = "doublecircle" if state in automaton.finals else "circle"
        lines.append(f"  {state} [shape={shape}];")
    lines.append(f"  start -> {automaton.start};")
    for (source, target), symbols in edges.items():
        lines.append(f"  {source} -> {target} [label={_quoted(chr(10).join(symbols))}];")
    return "\n".join([*lines, "}"])


def _shown(symbol: Symbol) -> str:
    return "ε" if symbol is EPSILON else str(symbol)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
