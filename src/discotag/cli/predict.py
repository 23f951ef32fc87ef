"""`discotag predict`: the mentions of texts, files, folders or standard input."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from discotag import __version__
from discotag.cli.archive import (
    AddressOption,
    EngineOption,
    WorkersOption,
    predict_archive,
    refuse_options,
)
from discotag.cli.messages import Interrupted, is_quiet, say, warn
from discotag.cli.options import (
    DeviceOption,
    EncodingOption,
    IdColumnOption,
    ModelWordsOption,
    Reporter,
    RowKind,
    RowsOption,
    RuntimeOption,
    Sentences,
    SentencesOption,
    SheetOption,
    SkipBad,
    TextColumnOption,
    plain_console,
    splitter_of,
)
from discotag.cli.setting_options import given, takes_options
from discotag.corpora import FORMATS, TableOptions
from discotag.corpora.formats.format import Format
from discotag.corpora.formats.registry import READABLE, TABLES, WRITABLE
from discotag.corpora.inputs import Inputs
from discotag.corpora.outputs import (
    DEFAULT,
    check_apart,
    check_free,
    check_place,
    format_to_write,
)
from discotag.corpora.parsing.files import STANDARD
from discotag.corpora.tables.table import Rows
from discotag.counts import counted
from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document
from discotag.prediction.wanted import Wanted

if TYPE_CHECKING:
    from discotag.prediction.predictions import Predictions
    from discotag.prediction.tagger import Tagger

TERMINAL: Final = Format("terminal", "drawn for people", keeps_details=True)
PAGE: Final = Format("html", "a page for people", outputs=(".html", ".htm"), keeps_details=True)
"""What can be written besides the formats of files."""

UNCLEAR: Final = (".json",)
"""The endings that show no format, because several formats have them."""

Output = StrEnum(  # type: ignore[misc]
    "Output",
    [TERMINAL.name, PAGE.name, *(name for name, each in FORMATS.items() if each.write is not None)],
)

CHANGE_NOTHING: Final = frozenset(
    {
        *("inputs", "text"),  # described by what is read
        *("model", "output", "runtime", "device"),  # described by what is chosen
        *("out_name", "resume", "force", "rows", "engine", "workers", "address"),
    }
)
"""Options that need not be the same when a run is resumed, or are recorded in another way."""

MOST_SAMPLED: Final = 100
"""The most documents without mentions whose language is looked at."""

MOST_NAMES: Final = 3
"""The number of inputs that the title of a page names."""


@takes_options(Wanted, without=("alternatives",), bounded=True)
def predict(
    context: typer.Context,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|FOLDER|TEXT|-]...",
            help="What to tag: files, folders, texts with white space in them, or - for standard "
            "input, which is the default.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option("--text", "-t", help="A text to tag; may be repeated.", show_default=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A folder, or a name on the Hugging Face hub. [default: the model "
            "that comes with discotag]",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Output | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"The output format: {TERMINAL.name}, {PAGE.name}, {WRITABLE}. [default: from the "
            "ending of --out; otherwise terminal on a terminal, jsonl elsewhere]",
            show_default=False,
        ),
    ] = None,
    out_name: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="<path>",
            help="The file to write, or a folder, ending in /, for brat.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted run that wrote to --out."),
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace --out if it exists, or the annotations in it."),
    ] = False,
    *,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            help=f"The format of the input: {READABLE}. [default: found from the content, or from "
            "the ending for CSV and TSV]",
            show_default=False,
        ),
    ] = None,
    text_column: TextColumnOption = None,
    id_column: IdColumnOption = None,
    sheet: SheetOption = None,
    rows: RowsOption = RowKind.mentions,
    by_line: Annotated[
        bool, typer.Option("--lines", help="Treat each line of plain text as a separate text.")
    ] = False,
    sentences: SentencesOption = Sentences.auto,
    words: ModelWordsOption = None,
    encoding: EncodingOption = None,
    runtime: RuntimeOption = None,
    device: DeviceOption = None,
    skip_bad: SkipBad = False,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
    **options: Any,
) -> None:
    """Find the mentions in texts.

    An argument that is the path of a file or folder is read; any other argument that contains white
    space is a text. The input can be plain text, a table (CSV, TSV, Excel or Parquet) with a text
    in each row, or any format that `discotag corpus` reads.
    Mentions in the input are replaced by those found. Documents are written as they are tagged, in
    the order of the input.

    [bold]Examples[/bold]

    discotag predict "The pain I was experiencing around the hipjoints was incredible."

    discotag predict reviews/ --out reviews.jsonl --min-score 0.5

    discotag predict reviews.txt --lines --out reviews.jsonl --resume

    discotag predict reviews.jsonl --out found.html

    discotag predict posts.csv --text-column comment --id-column id --out reactions.xlsx

    cat note.txt | discotag predict --format inline

    discotag predict archive/ --engine processes --out found/ --format parquet
    """
    if input_format is not None and input_format not in READABLE.split(", "):
        raise typer.BadParameter(f"--from can be {READABLE}")
    from discotag.model.files import digest, find_model, read_config

    splitter = splitter_of(read_config(find_model(model))[1], sentences, words)
    wanted = Wanted(**given(options))
    if engine is not None:
        refuse_options(
            {
                "--text": text,
                "--sheet": sheet,
                "--lines": by_line,
                "--encoding": encoding,
                "--rows": rows != RowKind.mentions,
            }
        )
        predict_archive(
            inputs or [],
            out_name,
            output,
            input_format,
            engine=engine,
            workers=workers,
            address=address,
            model=model,
            runtime=runtime,
            device=device,
            wanted=wanted,
            splitter=splitter,
            text_column=text_column,
            id_column=id_column,
            skip_bad=skip_bad,
            resume=resume,
            force=force,
        )
        return
    if workers is not None or address is not None:
        raise typer.BadParameter("--workers and --address are for --engine")
    arguments = inputs or ([] if text else ["-"])
    if not inputs and not text and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("give files, folders or texts, or write to standard input")
    form = _chosen_format(output, out_name)
    out = None if out_name is None else Path(out_name)
    if resume and (out is None or form.line is None):
        advice = "; corpus convert makes a table of it" if form.table is not None else ""
        raise typer.BadParameter(f"--resume needs --out, and --format {DEFAULT.name}{advice}")
    if rows != RowKind.mentions and form.table is None:
        raise typer.BadParameter(f"--rows is for tables: {TABLES}")
    reporter = Reporter(skip_bad)
    source = Inputs(
        arguments,
        text or (),
        format=input_format,
        table=TableOptions(text_column, id_column, sheet),
        by_line=by_line,
        splitter=splitter,
        report=reporter.report,
        encoding=encoding,
        keep_mark=form.update is not None,
    )
    if out is not None:
        _check_output(out, form, source, resume or force)
    from discotag.prediction.loading import load

    tagger = load(model, runtime=runtime, device=device)
    if wanted.candidates is not False and not form.keeps_details:
        if wanted.candidates or tagger.config.guarantee is not None:
            marking = f"use {TERMINAL.name}, {PAGE.name}, jsonl or a table"
            say(f"{form.name} cannot mark candidates to review, so it gets none: {marking}")
        wanted = replace(wanted, candidates=False)
    wanted.check_labels(tagger.scheme.labels)
    settings = {
        **fingerprint(context),
        **wanted.record(),
        "discotag": __version__,
        "model": digest(tagger.folder),
        "runtime": tagger.runtime.name,
        "device": tagger.runtime.device,
        "--format": form.name,
        "--words": splitter.words,
        "input": source.describe(),
    }
    writer = _Writer(tagger, source, form, wanted, resume, force, cast(Rows, rows.value))
    with _one_line_warnings():
        if out is None:
            writer.to_standard_output(named=len(arguments) > 1 or STANDARD in source.paths)
        elif form.update is not None:
            writer.to_folder(out)
        elif form.line is not None:
            writer.to_lines(out, settings)
        else:
            writer.to_file(out)
    if not resume:  # which says what is already done
        if out not in (None, STANDARD):
            say(f"{out}: {writer.summary}")
        writer.say_if_all_were_left_out()
        writer.say_if_in_another_language()
    reporter.close(advice="")


def fingerprint(context: typer.Context) -> dict[str, object]:
    """Return the options that a run which is resumed must have in common with the one before.

    These are all options of the command but those that are known to change nothing in the output.
    """
    names = {each.name: each.opts[0] for each in context.command.params if each.name}
    return {
        names[name]: value.value if isinstance(value, StrEnum) else value
        for name, value in context.params.items()
        if name not in CHANGE_NOTHING
    }


def _chosen_format(output: Output | None, out: str | None) -> Format:
    """Return the format to write, by `--format`, else by the ending of `--out`."""
    if out == "":
        raise typer.BadParameter("--out is empty; give the name of a file")
    if out is None and output is None:
        return TERMINAL if sys.stdout.isatty() else DEFAULT
    name = None if output is None else str(output)
    try:
        form = format_to_write(out or "-", name, "--format", more=(TERMINAL, PAGE), unclear=UNCLEAR)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    if form is TERMINAL and out is not None:
        raise typer.BadParameter("--format terminal is for the terminal; leave out --out")
    if out is None and not form.streams:
        kind = "folder" if form.folder else "file"
        raise typer.BadParameter(f"{form.name} needs --out, a {kind}")
    return form


def _check_output(out: Path, form: Format, source: Inputs, allowed: bool) -> None:
    """Raise unless the output can be written without losing anything."""
    check_place(out, form)
    # brat's annotations may be written beside the texts they are of.
    check_apart(out, (each for each in source.paths if not (form.folder and _same(each, out))))
    _check_free(out, form, allowed)


def _check_free(out: Path, form: Format, allowed: bool) -> None:
    """Raise if the output already exists and may be neither replaced nor continued."""
    advice = "use --force to replace it"
    if form.update is not None:
        advice = "use --force to replace those with the model's labels, or write to another folder"
    elif form is not PAGE and form.table is None:
        advice = "use --resume to continue JSON lines, or --force to replace it"
    if not allowed:
        check_free(out, advice, texts_only=form.update is not None)


def _same(path: Path, other: Path) -> bool:
    return path.is_dir() and other.exists() and path.samefile(other)


class _Summary:
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


class _Writer:
    """Tags documents and writes them."""

    def __init__(
        self,
        tagger: Tagger,
        source: Inputs,
        form: Format,
        wanted: Wanted,
        resume: bool,
        force: bool,
        rows: Rows,
    ) -> None:
        self.rows = rows
        self.summary = _Summary()
        self.without_mentions: list[str] = []
        self.found: Predictions | None = None
        self.tagger = tagger
        self.source = source
        self.form = form
        self.wanted = wanted
        self.resume = resume
        self.force = force

    def to_standard_output(self, named: bool) -> None:
        """Draw documents on the terminal, or write them to standard output."""
        if self.form is TERMINAL:
            _draw(self._tagged(progress=False), named, self.tagger.scheme.labels)
        elif self.form.line is not None:
            self._stream_lines(self.form.line)
        else:
            self.to_file(STANDARD)

    def to_file(self, out: Path) -> None:
        """Write a file, which appears when it is complete."""
        if out == STANDARD:
            self._write(self._tagged(progress=not sys.stdout.isatty()), out)
            return
        with self._locked(out):
            before = _count(out)
            try:
                self._write(self._tagged(), out)
            except KeyboardInterrupt:
                raise Interrupted(f"stopped; nothing was written to {out}") from None
            _say_replaced(out, *before)

    def _write(self, documents: Iterator[Document], out: Path) -> None:
        from discotag.corpora import write

        if self.form is PAGE:
            self._write_page(documents, out)
        else:
            table = self.form.table is not None
            write(
                documents,
                out,
                self.form.name,
                rows=self.rows,
                columns=self.source.columns() if table else None,
                candidates=self.tagger.has_candidates(self.wanted),
            )

    def _write_page(self, documents: Iterator[Document], out: Path) -> None:
        from discotag.corpora.parsing.files import created
        from discotag.render.documents_page import write_page

        with created(out) as stream:
            write_page(
                documents,
                stream,
                title=f"Mentions in {self._names()}",
                about=f"Found by discotag {__version__} with {self._model()}.",
                labels=self.tagger.scheme.labels,
            )

    def _names(self) -> str:
        """Return the names of the inputs, for the title of a page."""
        names = [
            "standard input" if path == STANDARD else path.name or str(path)
            for path in self.source.paths
        ]
        more = len(names) - MOST_NAMES
        shown = ", ".join(names[:MOST_NAMES]) or "texts"
        return f"{shown} and {more:,} more" if more > 0 else shown

    def _model(self) -> str:
        from discotag.model.files import BUNDLED

        folder = self.tagger.folder
        if folder is None or folder == BUNDLED:
            return "its bundled model"
        return f"the model {folder.name}"

    def to_folder(self, out: Path) -> None:
        """Write annotations to the files of a folder, replacing others only if forced to."""
        from discotag.corpora.parsing.files import failed

        assert self.form.update is not None
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failed(error, out) from None
        mentions = documents = written = 0
        labels = self.tagger.scheme.labels
        with self._locked(out):
            try:
                for gone in self.form.update(self._tagged(), out, labels, self.force):
                    written += 1
                    mentions += gone
                    documents += bool(gone)
            except KeyboardInterrupt:
                finished = counted(written, "document is", "documents are")
                raise Interrupted(
                    f"stopped; {finished} in {out}; the same command with --force writes all"
                ) from None
            finally:
                _say_replaced(out, mentions, documents)

    def to_lines(self, out: Path, settings: dict[str, Any]) -> None:
        """Write JSON lines to a file one by one, so that finished work is never lost."""
        from discotag.corpora import jobs
        from discotag.corpora.parsing.files import failed

        assert self.form.line is not None

        with self._locked(out):
            done = 0
            if self.resume and out.exists() and out.stat().st_size:
                jobs.check_same(out, settings)
                done = jobs.repair(out)
                say(f"{out}: {counted(done, 'document is', 'documents are')} already done")
            else:
                _say_replaced(out, *_count(out))
                jobs.record(out, settings)
            try:
                with out.open("ab" if done else "wb") as stream:
                    for document in self._tagged(done=done, out=out):
                        stream.write(self.form.line(document).encode())
                        stream.flush()
            except OSError as error:
                raise failed(error, out) from None
            except KeyboardInterrupt:
                written = counted(jobs.repair(out), "document is", "documents are")
                raise Interrupted(
                    f"stopped; {written} in {out}; the same command with --resume continues"
                ) from None

    @contextmanager
    def _locked(self, out: Path) -> Iterator[None]:
        """Lock the output, and check again that another process has not written to it."""
        from discotag.corpora.jobs import locked

        with locked(out):
            _check_free(out, self.form, self.resume or self.force)
            yield

    def _stream_lines(self, line: Callable[[Document], str]) -> None:
        from discotag.corpora.parsing.files import created

        with created(STANDARD) as stream:
            for document in self._tagged(progress=not sys.stdout.isatty()):
                stream.write(line(document))
                stream.flush()

    def _tagged(
        self, *, progress: bool = True, done: int = 0, out: Path | None = None
    ) -> Iterator[Document]:
        documents = self.source.documents()
        if done and out is not None:
            from discotag.corpora.jobs import compared

            documents = compared(documents, out, done)
        shown = progress and not is_quiet()
        self.found = self.tagger.predict(documents, self.wanted, progress=shown, skip=done)
        return self._watched(self.summary.watch(self.found))

    def _watched(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield documents, and keep some text of those without mentions."""
        for document in documents:
            if not document.mentions and len(self.without_mentions) < MOST_SAMPLED:
                self.without_mentions.append(document.text or " ".join(document.words))
            yield document

    def say_if_in_another_language(self) -> None:
        """Warn if most documents have no mentions, and are not in the language of the model."""
        language = self.tagger.config.language
        sampled = min(self.summary.documents, MOST_SAMPLED)
        if language is None or len(self.without_mentions) <= sampled / 2:
            return
        from discotag.languages import other_language

        found = other_language(self.without_mentions, language)
        if found is not None:
            warn(
                f"the text seems to be in another language ({found}) than that of the model "
                f"({language}), which finds little in it"
            )

    def say_if_all_were_left_out(self) -> None:
        """Say that mentions were found, but none with the score that was asked for."""
        if self.found is not None and self.found.left_out.mentions and not self.summary.mentions:
            say(self.found.left_out.described(self.wanted.min_score))


