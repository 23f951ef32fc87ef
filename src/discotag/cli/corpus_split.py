"""`discotag corpus split`: split a corpus into parts for training, development and test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discotag.cli.messages import say
from discotag.cli.options import (
    AsJson,
    EncodingOption,
    InFormat,
    Reporter,
    Sentences,
    SentencesOption,
    SkipBad,
    Words,
    WordsOption,
    chosen_splitter,
    counting,
    plain_console,
    plain_table,
    print_data,
    share,
    watched,
)
from discotag.corpora import read, write
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.formats.registry import WRITABLE
from discotag.corpora.outputs import Losses, check_apart, check_free, format_to_write
from discotag.corpora.parsing.files import STANDARD, failed, file_name
from discotag.corpora.splitting import Index, parse_parts, pick
from discotag.errors import InputError
from discotag.render import printable


def split(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A file or a folder.")],
    folder: Annotated[
        Path,
        typer.Argument(metavar="OUT_FOLDER", help="The folder to write a file for each part to."),
    ],
    parts: Annotated[
        str, typer.Option(help="The parts, each with its share of the corpus.")
    ] = "train=0.8,dev=0.1,test=0.1",
    seed: Annotated[int, typer.Option(help="The seed of the split.")] = 0,
    format: InFormat = None,
    target_format: Annotated[
        str, typer.Option("--to", help=f"The format of the parts: {WRITABLE}.")
    ] = "jsonl",
    skip_bad: SkipBad = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite parts that exist.")] = False,
    as_json: AsJson = False,
    sentences: SentencesOption = Sentences.auto,
    words: WordsOption = Words.pattern,
    encoding: EncodingOption = None,
) -> None:
    """Split a corpus into parts, by document.

    The parts get their shares of documents, sentences, mentions and discontinuous mentions, as far
    as whole documents allow. The same corpus and seed give the same parts; the order of documents
    with ids does not matter. The corpus is read once to count, and once for each part.

    [bold]Examples[/bold]

    discotag corpus split corpus.jsonl parts/

    discotag corpus split brat-folder/ parts/ --parts train=0.7,test=0.3 --seed 7 --to brat
    """
    if source == STANDARD:
        raise InputError("split reads the corpus several times: use a file, not -")
    shares = parse_parts(parts)
    chosen = format_to_write("", target_format, "--to")
    targets = [folder / f"{file_name(name)}{chosen.ending}" for name in shares]
    for target in targets:
        check_apart(target, [source])
        if not force:
            check_free(target, "use --force to overwrite it")
    splitter = chosen_splitter(sentences, words)
    reporter, index, losses = Reporter(skip_bad), Index(), Losses(chosen)
    with counting("Counting") as progress:
        documents = read(
            source,
            format,
            splitter=splitter,
            report=reporter.report,
            encoding=encoding,
            check_ids=True,
        )
        for document in watched(losses.watch(documents), Analysis(), progress):
            index.add(document)
    reporter.close()
    if not index:
        raise InputError(f"{source}: no documents to split")
    numbers = index.assign(list(shares.values()), seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failed(error, folder) from None
    counts: dict[str, Analysis] = {}
    for wanted, (name, target) in enumerate(zip(shares, targets, strict=True)):
        counts[name] = analysis = Analysis()
        with counting(f"Writing {name}") as progress:
            # Problems were reported when the corpus was counted.
            again = read(source, format, splitter=splitter, report=_ignore, encoding=encoding)
            chosen_documents = pick(again, numbers, wanted, str(source))
            write(watched(chosen_documents, analysis, progress), target, chosen.name)
    for line in losses.lines():
        say(line)
    if index.only_sentences:
        say(
            "each sentence is a document in this corpus: sentences of one text may be in different "
            "parts"
        )
    if index.repeated_ids:
        say("some documents have the same id: they may be in different parts")
    for name, analysis in counts.items():
        if not analysis.documents:
            say(f"the part {name} is empty: too few documents")
    if as_json:
        print_data(_data(counts, targets, seed))
    else:
        _show(counts, folder)


def _ignore(problem: object) -> None:
    pass


def _data(counts: dict[str, Analysis], targets: list[Path], seed: int) -> dict[str, object]:
    return {
        "seed": seed,
        "parts": {
            name: {"path": str(target), **analysis.sizes}
            for (name, analysis), target in zip(counts.items(), targets, strict=True)
        },
    }


def _show(counts: dict[str, Analysis], folder: Path) -> None:
    table = plain_table("", *map(printable, counts), "all")
    for key in Analysis().sizes:
        numbers = [analysis.sizes[key] for analysis in counts.values()]
        whole = sum(numbers)
        cells = (f"{number:,} ({share(number, whole)})" for number in numbers)
        table.add_row(key.replace("_", " "), *cells, f"{whole:,}")
    for column in table.columns[1:]:
        column.justify = "right"
    plain_console().print(table)
    say(f"wrote {folder}")
