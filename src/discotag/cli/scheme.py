"""`discotag scheme`: the tagset, its rules and its grammar, and an example of one's own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from discotag.automata import to_dot
from discotag.errors import DiscotagError
from discotag.mentions import Mention, Sentence, locate
from discotag.render import draw_layers, draw_mentions
from discotag.scheme import Layers, Scheme
from discotag.scheme.tags import SLOT_NAMES, Layer, Part, Tag

COUNTED_LENGTHS = range(9)
RANGES = re.compile(r"\d+:\d+(?:[ ,]+\d+:\d+)*")

Naming = StrEnum("Naming", ["structural", "semantic"])


def scheme(
    sentence: Annotated[
        str | None, typer.Argument(help="An example: words, separated by spaces.")
    ] = None,
    mention: Annotated[
        list[str] | None,
        typer.Option(
            "--mention",
            "-m",
            help="A mention to encode: its words ('pain shoulders') or its word ranges, "
            "half-open from 0 ('0:2 4:5'). With several labels begin with 'LABEL='.",
        ),
    ] = None,
    tags: Annotated[
        str | None, typer.Option(help="Tags to decode, one a word, separated by spaces.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="A label; give the option again for more.")
    ] = None,
    slots: Annotated[int, typer.Option(help="Component types, 0 (BIO) to 4.")] = 2,
    naming: Annotated[Naming, typer.Option(help="What slot names mean.")] = Naming.structural,
    gap_mentions: Annotated[
        bool, typer.Option("--gap-mentions", help="Allow continuous mentions in gaps.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print the grammar for Graphviz.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print data for programs.")] = False,
) -> None:
    """Show a tagging scheme: tags, rules, sizes and grammar; encode or decode an example.

    [bold]Examples[/bold]

    discotag scheme --slots 3 --gap-mentions

    discotag scheme --dot | dot -Tsvg > grammar.svg

    discotag scheme "pain in arms and shoulders" -m "pain in arms" -m "pain in shoulders"

    discotag scheme "toes are painful" --tags "DB-Bx DI-O DI-By"
    """
    if mention and tags is not None:
        raise typer.BadParameter("give --mention to encode or --tags to decode, not both")
    if mention and sentence is None:
        raise typer.BadParameter("--mention needs the sentence it is in")
    if dot and as_json:
        raise typer.BadParameter("--dot and --json are two forms of output; choose one")
    chosen = Scheme(tuple(label or ["ADR"]), slots, str(naming), gap_mentions)
    example = None
    if tags is not None:
        example = _decode(chosen, tags.split(), None if sentence is None else sentence.split())
    elif sentence is not None:
        words = sentence.split()
        example = _encode(chosen, words, [_mention(chosen, words, m) for m in mention or []])
    if dot:
        print(to_dot(chosen.grammar, name="discotag"))
    elif as_json:
        print(json.dumps(_data(chosen, example), ensure_ascii=False))
    elif example is None:
        _show_scheme(chosen, Console(highlight=False))
    else:
        _show_example(chosen, *example, Console(highlight=False))


Example = tuple[Sentence, Layers, list[str]]


def _encode(scheme: Scheme, words: Sequence[str], mentions: Sequence[Mention]) -> Example:
    sentence = Sentence(tuple(words), tuple(mentions))
    layers = scheme.layers(len(words), sentence.mentions)
    return sentence, layers, scheme.write(layers)


def _decode(scheme: Scheme, tags: list[str], words: Sequence[str] | None) -> Example:
    if words is None:
        words = [str(number) for number in range(len(tags))]
    if len(words) != len(tags):
        raise DiscotagError(f"{len(words)} words but {len(tags)} tags; give one tag for each word")
    layers = scheme.read(tags)
    return Sentence(tuple(words), tuple(layers.mentions)), layers, tags


def _mention(scheme: Scheme, words: Sequence[str], given: str) -> Mention:
    """A mention as typed: `[LABEL=]words` or `[LABEL=]start:end start:end`."""
    label, equals, rest = given.partition("=")
    if not equals or label not in scheme.labels:
        if len(scheme.labels) > 1:
            choices = ", ".join(f"{label}=…" for label in scheme.labels)
            raise DiscotagError(f"mention {given!r} does not say its label; write one of {choices}")
        label, rest = scheme.labels[0], given
    if RANGES.fullmatch(rest.strip()):
        pairs = (pair.split(":") for pair in re.split(r"[ ,]+", rest.strip()))
        return Mention(label, tuple((int(start), int(end)) for start, end in pairs))
    fragments = locate(words, rest.split())
    if fragments is None:
        raise DiscotagError(f"mention {rest!r}: its words do not stand in the sentence in order")
    return Mention(label, fragments)


def _data(scheme: Scheme, example: Example | None) -> dict[str, Any]:
    grammar = scheme.grammar
    data: dict[str, Any] = {
        **asdict(scheme),
        "tags": scheme.tags,
        "rules": [
            {
                "number": rule.number,
                "text": rule.text,
                "states": rule.automaton.size,
                "arcs": len(rule.automaton.arcs),
            }
            for rule in scheme.rules
        ],
        "grammar": {
            "states": grammar.size,
            "start": grammar.start,
            "finals": sorted(grammar.finals),
            "arcs": grammar.arcs,
            "well_formed": [grammar.count(length) for length in COUNTED_LENGTHS],
        },
    }
    if example is not None:
        sentence, layers, tags = example
        data["example"] = {
            "words": sentence.words,
            "tags": tags,
            "mentions": [
                {"label": m.label, "text": m.text, "fragments": m.fragments}
                for m in sentence.mentions
            ],
            "sets": [asdict(group) for group in layers.sets],
        }
    return data


def _show_scheme(scheme: Scheme, console: Console) -> None:
    gaps = "gap mentions" if scheme.gap_mentions else "no gap mentions"
    console.print(
        f"[bold]Scheme[/bold] {', '.join(scheme.labels)} · {scheme.slots} slots · "
        f"{scheme.naming} naming · {gaps}\n"
    )
    table = Table("tag", "the word is", title=f"{len(scheme.tags)} tags", title_justify="left")
    for name, tag in scheme.tagset.items():
        table.add_row(name, _meaning(tag))
    console.print(table)
    table = Table("rule", "", "states", "arcs", title="Rules", title_justify="left")
    for rule in scheme.rules:
        automaton = rule.automaton
        table.add_row(str(rule.number), rule.text, str(automaton.size), str(len(automaton.arcs)))
    grammar = scheme.grammar
    table.add_section()
    table.add_row(
        "all", "the grammar, their intersection", str(grammar.size), str(len(grammar.arcs))
    )
    console.print(table)
    table = Table(
        "words", *map(str, COUNTED_LENGTHS), title="Well-formed tag sequences", title_justify="left"
    )
    table.add_row("sequences", *(f"{grammar.count(length)}" for length in COUNTED_LENGTHS))
    console.print(table)


def _meaning(tag: Tag) -> str:
    label = f" of a mention, {tag.label}"
    slot = "" if tag.slot is None else SLOT_NAMES[tag.slot]
    meanings = {
        (Layer.OUTSIDE, Part.NOTHING): "in no mention",
        (Layer.OUTSIDE, Part.CONTINUOUS_BEGIN): f"the first word{label}",
        (Layer.OUTSIDE, Part.CONTINUOUS_INSIDE): f"a further word{label}",
        (
            Layer.SET_BEGIN,
            Part.COMPONENT_BEGIN,
        ): f"the first of a mention set, {tag.label}, and in slot {slot}",
        (Layer.SET_INSIDE, Part.COMPONENT_BEGIN): f"the first of a component in slot {slot}",
        (Layer.SET_INSIDE, Part.COMPONENT_INSIDE): f"a further one of a component in slot {slot}",
        (Layer.SET_INSIDE, Part.NOTHING): "in a gap",
        (Layer.SET_INSIDE, Part.CONTINUOUS_BEGIN): f"in a gap, the first word{label}",
        (Layer.SET_INSIDE, Part.CONTINUOUS_INSIDE): f"in a gap, a further word{label}",
    }
    return meanings[tag.layer, tag.part]


def _show_example(
    scheme: Scheme, sentence: Sentence, layers: Layers, tags: Sequence[str], console: Console
) -> None:
    drawings = (
        draw_mentions(sentence, width=console.width),
        draw_layers(sentence.words, layers, tags, width=console.width),
    )
    for drawing in drawings:
        console.print(drawing, soft_wrap=True)
    decoded = Sentence(sentence.words, tuple(scheme.decode(tags)))
    console.print(f"Decoded from the tags, mentions: {len(decoded.mentions)}")
    table = Table("label", "mention", "words", box=None, pad_edge=False)
    for mention in decoded.mentions:
        ranges = " ".join(f"{start}:{end}" for start, end in mention.fragments)
        table.add_row(mention.label, mention.text, ranges)
    if decoded.mentions:
        console.print(table)
