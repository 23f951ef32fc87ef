"""Made-up coordinations and clinical notes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from types import ModuleType
from typing import Any

import pytest

from discotag import Document


@pytest.fixture
def coordinations(benchmark: Callable[[str], ModuleType]) -> Any:
    return benchmark("made_up_coordinations")


@pytest.fixture
def notes(benchmark: Callable[[str], ModuleType]) -> Any:
    return benchmark("made_up_notes")


@pytest.mark.parametrize("name", ["coordinations", "notes"])
def test_same_seed_gives_same_texts(name: str, request: pytest.FixtureRequest) -> None:
    make = getattr(request.getfixturevalue(name), f"made_up_{name}")
    first, again = (list(make(300, 1)) for _ in range(2))
    assert first == again
    assert first != list(make(300, 2))
    assert len({each.text for each in first}) == 300


def is_shared(document: Document) -> bool:
    return any(not set(a.words).isdisjoint(b.words) for a, b in combinations(document.mentions, 2))


def test_coordinations_are_shared_in_the_proportion_of_the_corpus(coordinations: Any) -> None:
    made_up = [each for each in coordinations.made_up_coordinations(4000) if each.mentions]
    assert 0.85 < len(made_up) / 4000 < 0.95
    shared = sum(map(is_shared, made_up)) / len(made_up)
    assert shared == pytest.approx(coordinations.SHARED_SHARE, abs=0.03)


def test_separate_mentions_are_continuous_and_have_different_words(coordinations: Any) -> None:
    made_up = coordinations.made_up_coordinations(2000)
    separate = [each for each in made_up if each.mentions and not is_shared(each)]
    links = set()
    of_single_words = 0
    for document in separate:
        assert 1 <= len(document.mentions) <= 6
        assert not any(each.discontinuous for each in document.mentions)
        of_single_words += max(len(each.words) for each in document.mentions) == 1
        ends = [each.spans[0] for each in document.mentions]
        links |= {document.text[a[1] : b[0]].strip() for a, b in pairwise(ends)}
    assert 0 < of_single_words / len(separate) < coordinations.LIST_SHARE  # lists alone
    assert {"and", "or", "&", "/", ",", ";", "with", "plus"} <= links


def test_lists_have_up_to_six_mentions_that_share_no_word(coordinations: Any) -> None:
    made_up = list(coordinations.made_up_coordinations(500, lists=True))
    assert {len(each.mentions) for each in made_up} == {1, 2, 3, 4, 5, 6}
    assert not any(each.discontinuous for document in made_up for each in document.mentions)
    assert any(each.text.startswith("- ") for each in made_up)


def test_silent_notes_have_no_mentions(notes: Any) -> None:
    made_up = list(notes.made_up_notes(3000))
    assert 0.3 < sum(not each.mentions for each in made_up) / 3000 < 0.5
    denied = [each for each in made_up if each.text.lower().startswith(("denies", "neg for"))]
    assert any(not each.mentions for each in denied)


def test_findings_that_are_present_are_mentions(notes: Any) -> None:
    signed = [
        each for each in notes.made_up_notes(3000) if "(+)" in each.text or "(-)" in each.text
    ]
    assert len(signed) > 50
    for document in signed:
        assert len(document.mentions) == document.text.count("(+)")


def test_every_note_is_filled(notes: Any) -> None:
    for document in notes.made_up_notes(5000):
        assert not set("<>{}") & set(document.text.replace("->", ""))
        assert "DRUG" not in document.text
        assert "WHO" not in document.text
