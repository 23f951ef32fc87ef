"""discotag: discontinuous named-entity recognition by sound word tagging."""

from typing import TYPE_CHECKING

from discotag.errors import DiscotagError
from discotag.mentions import Document, InvalidMention, InvalidSentence, Mention, Sentence
from discotag.scheme import IllFormed, Incompatible, Scheme

if TYPE_CHECKING:
    from discotag.model.files import load as load
    from discotag.model.layer import TaggingLayer as TaggingLayer
    from discotag.model.tagger import Tagger as Tagger

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
    "Tagger",
    "load",
]


def __getattr__(name: str) -> object:
    """What needs more than the standard library is imported only when asked for."""
    if name == "load":
        from discotag.model.files import load

        return load
    if name == "Tagger":
        from discotag.model.tagger import Tagger

        return Tagger
    if name == "TaggingLayer":
        try:
            from discotag.model.layer import TaggingLayer
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise ImportError(
                "discotag.TaggingLayer needs PyTorch: pip install 'discotag[train]'"
            ) from error
        return TaggingLayer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
