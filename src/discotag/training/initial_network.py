"""The network that a training begins with: on a pretrained encoder, or a model to continue from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from transformers.utils import logging

from discotag.model.config import ModelConfig
from discotag.model.encoder import speed_up
from discotag.model.files import ENCODER_NAME, find_folder, find_model, read_config
from discotag.model.network import Network
from discotag.scheme import Scheme
from discotag.training.settings import Settings, check_continues


def find_continued(settings: Settings) -> ModelConfig | None:
    """Return the configuration of the model to continue from, or None.

    Raises:
        InputError: There is no such model, or the settings contradict it.
    """
    if not settings.from_model:
        return None
    config = read_config(find_model(settings.from_model))[1]
    check_continues(settings, config)
    return config


def is_on_hub(settings: Settings) -> bool:
    """Return whether the encoder is downloaded when the network is made, if it is not cached."""
    return not settings.from_model and find_folder(settings.encoder, ENCODER_NAME) is None


def make_network(settings: Settings, scheme: Scheme, seed: int) -> Network:
    """Make a network on the pretrained encoder, or load the model to continue from.

    Args:
        settings: The settings.
        scheme: The scheme.
        seed: Decides the values of new weights.
    """
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    config = ModelConfig(
        scheme,
        dropout=settings.dropout,
        window=settings.window,
        overlap=settings.overlap,
        arc_weights=settings.arc_weights,
        mention_scorer=settings.mention_scorer,
        words=settings.splitter.words,
        language=settings.language or None,
    )
    torch.manual_seed(seed)
    if settings.from_model:
        folder = find_model(settings.from_model)
        config = _continued(settings.from_model, read_config(folder)[1], config)
        network = Network.from_pretrained(folder, config)
    else:
        network = Network.from_encoder(settings.encoder, config)
    speed_up(network.encoder)
    return network


def _continued(name: str, before: ModelConfig, now: ModelConfig) -> ModelConfig:
    """Return the configuration of a model that continues another, with its history for the card."""
    shown = Path(name).name if Path(name).exists() else name  # no path of this machine in the card
    notes = (
        f"## Continued\n\nTraining began with the weights of `{shown}`. They were trained on: "
        f"{before.data or 'not stated'}; their licence: {before.licence or 'not stated'}.\n"
    )
    return replace(now, encoder=before.encoder, notes=notes)
