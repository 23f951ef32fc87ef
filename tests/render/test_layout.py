"""The geometry of drawings: nothing overlaps, and nothing is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from any_pictures import random_sentence, sentences
from discotag import Mention, Sentence
from discotag.characters import printable
from discotag.errors import InputError
from discotag.render.layout import (
    CONTINUED,
    colours,
    lanes,
    lay_out,
    pack,
    runs,
    segments,
    spaces,
)
from discotag.render.svg import measure as svg_measure
from discotag.render.terminal import caption

MENTION_SETS = 10_000


def laid_out(sentence, measure, width):
    words = [printable(word) for word in sentence.words]
    captions = [caption(mention) for mention in sentence.mentions]
    return lay_out(
        words, spaces(sentence), sentence.mentions, captions, measure=measure, width=width
    )


def check(sentence, layout, measure, width):
    """Fail if boxes overlap, if something is missing, or if a line is needlessly wide."""
    covered = [set() for _ in sentence.mentions]
    passed = 0
    for line in layout.lines:
        assert line.start == passed
        assert line.words
        passed += len(line.words)
        for left, right in pairwise(line.words):
            assert left.right <= right.left
        for row in range(line.rows):
            boxes = [(m.box, m.caption_box) for m in line.marks if m.row == row]
            assert boxes
            for mark, label in boxes:
                assert mark.left < mark.right < label.left <= label.right
            for (_, label), (mark, _) in pairwise(boxes):
                assert label.right < mark.left
        for mark in line.marks:
            mention = sentence.mentions[mark.mention]
            assert mark.from_previous == (mention.start < line.start)
            assert mark.to_next == (mention.end > passed)
            assert mark.caption.startswith(CONTINUED) == mark.from_previous
            assert mark.caption.endswith(CONTINUED) == mark.to_next
            assert caption(mention) in mark.caption
            assert mark.caption_box.width == pytest.approx(measure(mark.caption))
            for number, box in enumerate(line.words, line.start):
                over = [p for p in mark.covered if p.left <= box.left and box.right <= p.right]
                assert bool(over) == (number in mention.words)
                covered[mark.mention] |= {number} if over else set()
            parts = sorted((*mark.covered, *mark.gaps), key=lambda part: part.left)
            for left, right in pairwise(parts):
                assert left.right == right.left  # a mark has no hole
        assert line.words[-1].right <= layout.width
        assert all(box.right <= width for box in line.words[1:])
        for mark in line.marks:
            assert mark.caption_box.right <= layout.width
            # A line is too wide only if its first word, with its caption, is.
            assert mark.caption_box.right <= width or mark.box.right == line.words[0].right
    assert passed == len(sentence.words)
    assert covered == [set(mention.words) for mention in sentence.mentions]


@pytest.mark.slow
@pytest.mark.parametrize("measure", [cell_len, svg_measure], ids=["cells", "units"])
def test_marks_of_random_mention_sets_do_not_overlap(measure):
    for seed in range(MENTION_SETS):
        sentence = random_sentence(seed)
        width = (20, 40, 80, 120)[seed % 4] * measure("n")
        check(sentence, laid_out(sentence, measure, width), measure, width)
        check_lanes(sentence.mentions)


@given(sentence=sentences(), width=st.integers(1, 60))
def test_marks_do_not_overlap(sentence, width):
    check(sentence, laid_out(sentence, cell_len, width), cell_len, width)
    check_lanes(sentence.mentions)


def check_lanes(mentions):
    found = lanes(mentions)
    taken = set()
    for lane, mention in zip(found, mentions, strict=True):
        here = {(lane, word) for word in range(mention.start, mention.end)}
        assert not taken & here
        taken |= here
    assert set(found) == set(range(max(found, default=-1) + 1))


def test_short_mentions_are_inside():
    mentions = [Mention("X", [(0, 9)]), Mention("X", [(2, 3)]), Mention("X", [(3, 5)])]
    assert lanes(mentions) == [1, 0, 0]
    assert pack([]) == []


def test_equal_mentions_have_rows_of_their_own():
    assert lanes([Mention("X", [(1, 3)])] * 3) == [0, 1, 2]


def test_segments_are_words_and_gaps():
    found = [
        (each.word, each.covered, each.first, each.last)
        for each in segments(Mention("X", [(1, 3), (4, 5)]))
    ]
    assert found == [
        (1, True, True, False),
        (2, True, False, True),
        (3, False, False, False),
        (4, True, True, True),
    ]


def test_words_without_white_space_stay_together():
    words = ["Sore", "(", "left", ")", "toes"]
    spaced = [True, False, False, True, False]
    assert list(runs(spaced)) == [(0, 1), (1, 4), (4, 5)]
    layout = lay_out(words, spaced, [], [], measure=len, width=9)
    assert [line.start for line in layout.lines] == [0, 1, 4]
    layout = lay_out(words, spaced, [], [], measure=len, width=5)  # too wide for a line
    assert [line.start for line in layout.lines] == [0, 1, 3, 4]


def test_space_for_captions_is_kept_only_where_there_are_marks():
    words = ["aaaa"] * 4
    layout = lay_out(words, [True] * 4, [Mention("X", [(3, 4)])], ["label"], measure=len, width=19)
    assert [len(line.words) for line in layout.lines] == [3, 1]
    assert lay_out(words, [True] * 4, [], [], measure=len, width=19).width == 19


def test_spaces_of_a_text():
    assert spaces(Sentence([])) == []
    assert spaces(Sentence(["a", "b"])) == [True, False]
    known = Sentence(["a", "b", "c"], text="ab  c", offsets=[(0, 1), (1, 2), (4, 5)])
    assert spaces(known) == [False, True, False]


def test_colours_are_of_labels_if_there_are_several():
    x, y = Mention("X", [(0, 1)]), Mention("Y", [(1, 2)])
    assert colours([x, x]) == [0, 1]
    assert colours([x, y, x]) == [0, 1, 0]
    assert colours([y, y], ["X", "Y"]) == [1, 1]
    with pytest.raises(InputError, match="'Y' is not among the given ones"):
        colours([y], ["X", "Z"])


def test_many_mentions_are_placed_in_time():
    mentions = [Mention("X", [(n, n + 1), (n + 5, n + 6)]) for n in range(2000)]
    assert max(lanes(mentions)) == 5
