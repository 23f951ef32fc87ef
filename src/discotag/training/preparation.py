"""The data of a training, from the files it reads to the sentences it learns from."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from discotag.counts import counted
from discotag.errors import InputError
from discotag.mentions import Document, Sentence
from discotag.model.config import ModelConfig
from discotag.scheme import Scheme
from discotag.scheme.tags import SLOT_NAMES
from discotag.training.augment import augment
from discotag.training.batching import Taught
from discotag.training.data import (
    MOST_WORDS,
    LeftOut,
    balanced,
    find_labels,
    fitting,
    read_documents,
    read_lexicon,
    read_unlabelled,
    sentences_of,
)
from discotag.training.folding import can_be_folded, fold
from discotag.training.separating import count_coordinations, number_to_add, separate
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from discotag.training.teachers import teach

if TYPE_CHECKING:
    from discotag.corpora import Problem

_logger = logging.getLogger(__name__)


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
        dev: The documents of the development data, complete.
        test: The sentences of the test data, complete, or None.
        unlabelled: Sentences on which only teachers are learned from.
        teacher: What the teachers say about the sentences to train on, then about the unlabelled
            ones; None without teachers.
    """

    chosen: Chosen
    dev: list[Document]
    test: list[Sentence] | None
    unlabelled: list[Sentence] = field(default_factory=list)
    teacher: list[Taught] | None = None


def prepare(
    sources: Sources,
    settings: Settings,
    continued: ModelConfig | None = None,
    report_problem: Callable[[Problem], None] | None = None,
) -> Data:
    """Read the corpora, and choose the sentences to train on.

    Args:
        sources: The files.
        settings: The settings.
        continued: The configuration of the model to continue from.
        report_problem: Is called with each problem in a corpus; by default, errors are raised.

    Raises:
        InputError: A corpus cannot be read or has no mention to learn, or no sentence fits the
            scheme.
    """
    scheme = None if continued is None else continued.scheme
    known = () if scheme is None else scheme.labels

    def read(path: Path) -> list[Document]:
        return read_documents(path, settings.labels, known, settings.splitter, report_problem)

    train = sentences_of(read(sources.train))
    labels = find_labels(train)
    if not labels:
        _refuse_without_mentions(sources.train, settings.labels, "nothing can be learned from it")
    if absent := [each for each in settings.labels if each not in labels]:
        _logger.warning("%s: has no mention of %s", sources.train, ", ".join(absent))
    try:
        chosen = choose(train, settings, scheme)
    except InputError as error:
        raise InputError(f"{sources.train}: {error}") from None
    if notice := left_out_notice(train, chosen, can_change=scheme is None):
        _logger.warning("%s: %s", sources.train, notice)
    dev = read(sources.dev)
    learned = chosen.scheme.labels
    if not set(learned).intersection(find_labels(sentences_of(dev))):
        _refuse_without_mentions(sources.dev, learned, "no epoch can be chosen on it")
    test = None if sources.test is None else sentences_of(read(sources.test))
    return Data(chosen, dev, test)


def _refuse_without_mentions(path: Path, wanted: Sequence[str], consequence: str) -> NoReturn:
    """Raise `InputError` that says which mentions a corpus lacks, and which labels it has."""
    # Its problems were reported when it was read before.
    found = find_labels(sentences_of(read_documents(path, report_problem=lambda _: None)))
    if found:
        lacks, advice = f"mention of {', '.join(wanted)}", f"its labels are {', '.join(found)}"
    else:
        lacks, advice = "mentions", "give a corpus with mentions"
    raise InputError(f"{path}: it has no {lacks}, so {consequence}; {advice}")


def left_out_notice(sentences: Sequence[Sentence], chosen: Chosen, *, can_change: bool) -> str:
    """Return which sentences with mentions are not trained on, and what would keep them.

    Args:
        sentences: The sentences of the training data.
        chosen: Those that were chosen.
        can_change: Whether the scheme and the labels could be others.

    Returns:
        A line, or nothing if no sentence with mentions is left out.

    Example:
        >>> from discotag import Mention
        >>> words = "sore feet and toes".split()
        >>> feet = Sentence(words, [Mention("ADR", [(0, 2)]), Mention("ADR", [(0, 1), (3, 4)])])
        >>> scheme = Scheme(("ADR",), slots=0)
        >>> chosen = Chosen(scheme, *fitting([feet], scheme), 0)
        >>> print(left_out_notice([feet], chosen, can_change=True))
        1 of 1 sentence with mentions is left out (too_many_slots 1); --slots 2 would keep 1 of them
    """
    lost = [each for each in chosen.left_out if each.sentence.mentions]
    if not lost:
        return ""
    counts = Counter(reason for each in lost for reason in each.reasons)
    listed = ", ".join(f"{name} {number}" for name, number in counts.most_common())
    whole = counted(sum(bool(each.mentions) for each in sentences), "sentence", "sentences")
    verb = "is" if len(lost) == 1 else "are"
    notice = f"{len(lost)} of {whole} with mentions {verb} left out ({listed})"
    remedies = _remedies(lost, chosen.scheme) if can_change else []
    return "; ".join([notice, *(f"{how} would keep {number} of them" for how, number in remedies)])


