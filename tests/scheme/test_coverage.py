"""How much of a real corpus the scheme covers."""

import os
import tarfile
from collections import Counter
from io import TextIOWrapper
from pathlib import Path

import pytest

from discotag import Scheme
from inline import read_inline

DATA = Path(__file__).parent.parent / "data"
CORPORA = os.environ.get("DISCOTAG_CORPORA")

# Sentences that do not fit: two slots; three slots with gap mentions.
CRAFT = [
    ("CL", "train", 12, 7),
    ("UBERON", "train", 24, 2),
    ("GO_BP", "train", 59, 12),
    ("CL", "test", 2, 0),
    ("UBERON", "test", 14, 3),
    ("GO_BP", "test", 27, 11),
]


def left_out(sentences, scheme):
    """How many sentences do not fit; those that do must come back whole."""
    number = 0
    for sentence in sentences:
        length = len(sentence.words)
        if scheme.problems(length, sentence.mentions):
            number += 1
        else:
            tags = scheme.encode(length, sentence.mentions)
            assert scheme.decode(tags) == frozenset(sentence.mentions)
    return number


@pytest.mark.skipif(CORPORA is None, reason="DISCOTAG_CORPORA names no folder with the archives")
@pytest.mark.parametrize(("label", "split", "two_slots", "three_slots"), CRAFT)
def test_craft(label, split, two_slots, three_slots):
    with tarfile.open(Path(CORPORA) / "craft-inline.tar.gz") as archive:
        file = archive.extractfile(f"craft/inline_{label}/{split}.txt")
        sentences = list(read_inline(TextIOWrapper(file, encoding="utf-8")))
    assert left_out(sentences, Scheme((label,))) == two_slots
    assert left_out(sentences, Scheme((label,), 3, gap_mentions=True)) == three_slots


def test_craft_extract():
    sentences = list(read_inline((DATA / "craft_200.txt").read_text("utf-8").splitlines()))
    labels = ("CL", "GO_BP", "UBERON")
    assert len(sentences) == 200
    assert left_out(sentences, Scheme(labels)) == 49
    assert left_out(sentences, Scheme(labels, 3, gap_mentions=True)) == 15
    reasons = Counter(
        problem.reason
        for sentence in sentences
        for problem in Scheme(labels).problems(len(sentence.words), sentence.mentions)
    )
    assert reasons == {
        "too_many_slots": 21,
        "mention_in_gap": 15,
        "uneven_components": 14,
        "not_a_product": 1,
    }
