from discotag import Mention, Scheme, Sentence
from discotag.marks import Marked
from discotag.render import draw_layers, draw_mentions
from discotag.words import Splitter

SCHEME = Scheme(("ADR",))
WORDS = "pain in arms and shoulders".split()
MENTIONS = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]


def rows(text):
    return [line.rstrip() for line in text.plain.splitlines()]


def layers(words, mentions, width, scheme=SCHEME):
    found = scheme.layers(len(words), mentions)
    return rows(draw_layers(words, found, scheme.write(found), width=width))


def test_mentions():
    assert rows(draw_mentions(Sentence(WORDS, MENTIONS), width=80)) == [
        "pain in arms and shoulders",
        "━━━━━━━━━━━━ ADR",
        "━━━━━━━┄┄┄┄┄┄┄┄┄┄━━━━━━━━━ ADR",
    ]


def test_mentions_that_do_not_collide_share_a_row():
    mentions = [Mention("X", [(n, n + 1)], score=0.5) for n in (0, 3, 4)]
    assert rows(draw_mentions(Sentence(WORDS, mentions), width=80)) == [
        "pain in arms and shoulders",
        "━━━━ X 50%   ━━━ X 50%",
        "                 ━━━━━━━━━ X 50%",
    ]


def test_colours_distinguish_labels_or_else_mentions():
    def styles(mentions, **options):
        spans = draw_mentions(Sentence(WORDS, mentions), width=80, **options).spans
        return {str(span.style) for span in spans}

    assert styles(MENTIONS) == {"green", "cyan"}
    assert styles(MENTIONS, labels=["ADR", "Drug"]) == {"green"}


def test_a_score_below_one_is_not_100_percent():
    mentions = [Mention("X", [(0, 1)], score=0.998), Mention("X", [(1, 2)], score=1)]
    drawn = rows(draw_mentions(Sentence(["a", "b"], mentions), width=80))
    assert [row.split()[-1] for row in drawn[1:]] == ["99%", "100%"]


def test_layers():
    assert layers(WORDS, MENTIONS, 80) == [
        "╭──────────── ADR ─────────────╮",
        "x     ·     y          y",
        "pain  in    arms  and  shoulders",
        "DB-Bx DI-Ix DI-By DI-O DI-By",
    ]


def test_long_sentences_go_on_in_blocks_and_lose_nothing():
    drawn = rows(draw_mentions(Sentence(WORDS, MENTIONS), width=16))
    assert drawn == [
        "pain in",
        "━━━━━━━ ADR …",
        "━━━━━━━ ADR …",
        "arms and",
        "━━━━ … ADR",
        "┄┄┄┄┄┄┄┄ … ADR …",
        "shoulders",
        "━━━━━━━━━ … ADR",
    ]
    drawn = layers(WORDS, MENTIONS, 12)
    assert " ".join(" ".join(drawn[2::4]).split()) == " ".join(WORDS)


def test_a_mention_that_ends_with_a_block_has_no_row_in_the_next():
    mentions = [Mention("ADR", [(0, 2)])]
    drawn = rows(draw_mentions(Sentence(WORDS, mentions), width=16))
    assert drawn == ["pain in arms and", "━━━━━━━ ADR", "shoulders"]


def test_a_word_wider_than_the_terminal_has_a_block_of_its_own():
    drawn = rows(draw_mentions(Sentence(["shoulders", "a", "shoulders"]), width=4))
    assert drawn == ["shoulders", "a", "shoulders"]


def test_words_wider_or_stranger_than_letters_keep_their_columns():
    drawn = rows(draw_mentions(Sentence(["漢字", "a\tb", "c"], [Mention("X", [(2, 3)])]), width=80))
    assert drawn == ["漢字 a·b c", "         ━ X"]


def test_no_words_no_drawing():
    assert draw_mentions(Sentence([]), width=80).plain == ""
    assert layers([], [], 80) == []


def test_a_label_too_long_for_its_bracket_is_left_out():
    long = Scheme(("AnExtraordinarilyLongLabel",))
    mentions = [Mention(long.labels[0], [(0, 1), (2, 3)])]
    assert layers(["a", "b", "c"], mentions, 80, long)[0] == "╭──────────────╮"


def test_text_is_drawn_as_it_is_written():
    text = "Sore (left) toes,  and knees."
    sentence = Splitter().document(text, [Marked("X", ((0, 4), (23, 28))), Marked("X", ((5, 16),))])
    assert rows(draw_mentions(sentence.sentences[0], width=80)) == [
        "Sore (left) toes, and knees.",
        "     ━━━━━━━━━━━ X",
        "━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄━━━━━ X",
    ]


def test_a_text_without_words_between_has_no_gaps():
    assert draw_mentions(Splitter().sentence("漢字"), width=80).plain == "漢字\n"
    assert draw_mentions(Splitter().sentence(" "), width=80).plain == ""


def test_candidates_are_marked():
    sentence = Sentence(WORDS, MENTIONS[:1], candidates=[MENTIONS[1]])
    assert rows(draw_mentions(sentence, width=80))[1:] == [
        "━━━━━━━━━━━━ ADR",
        "━━━━━━━┄┄┄┄┄┄┄┄┄┄━━━━━━━━━ ADR to review",
    ]
