"""The configuration of a model: its scheme, its windows, and the facts on its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, get_args

from discotag.described import is_number
from discotag.errors import InputError
from discotag.model.calibration import Calibration
from discotag.model.guarantee import Guarantee
from discotag.scheme import Scheme, SchemeError
from discotag.words import LANGUAGE, Sentences, Splitter, Words

KEY: Final = "discotag"
"""The key of this configuration in `config.json`, which also holds the encoder's."""

VERSION: Final = 2
"""The version of the configuration's format, raised when older versions cannot read it."""

LEAST_WINDOW: Final = 8
"""The fewest subwords of a window: two special ones, and some that neighbouring windows share."""

MOST_WINDOW: Final = 8192
"""The most subwords of a window, that of ModernBERT, the longest in use. The memory for attention
grows with its square: 3 GB per layer at this length with 12 heads."""

MOST_LABELS: Final = 1000
"""The most labels of a model; see `MOST_STATES_TIMES_LABELS` in `discotag.scheme`."""


MOST_HIDDEN: Final = 1 << 16
"""The largest hidden layer of a mention scorer."""


MOST_BIAS: Final = 20
"""The largest `bias`, in nats; no larger one would change what is found."""


class ConfigError(InputError):
    """Raised if a model's configuration is invalid."""


@dataclass(frozen=True)
class ModelConfig:
    """The configuration of a model, and the facts on its card.

    Args:
        scheme: The scheme that defines the tags.
        dropout: The dropout between encoder and linear layer, in training.
        window: The most subwords that the encoder reads at a time, special ones included.
        overlap: The number of subwords that neighbouring windows share; at most half a window.
        arc_weights: Whether the arcs of the grammar have learned weights.
        mention_scorer: The size of the hidden layer of the mention scorer; 0: there is none.
        bias: What is added to the log-odds of each mention when readings are compared, found on
            development data. The `bias` of a prediction is added to it.
        calibration: How scores become probabilities; None: they are the tagger's.
        least_discontinuous: The lowest score of a discontinuous mention. Those with a lower one are
            left out of the readings before they are compared; 0: none is. A `bias` of a
            prediction is added to the log-odds of the score first. It needs a calibration.
        guarantee: Which candidates are returned so that few mentions are missed, measured on
            labelled text; None: no candidates are.
        words: How text is split into words, as it was for training; see `discotag.words.Splitter`.
        encoder: The name of the pretrained encoder.
        language: The language of the data, as a code (`en`).
        data: The training data, in a sentence.
        licence: The licence of the weights, as an SPDX name (`cc-by-4.0`).
        figures: Measured figures by name.
        notes: Anything else for the card, in Markdown.

    Raises:
        ConfigError: If a value has the wrong type or is out of range.

    Example:
        >>> config = ModelConfig(Scheme(labels=("ADR",)), window=128, overlap=32)
        >>> ModelConfig.from_dict(config.to_dict()) == config
        True
    """

    scheme: Scheme
    dropout: float = 0.5
    window: int = 512
    overlap: int = 128
    arc_weights: bool = False
    mention_scorer: int = 0
    bias: float = 0.0
    calibration: Calibration | None = None
    least_discontinuous: float = 0.0
    guarantee: Guarantee | None = None
    words: Words = "pattern"
    encoder: str | None = None
    language: str | None = None
    data: str | None = None
    licence: str | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme):
            raise ConfigError(f"scheme must be a Scheme, got {self.scheme!r}")
        if not is_number(self.dropout) or not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must be at least 0 and below 1, got {self.dropout!r}")
        if len(self.scheme.labels) > MOST_LABELS:
            raise ConfigError(
                f"a model may have up to {MOST_LABELS} labels, got {len(self.scheme.labels)}"
            )
        if type(self.window) is not int or not LEAST_WINDOW <= self.window <= MOST_WINDOW:
            raise ConfigError(
                f"window must be a whole number from {LEAST_WINDOW} to {MOST_WINDOW}, "
                f"got {self.window!r}"
            )
        if type(self.overlap) is not int or not 0 <= self.overlap <= self.window // 2:
            raise ConfigError(
                f"overlap must be between 0 and half the window, {self.window // 2}, "
                f"got {self.overlap!r}"
            )
        if type(self.arc_weights) is not bool:
            raise ConfigError(f"arc_weights must be true or false, got {self.arc_weights!r}")
        if type(self.mention_scorer) is not int or not 0 <= self.mention_scorer <= MOST_HIDDEN:
            raise ConfigError(
                f"mention_scorer must be a whole number from 0 to {MOST_HIDDEN}, "
                f"got {self.mention_scorer!r}"
            )
        if not is_number(self.bias) or not -MOST_BIAS <= self.bias <= MOST_BIAS:
            raise ConfigError(
                f"bias must be between {-MOST_BIAS} and {MOST_BIAS}, got {self.bias!r}"
            )
        if self.calibration is not None and not isinstance(self.calibration, Calibration):
            raise ConfigError(f"calibration must be a Calibration, got {self.calibration!r}")
        if self.guarantee is not None and not isinstance(self.guarantee, Guarantee):
            raise ConfigError(f"guarantee must be a Guarantee, got {self.guarantee!r}")
        if not is_number(self.least_discontinuous) or not 0 <= self.least_discontinuous < 1:
            raise ConfigError(
                "least_discontinuous must be at least 0 and below 1, got "
                f"{self.least_discontinuous!r}"
            )
        if self.least_discontinuous and self.calibration is None:
            raise ConfigError("least_discontinuous is a score, so it needs a calibration")
        if self.words not in get_args(Words):
            raise ConfigError(
                f"words must be one of {', '.join(get_args(Words))}, got {self.words!r}"
            )
        for name in ("encoder", "language", "data", "licence", "notes"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise ConfigError(f"{name} must be text, got {value!r}")
        figures = self.figures
        if not isinstance(figures, Mapping) or not all(map(is_number, figures.values())):
            raise ConfigError(f"figures must map names to numbers, got {figures!r}")

    def splitter(self, sentences: Sentences = "auto", words: Words | None = None) -> Splitter:
        """Return a splitter that splits text into words as it was split for training.

        Args:
            sentences: As in `Splitter`.
            words: Another way to split into words.
        """
        return Splitter(sentences, words or self.words, self.language or LANGUAGE)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data, for `config.json`."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, data: object) -> ModelConfig:
        """Return the configuration that `to_dict` gave as plain data.

        Raises:
            ConfigError: If the data is of a newer version or not a configuration.
        """
        if not isinstance(data, dict):
            raise ConfigError(f"the configuration must be an object, got {type(data).__name__}")
        version = data.get("version")
        if type(version) is not int or version < 1:
            raise ConfigError(f"the configuration's version must be a number, got {version!r}")
        if version > VERSION:
            raise ConfigError(
                f"the configuration has version {version}, but this discotag reads versions up to "
                f"{VERSION}; upgrade discotag"
            )
        given = {key: value for key, value in data.items() if key != "version"}
        if version == 1:
            given = _from_version_1(given)
        unknown = given.keys() - {each.name for each in fields(cls)}
        if unknown:
            raise ConfigError(f"the configuration has unknown keys: {', '.join(sorted(unknown))}")
        if "scheme" not in given:
            raise ConfigError("the configuration has no scheme")
        try:
            scheme = Scheme(**given.pop("scheme"))
        except (SchemeError, TypeError) as error:
            raise ConfigError(f"the configuration's scheme: {error}") from None
        for key, kind in (("calibration", Calibration), ("guarantee", Guarantee)):
            if given.get(key) is not None:
                try:
                    given[key] = kind.from_dict(given[key])
                except TypeError as error:
                    raise ConfigError(f"the configuration's {key}: {error}") from None
        return cls(scheme, **given)


def _from_version_1(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a configuration of version 1 holds under the names of version 2.

    Raises:
        ConfigError: The model has a mention scorer, which had other inputs.
    """
    if given.get("mention_scorer"):
        raise ConfigError(
            "the model was made by an older discotag, whose mention scorer reads other words; "
            "train it again"
        )
    names = {"recall": "bias"}
    given = {names.get(key, key): value for key, value in given.items()}
    if isinstance(given.get("calibration"), dict):  # one for all mentions
        weights = {
            ("constant" if key == "bias" else key): value
            for key, value in given["calibration"].items()
        }
        given["calibration"] = {"continuous": weights, "discontinuous": weights}
    return given
