"""A slow, direct reading of the rules, written without the scheme's code, to test it against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from discotag import Scheme

# One label: slots, naming, gap mentions, tags, states, arcs, sequences of length 0, 1, 2, ...
TABLE = [
    (2, "semantic", False, 10, 13, 58, (1, 2, 5, 21, 116, 631, 3239, 16074, 78851)),
    (2, "structural", False, 9, 9, 39, (1, 2, 5, 17, 75, 360, 1720, 8046, 37047)),
    (2, "structural", True, 11, 11, 56, (1, 2, 5, 18, 91, 517, 2948, 16506, 91025)),
    (3, "structural", False, 11, 18, 91, (1, 2, 5, 17, 78, 418, 2334, 12971, 70996)),
    (3, "structural", True, 13, 23, 136, (1, 2, 5, 18, 94, 590, 3878, 25401, 164030)),
    (3, "semantic", False, 13, 48, 276, (1, 2, 5, 37, 298, 2063, 13319, 84376, 533431)),
]
SCHEMES = [Scheme(("ADR",), slots, naming, gaps) for slots, naming, gaps, *_ in TABLE]


def name(scheme: Scheme) -> str:
    """A short name for a test's id."""
    gaps = "-gaps" if scheme.gap_mentions else ""
    return f"{len(scheme.labels)}-{scheme.slots}-{scheme.naming}{gaps}"


def is_well_formed(scheme: Scheme, tags: Sequence[str]) -> bool:
    """Whether the tags keep the rules, read one after the other as they are written."""
    return not any(broken_rules(scheme, tags))


def broken_rules(scheme: Scheme, tags: Sequence[str]) -> Iterator[int]:
    """The numbers of the broken rules, some perhaps more than once."""
    bare = [tag.partition(":")[0] for tag in tags]
    label = [tag.partition(":")[2] for tag in tags]
    for i, tag in enumerate(bare):
        before = bare[i - 1] if i else ""
        if tag == "CI":
            if before not in ("CB", "CI"):
                yield 1
            elif label[i] != label[i - 1]:
                yield 7
        if tag[:2] == "DI":
            if before[:1] != "D":
                yield 2
            if tag[3] == "I" and before[3:] not in ("B" + tag[4], "I" + tag[4]):
                yield 3
            if tag == "DI-CI":
                if before not in ("DI-CB", "DI-CI"):
                    yield 3
                elif label[i] != label[i - 1]:
                    yield 7
    for start, end in _spans(bare):
        inside = bare[start:end]
        components = _components(inside)
        slots = [slot for slot, _, _ in components]
        if len(set(slots)) < 2:
            yield 4
        if scheme.naming == "structural":
            first_seen = "".join(dict.fromkeys(slots))
            if not "xyzw".startswith(first_seen):
                yield 4
        for (slot, _, end_of_one), (other, start_of_next, _) in pairwise(components):
            if end_of_one == start_of_next and slots.count(slot) == slots.count(other) == 1:
                yield 5
        if inside[-1] in ("DI-O", "DI-CB", "DI-CI"):
            yield 6
        own = {label[i] for i in range(start, end) if bare[i] not in ("DI-CB", "DI-CI")}
        if len(own) > 1:
            yield 7


def mentions_of(tags: Sequence[str]) -> frozenset[tuple[str, frozenset[int]]]:
    """The mentions of a well-formed sequence, each as its label and the set of its words."""
    bare = [tag.partition(":")[0] for tag in tags]
    label = [tag.partition(":")[2] or "ADR" for tag in tags]
    found = []
    for i, tag in enumerate(bare):
        if tag in ("CB", "DI-CB"):
            end = i + 1
            while end < len(bare) and bare[end] == tag[:-1] + "I":
                end += 1
            found.append((label[i], frozenset(range(i, end))))
    for start, end in _spans(bare):
        components = _components(bare[start:end])
        by_slot = {
            slot: [range(start + i, start + j) for s, i, j in components if s == slot]
            for slot, _, _ in components
        }
        for choice in product(*by_slot.values()):
            found.append((label[start], frozenset(word for part in choice for word in part)))
    return frozenset(found)


def _spans(bare: Sequence[str]) -> list[tuple[int, int]]:
    """From each DB-* to the last DI-* that follows it without a break."""
    spans = []
    for start, tag in enumerate(bare):
        if tag[:2] == "DB":
            end = start + 1
            while end < len(bare) and bare[end][:2] == "DI":
                end += 1
            spans.append((start, end))
    return spans


def _components(inside: Sequence[str]) -> list[tuple[str, int, int]]:
    """Slot, start and end of each component of a span."""
    components = []
    for i, tag in enumerate(inside):
        if tag[3] == "B":
            end = i + 1
            while end < len(inside) and inside[end] == "DI-I" + tag[4]:
                end += 1
            components.append((tag[4], i, end))
    return components
