"""`discotag corpus convert`: convert a corpus to another format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from discotag.cli.messages import say
from discotag.cli.options import (
    READABLE,
    TABULAR,
    WRITABLE,
    EncodingOption,
    IdColumnOption,
    Reporter,
    RowKind,
    RowsOption,
    Sentences,
    SentencesOption,
    SheetOption,
    SkipBad,
    TextColumnOption,
    Words,
    WordsOption,
    chosen_splitter,
    counting,
    watched,
)
from discotag.corpora import check_ids, read, write
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.formats.registry import named_format
from discotag.corpora.inputs import NOT_A_TABLE, recognise_table
from discotag.corpora.parsing.files import STANDARD
from discotag.corpora.tables import TABLES, TableOptions, read_table, write_table
from discotag.corpora.tables.table import Rows
from discotag.counts import counted
from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document

BY_SUFFIX: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "w2ner",
    ".txt": "inline",
    ".inline": "inline",
    ".conll": "conll",
    ".bio": "conll",
    ".xml": "bioc-xml",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
}
"""The formats of files by their ending, without `--to`; a folder is written as brat."""

LOSSLESS: Final = "jsonl"
"""The format that keeps everything."""

SHOWN_FIELDS: Final = 10
"""The number of fields that are not kept that a message names; the others are counted."""

WORDS_ONLY: Final = frozenset({"inline", "conll", "w2ner"})
"""Formats that keep sentences as words, without the text, the documents and their ids."""


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A file, a folder, or - for standard input.")
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="The file to write, a folder ending in / for brat, or - for standard output.",
        ),
    ],
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--format",
            help=f"The format of IN; recognised from the content by default: {READABLE}; "
            f"tables: {TABULAR}.",
        ),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help=f"The format of OUT; by default from its ending: {WRITABLE}, {TABULAR}.",
        ),
    ] = None,
    text_column: TextColumnOption = None,
    id_column: IdColumnOption = None,
    sheet: SheetOption = None,
    rows: RowsOption = RowKind.mentions,
    skip_bad: SkipBad = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")] = False,
    sentences: SentencesOption = Sentences.auto,
    words: WordsOption = Words.pattern,
    encoding: EncodingOption = None,
) -> None:
    """Convert a corpus to another format, one document at a time.

    The format of OUT follows from its ending: .jsonl (and -) is discotag's format, which keeps
    everything, .txt is inline text, .json W2NER, .conll BIO, .xml BioC, and a folder brat; .csv,
    .tsv, .xlsx and .parquet are tables. Use --to for another format. If the format cannot represent
    a document, nothing is written.

    [bold]Examples[/bold]

    discotag corpus convert brat-folder/ corpus.jsonl

    discotag corpus convert train.txt brat-folder/

    discotag corpus convert train.json - --from w2ner --to inline --skip-bad

    discotag corpus convert reactions.jsonl reactions.xlsx
    """
    path, name = chosen_target(target, target_format)
    guard(source, path, force)
    table = TABLES.get(source_format) if source_format else recognise_table(source)
    options = TableOptions(text_column, id_column, sheet)
    if options and table is None:
        raise InputError(f"{source}: {NOT_A_TABLE}")
    if rows != RowKind.mentions and name not in TABLES:
        raise InputError(f"{target}: {name} is not a table, which --rows is for")
    reporter, analysis = Reporter(skip_bad), Analysis()
    losses = Losses(name)
    with counting("Converting") as progress:
        reading: dict[str, Any] = {
            "splitter": chosen_splitter(sentences, words),
            "report": reporter.report,
            "encoding": encoding,
        }
        if table is not None:
            documents = read_table(source, table.name, options=options, **reading)
        else:
            documents = check_ids(read(source, source_format, **reading), reporter.report)
        documents = watched(losses.watch(documents), analysis, progress)
        if name in TABLES:
            kind = cast(Rows, rows.value)
            write_table(documents, path, name, rows=kind, candidates=may_have_candidates(source))
        else:
            write(documents, path, name)
    reporter.close()
    for line in losses.lines():
        say(line)
    say(
        f"wrote {path} as {name}: {counted(analysis.documents, 'document')}, "
        f"{counted(analysis.sentences, 'sentence')}, {counted(analysis.mentions, 'mention')}; "
        f"left out with errors: {reporter.errors:,}"
    )


def may_have_candidates(source: Path) -> bool:
    """Return whether a file has the field of candidates, which need columns from the beginning."""
    if not source.is_file() or not source.stat().st_size:
        return False
    with source.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b'"candidates":[{') >= 0


class Losses:
    """Counts what a format does not keep of documents."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.texts = 0
        self.scores = 0
        self.candidates = 0
        self.extra: Counter[str] = Counter()

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the same documents, and count what is not kept."""
        for document in documents:
            alone = len(document.sentences) == 1 and document.sentences[0].text is None
            self.texts += not alone or document.id is not None
            self.extra.update(document.extra.keys())
            self.scores += any(
                mention.score is not None
                for sentence in document.sentences
                for mention in sentence.mentions
            )
            self.candidates += bool(document.candidates)
            yield document

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of information that is not kept."""
        if self.format == LOSSLESS or self.format in TABLES:
            return
        if self.format in WORDS_ONLY and self.texts:
            yield (
                f"{self.format} keeps words and mentions only: texts, ids and boundaries of "
                f"{counted(self.texts, 'document')} are lost"
            )
        if self.extra:
            names = [f"{name} ({count:,})" for name, count in self.extra.most_common(SHOWN_FIELDS)]
            more = len(self.extra) - len(names)
            names += [f"{more:,} more"] if more else []
            yield f"{self.format} does not keep these fields of documents: {', '.join(names)}"
        if self.scores:
            have = counted(self.scores, "document has", "documents have")
            yield f"{self.format} does not keep scores, which {have}"
        if self.candidates:
            have = counted(self.candidates, "document has", "documents have")
            yield f"{self.format} does not keep candidates to review, which {have}"


