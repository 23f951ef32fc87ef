"""Lexicons of body parts: finding their terms in text, and naming slots by them."""

from discotag.lexicon.lexicon import Lexicon, LexiconError, Match, normalise
from discotag.lexicon.silver import SilverCounts, count_silver, silver_slots
from discotag.lexicon.umls import UmlsCounts, convert_umls

__all__ = [
    "Lexicon",
    "LexiconError",
    "Match",
    "SilverCounts",
    "UmlsCounts",
    "convert_umls",
    "count_silver",
    "normalise",
    "silver_slots",
]
