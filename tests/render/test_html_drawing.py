"""Drawings as HTML: bars below words, numbers that belong together, everything escaped."""

import json
import re
from itertools import chain
from time import process_time

import pytest

from any_pictures import random_sentence
from contrasts import contrast
from discotag import Document, Mention, Sentence
from discotag.render import draw_html
from discotag.render.colours import COLOURS, DARK, LIGHT
from discotag.render.html import json_block
from discotag.render.html_drawing import (
    MOST_SENTENCES,
    draw_documents,
    draw_sentence,
    draw_words,
    drawing_data,
)
from discotag.render.layout import lanes, written
from page_parser import Page

WORDS = "pain in arms and legs".split()
MENTIONS = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)], score=0.93)]


def bars(drawn):
    """Return the classes of the bars below each word, and the numbers in them."""
    cells = re.split(r'<span class="word(?: spaced)?">', drawn)[1:]
    return [
        [
            f"{kind} {number}".strip()
            for kind, number in re.findall(
                r'<i(?: class="([^"]*)")?(?: data-number="(\d+)")?></i>', cell
            )
        ]
        for cell in cells
    ]


def test_bars_under_words():
    drawn = draw_words(Sentence(WORDS, MENTIONS))
    assert bars(drawn) == [  # the shorter mention, which is the second in the list, is inside
        ["bar first c1 2", "bar first c0 1"],
        ["bar c1", "bar last c0"],
        ["bar last c1", "gap c0"],
        ["", "gap c0"],
        ["", "bar first last c0 1"],
    ]
    assert re.sub("<[^>]*>", "", drawn) == "pain in arms and legs"  # what a search looks at


def test_mentions_are_listed_with_the_numbers_of_their_bars():
    sentence = Sentence(WORDS, MENTIONS)
    listed = re.findall("<li.*?</li>", draw_sentence(sentence))
    assert [re.sub("<[^>]*>", " ", item).split() for item in listed] == [
        ["1", "ADR", "pain", "in", "…", "legs", "93%"],
        ["2", "ADR", "pain", "in", "arms"],
    ]
    among = re.findall('<li class="([^"]*)"', draw_sentence(sentence, among=MENTIONS[:1]))
    assert among == ["c0 other", "c1"]


def test_screen_readers_get_words_and_list_but_no_bars():
    page = Page(draw_sentence(Sentence(WORDS, MENTIONS)))
    hidden = [each for each in page.all("span") if each["class"] == "bars"]
    assert len(hidden) == len(WORDS)
    assert all(each["aria-hidden"] == "true" for each in hidden)
    assert page.all("ol") == [{"class": "mentions", "role": "list"}]


def test_a_sentence_without_mentions_has_no_list():
    assert "<ol" not in draw_sentence(Sentence(WORDS))
    assert draw_words(Sentence([])) == '<p class="words" dir="auto"></p>'


def test_mentions_apart_share_a_row_and_colours_take_turns():
    words = [str(n) for n in range(8)]
    drawn = draw_words(Sentence(words, [Mention("X", [(n, n + 1)]) for n in range(8)]))
    assert "<i></i>" not in drawn
    assert 'class="bar first last c1"' in drawn
    assert f"c{COLOURS}" not in drawn


def test_words_of_a_run_stay_on_one_line():
    text = "Sore (left) toes"
    offsets = [(0, 4), (5, 6), (6, 10), (10, 11), (12, 16)]
    words = [text[start:end] for start, end in offsets]
    drawn = draw_words(Sentence(words, text=text, offsets=offsets))
    assert re.sub("<[^>]*>", "", drawn) == text
    run = drawn[drawn.index('<span class="run">') :]
    assert re.sub("<[^>]*>", "", run.split("</span></span>")[0]) == "(left) "
    long = "漢" * 60
    offsets = [(n, n + 1) for n in range(60)]
    assert '"run"' not in draw_words(Sentence(list(long), text=long, offsets=offsets))


