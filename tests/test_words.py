from itertools import pairwise

import pytest
import sentencex
from hypothesis import given, settings
from hypothesis import strategies as st

from any_corpora import TEXTS, marks
from discotag import DiscotagError, Mention, MentionError, words
from discotag.marks import Marked
from discotag.words import Splitter, TextError

SPLITTERS = [
    Splitter(sentences, words)
    for sentences in ("auto", "lines", "whole")
    for words in ("pattern", "characters", "spaces")
]


def words_of(text: str, splitter: Splitter | None = None) -> list[tuple[str, ...]]:
    return [sentence.words for sentence in (splitter or Splitter()).document(text).sentences]


@pytest.mark.parametrize("splitter", SPLITTERS)
@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_every_word_stands_where_it_says(splitter, text):
    document = splitter.document(text)
    covered = set()
    passed = 0
    for sentence in document.sentences:
        assert sentence.words, "a sentence has words"
        assert sentence.start >= passed
        assert text[sentence.start : sentence.start + len(sentence.text)] == sentence.text
        assert sentence.text == sentence.text.strip()
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert text[sentence.start + start : sentence.start + end] == word
            assert not any(character.isspace() for character in word)
            covered.update(range(sentence.start + start, sentence.start + end))
        passed = sentence.start + len(sentence.text)
    assert covered == {place for place, sign in enumerate(text) if not sign.isspace()}


@pytest.mark.parametrize("splitter", SPLITTERS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_mark_becomes_the_words_it_touches(splitter, data):
    text = data.draw(TEXTS)
    found = data.draw(marks(text))
    flaws = []
    document = splitter.document(text, found, complain=lambda *flaw: flaws.append(flaw))
    places = [
        (sentence.start + start, sentence.start + end)
        for sentence in document.sentences
        for start, end in sentence.offsets
    ]
    expected, empty, widened = [], [], []
    for mark in found:
        marked = {place for start, end in mark.fragments for place in range(start, end)}
        touched = [n for n, (start, end) in enumerate(places) if marked & set(range(start, end))]
        if not touched:
            empty.append(mark)
            continue
        expected.append(Mention(mark.label, [(n, n + 1) for n in touched]))
        solid = {place for place in marked if not text[place].isspace()}
        if solid != {place for n in touched for place in range(*places[n])}:
            widened.append(mark)
    assert sorted(document.mentions) == sorted(expected)
    assert [mark for mark, flaw, _ in flaws if flaw == "empty"] == empty
    assert {id(mark) for mark in widened} <= {
        id(mark) for mark, flaw, _ in flaws if flaw == "widened"
    }
    for mark, flaw, _ in flaws:
        if flaw == "widened" and mark not in widened:  # its fragments cut a word between them
            assert any(end == start for (_, end), (start, _) in pairwise(mark.fragments))


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_only_sentences_that_a_mention_reaches_across_become_one(data):
    text = data.draw(TEXTS)
    found = data.draw(marks(text))
    joined = Splitter("lines").document(text, found, complain=lambda *flaw: None)
    for sentence in joined.sentences:
        lines = Splitter("lines").document(sentence.text).sentences
        borders = {len(lines[0].words)}
        for line in lines[1:-1]:
            borders.add(max(borders) + len(line.words))
        if len(lines) > 1:
            for border in borders:
                assert any(m.start < border < m.end for m in sentence.mentions) or any(
                    not text[start:end].strip() for mark in found for start, end in mark.fragments
                )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Can't sleep 8½ hours.", "Can ' t sleep 8 ½ hours ."),
        ("têtes e\u0301te\u0301 ſtraße", "têtes e\u0301te\u0301 ſtraße"),
        ("頭痛でパニック。", "頭 痛 で パ ニ ッ ク 。"),
        ("药后2天头痛", "药 后 2 天 头 痛"),
        ("सिरदर्द और उल्टी", "सिरदर्द और उल्टी"),
        ("ปวดหัว ๓ วัน", "ป ว ด หั ว ๓ วั น"),
        ("ເຈັບຫົວ", "ເ ຈັ ບ ຫົ ວ"),
        ("두통이 심했다", "두통이 심했다"),
        ("صداع شديد ٣٤", "صداع شديد ٣٤"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("🙂👍🏽 1\ufe0f\u20e3", "🙂 👍 🏽 1\ufe0f\u20e3"),
        ("a\u200bb a\u00a0b\x00c", "a \u200b b a b \x00 c"),
        ("\u0301abc", "\u0301 abc"),
    ],
)
def test_words_of_many_scripts(text, wanted):
    assert words_of(text) == [tuple(wanted.split(" "))]


