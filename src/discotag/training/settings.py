"""The settings of a training: names, types, defaults, bounds and help texts, each written once.

The options of `discotag train` are generated from the fields of `Settings`, and the keys of a
settings file are their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, cast, get_args

from discotag.described import check_fields, describe, described, plain
from discotag.errors import DiscotagError, InputError, one_line
from discotag.extras import how_to_install
from discotag.model.config import LEAST_WINDOW, MOST_HIDDEN, MOST_WINDOW, ModelConfig
from discotag.model.files import find_model, read_config
from discotag.model.objectives import Objective
from discotag.scheme import NAMINGS, Scheme
from discotag.words import LANGUAGE, Splitter, Words

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "best": {},
    "paper": {
        "num_train_epochs": 20,
        "learning_rate": 1e-5,
        "head_learning_rate": 1e-5,
        "dropout": 0.5,
        "mention_scorer": 0,
        "discontinuous_weight": 1.0,
        "adversarial": 0.0,
        "epoch_tolerance": 0.0,
        "fold": 0.0,
        "slots": 2,
        "gap_mentions": False,
    },
}
"""Named sets of settings; those that a set does not have are as in `best`, the defaults."""

DEFAULT_ENCODER: Final = "microsoft/deberta-v3-base"
"""The encoder of the paper."""

CONTINUED: Final = ("slots", "naming", "gap_mentions", "arc_weights", "mention_scorer")
"""Settings that must be as in the model that a training continues."""

LEARNING, SCHEME, DATA, TEACHERS = "Learning", "Scheme", "Data", "Learning from other models"
"""Groups of settings, as `discotag train --help` shows them."""


class SettingsError(InputError):
    """A setting that does not exist, or a value that it cannot have."""


class Precision(StrEnum):
    """The type of numbers to compute with; AUTO is bf16 on a GPU that supports it."""

    AUTO = "auto"
    BF16 = "bf16"
    FLOAT32 = "float32"


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result of a training, except the data.

    The defaults are the preset `best`, which was chosen by `benchmarks/accuracy.py`. The preset
    `paper` has the settings of the paper, appendix "Training details"; it does not state a batch
    size. `make_settings` takes the name of a preset. Names are those of Hugging Face's
    `TrainingArguments` where it has the same setting.
    `describe` tells what each setting does.

    Raises:
        SettingsError: A value has the wrong type, or is out of range.

    Example:
        >>> Settings(objective="soft_em").scheme(["ADR"]).naming
        'semantic'
    """

    encoder: str = described(
        "",
        "The pretrained encoder: a folder or a name on the hub.",
        default_text=DEFAULT_ENCODER,
    )
    from_model: str = described(
        "",
        "A discotag model to continue from, instead of an encoder: a folder, a name on the hub, or "
        "'bundled' for the model that comes with discotag. Its encoder, scheme and linear layer "
        "are used.",
        default_text="none",
    )
    objective: Objective = described(  # noqa: RUF009
        Objective.NLL, "The loss on the gold mentions.", group=LEARNING
    )
    num_train_epochs: int = described(10, "The number of epochs.", group=LEARNING, least=1)
    learning_rate: float = described(
        3e-5, "The peak learning rate of the encoder.", group=LEARNING, least=1e-9, most=1
    )
    head_learning_rate: float = described(
        1e-3,
        "The peak learning rate of the layers on top of the encoder, which are not pretrained; "
        "with from_model, where they are, the default is learning_rate.",
        group=LEARNING,
        least=1e-9,
        most=1,
    )
    warmup_ratio: float = described(
        0.1,
        "The share of steps in which the learning rate rises; then it falls along a cosine.",
        group=LEARNING,
        least=0,
        most=1,
    )
    batch_size: int = described(
        32, "Sentences per step, over all processes.", group=LEARNING, least=1
    )
    dropout: float = described(
        0.3,
        "Dropout between the encoder and the linear layer.",
        group=LEARNING,
        least=0,
        most=0.99,
    )
    weight_decay: float = described(
        0.01, "The weight decay of all parameters.", group=LEARNING, least=0, most=1
    )
    max_grad_norm: float = described(
        1.0, "Gradients are clipped to this norm.", group=LEARNING, least=1e-6
    )
    seed: int = described(1, "The first seed.", group=LEARNING, least=0, most=2**31)
    num_seeds: int = described(
        1,
        "The number of trainings, with consecutive seeds; the best one is kept.",
        group=LEARNING,
        least=1,
        most=1000,
    )
    precision: Precision = described(  # noqa: RUF009
        Precision.AUTO,
        "The type of numbers to compute with; auto is bf16 on a GPU that supports it, otherwise "
        "float32.",
        group=LEARNING,
    )
    checkpoint_every: int = described(
        1, "The number of epochs between checkpoints.", group=LEARNING, least=1
    )
    report_to: tuple[str, ...] = described(
        (),
        "Another place to log to, such as wandb; may be repeated. TensorBoard is always logged to "
        "if it is installed.",
        group=LEARNING,
        default_text="none",
    )
    slots: int = described(
        3, "The number of component types, from 0 (plain BIO) to 4.", group=SCHEME
    )
    naming: str = described(
        "",
        "What slot names mean.",
        group=SCHEME,
        choices=NAMINGS,
        default_text="structural for nll, semantic for the others",
    )
    gap_mentions: bool = described(
        True, "Allow continuous mentions in gaps of others.", group=SCHEME
    )
    labels: tuple[str, ...] = described(
        (),
        "A label to learn; may be repeated. Mentions with other labels are left out.",
        group=SCHEME,
        default_text="all labels of the corpus",
    )
    arc_weights: bool = described(
        False, "Learn a weight for each arc of the grammar.", group=SCHEME
    )
    mention_scorer: int = described(
        384,
        "The size of the hidden layer of the mention scorer, which judges candidates for mentions "
        "one by one; 0: train without it.",
        group=LEARNING,
        least=0,
        most=MOST_HIDDEN,
    )
    discontinuous_weight: float = described(
        3.0,
        "The weight in the loss of sentences with discontinuous mentions; others have 1.",
        group=LEARNING,
        least=0,
        most=1000,
    )
    adversarial: float = described(
        0.18,
        "How far the embeddings of a sentence are moved towards a larger loss in a second pass of "
        "each step; 0: train without this pass, in half the time.",
        group=LEARNING,
        least=0,
        most=1000,
    )
    epoch_tolerance: float = described(
        1.0,
        "Keep the last epoch that is at most this many standard errors worse than the best one on "
        "the development data; 0: keep the best one.",
        group=LEARNING,
        least=0,
        most=1000,
    )
    without_mentions: float = described(
        -1.0,
        "The number of sentences without mentions to train on, for each sentence that has some; "
        "negative: all of them.",
        group=DATA,
        default_text="all of them",
    )
    words: str = described(
        "pattern",
        "How text is split into words, in corpora that do not have words; the model then splits "
        "text likewise.",
        group=DATA,
        choices=get_args(Words),
    )
    language: str = described(
        "",
        "The language of the text, a code such as de: its abbreviations do not end sentences.",
        group=DATA,
        default_text="not stated; text is split as in English",
    )
    augment: int = described(
        0,
        "The number of new sentences for each sentence with a mention set, made by swapping "
        "components.",
        group=DATA,
        least=0,
        most=100,
    )
    fold: float = described(
        0.5,
        "The number of new sentences for each sentence that allows it, made by folding mentions "
        "into coordinations or unfolding coordinations; for corpora in English with discontinuous "
        "mentions.",
        group=DATA,
        least=0,
        most=100,
    )
    separate: float = described(
        1.0,
        "How many sentences with separate coordinations are added beside folding; 1: as many as "
        "keep the proportion of separate and shared coordinations in the corpus, 0: none. Without "
        "folding, none are added.",
        group=DATA,
        least=0,
        most=100,
    )
    lexicon: str = described(
        "",
        "A file of body parts, for augmentation and the weakly supervised objectives.",
        group=DATA,
        default_text="body parts of WordNet",
    )
    window: int = described(
        512,
        "The number of subwords that the encoder reads at a time.",
        group=DATA,
        least=LEAST_WINDOW,
        most=MOST_WINDOW,
    )
    overlap: int = described(
        128,
        "The number of subwords that neighbouring windows share.",
        group=DATA,
        least=0,
        most=MOST_WINDOW // 2,
    )
    teacher_weight: float = described(
        0.5, "The share of the teachers in the loss.", group=TEACHERS, least=0, most=1
    )

    def __post_init__(self) -> None:
        check_fields(self, SettingsError)
        if not self.naming:
            object.__setattr__(self, "naming", "semantic" if self.latent else "structural")
        if self.from_model and self.encoder:
            raise SettingsError(
                f"from_model is {self.from_model!r}, which has an encoder; leave out encoder, "
                f"{self.encoder!r}"
            )
        if not self.from_model and not self.encoder:
            object.__setattr__(self, "encoder", DEFAULT_ENCODER)
        if self.latent and self.naming == "structural":
            raise SettingsError(
                f"{self.objective} finds the names of slots in training, so naming must be "
                "semantic; for structural naming use nll"
            )
        if not self.latent and self.naming == "semantic":
            raise SettingsError(
                "nll knows one naming of slots only, so naming must be structural; for semantic "
                "naming use soft_em or hard_em"
            )
        # Raises if there are too many slots, or windows overlap too much.
        ModelConfig(
            self.scheme(self.labels or ("label",)), window=self.window, overlap=self.overlap
        )

    @property
    def latent(self) -> bool:
        """Whether the names of slots are found in training."""
        return self.objective.uses_all_namings

    @property
    def splitter(self) -> Splitter:
        """What splits text into sentences and words."""
        return Splitter(words=cast(Words, self.words), language=self.language or LANGUAGE)

    def scheme(self, labels: list[str] | tuple[str, ...]) -> Scheme:
        """Return the scheme of these settings for the labels of a corpus."""
        return Scheme(tuple(labels), self.slots, self.naming, self.gap_mentions)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain data, as in a settings file."""
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)}


def make_settings(
    file: Path | None, options: Mapping[str, object], preset: str | None = None
) -> Settings:
    """Make settings from a preset, a YAML file and options.

    Options take precedence over the file, and the file over the preset. With a model to continue
    from, settings that neither options nor file give are as in that model, as far as it has them.

    Args:
        file: The YAML file, which may name a preset too, or None.
        options: Settings by name; None means that the option is not given.
        preset: One of `PRESETS`; by default, that of the file, or `best`.

    Raises:
        SettingsError: The file or the model cannot be read, or a setting is wrong.
    """
    given = {} if file is None else _from_yaml(file)
    named = given.pop("preset", "best")
    given |= {name: value for name, value in options.items() if value is not None}
    model = given.get("from_model")
    try:
        chosen = named if preset is None else preset
        if not isinstance(chosen, str) or chosen not in PRESETS:
            raise SettingsError(f"preset must be one of {', '.join(PRESETS)}; got {chosen!r}")
        base = PRESETS[chosen]
        if model and isinstance(model, str):
            # The layers on top of the encoder are trained already.
            same = {"head_learning_rate": given.get("learning_rate", Settings.learning_rate)}
            base = base | same | _of_model(read_config(find_model(model))[1])
        return Settings(**(base | given))
    except DiscotagError as error:
        where = "" if file is None else f"{file}: "
        raise SettingsError(f"{where}{error}") from None


def _of_model(config: ModelConfig) -> dict[str, Any]:
    """Return the settings that a model was trained with, as far as its configuration has them."""
    scheme = config.scheme
    return {
        "slots": scheme.slots,
        "naming": scheme.naming,
        "gap_mentions": scheme.gap_mentions,
        "objective": Objective.NLL if scheme.structural else Objective.SOFT_EM,
        "arc_weights": config.arc_weights,
        "mention_scorer": config.mention_scorer,
        "dropout": config.dropout,
        "window": config.window,
        "overlap": config.overlap,
        "words": config.words,
        "language": config.language or "",
    }


def check_continues(settings: Settings, config: ModelConfig) -> None:
    """Raise `SettingsError` if settings contradict the model that is continued."""
    decided = _of_model(config)
    other = [name for name in CONTINUED if getattr(settings, name) != decided[name]]
    if other:
        differences = ", ".join(
            f"{name} is {decided[name]!r} in the model, not {getattr(settings, name)!r}"
            for name in other
        )
        raise SettingsError(
            f"{settings.from_model}: cannot be continued with these settings: {differences}"
        )
    known = config.scheme.labels
    if settings.labels and set(settings.labels) != set(known):
        raise SettingsError(
            f"{settings.from_model}: its labels are {', '.join(known)}, not "
            f"{', '.join(settings.labels)}; leave out the labels, or give the same"
        )


def _from_yaml(file: Path) -> dict[str, Any]:
    """Read a settings file."""
    try:
        import yaml
    except ImportError:
        raise SettingsError(
            f"{file}: PyYAML is needed to read it: {how_to_install('train')}"
        ) from None
    try:
        text = file.read_text(encoding="utf-8")
        _check_unique(file, yaml.compose(text, Loader=yaml.SafeLoader))
        data = yaml.safe_load(text)
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{file}: is not YAML: {one_line(error)}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError(f"{file}: must contain lines like 'num_train_epochs: 20'")
    known = ["preset", *describe(Settings)]
    unknown = [str(name) for name in data if name not in known]
    if unknown:
        raise SettingsError(
            f"{file}: unknown settings {', '.join(unknown)}; the settings are {', '.join(known)}"
        )
    return data


def _check_unique(file: Path, node: Any) -> None:
    """Raise `SettingsError` if a setting is given twice: YAML would take the last."""
    pairs = node.value if getattr(node, "id", None) == "mapping" else []
    first: dict[str, int] = {}
    for key, _ in pairs:
        name, line = str(key.value), key.start_mark.line + 1
        if name in first:
            raise SettingsError(
                f"{file}:{line}: {name} is given twice, first in line {first[name]}"
            )
        first[name] = line
