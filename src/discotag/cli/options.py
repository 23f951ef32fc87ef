"""Options, tables and progress that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, track
from rich.table import Table

from discotag import words as words_room
from discotag.cli.messages import say, warn
from discotag.corpora import Problem, strict
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.formats.registry import READABLE
from discotag.corpora.parsing.files import STANDARD, created
from discotag.counts import counted
from discotag.evaluation import Pair
from discotag.mentions import Document
from discotag.model.config import ModelConfig
from discotag.render import percent
from discotag.words import Splitter

SHOWN_PROBLEMS: Final = 20
"""The number of problems that are shown; further ones are counted."""

STEP: Final = 1000
"""The number of sentences between two updates of the progress: an update takes as long as reading
a sentence."""

Sentences = StrEnum("Sentences", ["auto", "lines", "whole"])
Words = StrEnum("Words", ["pattern", "characters", "spaces"])


def _unset(name: str, help: str, **more: Any) -> Any:
    """Declare an option whose help says in words what holds without it."""
    return typer.Option(name, help=help, show_default=False, **more)


InPath = Annotated[Path, typer.Argument(help="A file, a folder, or - for standard input.")]
InFormat = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"The format; recognised from the content by default: {READABLE}."
    ),
]
SentencesOption = Annotated[
    Sentences,
    typer.Option(
        "--sentences",
        help="How to split text into sentences, for formats without words: at punctuation and "
        "blank lines, at line ends, or not at all.",
    ),
]
WORDS_HELP: Final = (
    "How to split text into words: letters, digits and other signs; each character; or at spaces "
    "only."
)
WordsOption = Annotated[Words, typer.Option("--words", help=WORDS_HELP)]
ModelWordsOption = Annotated[
    Words | None,
    typer.Option(
        "--words", help=f"{WORDS_HELP} [default: as the model was trained]", show_default=False
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out what is invalid, and continue with the rest.")
]
EncodingOption = Annotated[
    str | None,
    _unset(
        "--encoding",
        "The encoding of files without a byte-order mark, such as windows-1252; else UTF-8.",
        metavar="NAME",
    ),
]
RuntimeOption = Annotated[
    str | None,
    _unset("--runtime", "torch, onnx or onnx-int8. [default: the most exact that the model has]"),
]
DeviceOption = Annotated[
    str | None,
    _unset("--device", "cpu or cuda. [default: cpu; with torch, cuda if available]"),
]
TextColumnOption = Annotated[
    str | None,
    _unset(
        "--text-column",
        "The column of a table with the texts. [default: the only one that can be it]",
        metavar="NAME",
    ),
]
IdColumnOption = Annotated[
    str | None,
    _unset(
        "--id-column",
        "The column of a table with the ids of the texts. [default: id, else row numbers]",
        metavar="NAME",
    ),
]
SheetOption = Annotated[
    str | None,
    _unset(
        "--sheet",
        "The name or number of the sheet of a workbook. [default: the only one with cells]",
        metavar="NAME",
    ),
]
RowKind = StrEnum("RowKind", ["mentions", "documents"])
RowsOption = Annotated[
    RowKind,
    typer.Option(
        "--rows",
        help="In a table, write a row for each mention, so that texts without mentions have none, "
        "or a row for each document.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def chosen_splitter(sentences: Sentences, words: Words) -> Splitter:
    """Return the splitter for the options."""
    return Splitter(
        cast(words_room.Sentences, sentences.value), cast(words_room.Words, words.value)
    )


def splitter_of(config: ModelConfig, sentences: Sentences, words: Words | None) -> Splitter:
    """Return the splitter of a model, changed by the options."""
    return config.splitter(
        cast(words_room.Sentences, sentences.value),
        None if words is None else cast(words_room.Words, words.value),
    )


def plain_console() -> Console:
    """Return a console that does not interpret markup in text of users."""
    return Console(highlight=False, markup=False, emoji=False)


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return a table whose cells are never truncated."""
    table = Table(*columns, title=title, title_justify="left")
    for column in table.columns:
        column.overflow = "fold"
    return table


def figure_table(title: str, texts: Iterable[str], numbers: Iterable[str]) -> Table:
    """Return a table with columns of texts, and columns of numbers to their right."""
    table = Table(
        title=title[0].upper() + title[1:],
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True, overflow="fold")
    return table


def print_data(data: object) -> None:
    """Print plain data as a line of JSON."""
    with created(STANDARD) as stream:
        stream.write(json.dumps(data, ensure_ascii=False) + "\n")


def share(part: int, whole: int) -> str:
    """Return the share of a part in the whole, in percent."""
    return percent(part / whole, 1) if whole else "–"


def tracked(items: Iterable[Pair], what: str) -> Iterable[Pair]:
    """Return the same sentences, whose number is shown on a terminal while they are taken."""
    console = Console(stderr=True)
    return track(items, what, console=console, disable=not console.is_terminal, transient=True)


@contextmanager
def counting(doing: str) -> Iterator[Callable[[int], None] | None]:
    """Show the number of sentences done on a terminal; yield the function that updates it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{doing} …")
        told = 0

        def tell(sentences: int) -> None:
            nonlocal told
            if sentences >= told + STEP:
                told = sentences
                bar.update(task, description=f"{doing} … {sentences:,} sentences")

        yield tell


def watched(
    documents: Iterable[Document], analysis: Analysis, progress: Callable[[int], None] | None
) -> Iterator[Document]:
    """Yield the same documents, and count them."""
    for document in documents:
        analysis.add(document)
        if progress is not None:
            progress(analysis.sentences)
        yield document


class Reporter:
    """Prints problems on stderr, up to a number, and counts them.

    Args:
        skip_bad: Whether to continue after an error; otherwise it is raised.
    """

    def __init__(self, skip_bad: bool) -> None:
        self.skip_bad = skip_bad
        self.errors = 0
        self.warnings = 0

    def report(self, problem: Problem) -> None:
        """Print a problem, or raise it."""
        if problem.kind == "guessed":
            say(str(problem))
            return
        if not self.skip_bad:
            strict(problem)
        is_error = problem.severity == "error"
        self.errors += is_error
        self.warnings += not is_error
        if self.errors + self.warnings > SHOWN_PROBLEMS:
            return
        if is_error:
            say(f"left out: {problem}")
        else:
            warn(str(problem))

    def close(self, advice: str = "; see discotag corpus check") -> None:
        """Print the number of problems that were not shown."""
        hidden = max(self.errors + self.warnings - SHOWN_PROBLEMS, 0)
        if hidden:
            say(f"… and {counted(hidden, 'more problem')}{advice}")
