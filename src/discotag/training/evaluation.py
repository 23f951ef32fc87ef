"""Evaluation of a network on sentences whose mentions are known."""

from __future__ import annotations

from collections.abc import Sequence

from discotag.evaluation import Scores, score
from discotag.mentions import Document, Mention, Sentence
from discotag.model.network import Network
from discotag.prediction.runtimes import TorchRuntime
from discotag.prediction.tagger import Tagger
from discotag.training.processes import divide


def make_tagger(network: Network, *, bf16: bool = False) -> Tagger:
    """Return a tagger on a network that is being trained, in the precision of the training."""
    device = str(next(network.parameters()).device)
    runtime = TorchRuntime(network, device, half=bf16)
    return Tagger(network.config, network.tokenizer, runtime)


def predict(
    network: Network, sentences: Sequence[Sentence], *, bf16: bool = False
) -> list[frozenset[Mention]]:
    """Return the mentions that a `Tagger` finds in each sentence; processes divide the work."""
    tagger = make_tagger(network, bf16=bf16)

    def find(part: Sequence[Sentence]) -> list[frozenset[Mention]]:
        documents = [Document((Sentence(each.words),)) for each in part]
        found = tagger.tag_batch(documents, probabilities=False)
        return [frozenset(document.sentences[0].mentions) for document in found]

    training = network.training
    network.eval()  # once, not for each batch
    try:
        return divide(sentences, find)
    finally:
        network.train(training)


def evaluate(network: Network, sentences: Sequence[Sentence], *, bf16: bool = False) -> Scores:
    """Compare the mentions that a `Tagger` finds with those that the sentences have."""
    return score(sentences, predict(network, sentences, bf16=bf16))


def to_dict(scores: Scores) -> dict[str, dict[str, float]]:
    """Return the figures of the three slices, labels counted together."""
    return {
        name: {
            "precision": each.micro.precision,
            "recall": each.micro.recall,
            "f1": each.micro.f1,
            "gold": each.micro.gold,
            "predicted": each.micro.predicted,
            "correct": each.micro.correct,
        }
        for name, each in scores.slices()
    }