class Summary:
    """Counts the documents and mentions that are written."""

    def __init__(self) -> None:
        self.documents = self.with_mentions = self.mentions = self.candidates = 0

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the same documents, and count them and their mentions."""
        for document in documents:
            found = sum(len(sentence.mentions) for sentence in document.sentences)
            self.documents += 1
            self.with_mentions += found > 0
            self.mentions += found
            self.candidates += len(document.candidates)
            yield document

    def __str__(self) -> str:
        found = f"{counted(self.mentions, 'mention')} in {self.with_mentions:,}"
        review = f", {counted(self.candidates, 'candidate')} to review" if self.candidates else ""
        return f"{found} of {counted(self.documents, 'text')}{review}"


def chosen_target(target: str, name: str | None, option: str = "--to") -> tuple[Path, str]:
    """Return the path and the format to write.

    Args:
        target: The path as the user gave it.
        name: The format, if the user gave one.
        option: The option that gives the format, for messages.

    Raises:
        InputError: The format is unknown, cannot be written, or is not clear.
    """
    path = Path(target)
    if name is None:
        if path == STANDARD:
            name = "jsonl"
        elif target.endswith("/") or path.is_dir():
            name = "brat"
        else:
            name = BY_SUFFIX.get(path.suffix.lower())
    if name is None:
        raise InputError(
            f"{target}: no format has this ending; use {option} with one of {WRITABLE}"
        )
    if name in TABLES:
        if path == STANDARD and TABLES[name].recognises is not None:
            raise InputError(f"{name} cannot be written to -; give a file")
        if path.is_dir():
            raise InputError(f"{path} is a folder; {name} is written to a file")
        return path, name
    chosen = named_format(name)
    if chosen.write is None:
        raise InputError(
            f"{name} can only be read, not written; choose another format with {option}"
        )
    if chosen.folder and path == STANDARD:
        raise InputError(f"{name} is a folder of files and cannot be written to -")
    if chosen.folder and path.is_file():
        raise InputError(f"{path} is a file; {name} is written to a folder")
    if not chosen.folder and path.is_dir():
        raise InputError(f"{path} is a folder; {name} is written to a file")
    return path, name


def guard(
    source: Path, target: Path, force: bool, advice: str = "use --force to overwrite it"
) -> None:
    """Raise if writing would overwrite a file.

    Args:
        source: What is read.
        target: What is to be written.
        force: Whether it may be overwritten.
        advice: What to do if it exists.

    Raises:
        InputError: The target exists and `force` is False, or is part of the source.
    """
    if target == STANDARD:
        return
    if source != STANDARD and _real(target).is_relative_to(_real(source)):
        raise InputError(f"{target} is part of what is read, {source}; write elsewhere")
    taken = target.exists() and not (target.is_dir() and not any(target.iterdir()))
    if taken and not force:
        raise DiscotagError(f"{target} already exists; {advice}")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # which does not fail for circular links
