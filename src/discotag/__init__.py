"""discotag: discontinuous named-entity recognition by sound word tagging."""

from discotag.errors import DiscotagError
from discotag.mentions import Document, InvalidMention, InvalidSentence, Mention, Sentence
from discotag.scheme import IllFormed, Incompatible, Scheme

__version__ = "0.1.0"

__all__ = [
    "DiscotagError",
    "Document",
    "IllFormed",
    "Incompatible",
    "InvalidMention",
    "InvalidSentence",
    "Mention",
    "Scheme",
    "Sentence",
]
