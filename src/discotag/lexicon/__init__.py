"""Names of body parts: which words of a text are one, and which slot of a mention set they name."""

from discotag.lexicon.lexicon import Lexicon, LexiconError, normalise
from discotag.lexicon.silver import SilverCounts, count_silver, silver_slots

__all__ = [
    "Lexicon",
    "LexiconError",
    "SilverCounts",
    "count_silver",
    "normalise",
    "silver_slots",
]
