"""The settings of a training: the paper's by default, from a YAML file and from flags."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from discotag.errors import DiscotagError, InputError
from discotag.model.config import LEAST_WINDOW, MOST_WINDOW, ModelConfig
from discotag.scheme import Scheme
from discotag.scheme.scheme import NAMINGS

OBJECTIVES: Final = ("nll", "soft_em", "hard_em", "weakly_soft_em", "weakly_hard_em")
"""The same names as in `discotag.model.objectives`, which needs PyTorch."""

DEFAULT_ENCODER: Final = "microsoft/deberta-v3-base"
"""The paper's."""

CONTINUED: Final = ("slots", "naming", "gap_mentions", "arc_weights")
"""Settings that a model to continue from has decided."""

PRECISIONS: Final = ("auto", "bf16", "float32")


class SettingsError(InputError):
    """A setting that does not exist, or a value that it cannot have."""


@dataclass(frozen=True)
class Settings:
    """All that decides what comes out of a training, besides the data.

    The defaults are the paper's, its appendix "Training details"; it does not name a batch size.

    Attributes:
        encoder: A folder or a name on the hub; empty: the paper's, unless `from_model` is given.
        from_model: A discotag model to continue from: a folder, a name on the hub, or `bundled` for
            the one that comes with the package. Encoder, scheme and linear layer are the model's.
        objective: One of `OBJECTIVES`.
        slots: Component types of a mention set; 0 is plain BIO.
        naming: `structural` or `semantic`; empty: semantic for the EM objectives, else structural.
        gap_mentions: Whether continuous mentions may stand in gaps.
        labels: The labels to learn, mentions of others are left out; empty: all that there are.
        arc_weights: Learn a weight for each arc of the grammar; the paper does not.
        epochs: Passes over the data.
        rate: The highest learning rate.
        warmup: The share of steps in which the rate rises; then it falls like a cosine.
        batch_size: Sentences a step, over all processes.
        dropout: Between encoder and linear layer.
        weight_decay: On all parameters.
        gradient_norm: Longer gradients are cut to this length.
        seed: The first seed.
        seeds: So many trainings with seeds that follow each other; the best is kept.
        without_mentions: Sentences without mentions to train on, for each one with; negative: all.
        augment: So many new sentences for each one that has a mention set.
        lexicon: A file of body parts, for the weakly supervised objectives and to augment; empty:
            the one of discotag.
        distil_weight: The share of the teachers in the loss.
        window: Subwords the encoder takes at a time.
        overlap: Subwords that neighbouring windows share.
        precision: `bf16`, `float32`, or `auto`: bf16 where a GPU has it.
        checkpoint_every: Epochs between checkpoints.
        report_to: Further places to log to, by the names that Hugging Face's trainer knows, such
            as `wandb`; TensorBoard is written to where it is installed.

    Raises:
        SettingsError: A value is out of range.

    Example:
        >>> Settings(objective="soft_em").scheme(["ADR"]).naming
        'semantic'
    """

    encoder: str = ""
    from_model: str = ""
    objective: str = "nll"
    slots: int = 2
    naming: str = ""
    gap_mentions: bool = False
    labels: tuple[str, ...] = ()
    arc_weights: bool = False
    epochs: int = 20
    rate: float = 1e-5
    warmup: float = 0.1
    batch_size: int = 32
    dropout: float = 0.5
    weight_decay: float = 0.01
    gradient_norm: float = 1.0
    seed: int = 1
    seeds: int = 1
    without_mentions: float = -1.0
    augment: int = 0
    lexicon: str = ""
    distil_weight: float = 0.5
    window: int = 512
    overlap: int = 128
    precision: str = "auto"
    checkpoint_every: int = 1
    report_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for each in fields(self):
            object.__setattr__(
                self, each.name, _coerced(each.name, getattr(self, each.name), hints[each.name])
            )
        if not self.naming:
            object.__setattr__(self, "naming", "semantic" if self.latent else "structural")
        for name, known in (
            ("objective", OBJECTIVES),
            ("naming", NAMINGS),
            ("precision", PRECISIONS),
        ):
            if getattr(self, name) not in known:
                given = getattr(self, name)
                raise SettingsError(f"{name} is one of {', '.join(known)}; got {given!r}")
        for name, (least, most) in RANGES.items():
            given = getattr(self, name)
            if not least <= given <= most:
                span = f"from {least} to {most}" if most < UNBOUNDED else f"at least {least}"
                raise SettingsError(f"{name} is a number {span}; got {given}")
        if self.from_model and self.encoder:
            raise SettingsError(
                f"from_model is {self.from_model!r}, which has an encoder; leave out encoder, "
                f"{self.encoder!r}"
            )
        if not self.from_model and not self.encoder:
            object.__setattr__(self, "encoder", DEFAULT_ENCODER)
        if self.latent and self.naming == "structural":
            raise SettingsError(
                f"{self.objective} looks for the names of slots, so naming must be semantic; "
                "for structural naming use nll"
            )
        if self.objective == "nll" and self.naming == "semantic":
            raise SettingsError("nll has one naming of slots, so naming must be structural")
        self.scheme(self.labels or ("label",))  # slots out of range

    @property
    def latent(self) -> bool:
        """Whether the names of slots are found in training."""
        return self.objective != "nll"

    def scheme(self, labels: list[str] | tuple[str, ...]) -> Scheme:
        """The scheme of these settings for the labels of a corpus."""
        return Scheme(tuple(labels), self.slots, self.naming, self.gap_mentions)

    def as_data(self) -> dict[str, Any]:
        """All settings as plain data."""
        return asdict(self) | {"labels": list(self.labels), "report_to": list(self.report_to)}


