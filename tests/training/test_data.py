import json
import math

import pytest

from discotag import Mention, Scheme, Sentence
from discotag.errors import DiscotagError, InputError
from discotag.training.data import (
    MOST_WORDS,
    balanced,
    find_labels,
    fitting,
    read_documents,
    read_sentences,
    read_unlabelled,
    write_left_out,
)
from discotag.training.preparation import (
    Data,
    ask_teachers,
    choose,
    left_out_notice,
    prepare,
)
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from learnable import CROSSED, SENTENCES, sentence, write_jsonl


def test_sentences_that_do_not_fit_are_left_out_with_reasons(tmp_path):
    empty = Sentence([])
    kept, left_out = fitting([*SENTENCES, CROSSED, empty], Scheme(("ADR",)))
    assert kept == SENTENCES
    assert [(each.number, each.reasons) for each in left_out] == [
        (6, ("interleaved_sets",)),
        (7, ("no_words",)),
    ]
    write_left_out(left_out, tmp_path / "left_out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "left_out.jsonl").read_text().splitlines()]
    assert lines[0]["words"] == list(CROSSED.words)
    assert lines[0]["mentions"][0] == {
        "label": "ADR",
        "fragments": [[0, 1], [4, 5]],
        "text": "pain in",
    }


def test_sentences_that_are_too_long_for_the_memory_are_left_out():
    mention = [Mention("ADR", [(0, 1)])]
    longest, longer = (Sentence(["pain"] * n, mention) for n in (MOST_WORDS, MOST_WORDS + 1))
    kept, left_out = fitting([longest, longer], Scheme(("ADR",)))
    assert kept == [longest]
    assert [each.reasons for each in left_out] == [("too_long",)]
    with pytest.raises(InputError, match="more than 5,000 words.*split them"):
        choose([longer], Settings())
    with pytest.raises(InputError, match="use more slots"):
        choose([CROSSED, Sentence(longer.words)], Settings(slots=0, gap_mentions=False))


def test_unlabelled_sentences_that_are_too_long_are_refused(tmp_path):
    path = tmp_path / "unlabelled.jsonl"
    write_jsonl([Sentence(["pain"]), Sentence(["pain"] * (MOST_WORDS + 1))], path)
    data = Data(choose(SENTENCES, Settings()), [], None)
    sources = Sources(path, path, None, ("no such teacher",), (path,))
    with pytest.raises(InputError, match=r"unlabelled.jsonl: has a sentence of 5,001 words"):
        ask_teachers(data, sources, Settings())


def test_bio_leaves_out_what_is_discontinuous():
    kept, left_out = fitting(SENTENCES, Scheme(("ADR",), slots=0))
    assert len(kept) == 3
    assert {each.reasons for each in left_out} == {("too_many_slots",)}


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0, 3.0, math.inf])
def test_balancing_keeps_all_with_mentions_and_the_order(ratio):
    with_mentions = [sentence(f"a{n} pain", [(1, 2)]) for n in range(10)]
    without = [sentence(f"b{n} fine") for n in range(40)]
    mixed = [each for five in zip(with_mentions, *[iter(without)] * 4) for each in five]  # noqa: B905
    chosen = balanced(mixed, ratio, seed=1)
    assert [each for each in chosen if each.mentions] == with_mentions
    assert len(chosen) == 10 + round(min(40, 10 * ratio))
    assert chosen == [each for each in mixed if each in chosen]
    assert chosen == balanced(mixed, ratio, seed=1)
    if ratio == 1.0:
        assert chosen != balanced(mixed, ratio, seed=2)


def test_a_negative_ratio_takes_all():
    assert balanced(SENTENCES, -1.0, seed=1) == SENTENCES


def test_labels_are_found_and_chosen(tmp_path):
    both = Sentence(["a", "b"], [Mention("X", [(0, 1)]), Mention("Y", [(1, 2)])])
    path = write_jsonl([both], tmp_path / "corpus.jsonl")
    assert find_labels(read_sentences(path)) == ("X", "Y")
    assert read_sentences(path, ["Y"])[0].mentions == (Mention("Y", [(1, 2)]),)


def test_a_mention_given_twice_counts_once(tmp_path):
    twice = Sentence(["a"], [Mention("X", [(0, 1)])] * 2)
    (read,) = read_sentences(write_jsonl([twice], tmp_path / "corpus.jsonl"))
    assert read.mentions == (Mention("X", [(0, 1)]),)


def test_data_without_anything_to_learn_gets_one_line(tmp_path):
    fine = write_jsonl([sentence("fine")], tmp_path / "fine.jsonl")
    with pytest.raises(InputError, match=r"fine\.jsonl: it has no mentions, so nothing"):
        prepare(Sources(fine, fine), Settings())
    pain = write_jsonl(SENTENCES, tmp_path / "pain.jsonl")
    message = r"pain\.jsonl: it has no mention of X, so nothing .*; its labels are ADR$"
    with pytest.raises(InputError, match=message):
        prepare(Sources(pain, pain), Settings(labels=("X",)))
    crossed = write_jsonl([CROSSED, sentence("fine")], tmp_path / "crossed.jsonl")
    message = r"crossed\.jsonl: no sentence .* fits the scheme \(interleaved_sets 1\); see discotag"
    with pytest.raises(InputError, match=message):
        prepare(Sources(crossed, crossed), Settings())
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DiscotagError):
        read_sentences(tmp_path / "empty.jsonl")


