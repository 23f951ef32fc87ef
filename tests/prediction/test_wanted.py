import inspect

import pytest

from discotag import InputError
from discotag.cli import predict as command
from discotag.described import describe
from discotag.mentions import Mention
from discotag.prediction import Wanted


def test_values_are_checked_and_of_their_types():
    wanted = Wanted(labels=["ADR"], min_score=1, batch_size=8, candidates=0.5)
    assert wanted.labels == ("ADR",)
    assert type(wanted.min_score) is float
    assert (wanted.batch_size, wanted.candidates) == (8, 0.5)
    assert Wanted(candidates=True).candidates is True
    assert hash(wanted) == hash(
        Wanted(**{each: getattr(wanted, each) for each in wanted.__slots__})
    )
    for name, value in (("labels", 3), ("min_score", -0.1), ("bias", 99), ("alternatives", -1)):
        with pytest.raises(InputError, match=f"^{name} must be "):
            Wanted(**{name: value})


def test_labels():
    wanted = Wanted(labels="A")
    mentions = [Mention(label, [(0, 1)]) for label in "AB"]
    assert wanted.kept(mentions) == mentions[:1]
    assert Wanted().kept(mentions) == mentions
    wanted.check_labels("AB")
    with pytest.raises(InputError, match="no label 'A'; its labels are B, C"):
        wanted.check_labels("BC")


def test_options_are_compared_when_a_run_resumes_unless_they_are_named():
    options = set(inspect.signature(command.predict).parameters) - {"context"}
    assert options >= command.CHANGE_NOTHING
    wanted = set(describe(Wanted)) - {"alternatives"}
    assert wanted <= options - command.CHANGE_NOTHING
    assert {"sentences", "words", "encoding", "skip_bad"} <= options - command.CHANGE_NOTHING