def _draw(documents: Iterable[Document], named: bool, labels: Sequence[str]) -> None:
    """Draw documents for people to read."""
    from rich.text import Text

    from discotag.render import draw_mentions, printable

    console = plain_console()
    for document in documents:
        if document.id is not None and named:
            console.print(Text(printable(document.id), style="bold underline"))
        for sentence in document.sentences:
            drawing = draw_mentions(sentence, width=console.width, labels=labels)
            console.print(drawing, soft_wrap=True)


def _count(out: Path) -> tuple[int, int]:
    """Return how many mentions of how many documents are in a file that will be replaced."""
    from discotag.corpora import read

    if not out.is_file() or not out.stat().st_size:
        return 0, 0
    mentions = documents = 0
    try:
        for document in read(out, report=lambda problem: None):
            mentions += len(document.mentions)
            documents += 1
    except DiscotagError:  # it is something else, which the user has asked to replace
        pass
    return mentions, documents


def _say_replaced(out: Path, mentions: int, documents: int) -> None:
    if documents:
        replaced = f"{counted(mentions, 'mention')} of {counted(documents, 'document')}"
        say(f"{out}: replaced {replaced}")


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show warnings about mention sets that were left out as lines for users."""
    from discotag.prediction.decoding import TooManyMentions

    with warnings.catch_warnings():
        warnings.simplefilter("always", TooManyMentions)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, TooManyMentions):
                warn(str(message))
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]
        try:
            yield
        finally:
            warnings.showwarning = usual
