"""Tests of the grid model that discotag is compared with."""

import doctest
import json
import sys
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import grid_model  # noqa: E402
import grid_speed  # noqa: E402
from discotag import Mention, Scheme, Sentence  # noqa: E402
from discotag.model.config import ModelConfig  # noqa: E402
from discotag.model.network import Network  # noqa: E402
from learnable import SENTENCES, learnable_encoder, sentence, write_jsonl  # noqa: E402

LABELS = ("ADR", "Drug")
WORDS = 6


def mention_of(words, label):
    return Mention(label, [(word, word + 1) for word in words])


mentions = st.builds(
    mention_of, st.sets(st.integers(0, WORDS - 1), min_size=1), st.sampled_from(LABELS)
)


@st.composite
def disjoint_mentions(draw):
    """Mentions that do not share words, with gaps and inside each other's gaps."""
    owners = draw(st.lists(st.integers(0, 3), max_size=10))
    return [
        mention_of([word for word, each in enumerate(owners) if each == owner], label)
        for owner, label in enumerate(draw(st.tuples(*[st.sampled_from(LABELS)] * 4)))
        if owner in owners
    ]


def decode(gold, labels=LABELS):
    return grid_model.find_mentions(grid_model.make_cells(gold, labels), labels)


@given(disjoint_mentions())
def test_mentions_without_common_words_are_found_again(gold):
    assert decode(gold) == sorted(gold)


@given(st.lists(mentions, max_size=4))
def test_all_paths_are_found(gold):
    steps = {step for each in gold for step in pairwise(each.words)}
    ends = {(each.words[0], each.words[-1]): each.label for each in gold}
    paths = [path for n in range(1, WORDS + 1) for path in combinations(range(WORDS), n)]
    truth = {
        mention_of(path, ends[path[0], path[-1]])
        for path in paths
        if (path[0], path[-1]) in ends and steps.issuperset(pairwise(path))
    }
    assert decode(gold) == sorted(truth)
    assert {each.fragments for each in gold} <= {each.fragments for each in truth}


def test_a_mention_of_an_unknown_label_is_refused():
    with pytest.raises(ValueError, match="Dose .* not among ADR, Drug"):
        grid_model.make_cells([Mention("Dose", [(0, 1)])], LABELS)


