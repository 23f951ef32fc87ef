"""What BioC XML and BioC JSON have in common."""

from __future__ import annotations

from typing import Final

from discotag.corpora.parsing.problems import shown

LABEL: Final = "type"
"""The key of the infon that holds the label."""

PREFIX: Final = "T"
"""Annotations are written with the ids T1, T2, …"""


def called(annotation: str | None, document: str | None, kind: str = "annotation") -> str:
    """Return the name of an annotation or relation for messages.

    Example:
        >>> called("T1", "12")
        "annotation 'T1' of document '12'"
        >>> called(None, None, "relation")
        'a relation'
    """
    article = "an" if kind == "annotation" else "a"
    name = f"{article} {kind}" if not annotation else f"{kind} {shown(annotation)}"
    return name if document is None else f"{name} of document {shown(document)}"
