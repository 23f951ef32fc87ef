"""The data of a training, from the files it reads to the sentences it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from discotag.errors import InputError
from discotag.mentions import Sentence
from discotag.model.config import ModelConfig
from discotag.scheme import Scheme
from discotag.training.augment import augment
from discotag.training.batching import Lesson
from discotag.training.data import (
    MOST_WORDS,
    LeftOut,
    balanced,
    find_labels,
    fitting,
    read_lexicon,
    read_sentences,
)
from discotag.training.folding import can_be_folded, fold
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from discotag.training.teachers import teach


@dataclass(frozen=True)
class Chosen:
    """The sentences to train on.

    Attributes:
        scheme: The scheme, with the labels of the sentences.
        train: The sentences.
        left_out: Sentences that are not trained on, because they do not fit or are too long.
        augmented: The number of sentences that augmentation has added.
    """

    scheme: Scheme
    train: list[Sentence]
    left_out: list[LeftOut]
    augmented: int


@dataclass(frozen=True)
class Data:
    """Everything that a training learns from or is evaluated on.

    Attributes:
        chosen: The sentences to train on.
        dev: Development data, complete.
        test: Test data, complete, or None.
        unlabelled: Sentences on which only teachers are learned from.
        teacher: What the teachers say about the sentences to train on, then about the unlabelled
            ones; None without teachers.
    """

    chosen: Chosen
    dev: list[Sentence]
    test: list[Sentence] | None
    unlabelled: list[Sentence] = field(default_factory=list)
    teacher: list[Lesson] | None = None


def prepare(sources: Sources, settings: Settings, continued: ModelConfig | None = None) -> Data:
    """Read the corpora, and choose the sentences to train on.

    Args:
        sources: The files.
        settings: The settings.
        continued: The configuration of the model to continue from.

    Raises:
        InputError: A corpus cannot be read or has no mention to learn, or no sentence fits the
            scheme.
    """
    scheme = None if continued is None else continued.scheme
    known = () if scheme is None else scheme.labels
    chosen = choose(read_sentences(sources.train, settings.labels, known), settings, scheme)
    dev = read_sentences(sources.dev, settings.labels, known)
    learned = chosen.scheme.labels
    if not any(mention.label in learned for each in dev for mention in each.mentions):
        raise InputError(
            f"{sources.dev}: it has no mention of {', '.join(learned)}, so the best epoch cannot "
            "be chosen on it"
        )
    test = None
    if sources.test is not None:
        test = read_sentences(sources.test, settings.labels, known)
    return Data(chosen, dev, test)


def choose(
    sentences: Sequence[Sentence], settings: Settings, scheme: Scheme | None = None
) -> Chosen:
    """Choose the sentences to train on, and add new ones where settings ask for augmentation.

    Args:
        sentences: The sentences of the training data.
        settings: The settings.
        scheme: The scheme of the model to continue from; by default that of the settings, with
            the labels of the sentences.

    Raises:
        InputError: There is no mention to learn from, or no sentence fits.
    """
    labels = settings.labels or find_labels(sentences)
    if not any(each.mentions for each in sentences):
        wanted = f" of the labels {', '.join(labels)}" if labels else ""
        raise InputError(f"the training data has no mention{wanted}: nothing can be learned")
    if scheme is None:
        scheme = settings.scheme(labels)
    kept, left_out = fitting(sentences, scheme)
    if not any(each.mentions for each in kept):
        if all("too_long" in each.reasons for each in left_out if each.sentence.mentions):
            raise InputError(
                f"all sentences with a mention have more than {MOST_WORDS:,} words, which is too "
                "long to train on; split them into sentences"
            )
        raise InputError("no sentence with a mention fits the scheme; use more slots")
    kept = balanced(kept, settings.without_mentions, settings.seed)
    new: list[Sentence] = []
    if settings.augment:
        lexicon = read_lexicon(settings.lexicon)
        new += augment(kept, scheme, settings.augment, settings.seed, lexicon)
    if settings.fold and can_be_folded(kept):
        new += fold(kept, scheme, settings.fold, settings.seed)
    return Chosen(scheme, [*kept, *new], left_out, len(new))


def ask_teachers(data: Data, sources: Sources, settings: Settings) -> Data:
    """Return the data with what the teachers say about them; the same data without teachers.

    Raises:
        InputError: A teacher or a text cannot be used.
    """
    if not sources.teachers:
        if sources.unlabelled:
            raise InputError("unlabelled text needs a teacher; give one with --teachers")
        return data
    if settings.arc_weights:
        raise InputError(
            "a network with arc weights cannot learn from teachers; leave out --arc-weights"
        )
    unlabelled: list[Sentence] = []
    for path in sources.unlabelled:
        found = [Sentence(each.words) for each in read_sentences(path) if each.words]
        longest = max(len(each.words) for each in found)
        if longest > MOST_WORDS:
            raise InputError(
                f"{path}: has a sentence of {longest:,} words, but only sentences of up to "
                f"{MOST_WORDS:,} words can be trained on; split it"
            )
        unlabelled += found
    teacher = teach(
        sources.teachers,
        [*data.chosen.train, *unlabelled],
        data.chosen.scheme,
        mentions=bool(settings.mention_scorer),
    )
    return replace(data, unlabelled=unlabelled, teacher=teacher)