def test_characters_and_spaces():
    assert words_of("CO2_x", Splitter(words="spaces")) == [("CO2_x",)]
    assert words_of("CO2 e\u0301t", Splitter(words="characters")) == [
        ("C", "O", "2", "e\u0301", "t")
    ]


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_ascii_text_has_the_words_of_any_text(text):
    text = text.encode("ascii", "replace").decode()
    for name, pattern in words._patterns(True).items():
        assert pattern.split(text) == words._patterns(False)[name].split(text)


def test_sentences_end_by_language():
    text = "Etwa 3 Tage bzw. Wochen lang Übelkeit. Danach z.B. Kopfschmerzen."
    assert len(words_of(text, Splitter(language="de"))) == 2
    assert words_of("头痛。恶心！") == [("头", "痛", "。"), ("恶", "心", "！")]


def test_sentences_end_at_punctuation_blank_lines_or_line_ends():
    text = "Sore toes. Tired\nall day\r\n\r\nDizzy\rtoo"
    assert words_of(text) == [
        ("Sore", "toes", "."),
        ("Tired", "all", "day"),
        ("Dizzy", "too"),
    ]
    assert words_of(text, Splitter("lines")) == [
        ("Sore", "toes", ".", "Tired"),
        ("all", "day"),
        ("Dizzy",),
        ("too",),
    ]
    assert len(words_of(text, Splitter("whole"))) == 1
    assert words_of(" \n\t ") == words_of("") == []
    assert Splitter().sentence("Sore. Toes.").words == ("Sore", ".", "Toes", ".")


def test_a_mention_across_sentences_makes_them_one():
    text = "Sore. Toes. Tired. Dizzy."
    document = Splitter().document(
        text, [Marked("ADR", ((0, 4), (6, 10))), Marked("X", ((12, 17),))]
    )
    assert [sentence.words for sentence in document.sentences] == [
        ("Sore", ".", "Toes", "."),
        ("Tired", "."),
        ("Dizzy", "."),
    ]
    assert [str(mention) for mention in document.mentions] == [
        "ADR 'Sore Toes' [0:1 2:3]",
        "X 'Tired' [4:5]",
    ]
    chain = [Marked("ADR", ((0, 4), (6, 10))), Marked("ADR", ((6, 10), (12, 17)))]
    assert len(Splitter().document(text, chain).sentences) == 2


@pytest.mark.parametrize(
    "marks",
    [
        [Marked("A", ((0, 4), (18, 23)))],
        [Marked("A", ((0, 4), (18, 23))), Marked("A", ((0, 4), (6, 10)))],
        [Marked("A", ((0, 4), (6, 10))), Marked("A", ((0, 4), (18, 23)))],
        [Marked("A", ((0, 4), (18, 23))), Marked("A", ((6, 10), (12, 16)))],
    ],
)
def test_the_furthest_mention_says_how_many_sentences_become_one(marks):
    document = Splitter().document("Sore. Toes. Very. Tired. Dizzy.", marks)
    assert [len(sentence.words) for sentence in document.sentences] == [8, 2]
    assert len(document.mentions) == len(marks)


def test_fragments_on_both_sides_of_a_line_end_become_one():
    text = "sore\r\ntoes"
    document = Splitter("whole").document(text, [Marked("ADR", ((0, 4), (6, 10)))])
    assert document.mentions[0].fragments == ((0, 2),)


