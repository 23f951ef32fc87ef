"""A grid model in the style of W2NER, to compare discotag with.

    python benchmarks/grid_model.py --encoder FOLDER --train FILE --dev FILE --test FILE \
        --labels ADR --out result.json

Li et al. (2022), "Unified Named Entity Recognition as Word-Word Relation Classification", classify
each pair of words of a sentence: does word `j` come next after word `i` in a mention, or is `i` the
last word of a mention with some label, and `j` its first word? This model was written from the
paper alone. Subwords, evaluation and the choice of the best epoch are discotag's, so that figures
can be compared. Sentences that are longer than the encoder takes are not trained on, and nothing is
predicted for them; their number is printed.

Files are corpora in any format that discotag reads. The result has the figures on development and
test data, the seconds of training, and the predictions. `grid_speed.py` measures its speed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from discotag import Mention, Scheme, Sentence
from discotag.evaluation import score
from discotag.model.config import ModelConfig
from discotag.model.encoder import speed_up, trainable_attention
from discotag.model.network import Network
from discotag.model.tokenizer import EncodedSentences, WordTokenizer
from discotag.training.batching import Packed, plan
from discotag.training.data import find_labels, read_sentences
from discotag.training.development import to_dict

Indices = npt.NDArray[np.int64]
Grids = npt.NDArray[np.int16]
Words = tuple[int, ...]

NONE: Final = 0
NEXT: Final = 1
"""The class of cell (i, j) if word j comes next after word i in a mention (NNW in the paper)."""
FIRST_LABEL: Final = 2
"""The class of cell (last word, first word) of a mention with the first label (THW)."""

# Sizes and rates as in the paper; each direction of the BiLSTM has half of its 512.
LSTM_SIZE: Final = 256
EMBEDDING_SIZE: Final = 20
GRID_SIZE: Final = 96
BIAFFINE_SIZE: Final = 512
MLP_SIZE: Final = 384
DILATIONS: Final = (1, 2, 3)
WORD_DROPOUT: Final = 0.5
GRID_DROPOUT: Final = 0.5
OUTPUT_DROPOUT: Final = 0.33
HEAD_LEARNING_RATE: Final = 1e-3
MAX_NORM: Final = 5.0

WARMUP: Final = 0.1
"""The share of the steps in which the learning rates rise."""

WEIGHT_DECAY: Final = 0.01

BUCKETS: Final = 9
"""Distances 1, 2-3, 4-7, ... and from 256 on share an embedding; each direction has its own."""

MOST_PATHS: Final = 1_000
"""The most mentions of one pair of first and last word."""

MOST_MENTIONS: Final = 10_000
"""The most mentions of a sentence. A model at the beginning of its training can predict more."""

CELLS: Final = {"cuda": 1 << 18, "cpu": 1 << 14}
"""The most cells of a batch in prediction, by device, padding included."""

MOST_SENTENCES: Final = {"cuda": 512, "cpu": 64}
"""The most sentences of a batch in prediction, by device."""

DEPTH: Final = 2
"""The number of batches in progress in prediction: the host decodes one, the GPU computes one."""


# Mentions and cells


class Cells(NamedTuple):
    """The cells of a sentence's grid that are not `NONE`, in arrays of equal length."""

    rows: Indices
    columns: Indices
    classes: Indices


def make_cells(mentions: Iterable[Mention], labels: Sequence[str]) -> Cells:
    """Return the gold cells of a sentence.

    If mentions of several labels have the same first and last word, the last label is used: a cell
    has one class.

    Raises:
        ValueError: A mention has a label that is not among the labels.

    Example:
        >>> cells = make_cells([Mention("ADR", [(0, 1), (2, 3)])], ["ADR"])
        >>> list(zip(*(each.tolist() for each in cells)))
        [(0, 2, 1), (2, 0, 2)]
    """
    found: dict[tuple[int, int], int] = {}
    for mention in mentions:
        if mention.label not in labels:
            raise ValueError(f"{mention} has a label that is not among {', '.join(labels)}")
        words = mention.words
        found.update(dict.fromkeys(pairwise(words), NEXT))
        found[words[-1], words[0]] = FIRST_LABEL + labels.index(mention.label)
    places = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    return Cells(places[:, 0], places[:, 1], np.array(list(found.values()), dtype=np.int64))


