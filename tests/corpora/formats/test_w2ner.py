import json

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import CorpusError, read, write
from discotag.corpora.parsing import json_stream
from samples import DATA


def corpus(tmp_path, raw):
    """What is read from a file with these bytes, and what was wrong."""
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    problems = []
    found = list(read(path, "w2ner", report=problems.append))
    return found, [problem.kind for problem in problems]


def test_reading():
    sore, fine = read(DATA / "w2ner/two.json")
    assert sore.words == ("Sore", "toes", "and", "knees")
    assert [str(m) for m in sore.mentions] == [
        "ADR 'Sore knees' [0:1 3:4]",
        "ADR 'Sore toes' [0:2]",
    ]
    assert (fine.words, fine.mentions) == (("Fine", "."), ())


def test_writing_what_w2ner_loads(tmp_path):
    sentence = Sentence(["Sore", "toes", "é"], [Mention("ADR", [(0, 1), (2, 3)])])
    write([Document([sentence, Sentence(["b"])])], tmp_path / "out", "w2ner")
    assert json.loads((tmp_path / "out").read_text("utf-8")) == [
        {"sentence": ["Sore", "toes", "é"], "ner": [{"index": [0, 2], "type": "ADR"}]},
        {"sentence": ["b"], "ner": []},
    ]


@pytest.mark.parametrize(
    ("mention", "kind"),
    [
        ({"index": [0, 4], "type": "A"}, "outside"),
        ({"index": [-1], "type": "A"}, "outside"),
        ({"index": [], "type": "A"}, "empty"),
        ({"type": "A"}, "empty"),
        ({"index": [1, 0], "type": "A"}, "overlapping"),
        ({"index": [1, 1], "type": "A"}, "overlapping"),
        ({"index": [0.5], "type": "A"}, "syntax"),
        ({"index": [True], "type": "A"}, "syntax"),
        ({"index": ["0"], "type": "A"}, "syntax"),
        ({"index": 0, "type": "A"}, "syntax"),
        ({"index": [0], "type": ""}, "syntax"),
        ({"index": [0], "type": "A\n"}, "syntax"),
        ({"index": [0]}, "syntax"),
        ({"index": [0], "type": 7}, "syntax"),
        ([0, "A"], "syntax"),
    ],
)
def test_bad_mentions_are_left_out(tmp_path, mention, kind):
    good = {"index": [0], "type": "A"}
    raw = json.dumps([{"sentence": ["a", "b"], "ner": [mention, good]}]).encode()
    (found,), kinds = corpus(tmp_path, raw)
    assert kinds == [kind]
    assert [str(m) for m in found.mentions] == ["A 'a' [0:1]"]
    with pytest.raises(CorpusError, match=r"a\.json: sentence 1, "):
        list(read(tmp_path / "a.json"))


def test_a_mention_may_stand_there_twice(tmp_path):
    good = {"index": [0], "type": "A"}
    raw = json.dumps([{"sentence": ["a"], "ner": [good, good]}]).encode()
    (found,), kinds = corpus(tmp_path, raw)
    assert kinds == ["duplicate"]
    assert len(found.mentions) == 2


@pytest.mark.parametrize(
    "sentence",
    [
        b"7",
        b'"a"',
        b'{"ner": []}',
        b'{"sentence": "a b"}',
        b'{"sentence": [1]}',
        b'{"sentence": [""]}',
    ],
)
def test_bad_sentences_are_left_out(tmp_path, sentence):
    found, kinds = corpus(tmp_path, b'[{"sentence": ["a"]}, %b, {"sentence": ["b"]}]' % sentence)
    assert [document.words for document in found] == [("a",), ("b",)]
    assert kinds == ["syntax"]


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        (b"", "syntax"),  # cut off
        (b", {]", "syntax"),
        (b', {"sentence": ["\xff"]}]', "encoding"),
        (b', {"sentence": ["\xc3', "encoding"),
        (b', {"sentence": ["\\ud83d"]}]', "encoding"),
        (b', {"sentence": [' + b"9" * 5000 + b"]}]", "syntax"),
        (b", " + b"[" * 100_000, "syntax"),
        (b', {"sentence": [1e999999999999999999999]}]', "syntax"),
    ],
)
def test_what_is_no_json_ends_the_reading(tmp_path, rest, kind):
    found, kinds = corpus(tmp_path, b'[{"sentence": ["a"]}' + rest)
    assert [document.words for document in found] == [("a",)]
    assert kinds == [kind]


def test_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(json_stream, "CHUNK", 1 << 12)
    monkeypatch.setattr(json_stream, "MAX_LINE", 1 << 14)
    small = {"sentence": ["a"] * 1000}
    found, kinds = corpus(tmp_path, json.dumps([small] * 100).encode())
    assert (len(found), kinds) == (100, [])
    large = {"sentence": ["a"] * 10_000}
    found, kinds = corpus(tmp_path, json.dumps([small, large, small]).encode())
    assert (len(found), kinds) == (1, ["too_long"])


@pytest.mark.parametrize("sentence", [Sentence([]), Sentence([""])])
def test_what_w2ner_cannot_hold_is_refused(tmp_path, sentence):
    with pytest.raises(CorpusError, match="cannot represent"):
        write([Document([sentence])], tmp_path / "out", "w2ner")
