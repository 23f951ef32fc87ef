"""What a model is besides its weights: the scheme, windows, and what its card says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from discotag.errors import InputError
from discotag.scheme import Scheme, SchemeError

KEY: Final = "discotag"
"""Where the configuration is in `config.json`, beside that of the encoder."""

VERSION: Final = 1
"""Of what is under the key; raised when an older discotag could not read it rightly."""

LEAST_WINDOW: Final = 8
"""Subwords: two special ones, and room for words that neighbouring windows share."""

MOST_WINDOW: Final = 8192
"""The longest window of encoders in use (ModernBERT). Attention takes memory by its square: 3 GB a
layer at this length with 12 heads."""

MOST_LABELS: Final = 1000
"""No grammar with more can be compiled: see `MOST_STATES_TIMES_LABELS` of `discotag.scheme`."""


class ConfigError(InputError):
    """A model's configuration that cannot be."""


@dataclass(frozen=True)
class ModelConfig:
    """How a model tags, and what is known of it.

    Args:
        scheme: What the tags mean.
        dropout: Between encoder and linear layer, in training.
        window: How many subwords, special ones included, the encoder takes at a time.
        overlap: How many subwords neighbouring windows share; at most half a window.
        arc_weights: Whether the arcs of the grammar have learned weights.
        encoder: The name of the encoder that training began with.
        language: Of the data, as a code (`en`).
        data: What it was trained on, in a sentence.
        licence: Of the weights, as an SPDX name (`cc-by-4.0`).
        figures: What was measured, name to number.
        notes: Anything else for the card, in Markdown.

    Raises:
        ConfigError: A value is out of range.

    Example:
        >>> config = ModelConfig(Scheme(labels=("ADR",)), window=128, overlap=32)
        >>> ModelConfig.from_data(config.as_data()) == config
        True
    """

    scheme: Scheme
    dropout: float = 0.5
    window: int = 512
    overlap: int = 128
    arc_weights: bool = False
    encoder: str | None = None
    language: str | None = None
    data: str | None = None
    licence: str | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme):
            raise ConfigError(f"scheme must be a Scheme, got {self.scheme!r}")
        if not _is_number(self.dropout) or not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must be at least 0 and below 1, got {self.dropout!r}")
        if len(self.scheme.labels) > MOST_LABELS:
            raise ConfigError(
                f"a model may have {MOST_LABELS} labels, got {len(self.scheme.labels)}"
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
        for name in ("encoder", "language", "data", "licence", "notes"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise ConfigError(f"{name} must be text, got {value!r}")
        figures = self.figures
        if not isinstance(figures, Mapping) or not all(map(_is_number, figures.values())):
            raise ConfigError(f"figures must map names to numbers, got {figures!r}")

    def as_data(self) -> dict[str, Any]:
        """What is stored under the key of `config.json`."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_data(cls, data: object) -> ModelConfig:
        """The configuration that `as_data` gave.

        Raises:
            ConfigError: It is of a newer version, or not a configuration at all.
        """
        if not isinstance(data, dict):
            raise ConfigError(f"the configuration must be an object, got {type(data).__name__}")
        version = data.get("version")
        if type(version) is not int or version < 1:
            raise ConfigError(f"the configuration has no version number, but {version!r}")
        if version > VERSION:
            raise ConfigError(
                f"the configuration is of version {version}, this discotag reads up to {VERSION}; "
                "upgrade discotag"
            )
        given = {key: value for key, value in data.items() if key != "version"}
        unknown = given.keys() - {each.name for each in fields(cls)}
        if unknown:
            raise ConfigError(f"the configuration has unknown keys: {', '.join(sorted(unknown))}")
        if "scheme" not in given:
            raise ConfigError("the configuration has no scheme")
        try:
            scheme = Scheme(**given.pop("scheme"))
        except (SchemeError, TypeError) as error:
            raise ConfigError(f"the configuration's scheme: {error}") from None
        return cls(scheme, **given)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