def find_mentions(cells: Cells, labels: Sequence[str]) -> list[Mention]:
    """Return the mentions that cells stand for, sorted.

    Each cell (last word, first word) of a label gives a mention for each path of `NEXT` cells from
    the first word to the last one, `MOST_PATHS` at the most.

    Example:
        >>> arms, legs = Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])
        >>> find_mentions(make_cells([arms, legs], ["ADR"]), ["ADR"]) == [legs, arms]
        True
    """
    after: dict[int, list[int]] = {}
    before: dict[int, list[int]] = {}
    ends = []
    for row, column, kind in zip(*(each.tolist() for each in cells), strict=True):
        if kind >= FIRST_LABEL and column <= row:
            ends.append((column, row, labels[kind - FIRST_LABEL]))
        elif kind == NEXT and row < column:
            after.setdefault(row, []).append(column)
            before.setdefault(column, []).append(row)
    paths = (
        (label, path)
        for first, last, label in ends
        for path in islice(find_paths(after, before, first, last), MOST_PATHS)
    )
    return sorted(
        Mention(label, tuple((word, word + 1) for word in path))
        for label, path in islice(paths, MOST_MENTIONS)
    )


def find_paths(
    after: dict[int, list[int]], before: dict[int, list[int]], first: int, last: int
) -> Iterator[Words]:
    """Yield the paths from one word to another.

    Args:
        after: The words that may come next after each word.
        before: The same, in the other direction.
        first: The first word.
        last: The last word.
    """
    # Only words from which the last word can be reached are visited, so that no path is in vain.
    useful, waiting = {last}, [last]
    while waiting:
        for word in before.get(waiting.pop(), ()):
            if word >= first and word not in useful:
                useful.add(word)
                waiting.append(word)
    paths: list[Words] = [(first,)] if first in useful else []
    while paths:
        path = paths.pop()
        if path[-1] == last:
            yield path
        else:
            paths += [(*path, word) for word in after[path[-1]] if word in useful]


# Batches


@dataclass(frozen=True, eq=False)
class Encoded:
    """Sentences in subwords.

    Attributes:
        sentences: Their subwords.
        after: The number of special subwords after a sentence.
        fitting: The numbers of the sentences that have words and that the encoder takes.
    """

    sentences: EncodedSentences
    after: int
    fitting: Indices


def encode(tokenizer: WordTokenizer, sentences: Sequence[Sentence]) -> Encoded:
    """Split sentences into subwords."""
    found = tokenizer.encode([each.words for each in sentences])
    fitting = np.flatnonzero((found.heights == 1) & (found.lengths > 0))
    return Encoded(found, len(tokenizer.after), fitting)


def print_long(encoded: Encoded, name: str, consequence: str) -> None:
    """Print how many sentences the encoder does not take, if there are any."""
    number = int((encoded.sentences.heights > 1).sum())
    if number:
        print(
            f"{name}: {number} of {len(encoded.sentences)} sentences are longer than the encoder "
            f"takes; {consequence}"
        )


