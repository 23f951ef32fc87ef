"""Test that every word gets a subword, whatever it contains and however long the sentence is."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from discotag import Scheme
from discotag.model import tokenizer as module
from discotag.model.config import ModelConfig
from discotag.model.tokenizer import TokenizerError, WordTokenizer
from tiny import tiny_tokenizer

ODD_WORDS = [
    "\u200b",
    "",
    "痛い",
    "a" * 5000,
    "[SEP]",
    "[CLS]",
    "😕",
    "é",
    "e\u0301",
    "\ud800",
    "א",
]
word = st.one_of(
    st.sampled_from(ODD_WORDS),
    st.text(max_size=6),
    st.text("abc", min_size=1, max_size=40),
)


def tokenizer(window=16, overlap=6):
    config = ModelConfig(Scheme(labels=("ADR",)), window=window, overlap=overlap)
    return WordTokenizer.from_json(tiny_tokenizer(), config)


class Encoded:
    """One sentence as the encoder reads it."""

    def __init__(self, encoded, number=0):
        self.windows = encoded.windows_of(number)
        here = slice(*encoded.first_words[number : number + 2])
        self.places = np.stack([encoded.word_windows[here], encoded.word_positions[here]], 1)


def first_subwords(words):
    """Return the first subword of each word, by the tokenizer itself, one word at a time."""
    tokenizer = Tokenizer.from_str(tiny_tokenizer())
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    found = []
    for each in words:
        readable = each.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        ids = tokenizer.encode([readable], is_pretokenized=True, add_special_tokens=False).ids
        found.append(ids[0] if ids else tokenizer.token_to_id("[UNK]"))
    return found


@settings(deadline=None, max_examples=150)
@given(st.lists(word, max_size=40), st.integers(8, 40), st.data())
def test_every_word_is_at_its_position(words, window, data):
    overlap = data.draw(st.integers(0, window // 2))
    instance = tokenizer(window, overlap)
    encoded = Encoded(instance.encode([words]))
    assert encoded.places.shape == (len(words), 2)
    for each in encoded.windows:
        assert len(each) <= window
        assert each[:1] == instance.before
        assert each[-1:] == instance.after
    found = [encoded.windows[number][position] for number, position in encoded.places.tolist()]
    assert found == first_subwords(words)
    specials = {0, window - 1}
    assert not any(position in specials for _, position in encoded.places.tolist())


@settings(deadline=None, max_examples=60)
@given(st.permutations([*"abcdefghijklmnopqrstuvwxyz0123456789", "pain", "arms"]))
def test_words_belong_to_the_window_where_they_are_most_central(words):
    encoded = Encoded(tokenizer().encode([words]))
    whole = Encoded(tokenizer(window=512).encode([words]))
    order = {subword: number for number, subword in enumerate(whole.windows[0][1:-1])}
    inner = [[order[subword] for subword in window[1:-1]] for window in encoded.windows]
    for number, position in encoded.places.tolist():
        here = inner[number][position - 1]
        margins = [
            min(here - window[0] if n else 99, window[-1] - here if n < len(inner) - 1 else 99)
            for n, window in enumerate(inner)
            if here in window
        ]
        window = inner[number]
        left = here - window[0] if number else 99
        right = window[-1] - here if number < len(inner) - 1 else 99
        assert min(left, right) >= max(margins) - 1  # either window if both margins are equal


def test_one_window_where_one_is_enough():
    instance = tokenizer(window=16)
    fits = Encoded(instance.encode([["a"] * 14]))
    does_not = Encoded(instance.encode([["a"] * 15]))
    assert [len(window) for window in fits.windows] == [16]
    assert len(does_not.windows) == 2


def test_text_that_looks_like_a_special_subword():
    instance = tokenizer()
    encoded = Encoded(instance.encode([["[SEP]"]]))
    assert encoded.windows[0].count(instance.after[0]) == 1


def test_no_sentence_is_cut_off_or_padded_by_the_tokenizer():
    assert json.loads(tiny_tokenizer())["truncation"]["max_length"] == 16
    encoded = Encoded(tokenizer(window=512, overlap=0).encode([["pain"] * 100]))
    assert len(encoded.windows[0]) == 102


def test_the_cache_of_words_is_limited(monkeypatch):
    monkeypatch.setattr(module, "MAX_REMEMBERED", 10)
    instance = tokenizer(window=512, overlap=0)
    for start in range(0, 60, 7):
        words = [f"w{number}" for number in range(start, start + 25)]
        encoded = Encoded(instance.encode([words]))
        assert len(instance._known.number) <= 10
        assert [encoded.windows[0][p] for _, p in encoded.places.tolist()] == first_subwords(words)


def test_threads_may_share_a_tokenizer(monkeypatch):
    monkeypatch.setattr(module, "MAX_REMEMBERED", 10)
    instance = tokenizer(window=512, overlap=0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(thread):
        for start in range(300):
            words = [f"w{start + number}x{thread}" for number in range(5)]
            encoded = Encoded(instance.encode([words]))
            assert len(encoded.places) == 5

    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
    finally:
        sys.setswitchinterval(before)


def test_byte_level_words_begin_with_a_space():
    vocabulary = {"a": 0, "Ġa": 1, "Ġ": 2, "<unk>": 3}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "a")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    config = ModelConfig(Scheme(labels=("ADR",)))
    instance = WordTokenizer.from_json(tokenizer.to_str(), config)
    assert instance.encode([["a", "a", ""]]).windows_of(0) == [[1, 1, 3]]
    again = WordTokenizer.from_json(instance.as_json(), config)
    assert again.encode([["a"]]).windows_of(0) == [[1]]


def test_batches():
    instance = tokenizer(window=8, overlap=2)
    sentences = [["pain"] * 10, [], ["my", "arms"]]
    encoded = instance.encode(sentences)
    batch = encoded.batch([0, 1, 2]).arguments()
    assert batch["mask"].tolist() == [[True] * 10, [False] * 10, [True] * 2 + [False] * 8]
    picked = batch["input_ids"][batch["windows"], batch["positions"]]
    for row, words in enumerate(sentences):
        assert picked[row, : len(words)].tolist() == first_subwords(words)
    assert (batch["input_ids"][batch["attention_mask"] == 0] == instance.pad_id).all()
    assert batch["attention_mask"].sum() == len(encoded.subwords)
    turned = encoded.batch([2, 0])
    assert turned.lengths.tolist() == [2, 10]
    picked = turned.input_ids[turned.word_windows, turned.word_positions].tolist()
    assert picked == [*first_subwords(sentences[2]), *first_subwords(sentences[0])]
    nothing = encoded.batch([])
    assert nothing.input_ids.shape == (0, 0)
    assert np.issubdtype(nothing.input_ids.dtype, np.integer)
    assert len(instance.encode([])) == 0


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(word, max_size=30), max_size=8), st.integers(1, 60))
def test_chunks_cover_a_batch_and_fit_the_budget(sentences, budget):
    encoded = tokenizer(window=16, overlap=4).encode(sentences)
    batch = encoded.batch(range(len(sentences)))
    seen_windows, seen_words = [], []
    for chunk in batch.chunks(budget):
        rows, words = chunk.windows, chunk.words
        here = batch.sizes[rows]
        assert chunk.width == here.max()
        assert len(here) == 1 or len(here) * chunk.width <= budget
        inside = batch.word_windows[words]
        assert ((rows.start <= inside) & (inside < rows.stop)).all()
        seen_windows += range(rows.start, rows.stop)
        seen_words += range(words.start, words.stop)
    assert seen_windows == list(range(len(batch.sizes)))
    assert seen_words == list(range(sum(map(len, sentences))))


@pytest.mark.parametrize("text", ["", "{}", "[1]", "no JSON"])
def test_tokenizers_that_cannot_be_read(text, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(text)
    config = ModelConfig(Scheme(labels=("ADR",)))
    with pytest.raises(TokenizerError, match="tokenizer.json: not a tokenizer"):
        WordTokenizer.from_file(path, config)
    with pytest.raises(TokenizerError, match="cannot be read"):
        WordTokenizer.from_file(tmp_path / "none.json", config)


@pytest.mark.parametrize("overlap", [0, 2, 6])
def test_neighbouring_windows_share_what_they_should(overlap):
    words = ["pain", "arms"] * 50
    encoded = Encoded(tokenizer(window=16, overlap=overlap).encode([words]))
    windows = [window[1:-1] for window in encoded.windows]  # without the special ones
    assert {len(window) for window in windows[:-1]} == {14}
    stride = 14 - overlap
    whole = windows[0] + [each for window in windows[1:] for each in window[overlap:]]
    assert len(whole) == len(words)
    assert all(window == whole[n * stride :][:14] for n, window in enumerate(windows))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(["pain", "knees", "xyzzy"]), min_size=1), st.integers(1, 60))
def test_parts_are_the_windows_of_the_batch(words, budget):
    encoded = tokenizer().encode([["pain"], words * 3, ["arms"]])
    whole = encoded.batch([1])
    parts = list(encoded.parts(1, budget))
    for each in parts:
        assert len(each.sizes) == 1 or each.input_ids.size <= budget
        assert each.lengths.tolist() == [each.mask.sum()] == [len(each.word_windows)]
        assert each.numbers.tolist() == [1]
    rows = [
        row[:size] for each in parts for row, size in zip(each.input_ids, each.sizes, strict=True)
    ]
    wanted = [row[:size] for row, size in zip(whole.input_ids, whole.sizes, strict=True)]
    assert [row.tolist() for row in rows] == [row.tolist() for row in wanted]
    passed, windows = 0, []
    for each in parts:
        windows += (each.word_windows + passed).tolist()
        passed += len(each.sizes)
    assert windows == whole.word_windows.tolist()
    positions = np.concatenate([each.word_positions for each in parts])
    assert positions.tolist() == whole.word_positions.tolist()
