"""Sentences a second from words or text to mentions, and where the time goes.

    python benchmarks/throughput.py [--model FOLDER | --size MPNet] [--device cuda]

Without a model, the encoder has the size of DeBERTa-v3-base or MPNet and random weights, and a bias
that lets it find mentions in about as many sentences as a trained one does. In the same run: the
encoder alone, a plain pipeline of a Hugging Face model and pytorch-crf, and, if the model has a
mention scorer, the model with and without it, in turns. Prints a table and writes
benchmarks/results/throughput-DEVICE.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from discotag import Document, Scheme, Sentence
from discotag.model.config import ModelConfig
from discotag.model.files import BUNDLED
from discotag.model.network import Network
from discotag.prediction.batching import plan_batches
from discotag.prediction.benchmark import WORDS_IN, measure
from discotag.prediction.loading import load
from discotag.prediction.runtimes import TorchRuntime
from discotag.prediction.tagger import Tagger
from machine import machine

HERE = Path(__file__).parent
CRAFT = HERE.parent / "tests" / "data" / "craft_200.txt"
WITH_SCORER = "words in, mentions out, in turns with the next"
WITHOUT_SCORER = "the same without its mention scorer"
BUSY = 0.4
"""The share of sentences with mentions, as in PsyTAR."""


def deberta(tokenizer: str) -> Network:
    """Make a network of the size of DeBERTa-v3-base, with random weights."""
    from transformers import DebertaV2Config, DebertaV2Model

    config = DebertaV2Config(
        vocab_size=128100,
        hidden_size=768,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=3072,
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        max_relative_positions=-1,
        position_biased_input=False,
        type_vocab_size=0,
    )
    torch.manual_seed(0)
    return Network(DebertaV2Model(config), ModelConfig(Scheme(("ADR",))), tokenizer).eval()


def mpnet(tokenizer: str) -> Network:
    """Make a network of the size of MPNet, with random weights."""
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(0)
    return Network(MPNetModel(MPNetConfig()), ModelConfig(Scheme(("ADR",))), tokenizer).eval()


SIZES = {"DeBERTa-v3-base": deberta, "MPNet": mpnet}


def set_bias(tagger: Tagger, network: Network, sentences: Sequence[Sentence]) -> None:
    """Find the bias of the tag O with which about `BUSY` of the sentences have mentions."""
    low, high = -20.0, 20.0
    documents = [Document((each,)) for each in sentences]
    torch.nn.init.normal_(network.linear.weight, std=0.05)
    for _ in range(12):
        middle = (low + high) / 2
        with torch.no_grad():
            network.linear.bias[0] = middle
        found = tagger.tag_batch(documents, probabilities=False)
        busy = sum(bool(each.mentions) for each in found) / len(found)
        low, high = (middle, high) if busy > BUSY else (low, middle)


def best(work: Callable[[], Any], repeat: int, device: str) -> float:
    """Return the seconds that a piece of work takes, the least of several runs."""
    return in_turns([work], repeat, device)[0]


def in_turns(works: Sequence[Callable[[], Any]], repeat: int, device: str) -> list[float]:
    """Return the seconds that each piece of work takes, the least of several runs in turns.

    The speed of a host changes with time, so that only what is measured in turns can be compared.
    """
    seconds = [float("inf")] * len(works)
    for _ in range(repeat):
        for number, work in enumerate(works):
            if device != "cpu":
                torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            if device != "cpu":
                torch.cuda.synchronize()
            seconds[number] = min(seconds[number], time.perf_counter() - start)
    return seconds


def encoder_alone(tagger: Tagger, sentences: Sequence[Sentence]) -> Callable[[], None]:
    """Return the forward pass of the encoder on the tagger's own batches, already on the device."""
    runtime = tagger.runtime
    assert isinstance(runtime, TorchRuntime)
    encoded = tagger.tokenizer.encode([each.words for each in sentences])
    batches = [
        tuple(
            torch.from_numpy(each).to(runtime.device)
            for each in (batch.input_ids, batch.attention_mask)
        )
        for batch in map(encoded.batch, plan_batches(encoded, runtime.budget))
    ]

    def run() -> None:
        with torch.inference_mode():
            for ids, mask in batches:
                runtime.network.encoder(input_ids=ids, attention_mask=mask)

    return run


def without_scorer(tagger: Tagger) -> Tagger:
    """Return the plain tagger of a model: it takes the best tags of each sentence."""
    config = replace(tagger.config, mention_scorer=0, bias=0.0, calibration=None)
    return Tagger(config, tagger.tokenizer, tagger.runtime)


