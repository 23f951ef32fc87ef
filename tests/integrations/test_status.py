"""The status of mentions: present, denied, past, possible or of another person."""

import re
import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_corpora import documents
from discotag import Document, Mention, Sentence
from discotag.integrations.status import statuses
from discotag.integrations.status_phrases import AFTER, BEFORE, BORDERS, SHARED, patterns
from discotag.marks import Marked
from discotag.words import Splitter

MARK = re.compile(r"\[(?:(\d):)?([^\[\]]+)\]")


def document(given: str) -> Document:
    """Return a text whose mentions are in brackets; parts of a mention share a number."""
    text, passed = "", 0
    parts: dict[str, list[tuple[int, int]]] = {}
    for match in MARK.finditer(given):
        text += given[passed : match.start()]
        place = (len(text), len(text) + len(match[2]))
        parts.setdefault(match[1] or f"at {len(text)}", []).append(place)
        text += match[2]
        passed = match.end()
    text += given[passed:]
    return Splitter().document(text, [Marked("ADR", tuple(each)) for each in parts.values()])


def of_words(words: Sequence[str], *mentions: str) -> Document:
    """Return a sentence of these words, with mentions of one word."""
    found = [Mention("ADR", [(words.index(each), words.index(each) + 1)]) for each in mentions]
    return Document([Sentence(words, found)])