def test_a_mark_that_cuts_a_word_is_widened_and_keeps_its_score():
    flaws = []
    document = Splitter().document(
        "Sore toes", [Marked("ADR", ((2, 7),), 0.5, 3)], complain=lambda *flaw: flaws.append(flaw)
    )
    assert document.mentions[0].text == "Sore toes"
    assert document.mentions[0].score == 0.5
    ((mark, flaw, message),) = flaws
    assert (mark.line, flaw) == (3, "widened")
    assert "re to" in message
    Splitter().document("Sore toes", [Marked("ADR", ((2, 7),))])  # by default it is no error


@pytest.mark.parametrize(
    ("fragments", "flaw"),
    [
        (((0, 99),), "outside"),
        (((-1, 2),), "outside"),
        (((3, 3),), "empty"),
        (((4, 2),), "inverted"),
        (((4, 5),), "empty"),
        (((5, 9), (0, 4)), "overlapping"),
        (((0, 4), (3, 9)), "overlapping"),
        ((), "empty"),
    ],
)
def test_marks_that_do_not_fit(fragments, flaw):
    flaws = []
    good = Marked("ADR", ((0, 4),))
    document = Splitter().document(
        "Sore toes", [Marked("ADR", fragments), good], complain=lambda *each: flaws.append(each)
    )
    assert [each[1] for each in flaws] == [flaw]
    assert [mention.text for mention in document.mentions] == ["Sore"]
    with pytest.raises(MentionError):
        Splitter().document("Sore toes", [Marked("ADR", fragments)])


@pytest.mark.parametrize("label", ["", "A\nB", "\u200b"])
def test_labels_must_be_printable(label):
    with pytest.raises(MentionError, match="printable label"):
        Splitter().document("Sore toes", [Marked(label, ((0, 4),))])


@pytest.mark.parametrize("space", ["\u00a0", "\u2028", "\u3000", "\x85"])
def test_wide_white_space(space):
    document = Splitter().document(f"Vitamin A{space}.{space}Slept well.")
    assert document.words == ("Vitamin", "A", ".", "Slept", "well", ".")


def test_a_long_text_loses_nothing():
    # sentencex looks at 10 KiB at a time, and drops line ends where these meet
    text = "A. é\n\n\n. b\r\n \r\nc 🙂\n" * 1000
    assert "".join(Splitter().document(text).words) == "".join(text.split())


SENTENCES = st.sampled_from(
    [
        "Sore toes. ",
        "Dr. Lee said (on 5.5 mg, e.g. in May) that it would stop. ",
        "“Never again.” she said. ",
        "No sleep!\n",
        "Wo tut es weh? Überall… ",
        "and so on " * 30,
    ]
)


@settings(deadline=None, max_examples=40)
@given(st.lists(SENTENCES, max_size=200), st.integers(0, 700))
def test_windows_do_not_change_sentences(sentences, shift):
    text = "x" * shift + " " + "".join(sentences)
    with pytest.MonkeyPatch.context() as patch:
        whole = Splitter().sentence_ranges(text)
        patch.setattr(words, "WINDOW", 1200)
        assert Splitter().sentence_ranges(text) == whole


@pytest.mark.parametrize("text", ["“Sore. ", "(Sore. ", "痛い。", "sore ", "x", "‘"])
def test_long_texts_are_given_to_sentencex_in_windows(text, monkeypatch):
    given = []
    segment = sentencex.segment
    monkeypatch.setattr(
        sentencex, "segment", lambda *each: given.append(len(each[1])) or segment(*each)
    )
    text = (text * 30_000)[:30_000]
    found = Splitter().document(text)
    assert max(given) <= words.WINDOW
    assert sum(given) < 1.2 * len(text)
    assert "".join(found.words) == "".join(text.split())


def test_halves_of_characters_are_refused():
    with pytest.raises(TextError, match="character 5 is half of a surrogate pair"):
        Splitter().document("Sore \ud83d toes")


def test_unknown_ways_to_split_are_refused():
    with pytest.raises(
        DiscotagError, match="sentences must be one of auto, lines, whole; got 'word'"
    ):
        Splitter("word")
    with pytest.raises(DiscotagError, match="words must be one of"):
        Splitter(words="letters")
