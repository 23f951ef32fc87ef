"""Real corpora, where DISCOTAG_CORPORA names the folder with their archives."""

import atexit
import os
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

CORPORA = Path(os.environ.get("DISCOTAG_CORPORA", ""))
needs_corpora = pytest.mark.skipif(
    "DISCOTAG_CORPORA" not in os.environ, reason="DISCOTAG_CORPORA names no folder with corpora"
)

# Sentences of CRAFT that do not fit: two slots; three slots with gap mentions.
CRAFT_MISFITS = [
    ("CL", "train", 12, 7),
    ("UBERON", "train", 24, 2),
    ("GO_BP", "train", 59, 12),
    ("CL", "test", 2, 0),
    ("UBERON", "test", 14, 3),
    ("GO_BP", "test", 27, 11),
]


def craft_inline(label, part):
    """The inline text of one label and part of CRAFT."""
    return _unpacked() / f"craft/inline_{label}/{part}.txt"


@cache
def _unpacked():
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    with tarfile.open(CORPORA / "craft-inline.tar.gz") as archive:
        archive.extractall(folder.name, filter="data")
    return Path(folder.name)