ALIKE = {
    "present": """
        I have a [rash].
        The pill gave me [headaches] and [nausea].
        Side effects are [dry mouth] and [constipation].
        My side effects: [dry mouth], [constipation].
        I [can't feel my fingertips] and have [headaches].
        [No appetite], [dizzy], [tired].
        My mom drove me to the ER with [chest pain].
        My mom says I am [moody].
        Mother reports [fever] and [ear pain] since Monday.
        My wife noticed the [rash] first.
        Lives with his sister, presents with [cough].
        I went to the ER with my sister because of [chest pain].
        A mother of two with [migraine].
        My mother and I both got [hives].
        My son got [hives] and my daughter got [cramps].
        I had [migraines], and the drug took them away.
        Like my mother, I get [migraines].
        There is no week without [pain].
        No relief from the [pain]. No change in [rash].
        No one told me about the [hair loss].
        Not only [nausea] but also [vomiting].
        I'm not sure if the [rash] is from this.
        I do not think my [headaches] are from the drug.
        I don't think I can live with this [pain].
        I don't like the [nausea]. I can't stand the [itching].
        I could not tolerate the [vomiting]. I cannot work with this [headache].
        It is not uncommon for me to get [hives].
        My legs feel as if I had [needles in them].
        I will not take it again: [nausea], [headaches].
        I started it in 2012: [nausea], [headaches].
        I do not recommend it to anyone: [nausea], [vomiting].
        She is not [pain]-free. I was never [headache] free.
        Took it for two years, then the [rash] began.
        The [rash] is likely due to lamotrigine. [Rash] unlikely related to food.
        It took two days before the [rash] started.
        Any side effects? Yes: [rash].
        HIV-negative, now [fever]. [RSV] positive.
        [Rash] (+), [cough]: yes. [Fever]: present.
        [Headache]: no relief with ibuprofen.
        My [1:left foot] has been completely [1:numb].
        He was seen with [fever], which is still there.
        I can't walk without [pain]. I was not warned about [weight gain].
        Nobody warned me about [hair loss]. The doctor never mentioned [brain zaps].
        He denied that the [rash] is from the drug.
        Not eating, [weak]. I do not feel well, [dizzy]. She has not slept, [tired].
        Not the best drug, [nausea]. No energy and [fatigue].
        Previously well man with [jaundice]. Prior to admission, [confusion].
        In the past two weeks, [falls]. I'm worried about my [hair loss].
        Why do I have [cramps]? What helps my [nausea]?
    """,
    "denied": """
        She denies [rash] and [cough].
        Patient denies any history of [asthma].
        I have had no [nausea], [vomiting] or [diarrhea].
        I’ve never had [seizures].
        I don't have [pain]. I dont have [pain]. I do not have [pain].
        neither [insomnia] nor [anxiety] for me
        Without any [stomach upset] or [yeast infection].
        No evidence of [metastasis] on PET. No more [hives]. I'm no longer [nauseous].
        Exam fails to reveal [rash]. MRI negative for [stroke].
        [Fever] (-), [rash] (neg), [cough]: no. [Edema]: none.
        [Edema] absent. [DVT] ruled out. [Flu] negative. [Rash] has not been seen.
        Fever and [rash] were denied.
        side effects: [headache] no, [rash] no.
        I am [pain]-free now. She is [headache]-free. He is [seizure] free. Now [pain]–free.
        He is still [symptom]-free and [COVID]-negative.
        She denies that she had a [rash]. Pt denies he ever had [chest pain].
        I do not think I have a [rash]. I don't believe that I had a [fever].
        The patient does not report that she has [pain]. No evidence that he had a [stroke].
        Denies: [rash], [cough]. No: [rash], [fever]. Negative for: [rash]. Ruled out: [MI].
        Absent: [rash]. Pertinent negatives: [cough]. Denied: [rash].
        No chest pain, no [nausea], [vomiting], or [diarrhea].
        No [1:pain in] my [1:arms].
        My [1:knees] are not [1:swollen].
        Mother denies [fever].
        It does not make me [drowsy]. It never gave me [headaches].
        He has not had any [chest pain], [SOB], or [fever]. I'm not [dizzy] anymore.
        I haven't noticed [hair loss] yet. I don't get [headaches] any more.
        Unlike my sister I got no [rash].
    """,
    "past": """
        PMH: [asthma], [DVT].
        History of [stroke]. H/o [migraines]. History: [MI]. Past medical history: [gout].
        As a child I had [migraines]. As a kid, I had [asthma].
        When I was a child I got [ear infections]. When I was a child, I got [ear infections].
        Before starting this drug I had [reflux]. Before taking this drug, I had [reflux].
        In 2009 I had [breast cancer]. In 2009, she had [breast cancer].
        I had [migraines] years ago. I had [asthma] as a child. [Rash] in 2004.
        I had [headaches] before I started this. I had [gout] before this drug.
        I used to have [migraines].
    """,
    "possible": """
        If I get [hives], I stop. Watch for [rash] and [swelling].
        Does anyone get [hair loss]? [Rash]? Any [rash]?
        Worried about [addiction]. I am worried that I have [cancer]. I'm afraid I have [cancer].
        They warned me about [addiction]. Patient warned of [liver damage].
        Warn patients about [gout].
        It may cause [liver damage] or [gout]. Possible [PE]. R/o [MI]. R/O: [MI]. Possible: [MI].
        [PE] cannot be ruled out. [PE] was not ruled out. We can't rule out [PE].
        High risk for [delirium]. Watch for: [rash], [hives].
        [Rash] is likely.
    """,
    "other": """
        My mother had a [stroke]. My sister got [hives] and [cramps].
        My sister, who also has [MS], had a [rash].
        My brother who takes it has [gout] and still has [cramps].
        My friend developed [psychosis]. My friend on this drug developed [psychosis].
        My husband takes it for [gout] and has [diarrhea]. My wife [vomited].
        FHx: [colon cancer]. Family history: [gout]. Family history of [gout].
        No one in my family has [gout].
        Father: [MI]. Mother: [gout]; Father died of [stroke].
    """,
}
"""Sentences whose mentions all have one status."""

