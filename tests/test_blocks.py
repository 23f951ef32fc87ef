"""Where headings and list items begin a new sentence, and where wrapped prose does not."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotag.blocks import blocks
from discotag.corpora.recipes import psytar
from discotag.corpora.recipes.offsets import crosses
from discotag.corpora.recipes.recipe import Order
from discotag.marks import spelled
from discotag.words import Splitter
from real_corpora import CORPORA, needs_corpora

LONG = "The first few weeks on this drug went by without much trouble at all"


def parts(text):
    return [text[block.start : block.end] for block in blocks(text)]


def sentences(text):
    return [text[start:end] for start, end in Splitter().sentence_ranges(text)]


@pytest.mark.parametrize(
    "item",
    [
        "CONS: tired",
        "PROS / CONS: none",
        "Side effects: dry mouth",
        "Side-effects : dry mouth",
        "HISTORY OF PRESENT ILLNESS: well",
        "Meds: aspirin 81 mg",
        "Übelkeit: ja",
        "1) sore toes",
        "12)sore toes",
        "a) sore toes",
        "B) sore toes",
        "ii) sore toes",
        "- sore toes",
        "– sore toes",
        "* sore toes",
        "• sore toes",
        "•sore toes",
        "   - sore toes",
        "\t1) sore toes",
        "- 2 weeks of nausea",
        "1) 20 mg",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_heading_or_list_item_begins_a_sentence(item, end):
    before = "It worked well for me"
    assert sentences(f"{before}{end}{item}{end}and so on") == [
        before,
        f"{item.strip()}{end}and so on",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I took it for\n2 weeks and slept",
        "I took\n10 mg a day",
        "I took\n1.5 mg a day",
        "I have been on it since\n2003. since then",
        "a pill at night, 10\n- 20 mg",
        "a pill at night, 10\n– 20 mg",
        "at temperatures of\n-80 °C",
        "some other drugs\ne.g. aspirin",
        "as it says (see figure\n1) all over",
        "as they say (group\na) all over",
        "the counts (n = 12, Fig.\n2). all over",
        f"{LONG}\n- or so I thought - and then",
        "I had the following\nside effects: dry mouth",
        "what I thought then\nI must say: nothing",
        "we met on Monday at\n10:30 at last",
        "it is all on the page\nhttp://example.org",
        "it *really*\n*did* help",
        "it was seen in my\nECG",
        "I HATE THIS\nPILL\nAND THE OTHER",
        "pain in the knees\nHips and toes",
        "she asked me for\na reason",
    ],
)
def test_a_wrapped_line_goes_on(text):
    assert parts(text) == [text]


def test_a_number_with_a_period_is_an_item_only_in_a_list():
    assert sentences("I had\n1. dry mouth\n2. Nausea. Bad.\nAnd\n3.sore toes") == [
        "I had",
        "1. dry mouth",
        "2. Nausea.",
        "Bad.",
        "And",
        "3.sore toes",
    ]
    for text in ("I took\n1. maybe", "I went from 5 to\n10. Then I stopped", "At\n2. or\n4. a"):
        assert parts(text) == [text]
    # A paragraph does not begin in the middle of a sentence.
    assert sentences("1. Dry mouth\n\n7. Sore toes") == ["1. Dry mouth", "7. Sore toes"]


def test_a_dash_after_a_full_line_needs_a_list():
    assert parts(f"{LONG}\n- sore toes\n- nausea") == [LONG, "- sore toes", "- nausea"]
    assert parts(f"- sore toes\n{LONG}\n- nausea") == [f"- sore toes\n{LONG}", "- nausea"]
    assert parts(f"- sore toes\n\n{LONG}\n- or so") == ["- sore toes", f"{LONG}\n- or so"]
    assert parts(f"{LONG}\n- Sore toes") == [LONG, "- Sore toes"]
    assert parts(f"{LONG}\n• sore toes") == [LONG, "• sore toes"]
    assert parts(f"{LONG[:40]}\n- sore toes") == [LONG[:40], "- sore toes"]


def test_a_number_with_a_parenthesis_after_a_full_line_begins_or_continues_a_list():
    assert parts(f"{LONG}\n5) nausea") == [f"{LONG}\n5) nausea"]
    assert parts(f"{LONG}.\n5) nausea") == [f"{LONG}.", "5) nausea"]
    assert parts(f"{LONG}\n1) {LONG}\n2) nausea") == [LONG, f"1) {LONG}", "2) nausea"]


def test_an_unhappy_face_opens_no_parenthesis():
    assert parts("I was so sad :(\n1) sore toes") == ["I was so sad :(", "1) sore toes"]


def test_a_heading_with_the_line_to_itself_ends():
    assert sentences("Side effects:\ndry mouth and\nsore toes") == [
        "Side effects:",
        "dry mouth and\nsore toes",
    ]
    assert sentences("It helps\nCONS \ntired all day\nSIDE EFFECTS\nNone") == [
        "It helps",
        "CONS",
        "tired all day",
        "SIDE EFFECTS",
        "None",
    ]
    assert sentences("CONS:\n\ntired\n  \r\nall day") == ["CONS:", "tired", "all day"]
    assert parts("CONS: tired\nall day") == ["CONS: tired\nall day"]


LINES = st.lists(
    st.sampled_from(
        ["CONS:", "Cons: x", "CONS", "1. x", "2. x", "3.x", "1) x", "b) x", "- x", "- 2", "• x",
         "*", "", " ", "x", "10", "(x", "x.", "X. x", LONG, "  x ", "\u2028", "é:", "1."]
    ),
    max_size=8,
)  # fmt: skip


@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_blocks_are_whole_lines_in_order_and_lose_nothing(lines, end):
    text = end.join(lines)
    found = list(blocks(text))
    covered = "".join(text[block.start : block.end] for block in found)
    assert "".join(covered.split()) == "".join(text.split())
    passed = 0
    for block in found:
        assert passed <= block.start <= block.words < block.end
        assert not text[passed : block.start].strip()
        assert block.start == 0 or text[block.start - 1] in "\r\n"
        assert block.end == len(text) or text[block.end] in "\r\n"
        assert text[block.words : block.end].strip()
        passed = block.end


@given(lines=LINES)
def test_sentences_are_not_cut_again_nor_across_blocks(lines):
    text = "\n".join(lines)
    ranges = Splitter().sentence_ranges(text)
    for start, end in ranges:
        assert any(block.start <= start and end <= block.end for block in blocks(text))
    for block in blocks(text):
        assert parts(text[block.start : block.end]) == [text[block.start : block.end]]


@pytest.mark.parametrize(
    "unit",
    ["a", "A", "A ", "A-", "(", "1) ", "1) x\n", "- x\n", "1. x\n", "A\n", "(\n1) ", " ", "\n",
     "A B C D E F\n", "A:", "A: \n", "1.", "\t\n"],
)  # fmt: skip
def test_any_text_takes_time_in_proportion_to_its_length(unit):
    def run(times):
        start = time.process_time()
        for _ in blocks(unit * times):
            pass
        return time.process_time() - start

    def seconds(times):
        """Return the shortest of several times: other programs only ever make it longer."""
        return min(run(times) for _ in range(3))

    run(1000)
    # Sixteen times the text would take 256 times as long if it were quadratic.
    assert seconds(160_000) < 64 * max(seconds(10_000), 0.002)


@pytest.fixture(scope="module")
def posts():
    """The posts of PsyTAR as text, with the marks of all labels."""
    prepared = psytar.cook(CORPORA / "PsyTAR_dataset.xlsx", Order(psytar.LABELS))
    return [spelled(document) for part in prepared.parts.values() for document in part]


def cut(text, marks):
    ranges = Splitter().sentence_ranges(text)
    return sum(crosses(mark, ranges) for mark in marks)


@needs_corpora
def test_no_mention_of_psytar_is_cut(posts):
    assert sum(len(marks) for _, marks in posts) > 7000
    assert sum(cut(text, marks) for text, marks in posts) == 0


@needs_corpora
@pytest.mark.parametrize("width", [64, 72, 80])
def test_no_mention_of_psytar_is_cut_when_the_posts_are_wrapped(posts, width):
    lines = re.compile(rf"(.{{1,{width}}})(?:( )|$)")
    for text, marks in posts:
        unwrapped = text.replace("\n", " ")
        wrapped = lines.sub(lambda line: f"{line[1]}\n" if line[2] else line[1], unwrapped)
        assert len(wrapped) == len(text)
        assert cut(wrapped, marks) <= cut(unwrapped, marks)
