"""Mentions to tags and back: the tagset, its rules and their grammar."""

from discotag.scheme.errors import (
    REASONS,
    IllFormedError,
    IncompatibleError,
    SchemeError,
    UnknownLabelError,
    UnknownTagError,
)
from discotag.scheme.layers import Layers, MentionSet
from discotag.scheme.rules import Rule
from discotag.scheme.scheme import NAMINGS, Scheme

__all__ = [
    "NAMINGS",
    "REASONS",
    "IllFormedError",
    "IncompatibleError",
    "Layers",
    "MentionSet",
    "Rule",
    "Scheme",
    "SchemeError",
    "UnknownLabelError",
    "UnknownTagError",
]
