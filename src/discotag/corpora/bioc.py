"""What BioC's two ways of writing, XML and JSON, have in common."""

from __future__ import annotations

from typing import Final

from discotag.corpora.problems import shown

LABEL: Final = "type"
"""The key of the infon that holds the label."""

PREFIX: Final = "T"
"""Annotations are written with the ids T1, T2, …"""


def called(annotation: str | None, document: str | None) -> str:
    """What messages call an annotation.

    Example:
        >>> called("T1", "12")
        "annotation 'T1' of document '12'"
    """
    name = "an annotation" if not annotation else f"annotation {shown(annotation)}"
    return name if document is None else f"{name} of document {shown(document)}"