def _remedies(lost: Sequence[LeftOut], scheme: Scheme) -> Iterator[tuple[str, int]]:
    """Yield other options of a training, and how many of the sentences each would keep."""
    most = 0
    for gap_mentions in sorted({scheme.gap_mentions, True}):
        for slots in range(max(2, scheme.slots), len(SLOT_NAMES) + 1):
            other = replace(scheme, slots=slots, gap_mentions=gap_mentions)
            kept = sum(_fits(each.sentence, other) for each in lost)
            if kept > most:
                most = kept
                options = [f"--slots {slots}"] if slots != scheme.slots else []
                options += ["--gap-mentions"] if gap_mentions != scheme.gap_mentions else []
                yield " ".join(options), kept
    alone = sum(
        all(_fits(each.sentence, scheme, label) for label in scheme.labels) for each in lost
    )
    if len(scheme.labels) > 1 and alone:
        yield "a model for each label (--labels)", alone


def _fits(sentence: Sentence, scheme: Scheme, label: str | None = None) -> bool:
    """Return whether a scheme can represent the mentions of a sentence, or those of a label."""
    mentions = [each for each in sentence.mentions if label in (None, each.label)]
    length = len(sentence.words)
    return 0 < length <= MOST_WORDS and not scheme.problems(length, mentions)


def choose(
    sentences: Sequence[Sentence], settings: Settings, scheme: Scheme | None = None
) -> Chosen:
    """Choose the sentences to train on, and add new ones where settings ask for augmentation.

    Args:
        sentences: The sentences of the training data, at least one of them with a mention.
        settings: The settings.
        scheme: The scheme of the model to continue from; by default that of the settings, with
            the labels of the sentences.

    Raises:
        InputError: No sentence with a mention fits.
    """
    can_have_more_slots = scheme is None and settings.slots < len(SLOT_NAMES)
    if scheme is None:
        scheme = settings.scheme(settings.labels or find_labels(sentences))
    kept, left_out = fitting(sentences, scheme)
    if not any(each.mentions for each in kept):
        reasons = Counter(
            reason for each in left_out if each.sentence.mentions for reason in each.reasons
        )
        if set(reasons) == {"too_long"}:
            raise InputError(
                f"all sentences with a mention have more than {MOST_WORDS:,} words, which is too "
                "long to train on; split them into sentences"
            )
        listed = ", ".join(f"{name} {number}" for name, number in reasons.items())
        more = can_have_more_slots and "too_many_slots" in reasons
        advice = "use more slots" if more else "see discotag corpus check"
        raise InputError(f"no sentence with a mention fits the scheme ({listed}); {advice}")
    kept = balanced(kept, settings.without_mentions, settings.seed)
    new: list[Sentence] = []
    if settings.augment:
        lexicon = read_lexicon(settings.lexicon)
        new += augment(kept, scheme, settings.augment, settings.seed, lexicon)
    if settings.fold and can_be_folded(kept):
        folded = fold(kept, scheme, settings.fold, settings.seed)
        counts = (count_coordinations(each, scheme) for each in (kept, folded))
        number = round(settings.separate * number_to_add(*counts))
        new += [*folded, *separate(kept, scheme, number, settings.seed)]
    return Chosen(scheme, [*kept, *new], left_out, len(new))


def ask_teachers(
    data: Data,
    sources: Sources,
    settings: Settings,
    report_problem: Callable[[Problem], None] | None = None,
) -> Data:
    """Return the data with what the teachers say about them; the same data without teachers.

    Args:
        data: What `prepare` has returned for the same sources and settings.
        sources: The files.
        settings: The settings.
        report_problem: As in `prepare`.

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
        found = read_unlabelled(path, settings.splitter, report_problem)
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
