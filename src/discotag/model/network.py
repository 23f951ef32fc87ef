"""The network: from subwords to scores, on PyTorch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor, nn

from discotag.errors import one_line
from discotag.model.candidates import Bag
from discotag.model.config import LEAST_WINDOW, ConfigError, ModelConfig
from discotag.model.encoder import (
    build_encoder,
    check_names,
    count_weights,
    first_position,
    load_encoder,
    pair_mask,
    takes_pair_masks,
)
from discotag.model.files import (
    CONFIG,
    ONNX_SCORER,
    TOKENIZER,
    WEIGHTS,
    ModelError,
    most_exact,
    read_config,
    write_texts,
)
from discotag.model.layer import TaggingLayer
from discotag.model.mention_scorer import MentionScorer
from discotag.model.tokenizer import TokenizerError, WordTokenizer
from discotag.scheme import SchemeError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ANY_LENGTH: Final = 1 << 20
"""From this `max_position_embeddings` on, an encoder has no limit on the length of its input."""


class Network(nn.Module):
    """The network: encoder, first subword of each word, dropout, linear layer.

    Args:
        encoder: Any Hugging Face encoder with a `last_hidden_state`. Its pooler is removed, because
            it is not used and would not be trained.
        config: The configuration. Windows become shorter if the encoder cannot take
            `config.window` subwords.
        tokenizer: The text of a `tokenizer.json`.

    Raises:
        ModelError: If this is not a text encoder, or its windows would be too short.

    Attributes:
        config: The configuration, with windows that fit the encoder.
        tokenizer: The tokenizer, from words to subwords.
        layer: The tagging layer, from scores to mentions and losses.
        scorer: The mention scorer, or None.
        shares_rows: Whether several windows can be encoded in one row, by `encode_rows`.
    """

    def __init__(self, encoder: PreTrainedModel, config: ModelConfig, tokenizer: str) -> None:
        super().__init__()
        if encoder.config.is_encoder_decoder or not hasattr(encoder.config, "hidden_size"):
            kind = encoder.config.model_type
            raise ModelError(f"{kind} is not a text encoder; use one like BERT or DeBERTa")
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # type: ignore[assignment]
        self.config = _fitted(config, encoder)
        self.tokenizer = WordTokenizer.from_json(tokenizer, self.config)
        embeddings = getattr(encoder.get_input_embeddings(), "num_embeddings", None)
        self.tokenizer.fit_encoder(embeddings, encoder.config.pad_token_id)
        self.encoder = encoder
        self.shares_rows = takes_pair_masks(encoder)
        self._first_position = first_position(encoder)
        self.dropout = nn.Dropout(config.dropout)
        self.linear = nn.Linear(encoder.config.hidden_size, len(config.scheme.tags))
        self.layer = TaggingLayer(config.scheme, arc_weights=config.arc_weights)
        self.scorer = None
        if config.mention_scorer:
            self.scorer = MentionScorer(
                encoder.config.hidden_size, len(config.scheme.labels), config.mention_scorer
            )

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        windows: Tensor,
        positions: Tensor,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return the scores of words, (batch, words, tags), in float32.

        The arguments are those of a `discotag.model.tokenizer.Batch`.

        Args:
            input_ids: (windows, subwords).
            attention_mask: (windows, subwords).
            windows: (batch, words).
            positions: (batch, words).
            mask: Ignored; the scores of words that are masked out are undefined.
        """
        return self.score(self.encode(input_ids, attention_mask)[windows, positions])

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the encoder's vectors of all subwords, (windows, subwords, size)."""
        found = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        hidden: Tensor = found.last_hidden_state
        return hidden

    def encode_rows(self, input_ids: Tensor, owners: Tensor, offsets: Tensor) -> Tensor:
        """Return the encoder's vectors of rows of several windows each, (rows, subwords, size).

        They are the vectors that each window has by itself. Only if the network `shares_rows`.

        Args:
            input_ids: (rows, subwords).
            owners: The number of the window of each subword, (rows, subwords); padding has another
                number.
            offsets: The position of each subword in its window, from 0, (rows, subwords).
        """
        same = owners[:, None, :, None] == owners[:, None, None, :]
        found = self.encoder(
            input_ids=input_ids,
            attention_mask=pair_mask(same, self.encoder.dtype),
            position_ids=offsets + self._first_position,
        )
        hidden: Tensor = found.last_hidden_state
        return hidden

    def score(self, vectors: Tensor) -> Tensor:
        """Return the scores of vectors, from (..., size) to (..., tags), in float32."""
        with torch.autocast(vectors.device.type, enabled=False):
            scores: Tensor = self.linear(self.dropout(vectors.float()))
        return scores

    def score_subwords(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the scores of all subwords, (windows, subwords, tags), in float32."""
        return self.score(self.encode(input_ids, attention_mask))

    @classmethod
    def from_encoder(cls, name: str | Path, config: ModelConfig) -> Network:
        """Return a network of a pretrained encoder and a new linear layer.

        Args:
            name: A folder, or a name on the Hugging Face hub.
            config: The configuration; if its `encoder` is None, it is set to the encoder's name.

        Raises:
            ModelError: If the encoder cannot be loaded, as in `load_encoder`, or its tokenizer
                cannot be used.
        """
        encoder, source = load_encoder(name)
        if config.encoder is None:
            shown = source.name if isinstance(source, Path) else source
            config = replace(config, encoder=shown)
        try:
            return cls(encoder, config, _tokenizer_of(source))
        except TokenizerError as error:
            raise ModelError(f"{source}: its tokenizer: {error}") from None

    def save_pretrained(self, folder: str | Path, config: ModelConfig | None = None) -> None:
        """Write `config.json`, `model.safetensors`, `tokenizer.json` and the card, `README.md`.

        The encoder can also be loaded by `AutoModel.from_pretrained(folder)`.

        Args:
            folder: The folder to write.
            config: A configuration with the same scheme, to replace the network's own.
        """
        from safetensors.torch import save_model

        folder = Path(folder)
        data = self.encoder.config.to_dict()
        data.pop("_name_or_path", None)  # a private path on the machine of training
        for key in {"dtype", "torch_dtype"} & data.keys():  # that of the file it was loaded from
            data[key] = str(self.encoder.dtype).removeprefix("torch.")
        write_texts(folder, data, config or self.config, self.tokenizer)
        save_model(self._in_files(), str(folder / WEIGHTS))
        (folder / WEIGHTS).chmod(
            (folder / CONFIG).stat().st_mode
        )  # safetensors lets only the owner read it

    @classmethod
    def from_pretrained(cls, folder: str | Path, config: ModelConfig | None = None) -> Network:
        """Load a network that `save_pretrained` has written, in evaluation mode.

        Folders that have only an export work too; see `discotag.model.restore`.

        Args:
            folder: The folder of the model.
            config: A configuration with the same scheme, to replace the model's own.

        Raises:
            ModelError: If a file is missing, damaged, or does not match the others.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_model

        folder = Path(folder)
        data, own = read_config(folder)
        file = most_exact(folder)
        exported = file.name != WEIGHTS
        # An export has at most as many weights as bytes.
        weights = file.stat().st_size if exported else count_weights(file)
        encoder = build_encoder(folder, data, weights)
        _check_scorer(folder, config or own, encoder, weights)
        try:
            tokenizer = (folder / TOKENIZER).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{folder}: {TOKENIZER} cannot be read: {error}") from None
        try:
            network = cls(encoder, config or own, tokenizer)
        except TokenizerError as error:
            raise ModelError(f"{folder / TOKENIZER}: {error}") from None
        except SchemeError as error:
            raise ModelError(f"{folder / CONFIG}: {error}") from None
        if exported:
            from discotag.model.restore import restore

            restore(network, file)
            return network
        try:
            missing, unexpected = load_model(network._in_files(), str(file), strict=False)
        except (RuntimeError, SafetensorError, OSError) as error:
            raise ModelError(f"{file}: does not match {CONFIG}: {one_line(error)}") from None
        problems = {"are missing": list(missing), "are unexpected": list(unexpected)}
        check_names(problems, f"{file}: its weights do not match {CONFIG}")
        return network.eval()

    def _in_files(self) -> nn.ModuleDict:
        """Return the modules under the names that their weights have in files.

        The encoder has its `base_model_prefix`, which `AutoModel` looks for.
        """
        modules = dict(self.named_children())
        encoder = modules.pop("encoder")
        return nn.ModuleDict({self.encoder.base_model_prefix: encoder, **modules})


def _check_scorer(
    folder: Path, config: ModelConfig, encoder: PreTrainedModel, weights: int
) -> None:
    """Raise `ModelError` if the mention scorer is too large for the files, before it is built."""
    exported = folder / ONNX_SCORER
    if exported.is_file():
        weights = max(weights, exported.stat().st_size)
    if config.mention_scorer * len(Bag) * encoder.config.hidden_size > weights:
        raise ModelError(
            f"{folder / CONFIG}: a mention scorer of {config.mention_scorer} has more weights than "
            "the files of the model"
        )


def _fitted(config: ModelConfig, encoder: PreTrainedModel) -> ModelConfig:
    """Return the configuration with windows that the encoder can take."""
    most = getattr(encoder.config, "max_position_embeddings", None)
    if not isinstance(most, int) or not 0 < most < ANY_LENGTH:
        return config
    most -= first_position(encoder)
    if config.window <= most:
        return config
    try:
        return replace(config, window=most, overlap=min(config.overlap, most // 2))
    except ConfigError:
        raise ModelError(
            f"the encoder takes only {most} subwords at a time, fewer than {LEAST_WINDOW}"
        ) from None


def _tokenizer_of(name: str | Path) -> str:
    path = Path(name) / TOKENIZER
    if path.is_file():
        return path.read_text("utf-8")
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        # Without the files of a tokenizer, transformers 5 makes one that knows no word.
        if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
            raise ValueError(f"there is no {TOKENIZER}, and no vocabulary to make it from")
        return str(tokenizer.backend_tokenizer.to_str())
    except (OSError, ValueError, KeyError, AttributeError, ImportError) as error:
        raise ModelError(f"{name}: has no usable tokenizer: {one_line(error)}") from None