MIXED = [
    ("Pt denies [chest pain] or [nausea] but reports [cough].", "denied denied present"),
    ("No [rash], no [fever], mild [cough].", "denied denied present"),
    ("No [fever], [rash] present.", "denied present"),
    ("No [nausea]; [vomited] twice.", "denied present"),
    ("no [cough] on losartan, whereas lisinopril gave me a [cough]", "denied present"),
    ("no [nausea] and i have [headaches]", "denied present"),
    ("She denies that she had a [rash], but she has a [fever].", "denied present"),
    ("Denies: [rash]. Reports: [cough].", "denied present"),
    ("[Rash]: no, [fever]: yes", "denied present"),
    ("My mother had a [stroke], and now I have [headaches].", "other present"),
    ("My sister, who also has [MS], had a [rash], and I have [hives].", "other other present"),
    ("My mother has [MS], my [legs] are weak.", "other present"),
    ("Mother: [gout]; pt has [rash].", "other present"),
    ("As a child I had [hives], and now I have [cramps].", "past present"),
    ("She has no [rash], and her [knees hurt].", "denied present"),
    ("No [rash], no [fever], [cough] and [hives].", "denied denied present present"),
    ("No [rash], no fever, [cough].", "denied present"),
    ("No cramps and no [rash], only [vivid dreams].", "denied present"),
    ("Clonus neg, [rash] pos, [fever] neg.", "present denied"),
    ("My sister had a [rash], mine is only [itching].", "other present"),
    ("[PE] was ruled out. [MI] was not ruled out.", "denied possible"),
    ("I [can't sleep] and deny [pain], but [no appetite].", "present denied present"),
    ("no [1:pain] in [2:arms], just [2:cold]", "denied denied"),
]


def lines() -> list[tuple[str, str]]:
    return [
        (line.strip(), " ".join([status] * len(document(line).mentions)))
        for status, texts in ALIKE.items()
        for line in texts.strip().splitlines()
    ]


@pytest.mark.parametrize(("text", "expected"), [*lines(), *MIXED])
def test_sentences(text, expected):
    assert statuses(document(text)) == expected.split()


def test_cues_in_mentions_do_not_hold_for_others():
    words = ["She", "denies", "rash", ",", "no", "cough"]
    for inside, expected in ((False, ["denied", "denied"]), (True, ["present", "present"])):
        found = [Mention("ADR", [(2, 3)]), Mention("ADR", [(5, 6)])]
        if inside:
            found = [Mention("ADR", [(1, 3)]), Mention("ADR", [(4, 6)])]
        assert statuses(Document([Sentence(words, found)])) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I don't have pain", "denied"),
        ("I do n't have pain", "denied"),
        ("I don’t have pain", "denied"),
        ("I don ' t have pain", "denied"),
        ("I ca n't rule out pain", "possible"),
        ("Doc. can't exclude pain.", "possible"),
        ("He is pain -free", "denied"),
        ("w/o pain", "denied"),
        ("H/o pain", "past"),
        ("R/O pain", "possible"),
        ("Denies: rash, pain.", "denied"),
        ("No fever. Reports pain.", "present"),
        ("No rash, but pain.", "present"),
        ("I'm in pain", "present"),
        ("My mother's pain", "other"),
    ],
)
def test_words_may_be_split_in_other_ways(words, expected):
    split = words.split()
    mention = next(each for each in split if "pain" in each)
    assert statuses(of_words(split, mention)) == [expected]


def test_signs_at_the_end_of_mentions_end_clauses():
    words = "Denies rash, cough. Has fever; no hives? Pain".split()
    found = statuses(of_words(words, "rash,", "cough.", "fever;", "hives?", "Pain"))
    assert found == ["denied", "denied", "present", "denied", "present"]


def test_there_may_be_several_sentences_or_none():
    assert statuses(Document(())) == []
    assert statuses(document("No rash.")) == []
    assert statuses(document("No [rash]. [Cough]. She denies [pain].")) == [
        "denied",
        "present",
        "denied",
    ]


def test_mentions_may_be_the_same_or_overlap():
    words = ["no", "pain", "in", "arms"]
    mentions = [Mention(label, [(1, end)]) for label in "AB" for end in (2, 4)]
    found = statuses(Document([Sentence(words, [*mentions, mentions[0]])]))
    assert found == ["denied"] * 5


ALL = [*SHARED.values(), *BEFORE.values(), *AFTER.values(), BORDERS]


