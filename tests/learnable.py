"""A corpus that can be learned by heart in seconds, and an encoder to do it with."""

from discotag import Mention, Sentence
from tiny import tiny_encoder


def learnable_encoder(folder):
    """Write a BERT with one layer and no dropout, whose start is mild enough to learn from."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    return tiny_encoder(
        folder,
        positions=64,
        num_hidden_layers=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
    )


def sentence(words, *mentions, label="ADR"):
    return Sentence(words.split(), [Mention(label, each) for each in mentions])


SENTENCES = [
    sentence("pain in my arms and shoulders was bad", [(0, 4)], [(0, 3), (5, 6)]),
    sentence("i had no sleep", [(2, 4)]),
    sentence("my knees hurt", [(1, 3)]),
    sentence("swollen and stiff knees", [(0, 1), (3, 4)], [(2, 4)]),
    sentence("my arms and shoulders hurt", [(1, 2), (4, 5)], [(3, 5)]),
    sentence("the sleep was in my arms"),
]

CROSSED = sentence("pain in arms and in knees", [(0, 1), (4, 5)], [(2, 3), (5, 6)])
"""Two mention sets that overlap: no scheme holds them."""


def write_jsonl(sentences, path):
    from discotag import corpora
    from discotag.mentions import Document

    corpora.write([Document([each]) for each in sentences], path)
    return path
