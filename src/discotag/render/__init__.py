"""Drawings of mentions and tags: for the terminal, and as HTML and SVG."""

from discotag.characters import printable
from discotag.counts import percent
from discotag.render.html_drawing import draw_html
from discotag.render.html_layers import draw_layers_html
from discotag.render.svg import draw_svg
from discotag.render.svg_layers import draw_layers_svg
from discotag.render.terminal import draw_layers, draw_mentions

__all__ = [
    "draw_html",
    "draw_layers",
    "draw_layers_html",
    "draw_layers_svg",
    "draw_mentions",
    "draw_svg",
    "percent",
    "printable",
]
