"""`discotag scheme`: show a tagset, its rules and its grammar, and encode examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from discotag.automata import to_dot
from discotag.cli.options import plain_console, plain_table, print_data
from discotag.counts import counted
from discotag.errors import InputError
from discotag.mentions import Mention, Sentence, locate
from discotag.render import draw_layers, draw_mentions, printable
from discotag.scheme import Layers, Scheme
from discotag.scheme.tags import SLOT_NAMES, Lower, Tag, Upper

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
            help="A mention to encode: its words ('pain shoulders') or its half-open word ranges "
            "('0:2 4:5'). With several labels, begin with 'LABEL='.",
        ),
    ] = None,
    tags: Annotated[
        str | None, typer.Option(help="Tags to decode, one for each word, separated by spaces.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="A label; repeat the option for more.")
    ] = None,
    slots: Annotated[int, typer.Option(help="Component types, 0 (BIO) to 4.")] = 2,
    naming: Annotated[Naming, typer.Option(help="What slot names mean.")] = Naming.structural,
    gap_mentions: Annotated[
        bool, typer.Option("--gap-mentions", help="Allow continuous mentions in gaps.")
    ] = False,
    dot: Annotated[
        bool, typer.Option("--dot", help="Print the grammar in Graphviz format.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a tagging scheme: tags, rules, sizes and grammar; encode or decode an example.

    [bold]Examples[/bold]

    discotag scheme --slots 3 --gap-mentions

    discotag scheme --dot | dot -Tsvg > grammar.svg

    discotag scheme "pain in arms and shoulders" -m "pain in arms" -m "pain in shoulders"

    discotag scheme "toes are painful" --tags "DB-Bx DI-O DI-By"
    """
    if mention and tags is not None:
        raise typer.BadParameter("use either --mention to encode or --tags to decode")
    if mention and sentence is None:
        raise typer.BadParameter("--mention needs a sentence")
    if dot and (as_json or sentence is not None or tags is not None):
        raise typer.BadParameter("--dot prints only the grammar; remove --json and the example")
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
        print_data(_data(chosen, example))
    elif example is None:
        _show_scheme(chosen, plain_console())
    else:
        _show_example(chosen, *example, plain_console())


Example = tuple[Sentence, Layers, list[str]]


def _sentence(words: Sequence[str], mentions: Sequence[Mention]) -> Sentence:
    ends = list(accumulate((len(word) + 1 for word in words), initial=0))
    offsets = tuple((start, end - 1) for start, end in pairwise(ends))
    return Sentence(tuple(words), tuple(mentions), text=" ".join(words), offsets=offsets)


def _encode(scheme: Scheme, words: Sequence[str], mentions: Sequence[Mention]) -> Example:
    sentence = _sentence(words, mentions)
    layers = scheme.layers(len(words), sentence.mentions)
    return sentence, layers, scheme.write(layers)


def _decode(scheme: Scheme, tags: list[str], words: Sequence[str] | None) -> Example:
    if words is None:
        words = [str(number) for number in range(len(tags))]
    if len(words) != len(tags):
        lengths = f"{counted(len(words), 'word')} but {counted(len(tags), 'tag')}"
        raise InputError(f"{lengths}; give one tag for each word")
    layers = scheme.read(tags)
    return _sentence(words, tuple(layers.mentions)), layers, tags


def _mention(scheme: Scheme, words: Sequence[str], given: str) -> Mention:
    """Parse a mention: `[LABEL=]words` or `[LABEL=]start:end start:end`."""
    label = next((label for label in scheme.labels if given.startswith(f"{label}=")), None)
    if label is not None:
        rest = given[len(label) + 1 :]
    elif len(scheme.labels) == 1:
        label, rest = scheme.labels[0], given
    else:
        choices = ", ".join(f"{label}=…" for label in scheme.labels)
        raise InputError(f"mention {given!r} has no label; use one of {choices}")
    if RANGES.fullmatch(rest.strip()):
        pairs = (pair.split(":") for pair in re.split(r"[ ,]+", rest.strip()))
        return Mention(label, tuple((int(start), int(end)) for start, end in pairs))
    fragments = locate(words, rest.split())
    if fragments is None:
        raise InputError(f"mention {rest!r}: its words do not occur in the sentence in order")
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
            "text": sentence.text,
            "mentions": [mention.to_dict() for mention in sentence.mentions],
            "sets": [asdict(group) for group in layers.sets],
        }
    return data


