"""The models of the service: their names, and what `/api/models` says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discotag.errors import InputError
from discotag.model.config import ModelConfig
from discotag.model.files import BUNDLED, BUNDLED_NAME, find_model, read_config
from discotag.prediction.loading import choose_runtime
from discotag.scheme import Scheme
from discotag.serve.engine import Source
from discotag.serve.schemas import ModelFacts
from discotag.web.errors import ServiceError, shown


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that the service offers.

    Attributes:
        source: What engines load.
        config: Its configuration.
        runtime: The runtime that is chosen for it.
    """

    source: Source
    config: ModelConfig
    runtime: str

    @property
    def name(self) -> str:
        """The name of the model in the service."""
        return self.source.name

    @property
    def scheme(self) -> Scheme:
        """The scheme of the model."""
        return self.config.scheme

    def facts(self) -> ModelFacts:
        """Return what clients may know about the model."""
        scheme, guarantee = self.scheme, self.config.guarantee
        if guarantee is not None and guarantee.runtime != self.runtime:
            guarantee = None  # it was measured with another runtime
        return ModelFacts(
            name=self.name,
            labels=list(scheme.labels),
            slots=scheme.slots,
            naming=scheme.naming,
            gap_mentions=scheme.gap_mentions,
            runtime=self.runtime,
            language=self.config.language,
            description=self.config.data,
            guarantee=None if guarantee is None else str(guarantee),
        )


def find_models(
    names: Sequence[str], *, runtime: str | None = None, device: str | None = None
) -> tuple[ServedModel, ...]:
    """Find models, without loading their weights.

    A model is called by the last part of its path, or by the one before if the last is `model`, as
    in the folder of a training run.

    Args:
        names: Folders, or names on the Hugging Face hub; without any, the bundled model.
        runtime: As in `discotag.load`.
        device: As in `discotag.load`.

    Raises:
        DiscotagError: There is no such model, or two have the same name.

    Example:
        >>> [model.name for model in find_models([])]
        ['bundled']
    """
    found: dict[str, ServedModel] = {}
    for given in names or [BUNDLED_NAME]:
        folder = find_model(given).absolute()
        _, config = read_config(folder)
        name = _name(given, folder)
        if name in found:
            raise InputError(
                f"two models are called {name!r}: {found[name].source.folder} and {folder}; "
                "rename one of the folders"
            )
        source = Source(name, str(folder), runtime, device)
        found[name] = ServedModel(source, config, choose_runtime(folder, runtime, device).runtime)
    return tuple(found.values())


def chosen(models: Sequence[ServedModel], name: str | None) -> ServedModel:
    """Return the model with a name, or the first one.

    Raises:
        ServiceError: There is no such model.
    """
    if name is None:
        return models[0]
    for model in models:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in models)
    raise ServiceError(
        422, "unknown_model", f"there is no model {shown(name)!r}; the models are {known}"
    )


def _name(given: str, folder: Path) -> str:
    if folder == BUNDLED:
        return BUNDLED_NAME
    parts = Path(given).absolute().parts
    return parts[-2] if parts[-1] == "model" and len(parts) > 2 else parts[-1]
