"""The guarantee of a model: what it may hold, and when it holds."""

from dataclasses import asdict, replace

import pytest

from discotag.errors import InputError
from discotag.model.guarantee import Guarantee, usable

GIVEN = Guarantee(
    threshold=0.02,
    target_recall=0.9,
    confidence=0.95,
    count="mentions",
    unit="documents",
    match="exact",
    units=1200,
    runtime="onnx",
)


def test_there_and_back():
    assert Guarantee.from_dict(asdict(GIVEN)) == GIVEN


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"threshold": 0}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"target_recall": 1}, "target_recall"),
        ({"confidence": "0.9"}, "confidence"),
        ({"count": "words"}, "count must be mentions or documents"),
        ({"unit": "posts"}, "unit must be documents or sentences"),
        ({"match": None}, "match must be exact or overlap"),
        ({"units": 0}, "units"),
        ({"units": 1.5}, "units"),
        ({"runtime": None}, "runtime"),
        ({"more": 1}, "fields of a guarantee"),
    ],
)
def test_data_that_is_no_guarantee(changes, named):
    with pytest.raises(TypeError, match=named):
        Guarantee.from_dict(asdict(GIVEN) | changes)
    with pytest.raises(TypeError):
        Guarantee.from_dict([])


def test_what_it_says():
    assert str(GIVEN) == (
        "finds at least 0.9 of the mentions (a document with more than 10 counts as 10), with "
        "confidence 0.95, in text like the 1,200 documents with mentions that it was measured on"
    )
    assert str(replace(GIVEN, match="overlap")).startswith("touches at least 0.9 of the mentions")
    assert "at least 0.9996 of" in str(replace(GIVEN, target_recall=0.9996))
    screening = replace(GIVEN, count="documents", match="overlap", unit="sentences")
    assert "finds at least 0.9 of the sentences with a mention" in str(screening)
    assert "1,200 sentences" in str(screening)


def test_one_of_several_readings_is_enough_if_mentions_may_overlap():
    assert not GIVEN.distinct
    assert replace(GIVEN, match="overlap").distinct
    assert replace(GIVEN, count="documents").distinct


def test_when_it_holds():
    assert usable(GIVEN, "onnx", 0.0) is GIVEN
    with pytest.raises(InputError, match="no guarantee.*discotag calibrate"):
        usable(None, "onnx", 0.0)
    with pytest.raises(InputError, match="measured with the runtime onnx, not with torch"):
        usable(GIVEN, "torch", 0.0)
    with pytest.raises(InputError, match="bias of 0, not -1.5"):
        usable(GIVEN, "onnx", -1.5)