def make_batch(
    encoded: Encoded, numbers: Indices, cells: Sequence[Cells] | None = None, *, pin: bool = False
) -> Packed:
    """Return the arguments of `GridModel.forward`, and `targets` if the cells are given.

    Args:
        encoded: All sentences.
        numbers: Those of the batch, longest first, each with one window.
        cells: The gold cells of all sentences.
        pin: Whether the batch is in page-locked memory, for a GPU.
    """
    batch = encoded.sentences.batch(numbers)
    rows, words = batch.mask.shape
    # The word of each subword; words are numbered from 1, and 0 is for special ones and padding.
    inside = np.arange(batch.input_ids.shape[1]) < batch.sizes[:, None] - encoded.after
    inside &= np.arange(batch.input_ids.shape[1]) >= batch.word_positions.min()
    ends = np.append(batch.word_positions[1:], 0)
    ends[np.cumsum(batch.lengths) - 1] = batch.sizes - encoded.after
    owners = np.zeros_like(batch.input_ids)
    owners[inside] = np.repeat(np.nonzero(batch.mask)[1] + 1, ends - batch.word_positions)
    arrays: dict[str, npt.NDArray[Any]] = {
        "input_ids": batch.input_ids,
        "sizes": batch.sizes,
        "owners": owners,
        "lengths": batch.lengths,
    }
    if cells is not None:
        chosen = [cells[number] for number in numbers]
        places = np.repeat(np.arange(rows), [len(each.rows) for each in chosen])
        grids: Grids = np.zeros((rows, words, words), dtype=np.int16)
        joined = Cells(*map(np.concatenate, zip(*chosen, strict=True)))
        grids[places, joined.rows, joined.columns] = joined.classes
        arrays["targets"] = grids
    return Packed(arrays, pin=pin, host_lengths=torch.from_numpy(batch.lengths))


def longest_first(numbers: Indices, lengths: Indices) -> Indices:
    """Return the numbers of sentences, sorted by their lengths in words."""
    found: Indices = numbers[np.argsort(-lengths[numbers], kind="stable")]
    return found


def cut(numbers: Indices, lengths: Indices, device: torch.device) -> Iterator[Indices]:
    """Yield batches for prediction, of similar length, that fit the budgets of a device.

    Args:
        numbers: The sentences, longest first.
        lengths: The number of words of all sentences.
        device: The device.
    """
    first = 0
    while first < len(numbers):
        room = CELLS[device.type] // int(lengths[numbers[first]]) ** 2
        last = first + max(1, min(room, MOST_SENTENCES[device.type]))
        yield numbers[first:last]
        first = last


# The model