UNBOUNDED: Final = float("inf")

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "epochs": (1, UNBOUNDED),
    "rate": (1e-9, 1),
    "warmup": (0, 1),
    "batch_size": (1, UNBOUNDED),
    "dropout": (0, 0.99),
    "weight_decay": (0, 1),
    "gradient_norm": (1e-6, UNBOUNDED),
    "seed": (0, 2**31),
    "seeds": (1, 1000),
    "augment": (0, 100),
    "distil_weight": (0, 1),
    "window": (LEAST_WINDOW, MOST_WINDOW),
    "overlap": (0, MOST_WINDOW // 2),
    "checkpoint_every": (1, UNBOUNDED),
}


def make_settings(file: Path | None, flags: Mapping[str, object]) -> Settings:
    """Make settings from a YAML file and flags, which win; None among the flags is one not given.

    With a model to continue from, what is not given is as in that model.

    Raises:
        SettingsError: The file or the model cannot be read, or a setting is wrong.
    """
    given = {} if file is None else _from_yaml(file)
    given |= {name: value for name, value in flags.items() if value is not None}
    model = given.get("from_model")
    try:
        if model and isinstance(model, str):
            from discotag.model.files import find_model, read_config

            given = _of_model(read_config(find_model(model))[1]) | given
        return Settings(**given)
    except DiscotagError as error:
        where = "" if file is None else f"{file}: "
        raise SettingsError(f"{where}{error}") from None


def _of_model(config: ModelConfig) -> dict[str, Any]:
    """Return the settings that a model decides, or has used."""
    scheme = config.scheme
    return {
        "slots": scheme.slots,
        "naming": scheme.naming,
        "gap_mentions": scheme.gap_mentions,
        "objective": "nll" if scheme.structural else "soft_em",
        "arc_weights": config.arc_weights,
        "dropout": config.dropout,
        "window": config.window,
        "overlap": config.overlap,
    }


def check_continues(settings: Settings, config: ModelConfig) -> None:
    """Raise `SettingsError` if settings contradict the model that is continued."""
    decided = _of_model(config)
    other = [name for name in CONTINUED if getattr(settings, name) != decided[name]]
    if other:
        differences = ", ".join(
            f"{name} is {decided[name]!r} in it, not {getattr(settings, name)!r}" for name in other
        )
        raise SettingsError(f"{settings.from_model}: cannot be continued so: {differences}")
    known = config.scheme.labels
    if settings.labels and set(settings.labels) != set(known):
        raise SettingsError(
            f"{settings.from_model}: its labels are {', '.join(known)}, not "
            f"{', '.join(settings.labels)}; leave out the labels, or give the same"
        )


def _from_yaml(file: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise SettingsError(
            f"{file}: reading it needs PyYAML: pip install 'discotag[train]'"
        ) from None
    try:
        text = file.read_text(encoding="utf-8")
        _check_unique(file, yaml.compose(text, Loader=yaml.SafeLoader))
        data = yaml.safe_load(text)
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{file}: is not YAML: {' '.join(str(error).split())}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError(f"{file}: must hold lines like 'epochs: 20'")
    known = [each.name for each in fields(Settings)]
    unknown = [str(name) for name in data if name not in known]
    if unknown:
        raise SettingsError(
            f"{file}: unknown settings {', '.join(unknown)}; there are {', '.join(known)}"
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


def _coerced(name: str, value: object, kind: type | UnionType) -> object:
    """The value as its type wants it; YAML reads 1e-5 as text and a whole number as int."""
    if get_origin(kind) is tuple:
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise SettingsError(f"{name} is a list of {get_args(kind)[0].__name__}, got {value!r}")
    if kind is float and isinstance(value, int | str) and not isinstance(value, bool):
        with suppress(ValueError):
            value = float(value)
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    if type(value) is not kind or value != value:
        raise SettingsError(f"{name} is {words[kind]}, got {value!r}")  # type: ignore[index]
    return value