THREE = Sentence(["a"] * 5, [Mention("ADR", [(0, 1), (2, 3), (4, 5)])])
"""Needs three slots."""

IN_GAP = Sentence(["a"] * 3, [Mention("ADR", [(0, 1), (2, 3)]), Mention("ADR", [(1, 2)])])
"""Needs gap mentions."""

OVERLAPPING = Sentence(["a"] * 3, [Mention("ADR", [(0, 2)]), Mention("Drug", [(1, 3)])])
"""Needs a model for each label."""


@pytest.mark.parametrize(
    ("sentences", "given", "notice"),
    [
        ([], {}, ""),
        ([sentence("fine")], {}, ""),
        ([CROSSED], {}, "1 of 6 sentences with mentions is left out (interleaved_sets 1)"),
        (
            [THREE, THREE, IN_GAP],
            {"slots": 2, "gap_mentions": False},
            "3 of 8 sentences with mentions are left out (too_many_slots 2, mention_in_gap 1); "
            "--slots 3 would keep 2 of them; --slots 3 --gap-mentions would keep 3 of them",
        ),
        (
            [OVERLAPPING, CROSSED],
            {},
            "2 of 7 sentences with mentions are left out (mixed_labels 1, interleaved_sets 1); "
            "a model for each label (--labels) would keep 1 of them",
        ),
    ],
)
def test_what_is_left_out_is_said_before_training_with_a_remedy(
    tmp_path, caplog, sentences, given, notice
):
    path = write_jsonl([*SENTENCES, *sentences], tmp_path / "corpus.jsonl")
    with caplog.at_level("WARNING", logger="discotag.training"):
        prepare(Sources(path, path), Settings(fold=0.0, **given))
    assert caplog.messages == [f"{path}: {notice}"] * bool(notice)


def test_nothing_is_advised_that_a_continued_model_does_not_allow():
    chosen = choose([*SENTENCES, THREE], Settings(slots=2))
    notice = left_out_notice([*SENTENCES, THREE], chosen, can_change=False)
    assert notice == "1 of 6 sentences with mentions is left out (too_many_slots 1)"


def test_a_label_that_does_not_occur_is_named(tmp_path, caplog):
    path = write_jsonl(SENTENCES, tmp_path / "corpus.jsonl")
    with caplog.at_level("WARNING", logger="discotag.training"):
        prepare(Sources(path, path), Settings(labels=("ADR",), fold=0.0))
        assert not caplog.messages
        prepare(Sources(path, path), Settings(labels=("ADR", "Drug"), fold=0.0))
    assert caplog.messages == [f"{path}: has no mention of Drug"]


def test_unlabelled_text_is_plain_or_a_corpus(tmp_path):
    plain = tmp_path / "posts.txt"
    plain.write_text("My knees hurt. I had no sleep.\n")
    found = read_unlabelled(plain)
    assert [" ".join(each.words) for each in found] == ["My knees hurt .", "I had no sleep ."]
    corpus = write_jsonl([*SENTENCES[:2], Sentence([])], tmp_path / "corpus.jsonl")
    assert read_unlabelled(corpus) == [Sentence(each.words) for each in SENTENCES[:2]]
    table = tmp_path / "posts.csv"
    table.write_text("id,text\n1,My knees hurt.\n")
    assert [each.words for each in read_unlabelled(table)] == [("My", "knees", "hurt", ".")]
    plain.write_text(" \n")
    with pytest.raises(InputError, match=r"posts\.txt: it contains no sentence"):
        read_unlabelled(plain)


def test_new_sentences_are_made_by_the_lexicon_of_the_settings(tmp_path):
    swollen, hurt = SENTENCES[3], SENTENCES[4]
    made = []
    for name, terms in (("none", "elbow\n"), ("all", "knees\narms\nshoulders\n")):
        path = tmp_path / name
        path.write_text(f"# discotag lexicon 1\n{terms}")
        settings = Settings(augment=8, lexicon=str(path))
        made.append({each.words for each in choose([swollen, hurt], settings).train})
    assert made[0] != made[1]


def test_what_cannot_be_read_is_to_be_converted_with_options_that_exist(tmp_path):
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"text": "Träge"}\n'.encode("cp1252"))
    remedy = f"convert it: discotag corpus convert {latin} corpus.jsonl --encoding windows-1252$"
    with pytest.raises(InputError, match=remedy):
        read_documents(latin)
    text = tmp_path / "text.txt"
    text.write_text("I slept well.\n", "utf-8")
    with pytest.raises(InputError, match="convert it: .* --from FORMAT$") as caught:
        read_documents(text)
    assert "markdown" not in str(caught.value)  # it can only be written