class GridModel(nn.Module):
    """The model of the paper: encoder, BiLSTM, grid of word pairs, convolutions, two predictors.

    Args:
        encoder: A Hugging Face encoder.
        classes: The number of classes of a cell.
    """

    def __init__(self, encoder: Any, classes: int) -> None:
        super().__init__()
        size = 2 * LSTM_SIZE
        self.encoder = encoder
        self.word_dropout = nn.Dropout(WORD_DROPOUT)
        self.lstm = nn.LSTM(
            encoder.config.hidden_size, LSTM_SIZE, batch_first=True, bidirectional=True
        )
        self.pairs = PairGrid(size)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(GRID_SIZE, GRID_SIZE, kernel_size=3, dilation=each, padding=each)
            for each in DILATIONS
        )
        self.convolutions.to(memory_format=torch.channels_last)
        self.mlp = nn.Sequential(
            nn.Dropout(OUTPUT_DROPOUT),
            nn.Linear(len(DILATIONS) * GRID_SIZE, MLP_SIZE),
            nn.GELU(),
            nn.Linear(MLP_SIZE, classes),
        )
        self.biaffine = Biaffine(size, classes)

    def forward(
        self,
        input_ids: Tensor,
        sizes: Tensor,
        owners: Tensor,
        lengths: Tensor,
        host_lengths: Tensor,
    ) -> Tensor:
        """Return the scores of cells, (batch, words, words, classes), in float32.

        Args:
            input_ids: (batch, subwords).
            sizes: (batch,), the number of subwords of each sentence.
            owners: (batch, subwords), the word of each subword, from 1; 0 for other subwords.
            lengths: (batch,), the number of words of each sentence, longest first.
            host_lengths: The same, in the memory of the host.
        """
        words = self.word_vectors(input_ids, sizes, owners, host_lengths)
        # (batch, words, words, 1)
        valid = cell_mask(lengths, words.shape[1])[..., None]
        with half_precision(words.device):
            grid = self.pairs(words) * valid  # what convolutions see of padding is zero
            # (batch, size, words, words), in memory still with the size last
            image = grid.permute(0, 3, 1, 2)
            seen = [functional.gelu(each(image)) for each in self.convolutions]
            found: Tensor = self.mlp(torch.cat(seen, dim=1).permute(0, 2, 3, 1))
            direct: Tensor = self.biaffine(words)
        return found.float() + direct.float()

    def word_vectors(
        self, input_ids: Tensor, sizes: Tensor, owners: Tensor, host_lengths: Tensor
    ) -> Tensor:
        """Return the BiLSTM's vectors of words, (batch, words, 2 * LSTM_SIZE), in float32."""
        attention = torch.arange(input_ids.shape[1], device=sizes.device) < sizes[:, None]
        # An encoder whose weights were converted needs no help, and is faster without it.
        with half_precision(sizes.device, self.encoder.dtype == torch.float32):
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention.long())
        vectors = hidden.last_hidden_state.float()
        words = int(host_lengths[0])
        # (batch, 1 + words, size); the first row is for special subwords and padding
        pooled = vectors.new_zeros(len(vectors), 1 + words, vectors.shape[2]).scatter_reduce(
            1, owners[..., None].expand_as(vectors), vectors, "amax", include_self=False
        )[:, 1:]
        packed = pack_padded_sequence(self.word_dropout(pooled), host_lengths, batch_first=True)
        found: Tensor = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=words
        )[0]
        return found

    def loss(self, targets: Tensor, lengths: Tensor, **batch: Tensor) -> Tensor:
        """Return the mean cross-entropy of all cells that are not padding."""
        scores = self(lengths=lengths, **batch)
        wanted = targets.long().masked_fill(~cell_mask(lengths, targets.shape[1]), -1)
        return functional.cross_entropy(scores.flatten(0, 2), wanted.flatten(), ignore_index=-1)

    def classify(self, lengths: Tensor, **batch: Tensor) -> Tensor:
        """Return the class of each cell, (batch, words, words), in int16.

        Classes that have no meaning where they are, such as `NEXT` for a word before, are `NONE`.
        """
        classes = self(lengths=lengths, **batch).argmax(-1)
        words = torch.arange(classes.shape[1], device=classes.device)
        sensible = (classes == NEXT) == (words[:, None] < words)
        return (classes * (sensible & cell_mask(lengths, len(words)))).to(torch.int16)


