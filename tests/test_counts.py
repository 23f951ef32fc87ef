import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotag.cli.options import share
from discotag.render import percent


@pytest.mark.parametrize(
    ("number", "digits", "shown"),
    [
        (0.998, 0, "99%"),
        (0.995, 0, "99%"),
        (0.999999999, 0, "99%"),
        (0.994, 0, "99%"),
        (0.5, 0, "50%"),
        (0.001, 0, "1%"),
        (1, 0, "100%"),
        (0, 0, "0%"),
        (0.9999, 1, "99.9%"),
        (0.0001, 1, "0.1%"),
        (0.1234, 1, "12.3%"),
    ],
)
def test_percent(number, digits, shown):
    assert percent(number, digits) == shown


@given(number=st.floats(0, 1), digits=st.integers(0, 3))
def test_only_all_is_100_percent_and_only_nothing_0(number, digits):
    shown = float(percent(number, digits).removesuffix("%"))
    assert (shown == 100) == (number == 1)
    assert (shown == 0) == (number == 0)
    assert abs(shown - 100 * number) <= 10.0**-digits


def test_shares_of_a_corpus():
    assert share(29_999, 30_000) == "99.9%"
    assert share(1, 30_000) == "0.1%"
    assert (share(3, 3), share(0, 3), share(0, 0)) == ("100.0%", "0.0%", "–")