@pytest.mark.parametrize("phrases", ALL, ids=range(len(ALL)))
def test_lines_of_phrases_are_complete(phrases):
    for line in phrases.strip().splitlines():
        line = line.strip()
        re.compile(line)  # no group reaches across lines
        assert line
        assert not line.startswith("|")
        assert not line.endswith("|")
        assert not re.search(r"\|\||\(\?:\||(?<!\\)\|\)|  ", line), "an empty alternative"


def test_phrases_are_joined_as_they_are_written():
    forms = [pattern.pattern for pattern, _, _ in patterns()]
    assert not any("\n" in form or re.search("[A-Z]{2}", form) for form in forms)
    for phrase, status in (
        ("worried that", "possible"),
        ("warned her about", "possible"),
        ("warn patients about", "possible"),
        ("family history of", "other"),
        ("no complaints of", "denied"),
    ):
        whole = {found for pattern, found, _ in patterns() if pattern.fullmatch(phrase)}
        assert whole == {status}, phrase


CUES = """
    no not denies : , . ; ? ( ) - + free if but and i have had my sister who mother says as a child
    history of years ago 2009 may cause worried that don't n't isn’t negative absent present she
    I'm W/O c/o İ ß \u0301 \x00 症
""".split()


@st.composite
def anything(draw: st.DrawFn) -> Document:
    """Draw words that are often cues, with mentions of any shape."""
    words = draw(st.lists(st.sampled_from(CUES) | st.text(min_size=1, max_size=4), min_size=1))
    places = st.sets(st.integers(0, len(words) - 1), min_size=1, max_size=4)
    mentions = [
        Mention("ADR", [(word, word + 1) for word in each])
        for each in draw(st.lists(places, max_size=4))
    ]
    return Document([Sentence(words, mentions)])


@given(given=anything())
@settings(deadline=None)
def test_there_is_one_status_for_each_mention(given):
    found = statuses(given)
    assert len(found) == len(given.mentions)
    assert set(found) <= {"present", "denied", "past", "possible", "other"}


@given(corpus=documents())
@settings(deadline=None, max_examples=30)
def test_they_are_in_the_order_of_mentions(corpus):
    for each in corpus:
        alone = [statuses(Document([sentence])) for sentence in each.sentences]
        assert statuses(each) == [status for found in alone for status in found]


@given(given=anything(), word=st.sampled_from(["no", "denies", "?", "but", "free", "i", "症"]))
@settings(deadline=None)
def test_words_of_mentions_are_never_cues(given, word):
    sentence = given.sentences[0]
    inside = {place for mention in sentence.mentions for place in mention.words}
    others = [
        Sentence(
            [each if place not in inside else new for place, each in enumerate(sentence.words)],
            sentence.mentions,
        )
        for new in (word, "rash")
    ]
    assert statuses(Document([others[0]])) == statuses(Document([others[1]]))


@given(given=anything())
@settings(deadline=None)
def test_a_sentence_can_be_in_capitals(given):
    sentence = given.sentences[0]
    if "".join(sentence.words).isascii():
        loud = Sentence([word.upper() for word in sentence.words], sentence.mentions)
        assert statuses(Document([loud])) == statuses(given)


LONG = [
    "She denies any rash , but has pain .",
    "no rash ,",
    "no",
    "rash",
    "a past",
    "my older late",
    "rash : no",
    "i do not feel",
    "before starting this drug he had",
]


@pytest.mark.parametrize("text", LONG)
def test_time_is_linear_in_the_length(text):
    times = []
    for length in (5000, 20_000):
        words = [*(text.split() * length)[: length - 1], "pain"]
        mentions = [
            Mention("ADR", [(place, place + 1)])
            for place, word in enumerate(words)
            if word in ("rash", "pain")
        ]
        given = Document([Sentence(words, mentions)])
        start = time.process_time()
        statuses(given)
        times.append(time.process_time() - start)
    assert all(later < 10 * earlier + 0.5 for earlier, later in pairwise(times)), times
