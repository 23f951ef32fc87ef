"""discotag: discontinuous named-entity recognition by sound word tagging."""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document, Mention, MentionError, Sentence, SentenceError
from discotag.scheme import IllFormedError, IncompatibleError, Scheme

if TYPE_CHECKING:
    from discotag.corpora.tables.frames import to_dataframe as to_dataframe
    from discotag.model.layer import TaggingLayer as TaggingLayer
    from discotag.prediction.guarantee import find_guarantee as find_guarantee
    from discotag.prediction.loading import load as load
    from discotag.prediction.tagger import Tagger as Tagger
    from discotag.words import Splitter as Splitter

__version__ = "0.1.0"

# onnxruntime and the Hugging Face libraries report how they are used unless these are set before
# they are imported, which only happens after this. A variable that is set already is not touched.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
if not {"HF_HUB_DISABLE_TELEMETRY", "DISABLE_TELEMETRY", "DO_NOT_TRACK"} & os.environ.keys():
    os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")

__all__ = [
    "DiscotagError",
    "Document",
    "IllFormedError",
    "IncompatibleError",
    "InputError",
    "Mention",
    "MentionError",
    "Scheme",
    "Sentence",
    "SentenceError",
    "Splitter",
    "Tagger",
    "find_guarantee",
    "load",
    "to_dataframe",
]
if find_spec("torch") is not None:  # without it, `from discotag import *` would fail
    __all__ += ["TaggingLayer"]

_LAZY: Final = {
    "Splitter": "discotag.words",
    "Tagger": "discotag.prediction.tagger",
    "TaggingLayer": "discotag.model.layer",
    "find_guarantee": "discotag.prediction.guarantee",
    "load": "discotag.prediction.loading",
    "to_dataframe": "discotag.corpora.tables.frames",
}
"""The modules of the names that need more than the standard library."""


def __getattr__(name: str) -> object:
    """Import a name of `_LAZY` when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_LAZY[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        from discotag.extras import how_to_install

        raise ImportError(f"discotag.{name} needs PyTorch: {how_to_install('train')}") from error