def test_bars_are_in_the_rows_of_the_layout():
    for seed in range(500):
        sentence = random_sentence(seed)
        below = bars(draw_words(sentence))
        for number, (mention, lane) in enumerate(
            zip(sentence.mentions, lanes(sentence.mentions), strict=True), 1
        ):
            covered = set(mention.words)
            for word in range(mention.start, mention.end):
                shown = below[word][lane]
                assert shown.startswith("bar" if word in covered else "gap")
                if word in covered and word - 1 not in covered:
                    assert shown.endswith(f" {number}")
        assert sum(map(bool, chain.from_iterable(below))) == sum(
            mention.end - mention.start for mention in sentence.mentions
        )


def test_text_and_labels_are_escaped():
    hostile = "<script>alert(1)</script>"
    sentence = Sentence([hostile, "b"], [Mention(hostile, [(0, 1)])])
    page = Page(draw_html(Document([sentence], id=hostile)))
    assert page.all("script") == []
    shown = [text.strip() for text in page.text]
    assert shown.count(hostile) == 4  # the id, the word, the label, and the word in the list
    for seed in range(300):
        Page(draw_sentence(random_sentence(seed)))


def test_data_cannot_end_its_element():
    text = "</script><!--\u2028\u2029&"
    block = json_block({"text": text})
    inside = block.removeprefix('<script type="application/json">').removesuffix("</script>")
    assert not set(inside) & set("<>&\u2028\u2029")
    assert json.loads(inside) == {"text": text}


def test_long_documents_are_cut_and_say_so():
    drawn = draw_html(Document([Sentence(["a"])] * (MOST_SENTENCES + 3)))
    assert drawn.count('class="words"') == MOST_SENTENCES
    assert "and 3 more sentences" in drawn


def test_documents_share_the_colours_of_labels():
    one, other = (Document([Sentence(["a"], [Mention(label, [(0, 1)])])]) for label in "XY")
    assert 'class="bar first last c1"' in draw_documents([one, other], "more")
    assert 'class="bar first last c1"' not in draw_html(other)


def test_joined_letters_stay_joined():
    assert "👨\u200d👩" in draw_html(Sentence(["👨\u200d👩"]))
    assert written(["a", "b"], [False, False]) == "ab"


def test_contrast_is_computed_as_the_guidelines_say():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_meets_level_aa(colours):
    texts = ["ink", "soft", "mark", "bad"]
    for text in texts:
        for ground in ("back", "card"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for number in range(COLOURS):  # numbers in bars, captions in pictures
        assert contrast(colours[f"c{number}"], colours["card"]) >= 4.5, number
    assert contrast(colours["ink"], colours["hit"]) >= 4.5
    for ground in ("back", "card"):  # the edges of fields
        assert contrast(colours["edge"], colours[ground]) >= 3
    assert LIGHT.keys() == DARK.keys()


def test_the_time_is_linear_in_the_number_of_mentions():
    def seconds(number):
        words = ["sore", "and"] * number
        offsets = [(5 * place, 5 * place + 4 - place % 2) for place in range(2 * number)]
        mentions = [Mention("ADR", [(2 * place, 2 * place + 1)]) for place in range(number)]
        text = "sore and  " * number
        sentence = Sentence(words, mentions, text=text, offsets=offsets)
        start = process_time()
        draw_sentence(sentence)
        return process_time() - start

    # Sixteen times the mentions would take 256 times as long if it were quadratic.
    few = min(seconds(500) for _ in range(5))
    assert min(seconds(8000) for _ in range(2)) < 64 * few


def test_candidates_are_paler_and_come_last():
    sentence = Sentence(WORDS, MENTIONS[1:], candidates=MENTIONS[:1])
    drawn = draw_sentence(sentence)
    listed = re.findall("<li.*?</li>", drawn)
    assert [re.sub("<[^>]*>", " ", item).split() for item in listed] == [
        ["1", "ADR", "pain", "in", "…", "legs", "93%"],
        ["2", "ADR", "pain", "in", "arms", "to", "review"],
    ]
    assert ["candidate" in item for item in listed] == [False, True]
    kinds = [kind for cell in bars(drawn) for kind in cell]
    assert sum("candidate" in kind for kind in kinds) == 3
    (packed,) = [drawing_data(sentence, ["ADR"])["mentions"]]
    assert [row[6:] for row in packed] == [[], [1]]
    document = Document([Sentence(WORDS, candidates=[Mention("Other", [(0, 1)])])])
    assert "Other" in draw_documents([document])
