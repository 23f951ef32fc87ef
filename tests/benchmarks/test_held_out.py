"""The held-out set: its notation, its counts, and that it is not in the made-up training data."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import pytest

from discotag import Document, Mention

GENERATED = 20_000
"""How many made-up texts of each generator are compared with the held-out ones."""

COUNTS = {
    "serious": (60, 60, 76, 6),
    "negated": (60, 0, 0, 0),
    "posts": (409, 210, 392, 168),
    "fresh_serious": (60, 60, 77, 5),
    "fresh_negated": (60, 0, 0, 0),
    "abbreviations": (239, 206, 265, 9),
    "clinical": (202, 159, 269, 103),
    "separate": (334, 334, 710, 0),
    "shared": (136, 136, 323, 196),
    "fresh_separate": (328, 328, 701, 0),
    "fresh_shared": (136, 136, 318, 188),
    "fresh_abbreviations": (150, 128, 193, 8),
    "fresh_clinical": (120, 95, 160, 61),
}
"""Texts, texts with mentions, mentions and discontinuous mentions; the datasheet says the same."""


@pytest.fixture
def held_out(benchmark: Callable[[str], ModuleType]) -> Any:
    return benchmark("held_out")


def test_examples(held_out: Any) -> None:
    assert doctest.testmod(held_out) == (0, 4)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(held_out: Any, name: str) -> None:
    documents = held_out.held_out(name)
    mentions = [mention for document in documents for mention in document.mentions]
    assert COUNTS[name] == (
        len(documents),
        sum(bool(document.mentions) for document in documents),
        len(mentions),
        sum(mention.discontinuous for mention in mentions),
    )
    sheet = (held_out.FOLDER / "DATASHEET.md").read_text(encoding="utf-8")
    assert "| " + " | ".join(map(str, (f"`{name}.txt`", *COUNTS[name]))) + " |" in sheet


@pytest.mark.parametrize("name", COUNTS)
def test_mentions_fit_their_text(held_out: Any, name: str) -> None:
    for document in held_out.held_out(name):
        assert "[" not in document.text
        assert document.text == document.text.strip()
        assert len(document.sentences) == 1
        assert len(set(document.mentions)) == len(document.mentions)
        for mention in document.mentions:
            parts = [document.text[start:end] for start, end in mention.spans]
            assert mention.text == " ".join(parts)
            # Without spaces or punctuation at the ends, but for % and arrows.
            assert re.fullmatch(r"[\w↑](.*[\w%↓↑])?", mention.text)


def normalised(documents: Iterable[Document]) -> list[str]:
    return [" ".join(re.findall(r"\w+", (each.text or "").lower())) for each in documents]


def test_texts_are_unique_and_not_made_up(
    held_out: Any, benchmark: Callable[[str], ModuleType]
) -> None:
    texts = [text for name in COUNTS for text in normalised(held_out.held_out(name))]
    assert len(set(texts)) == len(texts)
    written = benchmark("written_reports").written_reports()
    assert set(texts).isdisjoint(normalised(written))
    posts, reports = benchmark("made_up_posts"), benchmark("made_up_reports")
    coordinations, notes = benchmark("made_up_coordinations"), benchmark("made_up_notes")
    for seed in range(2):
        for made_up in (
            coordinations.made_up_coordinations(GENERATED // 2, seed),
            notes.made_up_notes(GENERATED // 2, seed),
            posts.made_up_posts(GENERATED // 4, seed),
            posts.made_up_posts(GENERATED // 4, seed, 0.4, lists=True),
            reports.made_up_reports(GENERATED, seed),
        ):
            assert set(texts).isdisjoint(normalised(made_up))


@pytest.mark.parametrize("line", ["[Sore arms", "Sore] arms", "[12 Sore] [1 arms] and legs"])
def test_bad_notation_is_refused(held_out: Any, line: str) -> None:
    with pytest.raises(ValueError, match="bracket|one part only"):
        held_out.parse(line)


class Answers:
    """A tagger that gives the gold mentions after a change."""

    def __init__(self, change: Callable[[tuple[Mention, ...]], Sequence[Mention]]) -> None:
        self.change = change

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        return [
            Document((sentence.with_mentions(self.change(sentence.mentions)),))
            for document in documents
            for sentence in document.sentences
        ]


def test_gold_mentions_are_judged_perfect(held_out: Any) -> None:
    figures = held_out.judge(Answers(lambda mentions: mentions))
    wrong = {name for name in figures if name.endswith(("_with_mention", "_invented"))}
    assert len(wrong) == 8
    assert {name: figures[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert {figures[name] for name in figures.keys() - wrong} == {100}


def test_no_mentions_are_judged_as_nothing_found(held_out: Any) -> None:
    assert set(held_out.judge(Answers(lambda mentions: ())).values()) == {0}


def test_shorter_mentions_are_found_but_not_exact(held_out: Any) -> None:
    def last_words(mentions: tuple[Mention, ...]) -> list[Mention]:
        return [Mention("ADR", ((each.words[-1], each.words[-1] + 1),)) for each in mentions]

    figures = held_out.judge(Answers(last_words))
    assert figures["serious_found"] == 100
    assert 0 < figures["serious_exact"] < 50
    assert figures["posts_f1_discontinuous"] == 0


def test_invented_mentions_are_counted(held_out: Any) -> None:
    figures = held_out.judge(Answers(lambda mentions: (*mentions, Mention("ADR", ((0, 1),)))))
    assert figures["negated_with_mention"] == 100
    assert figures["posts_recall"] == 100 > figures["posts_precision"]