class PairGrid(nn.Module):
    """Vectors of word pairs: conditional layer normalisation, distances and regions, an MLP.

    The vector of pair (i, j) is `gelu(W [v; d; t])`, where `v = gain(h_i) * normalised(h_j) +
    bias(h_i)`, and `d` and `t` are the embeddings of the distance and of the region. `W` is applied
    to the three parts separately, because the last two are the same for all sentences.

    Args:
        size: The size of the vectors of words.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size, elementwise_affine=False)
        self.gain = nn.Linear(size, size)
        self.bias = nn.Linear(size, size)
        nn.init.zeros_(self.gain.weight)
        nn.init.ones_(self.gain.bias)
        nn.init.zeros_(self.bias.weight)
        nn.init.zeros_(self.bias.bias)
        self.distances = nn.Embedding(2 * BUCKETS + 1, EMBEDDING_SIZE)
        self.regions = nn.Embedding(2, EMBEDDING_SIZE)
        self.dropout = nn.Dropout(GRID_DROPOUT)
        self.of_words = nn.Linear(size, GRID_SIZE)
        self.of_offsets = nn.Linear(2 * EMBEDDING_SIZE, GRID_SIZE, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        """Return the vectors of word pairs, from (batch, words, size) to (batch, words, words, …).

        Dropout removes channels, in all pairs of a sentence.
        """
        gain, bias = self.gain(words), self.bias(words)
        kept = self.dropout(gain.new_ones(len(gain), 1, gain.shape[2]))
        gain, bias = (gain * kept)[:, :, None], (bias * kept)[:, :, None]
        normalised = self.norm(words).to(gain.dtype)[:, None]
        # (batch, words, words, size)
        pairs = torch.addcmul(bias, normalised, gain)
        return functional.gelu(self.of_words(pairs) + self.of_offsets(self._offsets(words)))

    def _offsets(self, words: Tensor) -> Tensor:
        """Return the embeddings of distances and regions, (words, words, 2 * EMBEDDING_SIZE)."""
        number = torch.arange(words.shape[1], device=words.device)
        offset = number - number[:, None]
        both = torch.cat([self.distances(bucket(offset)), self.regions((offset > 0).long())], -1)
        found: Tensor = self.dropout(both)
        return found


def bucket(offset: Tensor) -> Tensor:
    """Return the numbers of the buckets of distances, from 0 to `2 * BUCKETS`.

    Example:
        >>> bucket(torch.tensor([0, 1, 2, 3, 4, 500, -1, -3])).tolist()
        [0, 1, 2, 2, 3, 9, 10, 11]
    """
    limits = 2 ** torch.arange(BUCKETS, device=offset.device)
    found = torch.bucketize(offset.abs(), limits, right=True)
    return found + BUCKETS * (offset < 0)


class Biaffine(nn.Module):
    """The biaffine predictor: scores of cells, directly from the vectors of words.

    Args:
        size: The size of the vectors of words.
        classes: The number of classes of a cell.
    """

    def __init__(self, size: int, classes: int) -> None:
        super().__init__()

        def layer() -> nn.Sequential:
            return nn.Sequential(
                nn.Dropout(OUTPUT_DROPOUT), nn.Linear(size, BIAFFINE_SIZE), nn.GELU()
            )

        self.row, self.column = layer(), layer()
        # The one more is for what the scores have of one word alone, and for a bias.
        self.weight = nn.Parameter(torch.zeros(classes, BIAFFINE_SIZE + 1, BIAFFINE_SIZE + 1))

    def forward(self, words: Tensor) -> Tensor:
        """Return scores, from (batch, words, size) to (batch, words, words, classes)."""
        rows = functional.pad(self.row(words), (0, 1), value=1.0)
        columns = functional.pad(self.column(words), (0, 1), value=1.0)
        return torch.einsum("bix,cxy,bjy->bijc", rows, self.weight, columns)


def half_precision(device: torch.device, wanted: bool = True) -> torch.autocast:
    """Return a context that computes in bfloat16 on a GPU, if that is wanted."""
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted and device.type == "cuda")


def cell_mask(lengths: Tensor, words: int) -> Tensor:
    """Return which cells are not padding, (batch, words, words)."""
    there = torch.arange(words, device=lengths.device) < lengths[:, None]
    return there[:, :, None] & there[:, None]


# Training and prediction


class Trained(NamedTuple):
    """A trained grid model.

    Attributes:
        model: The model, with the weights of its best epoch.
        tokenizer: Its tokenizer.
        dev: The figures of that epoch on development data: precision, recall, F1 and counts of
            three slices.
        best_epoch: Its number, from 1.
        losses: The mean loss of each epoch.
        seconds: The time of training, with the evaluation of epochs.
    """

    model: GridModel
    tokenizer: WordTokenizer
    dev: dict[str, dict[str, float]]
    best_epoch: int
    losses: list[float]
    seconds: float


def fit_grid(
    encoder: str,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    labels: Sequence[str],
    *,
    seed: int = 1,
    epochs: int = 10,
    batch_size: int = 12,
    learning_rate: float = 1e-5,
) -> Trained:
    """Train a grid model.

    Args:
        encoder: The folder of a Hugging Face encoder.
        train: The sentences to learn from.
        dev: The sentences that the best epoch is chosen on.
        labels: The labels of mentions.
        seed: Decides the first weights, the order of sentences, and dropout.
        epochs: The number of epochs.
        batch_size: Sentences per batch.
        learning_rate: The rate of the encoder.

    Raises:
        ModelError: The encoder cannot be loaded.
        ValueError: A training sentence has a label that is not among the labels, or the encoder
            takes none of the training sentences.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    parts = Network.from_encoder(encoder, ModelConfig(Scheme(tuple(labels))))
    speed_up(parts.encoder)
    tokenizer = parts.tokenizer
    model = GridModel(parts.encoder, FIRST_LABEL + len(labels)).to(device)
    encoded = encode(tokenizer, train)
    print_long(encoded, "train", "they are not trained on")
    if not len(encoded.fitting):
        raise ValueError("there are no training sentences that the encoder takes")
    cells = [make_cells(each.mentions, labels) for each in train]
    steps = -(-len(encoded.fitting) // batch_size) * epochs
    optimizer = make_optimizer(model, learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: rate_at(step, round(WARMUP * steps), steps)
    )
    best_epoch, best_figures, best_weights = 0, {"all": {"f1": -1.0}}, {}
    losses = []
    start = time.perf_counter()
    for epoch in range(epochs):
        with trainable_attention():
            loss = train_epoch(model, encoded, cells, optimizer, schedule, batch_size, seed, epoch)
        losses.append(loss)
        figures = to_dict(score(dev, predict(model, tokenizer, dev, labels)))
        print(f"epoch {epoch + 1}: loss {loss:.5f}, F1 {100 * figures['all']['f1']:.2f}")
        if figures["all"]["f1"] > best_figures["all"]["f1"]:
            best_epoch, best_figures = epoch + 1, figures
            best_weights = {name: each.clone() for name, each in model.state_dict().items()}
    seconds = time.perf_counter() - start
    model.load_state_dict(best_weights)
    return Trained(model, tokenizer, best_figures, best_epoch, losses, seconds)


def train_grid(
    encoder: str,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    test: Sequence[Sentence],
    labels: Sequence[str],
    **settings: Any,
) -> dict[str, Any]:
    """Train a grid model, and evaluate its best epoch on test data.

    The arguments are those of `fit_grid`.

    Returns:
        `dev`, `best_epoch`, `losses` and `seconds`, as in `Trained`; `test`: the figures on test
        data; `predictions`: the mentions of each test sentence.
    """
    done = fit_grid(encoder, train, dev, labels, **settings)
    predictions = predict(done.model, done.tokenizer, test, labels)
    for name, sentences in (("dev", dev), ("test", test)):
        print_long(encode(done.tokenizer, sentences), name, "nothing is predicted for them")
    return {
        "dev": done.dev,
        "test": to_dict(score(test, predictions)),
        "best_epoch": done.best_epoch,
        "seconds": done.seconds,
        "losses": done.losses,
        "predictions": predictions,
    }


def make_optimizer(model: GridModel, learning_rate: float) -> torch.optim.AdamW:
    """Return AdamW with two learning rates; biases and layer normalisations do not decay."""
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, each in model.named_parameters():
        rate = learning_rate if name.startswith("encoder.") else HEAD_LEARNING_RATE
        groups.setdefault((rate, WEIGHT_DECAY if each.dim() > 1 else 0.0), []).append(each)
    return torch.optim.AdamW(
        [
            {"params": parameters, "lr": rate, "weight_decay": decay}
            for (rate, decay), parameters in groups.items()
        ],
        fused=True,
    )


def rate_at(step: int, warmup: int, steps: int) -> float:
    """Return the share of the learning rate at a step: a linear rise, then a linear fall to 0.

    Example:
        >>> [rate_at(step, 2, 6) for step in range(7)]
        [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    return min((step + 1) / max(1, warmup), (steps - step) / max(1, steps - warmup))


def train_epoch(
    model: GridModel,
    encoded: Encoded,
    cells: Sequence[Cells],
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    batch_size: int,
    seed: int,
    epoch: int,
) -> float:
    """Train on all sentences once, and return the mean loss of the batches."""
    device = next(model.parameters()).device
    lengths = encoded.sentences.lengths
    model.train()
    batches = plan(len(encoded.fitting), batch_size, seed, epoch)
    total = torch.zeros((), device=device)
    for chosen in batches:
        numbers = longest_first(encoded.fitting[chosen], lengths)
        batch = make_batch(encoded, numbers, cells, pin=device.type == "cuda").to(device)
        loss = model.loss(**batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        total += loss.detach()  # the host would wait for the GPU if it read the loss here
    return float(total) / len(batches)


def predict(
    model: GridModel, tokenizer: WordTokenizer, sentences: Sequence[Sentence], labels: Sequence[str]
) -> list[list[Mention]]:
    """Return the mentions of each sentence, sorted."""
    device = next(model.parameters()).device
    model.eval()
    encoded = encode(tokenizer, sentences)
    lengths = encoded.sentences.lengths
    found: list[list[Mention]] = [[] for _ in sentences]
    waiting: deque[tuple[Indices, Tensor, Any]] = deque()

    def finish() -> None:
        numbers, grids, done = waiting.popleft()
        if done is not None:
            done.synchronize()
        for number, cells in zip(numbers, split_cells(grids.numpy()), strict=True):
            if len(cells.rows):
                found[number] = find_mentions(cells, labels)

    for numbers in cut(longest_first(encoded.fitting, lengths), lengths, device):
        batch = make_batch(encoded, numbers, pin=device.type == "cuda").to(device)
        waiting.append((numbers, *launch(model, batch)))
        if len(waiting) == DEPTH:
            finish()
    while waiting:
        finish()
    return found


@torch.inference_mode()
def launch(model: GridModel, batch: dict[str, Any]) -> tuple[Tensor, torch.cuda.Event | None]:
    """Begin to classify the cells of a batch.

    Returns:
        The grids, in the memory of the host, and the event after which they are complete, or None
        if they are complete already.

    The grids have 2 bytes per cell, so copying all cells takes less time than waiting for the
    number of those that are not `NONE`.
    """
    grids = model.classify(**batch)
    if grids.device.type == "cpu":
        return grids, None
    copy = grids.to("cpu", non_blocking=True)
    done = torch.cuda.Event()
    done.record()
    return copy, done


def split_cells(grids: Grids) -> Iterator[Cells]:
    """Yield the cells of each grid that are not `NONE`."""
    places, rows, columns = np.nonzero(grids != NONE)
    classes = grids[places, rows, columns].astype(np.int64)
    bounds = np.searchsorted(places, np.arange(len(grids) + 1))
    for first, last in pairwise(bounds):
        yield Cells(rows[first:last], columns[first:last], classes[first:last])


def main() -> None:
    """Read the corpora, train, and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--encoder", required=True, help="a folder, or a name on the hub")
    for name in ("train", "dev", "test"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="a corpus")
    parser.add_argument("--labels", nargs="*", default=(), help="those to learn; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=12)
    parser.add_argument("--learning-rate", type=float, default=1e-5, help="of the encoder")
    parser.add_argument("--out", type=Path, required=True, help="the file of the result")
    given = parser.parse_args()
    train, dev, test = (
        read_sentences(path, given.labels) for path in (given.train, given.dev, given.test)
    )
    result = train_grid(
        given.encoder,
        train,
        dev,
        test,
        given.labels or find_labels(train),
        seed=given.seed,
        epochs=given.epochs,
        batch_size=given.batch_size,
        learning_rate=given.learning_rate,
    )
    result["predictions"] = [[each.to_dict() for each in found] for found in result["predictions"]]
    given.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(
        f"test F1 {100 * result['test']['all']['f1']:.2f}, "
        f"discontinuous {100 * result['test']['discontinuous']['f1']:.2f}"
    )


if __name__ == "__main__":
    main()
