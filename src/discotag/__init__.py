"""discotag: discontinuous named-entity recognition by sound word tagging."""

import os
from typing import TYPE_CHECKING

from discotag.errors import DiscotagError
from discotag.mentions import Document, InvalidMention, InvalidSentence, Mention, Sentence
from discotag.scheme import IllFormed, Incompatible, Scheme

if TYPE_CHECKING:
    from discotag.model.files import load as load
    from discotag.model.layer import TaggingLayer as TaggingLayer
    from discotag.model.tagger import Tagger as Tagger

__version__ = "0.1.0"

# onnxruntime and the Hugging Face libraries report how they are used unless these are set before
# they are imported, which only happens after this. A variable that is set already is not touched.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
if not {"HF_HUB_DISABLE_TELEMETRY", "DISABLE_TELEMETRY", "DO_NOT_TRACK"} & os.environ.keys():
    os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")

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
    """Import a name that needs more than the standard library when it is first asked for."""
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
