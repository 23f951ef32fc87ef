import pytest

from discotag.corpora.recipes.offsets import crosses
from discotag.marks import Marked

SENTENCES = [(0, 9), (10, 20)]


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        (((0, 9),), False),
        (((8, 11),), True),
        (((0, 4), (11, 14)), True),
        (((9, 14),), False),  # with the white space before a sentence
        (((5, 10),), False),  # with the white space after it
        (((9, 10),), False),
    ],
)
def test_only_what_is_in_two_sentences_crosses(fragments, expected):
    assert crosses(Marked("A", fragments), SENTENCES) is expected