def test_a_grid_full_of_cells_gives_a_bounded_number_of_mentions():
    grids = np.tril(np.full((60, 60), grid_model.FIRST_LABEL)) + np.triu(np.ones((60, 60)), 1)
    (cells,) = grid_model.split_cells(grids[None].astype(np.int16))
    assert len(grid_model.find_mentions(cells, LABELS)) == grid_model.MOST_MENTIONS
    one_end = (cells.classes == grid_model.NEXT) | ((cells.rows == 59) & (cells.columns == 0))
    few = grid_model.Cells(*(each[one_end] for each in cells))
    assert len(set(grid_model.find_mentions(few, LABELS))) == grid_model.MOST_PATHS


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model with random weights, and its tokenizer."""
    folder = learnable_encoder(tmp_path_factory.mktemp("encoder"))
    network = Network.from_encoder(folder, ModelConfig(Scheme(LABELS)))
    torch.manual_seed(0)
    return grid_model.GridModel(network.encoder, 4).eval(), network.tokenizer


def test_targets_are_the_gold_cells(model):
    encoded = grid_model.encode(model[1], SENTENCES)
    cells = [grid_model.make_cells(each.mentions, LABELS) for each in SENTENCES]
    numbers = grid_model.longest_first(encoded.fitting, encoded.sentences.lengths)
    batch = grid_model.make_batch(encoded, numbers, cells)
    assert batch["lengths"].tolist() == sorted((len(s.words) for s in SENTENCES), reverse=True)
    found = grid_model.split_cells(batch["targets"].numpy())
    for number, each in zip(numbers, found, strict=True):
        assert grid_model.find_mentions(each, LABELS) == list(SENTENCES[number].mentions)


def test_subwords_belong_to_their_words(model):
    _, tokenizer = model
    sentences = [Sentence("the armies hurt xyz".split()), Sentence(["kneeless", "a"])]
    encoded = grid_model.encode(tokenizer, sentences)
    batch = grid_model.make_batch(encoded, np.array([0, 1]))
    for row, each in enumerate(sentences):
        for number, word in enumerate(each.words, 1):
            ids = batch["input_ids"][row][batch["owners"][row] == number].tolist()
            assert [*tokenizer.before, *ids, *tokenizer.after] == tokenizer.encode(
                [[word]]
            ).windows_of(0)[0]


def test_scores_do_not_depend_on_other_sentences(model):
    network, tokenizer = model
    encoded = grid_model.encode(tokenizer, SENTENCES)
    numbers = grid_model.longest_first(encoded.fitting, encoded.sentences.lengths)
    with torch.no_grad():
        together = network(**grid_model.make_batch(encoded, numbers))
        for row, number in zip(together, numbers, strict=True):
            (alone,) = network(**grid_model.make_batch(encoded, numbers[numbers == number]))
            torch.testing.assert_close(row[: len(alone), : len(alone)], alone)


def test_sentences_without_words_or_too_long_have_no_mentions(model, monkeypatch):
    network, tokenizer = model
    monkeypatch.setattr(  # a mention in each cell of the diagonal
        network, "classify", lambda lengths, **_: 2 * torch.eye(int(lengths.max())).short()[None]
    )
    monkeypatch.setitem(grid_model.MOST_SENTENCES, "cpu", 1)
    sentences = [Sentence([]), Sentence(["pain"] * 100), Sentence(["pain", "bad"])]
    found = grid_model.predict(network, tokenizer, sentences, LABELS)
    assert found == [[], [], [Mention("ADR", [(0, 1)]), Mention("ADR", [(1, 2)])]]


def test_the_command_trains_and_writes_figures(tmp_path, monkeypatch, capsys):
    long = sentence("pain " * 100, [(0, 1)])
    corpus = write_jsonl([*SENTENCES, long], tmp_path / "corpus.jsonl")
    out = tmp_path / "result.json"
    given_ = {"encoder": learnable_encoder(tmp_path / "encoder"), "out": out, "labels": "ADR"}
    given_ |= dict.fromkeys(("train", "dev", "test"), corpus) | {"epochs": 4, "batch-size": 1}
    options = [part for name, each in given_.items() for part in (f"--{name}", str(each))]
    monkeypatch.setattr(sys, "argv", ["grid_model.py", *options])
    grid_model.main()
    assert "train: 1 of 7 sentences are longer than the encoder takes" in capsys.readouterr().out
    result = json.loads(out.read_text("utf-8"))
    assert result["test"]["all"]["gold"] == 9
    assert result["test"] == result["dev"]
    assert 1 <= result["best_epoch"] <= 4
    assert result["losses"][-1] < result["losses"][0]
    assert len(result["predictions"]) == 7


def test_speeds_are_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grid_speed, "LEAST_SECONDS", 1e-3)
    corpus = write_jsonl(SENTENCES, tmp_path / "corpus.jsonl")
    out = tmp_path / "result.json"
    given_ = {"encoder": learnable_encoder(tmp_path / "encoder"), "model": "bundled", "out": out}
    given_ |= dict.fromkeys(("train", "dev", "test"), corpus) | {"epochs": 1}
    options = [part for name, each in given_.items() for part in (f"--{name}", str(each))]
    monkeypatch.setattr(sys, "argv", ["grid_speed.py", *options, "--words", "0", "9"])
    grid_speed.main()
    short, long = json.loads(out.read_text("utf-8"))["rows"]
    assert short["sentences"] == len(SENTENCES)
    assert short["words_per_sentence"] < 9 <= long["words_per_sentence"]
    names = ["grid model", "discotag, torch", "discotag, onnx-int8"]
    assert list(long["sentences_per_second"]) == names
    assert all(value > 0 for value in long["words_per_second"].values())
    assert capsys.readouterr().out.splitlines()[-4].startswith("| words per sentence | grid model")


def test_examples():
    for module in (grid_model, grid_speed):
        assert doctest.testmod(module).failed == 0