def _show_scheme(scheme: Scheme, console: Console) -> None:
    gaps = "gap mentions" if scheme.gap_mentions else "no gap mentions"
    slots = counted(scheme.slots, "slot")
    console.print(
        Text("Scheme ", style="bold")
        + Text(f"{', '.join(scheme.labels)} · {slots} · {scheme.naming} naming · {gaps}\n")
    )
    tags = plain_table("tag", "the word is", title=f"{len(scheme.tags)} tags")
    for name, tag in scheme.tagset.items():
        tags.add_row(name, _meaning(tag))
    rules = plain_table("rule", "", "states", "arcs", title="Rules")
    for rule in scheme.rules:
        automaton = rule.automaton
        rules.add_row(str(rule.number), rule.text, str(automaton.size), str(len(automaton.arcs)))
    grammar = scheme.grammar
    rules.add_section()
    sizes = (str(grammar.size), str(len(grammar.arcs)))
    rules.add_row("all", "the grammar, their intersection", *sizes)
    counts = plain_table("words", "tag sequences", title="Well-formed")
    for length in COUNTED_LENGTHS:
        counts.add_row(str(length), str(grammar.count(length)))
    for table in (tags, rules, counts):
        console.print(table)


def _meaning(tag: Tag) -> str:
    label = f" of a mention, {tag.label}"
    slot = "" if tag.slot is None else SLOT_NAMES[tag.slot]
    meanings = {
        (Upper.OUTSIDE, Lower.NOTHING): "in no mention",
        (Upper.OUTSIDE, Lower.CONTINUOUS_BEGIN): f"the first word{label}",
        (Upper.OUTSIDE, Lower.CONTINUOUS_INSIDE): f"a further word{label}",
        (
            Upper.SET_BEGIN,
            Lower.COMPONENT_BEGIN,
        ): f"the first word of a mention set, {tag.label}, in slot {slot}",
        (Upper.SET_INSIDE, Lower.COMPONENT_BEGIN): f"the first word of a component in slot {slot}",
        (Upper.SET_INSIDE, Lower.COMPONENT_INSIDE): f"a further word of a component in slot {slot}",
        (Upper.SET_INSIDE, Lower.NOTHING): "in a gap",
        (Upper.SET_INSIDE, Lower.CONTINUOUS_BEGIN): f"in a gap, the first word{label}",
        (Upper.SET_INSIDE, Lower.CONTINUOUS_INSIDE): f"in a gap, a further word{label}",
    }
    return meanings[tag.upper, tag.lower]


def _show_example(
    scheme: Scheme, sentence: Sentence, layers: Layers, tags: Sequence[str], console: Console
) -> None:
    drawings = (
        draw_mentions(sentence, width=console.width),
        draw_layers(sentence.words, layers, tags, width=console.width),
    )
    for drawing in drawings:
        console.print(drawing, soft_wrap=True)
    decoded = _sentence(sentence.words, tuple(scheme.decode(tags)))
    console.print(f"Mentions decoded from the tags: {len(decoded.mentions)}")
    if not decoded.mentions:
        return
    table = plain_table("label", "mention", "words")
    table.box, table.pad_edge = None, False
    for mention in decoded.mentions:
        ranges = " ".join(f"{start}:{end}" for start, end in mention.fragments)
        table.add_row(mention.label, printable(mention.text or ""), ranges)
    console.print(table)
