"""`discotag corpus convert`: convert a corpus to another format."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Annotated, cast

import typer

from discotag.cli.messages import say
from discotag.cli.options import (
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
from discotag.corpora import TableOptions, read, write
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.formats.registry import READABLE, WRITABLE
from discotag.corpora.outputs import (
    Losses,
    check_apart,
    check_free,
    check_place,
    format_to_write,
)
from discotag.corpora.tables.table import Rows
from discotag.counts import counted
from discotag.errors import InputError


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
            help=f"The format of IN; recognised from the content by default: {READABLE}.",
        ),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help=f"The format of OUT; by default from its ending: {WRITABLE}.",
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
    .tsv, .xlsx, .parquet and .md are tables. Use --to for another format. If the format cannot
    represent a document, nothing is written.

    [bold]Examples[/bold]

    discotag corpus convert brat-folder/ corpus.jsonl

    discotag corpus convert train.txt brat-folder/

    discotag corpus convert train.json - --from w2ner --to inline --skip-bad

    discotag corpus convert reactions.jsonl reactions.xlsx
    """
    form, path = format_to_write(target, target_format, "--to"), Path(target)
    check_place(path, form)
    check_apart(path, [source])
    if not force:
        check_free(path, "use --force to overwrite it")
    if rows != RowKind.mentions and form.table is None:
        raise InputError(f"{target}: {form.name} is not a table, which --rows is for")
    reporter, analysis, losses = Reporter(skip_bad), Analysis(), Losses(form)
    with counting("Converting") as progress:
        documents = read(
            source,
            source_format,
            splitter=chosen_splitter(sentences, words),
            report=reporter.report,
            encoding=encoding,
            table=TableOptions(text_column, id_column, sheet),
            check_ids=True,
        )
        write(
            watched(losses.watch(documents), analysis, progress),
            path,
            form.name,
            rows=cast(Rows, rows.value),
            candidates=form.table is not None and may_have_candidates(source),
        )
    reporter.close()
    for line in losses.lines():
        say(line)
    say(
        f"wrote {path} as {form.name}: {counted(analysis.documents, 'document')}, "
        f"{counted(analysis.sentences, 'sentence')}, {counted(analysis.mentions, 'mention')}; "
        f"left out with errors: {reporter.errors:,}"
    )


def may_have_candidates(source: Path) -> bool:
    """Return whether a file has the field of candidates, which need columns from the beginning."""
    if not source.is_file() or not source.stat().st_size:
        return False
    with source.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b'"candidates":[{') >= 0
