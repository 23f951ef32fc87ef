import json

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import CorpusError, read, write
from discotag.words import Splitter
from samples import DATA, tried


def corpus(tmp_path, *lines):
    """What is read from lines of JSON, and what was wrong."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    problems = []
    found = list(read(path, "jsonl", report=problems.append))
    return found, [(problem.kind, problem.line) for problem in problems]


def test_reading():
    first, second, third = read(DATA / "jsonl/three.jsonl")
    assert (first.id, first.text) == ("7", "Sore toes.")
    assert first.mentions[0].score == 0.93
    assert [mention.text for mention in second.mentions] == ["Sore knees"]
    assert [each.words for each in second.sentences][1] == ("Fine", ".")
    assert third == Document([Sentence(["Fine", "."])])


def test_what_a_line_looks_like(tmp_path):
    """The format is documented and versioned: a change here needs another version."""
    document = Splitter().document("Sore toes. Fine.", id="7")
    first = Sentence(
        document.sentences[0].words,
        [Mention("ADR", [(0, 2)], score=0.5)],
        text="Sore toes.",
        offsets=document.sentences[0].offsets,
    )
    bare = Document([Sentence(["a"], [Mention("X", [(0, 1)])])])
    second = document.sentences[1].with_mentions([Mention("X", [(0, 1)])])
    full = Document([first, second], text=document.text, id="7")
    write([full, bare], tmp_path / "out")
    lines = (tmp_path / "out").read_text().split("\n")
    assert [json.loads(line) for line in lines if line] == [
        {
            "discotag": 2,
            "id": "7",
            "text": "Sore toes. Fine.",
            "mentions": [
                {
                    "label": "ADR",
                    "text": "Sore toes",
                    "spans": [[0, 9]],
                    "fragments": [[0, 2]],
                    "score": 0.5,
                },
                {"label": "X", "text": "Fine", "spans": [[11, 15]], "fragments": [[3, 4]]},
            ],
            "sentences": [
                {"words": ["Sore", "toes", "."], "start": 0, "end": 10, "starts": [0, 5, 9]},
                {"words": ["Fine", "."], "start": 11, "end": 16, "starts": [11, 15]},
            ],
        },
        {
            "discotag": 2,
            "mentions": [{"label": "X", "text": "a", "fragments": [[0, 1]]}],
            "sentences": [{"words": ["a"]}],
        },
    ]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "7",
        "{}",
        "{",
        "not JSON",
        '{"discotag": 1, "text": ""}',
        '{"text": 7}',
        '{"text": "", "id": []}',
        '{"text": "", "id": true}',
        '{"sentences": {}}',
        '{"sentences": [7]}',
        '{"sentences": [{"words": "a"}]}',
        '{"sentences": [{"words": [1]}]}',
        '{"sentences": [{"words": ["a"], "start": -1}]}',
        '{"sentences": [{"words": ["a"], "start": true}]}',
        '{"sentences": [{"words": ["a"], "starts": [0]}]}',
        '{"sentences": [{"words": ["a"], "starts": []}]}',
        '{"text": "b", "sentences": [{"words": ["a"], "start": 0, "end": 1, "starts": [0]}]}',
        '{"text": "a", "sentences": [{"words": ["a"]}]}',
        '{"text": "a", "sentences": [{"words": ["a"], "start": 0, "end": 1, "starts": ["0"]}]}',
        '{"sentences": [{"words": ["a"], "text": "a"}]}',
        '{"text": "a", "sentences": [{"words": ["a"], "start": 0, "end": 9, "starts": [0]}]}',
    ],
)
def test_bad_lines_are_left_out(tmp_path, line):
    good = '{"sentences": [{"words": ["b"]}]}'
    found, problems = corpus(tmp_path, good, line, "", good)
    assert problems == [("syntax", 2)]
    assert [document.words for document in found] == [("b",), ("b",)]
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: "):
        list(read(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("in_sentence", [True, False])
@pytest.mark.parametrize(
    ("fragments", "kind"),
    [
        ([[1, 0]], "inverted"),
        ([[0, 0]], "empty"),
        ([], "empty"),
        ([[0, 3]], "outside"),
        ([[-1, 1]], "outside"),
        ([[0, 2], [1, 2]], "overlapping"),
    ],
)
def test_bad_mentions_are_left_out(tmp_path, fragments, kind, in_sentence):
    mentions = [{"label": "A", "fragments": fragments}, {"label": "A", "fragments": [[0, 1]]}]
    (found,), problems = corpus(tmp_path, _with_mentions(["a", "b"], mentions, in_sentence))
    assert problems == [(kind, 1)]
    assert len(found.mentions) == 1


def _with_mentions(words, mentions, in_sentence):
    """Return a document whose mentions are given in its sentence, or beside it."""
    if in_sentence:
        return json.dumps({"sentences": [{"words": words, "mentions": mentions}]})
    return json.dumps({"sentences": [{"words": words}], "mentions": mentions})


def test_spans_that_contradict_fragments_are_left_out(tmp_path):
    sentence = {"words": ["Sore", "toes", "."], "start": 0, "end": 10, "starts": [0, 5, 9]}
    mentions = [
        {"label": "A", "spans": [[0, 9]], "fragments": [[0, 2]]},
        {"label": "B", "spans": [[0, 4]], "fragments": [[0, 2]]},
        {"label": "C", "spans": [[0, 4], [5, 9]], "fragments": [[0, 1], [1, 2]]},
    ]
    data = {"text": "Sore toes.", "sentences": [sentence], "mentions": mentions}
    (found,), problems = corpus(tmp_path, json.dumps(data))
    assert problems == [("text_mismatch", 1)]
    assert [mention.label for mention in found.mentions] == ["A", "C"]


def test_mentions_of_a_document_belong_to_its_sentences(tmp_path):
    sentences = [{"words": ["a", "b"]}, {"words": []}, {"words": ["c", "d", "e"]}]
    mentions = [
        {"label": "A", "fragments": [[2, 3], [4, 5]], "score": 0.5},
        {"label": "B", "fragments": [[1, 2]]},
        {"label": "C", "fragments": [[1, 3]]},
    ]
    own = {"label": "D", "fragments": [[0, 1]]}
    sentences[2]["mentions"] = [own]
    line = json.dumps({"sentences": sentences, "mentions": mentions})
    (found,), problems = corpus(tmp_path, line)
    assert problems == [("crosses", 1)]
    assert [[str(mention) for mention in each.mentions] for each in found.sentences] == [
        ["B 'b' [1:2]"],
        [],
        ["D 'c' [0:1]", "A 'c e' [0:1 2:3]"],
    ]
    assert found.mentions[-1].score == 0.5
    write([found], tmp_path / "out.jsonl")
    assert list(read(tmp_path / "out.jsonl")) == [found]


@pytest.mark.parametrize(
    ("spans", "kind"),
    [
        ([[2, 0]], "inverted"),
        ([[0, 30]], "outside"),
        ([[5, 9], [0, 4]], "overlapping"),
        ([[4, 5]], "empty"),
        ([], "empty"),
        ([[0, 2]], "widened"),
    ],
)
def test_bad_mentions_of_a_text_are_left_out(tmp_path, spans, kind):
    mentions = [{"label": "A", "spans": spans}, {"label": "B", "spans": [[0, 4]]}]
    (found,), problems = corpus(tmp_path, json.dumps({"text": "Sore toes", "mentions": mentions}))
    assert problems == [(kind, 1)]
    assert Mention("B", [(0, 1)]) in found.mentions


@pytest.mark.parametrize(
    "mention",
    [
        7,
        {"fragments": [[0, 1]], "spans": [[0, 1]]},
        {"label": "", "fragments": [[0, 1]], "spans": [[0, 1]]},
        {"label": "A", "fragments": [0, 1], "spans": [0, 1]},
        {"label": "A", "fragments": [[0, 1.0]], "spans": [[0, 1.0]]},
        {"label": "A", "fragments": [[0]], "spans": [[0]]},
        {"label": "A", "fragments": {}, "spans": {}},
        {"label": "A", "fragments": [[0, 1]], "spans": [[0, 1]], "score": "high"},
        {"label": "A"},
        {"label": "A", "fragments": [[0, 1]], "spans": [[0, 1]], "score": float("nan")},
        {"label": "A", "fragments": [[0, 1]], "spans": [[0, 1]], "score": 10**400},
    ],
)
def test_what_is_no_mention_is_left_out(tmp_path, mention):
    found, problems = corpus(
        tmp_path,
        json.dumps({"sentences": [{"words": ["a"], "mentions": [mention]}]}),
        json.dumps({"text": "a", "mentions": [mention]}),
    )
    assert problems == [("syntax", 1), ("syntax", 2)]
    assert [(document.words, document.mentions) for document in found] == [(("a",), ())] * 2


@pytest.mark.parametrize("label", ["A\n", "\u200b"])
def test_labels_must_be_printable(tmp_path, label):
    mentions = [{"label": label, "fragments": [[0, 1]], "spans": [[0, 1]]}]
    found, problems = corpus(
        tmp_path,
        json.dumps({"sentences": [{"words": ["a"], "mentions": mentions}]}),
        json.dumps({"text": "a", "mentions": mentions}),
    )
    assert problems == [("syntax", 1), ("syntax", 2)]
    assert [document.words for document in found] == [("a",), ("a",)]


def test_a_mention_may_stand_there_twice(tmp_path):
    mentions = [{"label": "A", "fragments": [[0, 1]], "spans": [[0, 1]]}] * 2
    found, problems = corpus(
        tmp_path,
        json.dumps({"sentences": [{"words": ["a"], "mentions": mentions}]}),
        json.dumps({"text": "a", "mentions": mentions}),
    )
    assert problems == [("duplicate", 1), ("duplicate", 2)]
    assert [len(document.mentions) for document in found] == [2, 2]


@pytest.mark.parametrize("word", [r"\ud83d", r"\ude00", r"\ud83d \ude00", r"a\uD83D"])
def test_halves_of_characters_are_reported(tmp_path, word):
    found, problems = corpus(tmp_path, f'{{"sentences": [{{"words": ["{word}"]}}]}}')
    assert (found, problems) == ([], [("encoding", 1)])


def test_whole_characters_by_escapes_are_read(tmp_path):
    (found,), problems = corpus(
        tmp_path, r'{"sentences": [{"words": ["\ud83d\ude00", "\\ud83d"]}]}'
    )
    assert found.words == ("😀", "\\ud83d")
    assert not problems


def test_null_is_as_good_as_nothing(tmp_path):
    line = '{"text": "Sore. Fine.", "sentences": null, "mentions": null, "id": null}'
    (found,), problems = corpus(tmp_path, line)
    assert (len(found.sentences), found.id, problems) == (2, None, [])


def test_what_json_cannot_hold_is_not_written(tmp_path):
    sentence = Sentence(["a"], [Mention("A", [(0, 1)], score=float("nan"))])
    with pytest.raises(CorpusError, match="cannot represent"):
        write([Document([sentence])], tmp_path / "out.jsonl")


def test_numbers_are_ids_too(tmp_path):
    (found,), _ = corpus(tmp_path, '{"id": 7, "text": ""}')
    assert found.id == "7"


def test_fields_of_documents_are_kept(tmp_path):
    data = {"id": 1, "rating": 5, "drug": {"name": "x", "doses": [1, 2.5, None]}, "text": "Sore."}
    words = {"sentences": [{"words": ["a"]}], "source": "forum"}
    found, problems = corpus(tmp_path, json.dumps(data), json.dumps(words))
    assert problems == []
    assert found[0].extra == {"rating": 5, "drug": data["drug"]}
    assert found[1].extra == {"source": "forum"}
    write(found, tmp_path / "out.jsonl")
    again = list(read(tmp_path / "out.jsonl"))
    assert [document.extra for document in again] == [document.extra for document in found]
    assert again == found
    assert hash(found[1]) == hash(Document([Sentence(["a"])]))


def test_extra_never_takes_the_place_of_what_is_known(tmp_path):
    document = Document([Sentence(["a"])], id="7", extra={"id": "8", "sentences": [], "more": 1})
    write([document], tmp_path / "out.jsonl")
    (again,) = read(tmp_path / "out.jsonl")
    assert (again, again.extra) == (document, {"more": 1})
    with pytest.raises(
        CorpusError, match="document 1: the format cannot represent the 'extra' fields"
    ):
        write([Document([], extra={"date": object()})], tmp_path / "out.jsonl")


def test_fields_that_are_not_kept_are_reported_once_for_each_file(tmp_path):
    mention = {"label": "A", "fragments": [[0, 1]], "cui": "C1"}
    line = json.dumps({"sentences": [{"words": ["a"], "mentions": [mention] * 2, "speaker": 1}]})
    short = json.dumps({"text": "a", "mentions": [{"label": "A", "spans": [[0, 1]], "x": 1}]})
    found, problems = corpus(tmp_path, line, line, short)
    assert len(found) == 3
    kinds = [problem for problem in problems if problem[0] == "unknown_field"]
    assert kinds == [("unknown_field", 1)] * 2 + [("unknown_field", 3)]
    assert {kind for kind, _ in problems} == {"unknown_field", "duplicate"}


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": 1, "text": "Sore."}, {"id": 2, "text": "Fine."}]',
        '[\n{"id": 1, "text": "Sore."},\n{"id": 2, "text": "Fine."}\n]\n',
        json.dumps([{"id": 1, "text": "Sore."}, {"id": 2, "text": "Fine."}], indent=2),
        json.dumps({"id": 1, "text": "Sore."}, indent=1)
        + json.dumps({"id": 2, "text": "Fine."}, indent=1),
        '{"id": 1,\n"text": "Sore."}\n{"id": 2,\n"text": "Fine."}\n',
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.txt", "a"])
def test_lists_and_objects_over_several_lines(text, name, tmp_path):
    (tmp_path / name).write_text(text)
    found = list(read(tmp_path / name))
    assert [(each.id, each.text) for each in found] == [("1", "Sore."), ("2", "Fine.")]


def test_a_first_line_that_is_broken_leaves_the_others(tmp_path):
    found, problems = corpus(tmp_path, '{"text": "a"', '{"text": "b"}')
    assert [document.text for document in found] == ["b"]
    assert problems == [("syntax", 1)]


def test_candidates(tmp_path):
    pain, arms = Mention("ADR", [(0, 1)], score=0.9), Mention("ADR", [(2, 3)], score=0.1)
    first = Splitter().document("pain in arms. No sleep.", id="7")
    documents = [
        first.with_mentions([[pain], []], [[arms], [pain]]),
        Document([Sentence(["sore", "toes", "!"], candidates=[arms])]),
    ]
    write(documents, tmp_path / "a.jsonl")
    found = list(read(tmp_path / "a.jsonl"))
    assert found == documents
    assert [[each.score for each in document.candidates] for document in found] == [
        [0.1, 0.9],
        [0.1],
    ]


def test_candidates_that_are_wrong_are_reported(tmp_path):
    words = '"sentences": [{"words": ["a", "b"]}]'
    far = '{"label": "X", "fragments": [[1, 3]]}'
    found, problems = corpus(
        tmp_path,
        f'{{{words}, "candidates": [{far}]}}',
        '{"text": "a b", "candidates": [{"label": "X", "spans": [[0, 1]]}]}',
    )
    assert [each.candidates for each in found] == [(), ()]
    assert found[1].extra == {"input_candidates": [{"label": "X", "spans": [[0, 1]]}]}
    assert [kind for kind, _ in problems] == ["outside", "unknown_field"]


@pytest.mark.parametrize(
    "key", ["entities", "annotations", "labels", "spans", "denotations", "ner_tags", "result"]
)
def test_fields_that_may_have_annotations_are_reported_once(tmp_path, key):
    texts = [{"text": "Sore", key: []}, *[{"text": "Sore", key: [[0, 4, "ADR"]]}] * 3]
    documents, problems = tried(
        tmp_path / "in.jsonl", "".join(f"{json.dumps(each)}\n" for each in texts), "jsonl"
    )
    assert documents[1].extra == {key: [[0, 4, "ADR"]]}
    assert [(each.kind, each.line, each.message) for each in problems] == [
        ("unknown_field", 2, f"{key!r} may have annotations, but is kept as a further field")
    ]
    own = json.dumps({"text": "Sore", "mentions": [], key: [1]})
    assert tried(tmp_path / "in.jsonl", own, "jsonl")[1] == []
