"""Test that the bundled model is found, small and fast, works without PyTorch, and is useful."""

import json
import multiprocessing
import re
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from discotag import load
from discotag.model.files import BUNDLED
from shell import python

POSTS = BUNDLED.parents[2] / "benchmarks" / "held_out"
TEXT = "I had pain in arms and shoulders."
SENTENCES = {
    "The pain I was experiencing around the hipjoints was incredible.": {"pain hipjoints"},
    "I had pain in arms and shoulders.": {"pain in arms", "pain in shoulders"},
    "pain in arms and shoulders": {"pain in arms", "pain in shoulders"},
    "I had terrible headaches.": {"terrible headaches"},
    "It works well for me and I have no complaints.": set(),
}


@pytest.mark.parametrize("text", SENTENCES)
def test_finds(tagger, text):
    mentions = tagger(text).mentions
    assert {mention.text for mention in mentions} == SENTENCES[text]
    assert all(0 < mention.score <= 1 for mention in mentions)


def test_the_first_alternative_is_the_prediction(tagger):
    lines = (POSTS / "posts.txt").read_text(encoding="utf-8").splitlines()
    posts = [re.sub(r"\[(\d+ )?|\]", "", line) for line in lines if line and line[0] != "#"]
    for bias in (0.0, 1.5):
        found = tagger.predict(posts, bias=bias)
        alternatives = tagger.alternatives(posts, k=2, bias=bias)
        for document, sentences in zip(found, alternatives, strict=True):
            for sentence, (first, *others) in zip(document.sentences, sentences, strict=True):
                assert first.sentence.mentions == sentence.mentions
                assert all(each.probability <= first.probability for each in others)


def test_demo_shows_every_kind_of_mention(tagger):
    text = (BUNDLED.parents[2] / "docs" / "demo.txt").read_text(encoding="utf-8")
    documents = tagger(text.splitlines())
    mentions = [mention for document in documents for mention in document.mentions]
    assert any(mention.discontinuous for mention in mentions)
    assert any(not mention.discontinuous for mention in mentions)
    groups = [tagger.scheme.layers(len(each.words), each.mentions) for each in documents]
    assert any(len(list(group.mentions)) > 2 for layer in groups for group in layer.sets)
    inside = [
        (group, mention)
        for layer in groups
        for group in layer.sets
        for mention in layer.continuous
        if group.start < mention.start and mention.end < group.end
    ]
    assert inside


@pytest.fixture(scope="module")
def on_torch():
    return load(runtime="torch", device="cpu")


def test_finds_the_same_on_pytorch(tagger, on_torch):
    demo = (BUNDLED.parents[2] / "docs" / "demo.txt").read_text(encoding="utf-8").splitlines()
    texts = [*SENTENCES, *demo]
    wanted, found = tagger(texts), on_torch(texts)
    assert wanted == found
    scores = [[m.score for d in each for m in d.mentions] for each in (wanted, found)]
    assert len(scores[0]) > 15
    # PyTorch computes in floats, onnxruntime multiplies in eight bits.
    assert scores[1] == pytest.approx(scores[0], abs=0.1)
    assert np.mean(np.abs(np.subtract(*scores)) < 0.02) > 0.9


def test_is_saved_from_pytorch_as_floats(tagger, on_torch, tmp_path):
    on_torch.save_pretrained(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    texts = list(SENTENCES)
    assert load(tmp_path, device="cpu")(texts) == tagger(texts)


def test_can_be_sent_to_another_process(tagger):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(tagger, [TEXT]).result()
    assert found == tagger([TEXT])
    assert [m.score for m in found[0].mentions] == [m.score for m in tagger([TEXT])[0].mentions]


def test_is_small():
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) < 30e6


def test_card_has_figures_and_attribution():
    card = (BUNDLED / "README.md").read_text(encoding="utf-8")
    config = json.loads((BUNDLED / "config.json").read_text(encoding="utf-8"))["discotag"]
    for name, figure in config["figures"].items():
        assert f"| {name} | {figure:g} |" in card
    assert "PsyTAR" in card
    assert "CC BY 4.0" in card
    assert config["licence"] == "cc-by-4.0"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_needs_little():
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from discotag import load\n"
        "load()('Pain in arms and shoulders.')\n"
        "assert not {'torch', 'transformers', 'scipy', 'onnx'} & set(sys.modules), 'heavy import'\n"
        "lines = Path('/proc/self/status').read_text().splitlines()\n"
        "print(*[line.split()[1] for line in lines if line.startswith('VmHWM')])"
    )
    assert int(python(code)) / 1024 < 350  # MiB
