"""The trainings of `accuracy.py`: corpora x encoders x variants x seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from discotag.described import describe
from discotag.training.settings import Settings, SettingsError, make_settings


@dataclass(frozen=True)
class Corpus:
    """How a corpus is trained on.

    Attributes:
        title: Its name in tables.
        labels: The labels to learn; empty: all.
        without_mentions: The number of sentences without mentions per sentence with mentions;
            negative: all of them.
        epochs: The share of a variant's epochs to train.
    """

    title: str
    labels: tuple[str, ...] = ()
    without_mentions: float = 1.0
    epochs: float = 1.0


CORPORA: Final = {
    "psytar": Corpus("PsyTAR ADR", ("ADR",), without_mentions=-1.0),
    "craft-cl": Corpus("CRAFT CL"),
    # These have twice as many sentences with mentions as the others, so half of the epochs make as
    # many steps. Otherwise, 20 epochs of several trainings that share a GPU take over ten minutes.
    "craft-go_bp": Corpus("CRAFT GO_BP", epochs=0.5),
    "craft-uberon": Corpus("CRAFT UBERON", epochs=0.5),
}

ENCODERS: Final = {"minilm": "MiniLM", "mpnet": "MPNet"}
"""Names of encoders in tables."""

PUBLISHED_RATE: Final = 1e-5
"""The learning rate of the paper and of W2NER, for encoders of base size."""

PUBLISHED_RATES: Final = {"minilm": 1e-4}
"""Encoders for which `PUBLISHED_RATE` is far too low."""


@dataclass(frozen=True)
class Variant:
    """A way to train a model.

    Attributes:
        title: Its name in tables.
        settings: Settings that differ from the preset; of a grid model, arguments of `train_grid`.
        preset: The preset of discotag.
        grid: Whether this is the grid model of `grid_model.py`. It is trained on the sentences that
            `best` is trained on.
        published: Whether the learning rate is the published one, not the one of the encoder.
        fold: Whether a grid model is trained on the folded sentences of `best`, too.
    """

    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: str = "best"
    grid: bool = False
    published: bool = False
    fold: bool = True


TWO_SLOTS: Final = {"slots": 2, "gap_mentions": False}
NO_SCORER: Final = {"mention_scorer": 0}
NO_WEIGHT: Final = {"discontinuous_weight": 1.0}
NO_FOLDING: Final = {"fold": 0.0}
NO_SEPARATE: Final = {"separate": 0.0}
NO_ADVERSARIAL: Final = {"adversarial": 0.0}
PLAIN: Final = TWO_SLOTS | NO_SCORER | NO_WEIGHT | NO_FOLDING

VARIANTS: Final = {
    "best": Variant("best"),
    "plain": Variant("plain tagger, recipe of best", PLAIN),
    "grid": Variant("grid model", grid=True, published=True),
    "paper": Variant("paper", preset="paper", published=True),
    "no_adversarial": Variant("best, not adversarial", NO_ADVERSARIAL),
    "plain_no_adversarial": Variant("plain tagger, not adversarial", PLAIN | NO_ADVERSARIAL),
    "best_epoch": Variant("best, best epoch on development data", {"epoch_tolerance": 0.0}),
    "two_slots": Variant("best, 2 slots, no gap mentions", TWO_SLOTS),
    "no_scorer": Variant("best, no mention scorer", NO_SCORER),
    "no_weight": Variant("best, no weight of discontinuous", NO_WEIGHT),
    "soft_em": Variant("best, soft EM", {"objective": "soft_em"}),
    "no_fold": Variant("best, no folding", NO_FOLDING),
    "no_separate": Variant("best, no separate coordinations", NO_SEPARATE),
    "fold_1": Variant("best, twice as much folding", {"fold": 1.0}),
    "rate_1e-5": Variant("best, encoder's rate 1e-5", {"learning_rate": 1e-5}),
    "rate_5e-5": Variant("best, encoder's rate 5e-5", {"learning_rate": 5e-5}),
    "head_1e-4": Variant("best, head's rate 1e-4", {"head_learning_rate": 1e-4}),
    "head_3e-3": Variant("best, head's rate 3e-3", {"head_learning_rate": 3e-3}),
    "epochs_20": Variant("best, twice the epochs", {"num_train_epochs": 20}),
    "batch_16": Variant("best, batches of 16", {"batch_size": 16}),
    "grid_no_fold": Variant("grid model, no folding", grid=True, published=True, fold=False),
    "grid_3e-5": Variant("grid model, encoder's rate 3e-5", {"learning_rate": 3e-5}, grid=True),
}

COMPARED: Final = {
    "best": ("plain", "grid", "paper", "no_adversarial", "best_epoch", "scorer_twice"),
    "plain": (),
    "grid": ("plain_no_adversarial",),
    "paper": ("plain_no_adversarial",),
    "no_adversarial": ("plain_no_adversarial", "grid", "paper"),
    "plain_no_adversarial": (),
    "best_epoch": ("scorer_twice",),
    "scorer_twice": ("plain", "no_adversarial"),
}
"""The variants that a variant is compared with. `scorer_twice` is an earlier `best`, whose mention
scorer learned in both passes; it cannot be trained any more, but its predictions were kept."""

COMPARED_BY_DEFAULT: Final = ("plain", "best")
"""Those that the ablations are compared with."""


@dataclass(frozen=True)
class Encoder:
    """An encoder, as given on the command line.

    Attributes:
        name: Its name in the names of trainings.
        folder: Its folder.
        rate: Its learning rate in the variants of the preset `best`.
    """

    name: str
    folder: str
    rate: float

    @classmethod
    def parse(cls, text: str) -> Encoder:
        """Return the encoder of a text `NAME=FOLDER=RATE`; `argparse` reports a `ValueError`."""
        name, folder, rate = text.split("=")
        return cls(name, folder, float(rate))


@dataclass(frozen=True)
class Job:
    """One training."""

    corpus: str
    encoder: str
    variant: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.system}.{self.seed}"

    @property
    def system(self) -> str:
        return f"{self.corpus}.{self.encoder}.{self.variant}"


def plan_jobs(encoders: list[str], seeds: int) -> list[Job]:
    """Return all trainings, the most important first.

    Args:
        encoders: Their names; the first is for screening, the last for the main comparison.
        seeds: The number of trainings of each system.

    Example:
        >>> [job.name for job in plan_jobs(["minilm", "mpnet"], 5)[:2]]
        ['psytar.mpnet.best.1', 'psytar.mpnet.plain.1']
    """
    small, large = encoders[0], encoders[-1]
    main, ablations = list(VARIANTS)[:4], list(VARIANTS)[4:]
    targets = list(CORPORA)[:3]
    groups = [
        ([large], targets, ["best", "plain"]),
        ([large], targets, ["grid", "paper"]),
        ([small], targets[:2], ["best", "plain"]),
        ([small], targets[:2], ablations),
        ([large], targets, ablations),
        (encoders, list(CORPORA), main),
        (encoders, list(CORPORA), ablations),
    ]
    jobs = [
        Job(corpus, encoder, variant, seed)
        for some_encoders, corpora, variants in groups
        for seed in range(1, seeds + 1)
        for encoder in some_encoders
        for corpus in corpora
        for variant in variants
    ]
    return list(dict.fromkeys(jobs))


def published_rate(encoder: str) -> float:
    """Return the learning rate of published recipes for an encoder."""
    return PUBLISHED_RATES.get(encoder, PUBLISHED_RATE)


def settings_of(job: Job, encoder: Encoder, epochs: int | None = None) -> Settings:
    """Return the settings of a training; for a grid model, those of `best`.

    Args:
        job: The training.
        encoder: Its encoder.
        epochs: The number of epochs; by default, that of the variant and the corpus.

    Raises:
        SettingsError: The variant has a setting that discotag does not have.
    """
    variant, corpus = VARIANTS[job.variant], CORPORA[job.corpus]
    changes = dict(variant.settings)
    if variant.grid:
        changes = {} if variant.fold else dict(NO_FOLDING)
    unknown = sorted(set(changes) - set(describe(Settings)))
    if unknown:
        raise SettingsError(
            f"the variant {job.variant} needs settings that this version of discotag does not "
            f"have: {', '.join(unknown)}"
        )
    rates = {"learning_rate": encoder.rate}
    if variant.published and not variant.grid:
        rates = dict.fromkeys(("learning_rate", "head_learning_rate"), published_rate(job.encoder))
    given = {
        "encoder": encoder.folder,
        "seed": job.seed,
        "labels": corpus.labels,
        "without_mentions": corpus.without_mentions,
    }
    settings = make_settings(None, given | rates | changes, variant.preset)
    wanted = epochs or max(1, round(corpus.epochs * settings.num_train_epochs))
    return replace(settings, num_train_epochs=wanted)
