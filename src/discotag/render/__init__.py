"""Drawings of mentions and tags, for the terminal and as HTML."""

from discotag.characters import printable
from discotag.render.counts import percent
from discotag.render.terminal import draw_layers, draw_mentions

__all__ = ["draw_layers", "draw_mentions", "percent", "printable"]
