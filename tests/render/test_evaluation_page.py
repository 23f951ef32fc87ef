"""The report of an evaluation: what is in it, and that nothing of a user's text is markup."""

from discotag import Mention
from discotag.evaluation import Pair, Report, intervals
from discotag.render.evaluation_page import evaluation_page
from page_parser import Page

EVIL = "<script>alert(1)</script>"
HURT = Mention("ADR", [(0, 1), (3, 4)])
TOES = Mention("ADR", [(0, 1)])
OUT = Mention("ADR", [(3, 9)])
WORDS = (EVIL, "and", "fingers", "hurt")


def made(*sides, **options):
    found = Report(EVIL, f"model {EVIL}", **options)
    for number, (gold, predicted) in enumerate(sides, 1):
        found.add(Pair(number, EVIL, 1, WORDS, tuple(gold), tuple(predicted)))
    return found


def test_figures_errors_and_sentences():
    found = made(
        ([HURT], [TOES.with_score(0.4)]), ([TOES], [TOES.with_score(0.95)]), ([TOES], [OUT])
    )
    found.intervals = intervals(found.tallies)
    text = evaluation_page(found)
    for part in (
        "3 sentences, 2 of them with errors",
        "95% of F1",
        "Calibration",
        "<polyline",
        "<circle",
        "2 words",
        "gap missed",
        "and 1 that reach into the next sentence",
        'data-kind="gap_missed"',
        'aria-label="Search the sentences"',
    ):
        assert part in text, part
    assert text.count("<article") == 2
    assert text.count("<h3>Gold</h3>") == text.count("<h3>Predicted</h3>") == 2


def test_nothing_of_a_text_is_markup_and_nothing_is_loaded():
    text = evaluation_page(made(([HURT], [Mention(EVIL, [(1, 2)], score=0.4)])))
    assert EVIL not in text
    assert text.count("<script") == 1
    parsed = Page(text)
    assert EVIL in "".join(parsed.text)
    targets = [each.get(name) for _, each in parsed.elements for name in ("src", "href")]
    assert set(targets) <= {None, "data:,"}


def test_without_errors_and_without_scores():
    text = evaluation_page(made(([TOES], [TOES])))
    assert "<h2>Scores</h2>" not in text
    assert "<p>None.</p>" in text
    assert "<article" not in text
    assert "<fieldset" not in text


def test_sentences_that_are_not_shown_are_counted():
    found = made(*[([TOES], [])] * 3, most=1)
    assert "The first 1; 2 more are not shown." in evaluation_page(found)
