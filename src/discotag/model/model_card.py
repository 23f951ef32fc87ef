"""The card of a model: what it finds, what it was trained on, and how well it performs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from discotag.model.config import ModelConfig


def card(config: ModelConfig) -> str:
    """Return the text of a model's `README.md`: a YAML header for the hub, then Markdown.

    Example:
        >>> from discotag import Scheme
        >>> text = card(ModelConfig(Scheme(labels=("ADR",)), licence="cc-by-4.0"))
        >>> text.splitlines()[:2]
        ['---', 'license: "cc-by-4.0"']
    """
    return "\n".join([*_header(config), "", *_body(config)]) + "\n"


def _header(config: ModelConfig) -> Iterator[str]:
    # Any JSON string is also a YAML string.
    yield "---"
    for key, value in (
        ("license", config.licence),
        ("language", config.language),
        ("base_model", _on_hub(config.encoder)),
    ):
        if value is not None:
            yield f"{key}: {json.dumps(value)}"
    yield "library_name: discotag"
    yield "pipeline_tag: token-classification"
    yield "tags: [discotag, discontinuous-ner]"
    yield "---"


def _body(config: ModelConfig) -> Iterator[str]:
    scheme = config.scheme
    labels = ", ".join(f"`{label}`" for label in scheme.labels)
    yield "# A discotag model"
    yield ""
    yield f"Finds mentions of {labels} in text, including those whose words are not adjacent."
    yield ""
    yield "```python"
    yield "from discotag import load"
    yield ""
    yield 'tagger = load("path/to/this/folder")'
    yield 'for mention in tagger("Your text.").mentions:'
    yield "    print(mention.label, mention.text, mention.score)"
    yield "```"
    yield ""
    yield "| | |"
    yield "|---|---|"
    gaps = "with" if scheme.gap_mentions else "without"
    yield (
        f"| scheme | {len(scheme.tags)} tags: {scheme.slots} slots, {scheme.naming} naming, "
        f"{gaps} gap mentions |"
    )
    for name, value in (
        ("encoder", config.encoder),
        ("data", config.data),
        ("language", config.language),
        ("licence", config.licence),
    ):
        yield f"| {name} | {'not stated' if value is None else _cell(value)} |"
    yield f"| windows | {config.window} subwords, {config.overlap} shared |"
    if config.guarantee is not None:
        yield ""
        yield "## Guarantee"
        yield ""
        yield (
            f"With candidates of a score of at least {config.guarantee.threshold:.2g}, and the "
            f"runtime {config.guarantee.runtime}, this model {config.guarantee}."
        )
    if config.figures:
        yield ""
        yield "## Figures"
        yield ""
        yield "| | |"
        yield "|---|---|"
        for name, figure in config.figures.items():
            yield f"| {_cell(name)} | {_number(figure)} |"
    if config.notes is not None:
        yield ""
        yield config.notes.strip()


def _on_hub(encoder: str | None) -> str | None:
    """Return the name of an encoder if it is one on the hub; a folder's name has no owner."""
    return encoder if encoder is not None and "/" in encoder else None


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _number(figure: float) -> str:
    return str(figure) if isinstance(figure, int) else f"{figure:.4g}"