def plain_pipeline(tagger: Tagger, sentences: Sequence[Sentence]) -> Callable[[], None] | None:
    """Return what people write without discotag: a Hugging Face model with pytorch-crf."""
    try:
        from torchcrf import CRF
    except ImportError:
        return None
    runtime = tagger.runtime
    assert isinstance(runtime, TorchRuntime)
    network, device = runtime.network, runtime.device
    tags = len(tagger.scheme.tags)
    crf = CRF(tags, batch_first=True).to(device)
    tokenizer = tagger.tokenizer.tokenizer
    words = sorted((each.words for each in sentences), key=len, reverse=True)
    size = 256 if device != "cpu" else 16

    def run() -> None:
        with torch.inference_mode():
            for start in range(0, len(words), size):
                batch = [
                    tokenizer.encode(list(each), is_pretokenized=True)
                    for each in words[start : start + size]
                ]
                width = max(len(each.ids) for each in batch)
                ids = torch.tensor([each.ids + [0] * (width - len(each.ids)) for each in batch])
                mask = torch.tensor(
                    [[1] * len(each.ids) + [0] * (width - len(each.ids)) for each in batch]
                )
                ids, mask = ids.to(device), mask.to(device)
                hidden = network.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
                scores: Tensor = network.linear(hidden.float())
                crf.decode(scores, mask.bool())

    return run


def read(path: Path) -> list[str]:
    """Return texts from JSON lines or inline text."""
    lines = path.read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines] if path.suffix == ".jsonl" else lines[::3]


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a folder, or 'bundled'")
    parser.add_argument("--size", choices=SIZES, default="DeBERTa-v3-base", help="without a model")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--texts", type=Path, default=CRAFT, help="JSON lines with a 'text' each")
    parser.add_argument("--sentences", type=int, default=30388)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--name", default="", help="added to the name of the results")
    parser.add_argument("--profile", action="store_true", help="print where the host's time goes")
    given = parser.parse_args()
    if given.model:
        tagger = load(given.model, runtime="torch", device=given.device)
    else:
        network = SIZES[given.size]((BUNDLED / "tokenizer.json").read_text("utf-8"))
        runtime = TorchRuntime(network, given.device, own=True)
        tagger = Tagger(network.config, network.tokenizer, runtime)
    documents = [tagger.splitter.document(text) for text in read(given.texts)]
    sentences = [each for document in documents for each in document.sentences]
    if not given.model:
        set_bias(tagger, network, sentences[:500])
    start = time.perf_counter()
    speed = measure(tagger, documents, sentences=given.sentences, repeat=given.repeat)
    print(f"measured in {time.perf_counter() - start:.1f} s", flush=True)
    measured = speed.sentences_per_second
    size = speed.sentences
    sentences = list(islice(cycle(sentences), size))
    documents = [Document((each,)) for each in sentences]
    measured["words in, mentions without probabilities out"] = size / best(
        lambda: tagger.tag_batch(documents, probabilities=False), given.repeat, given.device
    )
    if tagger.config.mention_scorer:
        plain_tagger = without_scorer(tagger)
        works = [lambda: tagger.tag_batch(documents), lambda: plain_tagger.tag_batch(documents)]
        for name, seconds in zip(
            (WITH_SCORER, WITHOUT_SCORER), in_turns(works, given.repeat, given.device), strict=True
        ):
            measured[name] = size / seconds
    measured["encoder alone, the same batches"] = size / best(
        encoder_alone(tagger, sentences), given.repeat, given.device
    )
    if given.profile:
        import cProfile
        import pstats

        profile = cProfile.Profile()
        profile.runcall(lambda: list(tagger.predict(documents)))
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)
    plain = plain_pipeline(tagger, sentences[: size // 10])
    if plain is not None:
        measured["plain pipeline with pytorch-crf"] = (size // 10) / best(plain, 1, given.device)
    share = measured[WORDS_IN] / measured["encoder alone, the same batches"]
    device = torch.cuda.get_device_name() if given.device != "cpu" else machine()
    results = {
        "device": device,
        "model": given.model or f"{given.size} (random weights)",
        "sentences": size,
        "words": speed.words,
        "mentions": speed.mentions,
        "sentences_a_second": measured,
        "share_beside_encoder": 1 - share,
    }
    for name, value in measured.items():
        print(f"{name:46} {value:12,.0f} sentences a second")
    print(
        f"all but the encoder: {1 - share:.1%}; {speed.mentions:,} mentions in {size:,} sentences"
    )
    if WITH_SCORER in measured:
        kept = measured[WITH_SCORER] / measured[WITHOUT_SCORER]
        print(f"with its mention scorer: {kept:.1%} of the speed without it")
    name = f"throughput{given.name}-{given.device}.json"
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / name).write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
