"""`discotag predict`: the mentions of texts, files, folders or standard input."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

from discotag.cli.corpus_options import (
    Reporter,
    Sentences,
    SentencesOption,
    SkipBad,
    Words,
    WordsOption,
    chosen_splitter,
    plain_console,
)
from discotag.errors import DiscotagError
from discotag.mentions import Document
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.model.tagger import Tagger

STANDARD: Final = Path("-")

PLAIN: Final = "text"
"""The format of a text without any marks."""

PLAIN_SUFFIXES: Final = frozenset({"", ".txt", ".text", ".md"})
ENDING: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}")
"""Of names of files; a word that ends so is taken for one."""

LINE_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})

MOST_BYTES: Final = 4 << 20
"""Of a plain text that is one document: some 700,000 words, which take 300 MB while they are
tagged. Longer ones are tagged line by line."""

Output = StrEnum("Output", ["terminal", "jsonl", "brat", "inline"])


def predict(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT|FILE|FOLDER|-]...",
            help="What to tag: texts, files, folders, or - for standard input, which is the "
            "default.",
            show_default=False,
        ),
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
            help="How to write. [default: terminal on a terminal, else jsonl]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file to write, or the folder, for brat.", show_default=False
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on where an earlier run stopped writing to --out."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write over an --out that exists.")
    ] = False,
    min_score: Annotated[
        float, typer.Option(help="Leave out mentions of a lower probability.", min=0, max=1)
    ] = 0.0,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The format of the input: text, or one that `discotag corpus` "
            "reads. [default: found out]",
            show_default=False,
        ),
    ] = None,
    by_line: Annotated[
        bool, typer.Option("--lines", help="Plain text: take each line for a text of its own.")
    ] = False,
    sentences: SentencesOption = Sentences.auto,
    words: WordsOption = Words.pattern,
    batch_size: Annotated[
        int | None,
        typer.Option(
            help="Sentences at a time. [default: by their length]", min=1, show_default=False
        ),
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            help="onnx-int8, onnx or torch. [default: the first the model has]", show_default=False
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda. [default: cpu for onnx]", show_default=False)
    ] = None,
    skip_bad: SkipBad = False,
) -> None:
    """Find the mentions in texts.

    An argument that names a file or a folder is read; any other is a text. Plain text files,
    discotag's JSON lines, brat and all that `discotag corpus` reads can be given; mentions that
    are in them are replaced. Documents are written as they are tagged, in the order of the input.

    [bold]Examples[/bold]

    discotag predict "The pain I was experiencing around the hipjoints was incredible."

    discotag predict reviews/ --out reviews.jsonl --min-score 0.5

    discotag predict reviews.txt --lines --out reviews.jsonl --resume

    cat note.txt | discotag predict --format inline
    """
    from discotag.corpora import FORMATS

    if input_format not in (None, PLAIN, *FORMATS):
        raise typer.BadParameter(f"--from can be {', '.join((PLAIN, *FORMATS))}")
    given = inputs or ["-"]
    if not inputs and sys.stdin.isatty():
        raise typer.BadParameter("give texts, files or folders, or write to standard input")
    form = output or (Output.terminal if out is None and sys.stdout.isatty() else Output.jsonl)
    if form is Output.brat and out is None:
        raise typer.BadParameter("brat needs --out, a folder")
    if form is Output.terminal and out is not None:
        raise typer.BadParameter("--format terminal is for the terminal; leave out --out")
    if resume and (out is None or form is not Output.jsonl):
        raise typer.BadParameter("--resume needs --out, and --format jsonl")
    if out is not None and out.is_file() and out.stat().st_size and not (resume or force):
        raise DiscotagError(
            f"{out}: is there already; --resume goes on with JSON lines, --force writes it anew"
        )
    reporter = Reporter(skip_bad)
    source = _Source(chosen_splitter(sentences, words), reporter, input_format, by_line, out)
    documents = source.documents(given)

    from discotag.model.files import load

    tagger = load(model, runtime=runtime, device=device)
    options: dict[str, Any] = {"batch_size": batch_size, "min_score": min_score}
    try:
        with _one_line_warnings():
            if form is Output.jsonl and out is not None:
                _write_lines(tagger, documents, out, resume, options)
            else:
                progress = form is not Output.terminal and (out or not sys.stdout.isatty())
                tagged = tagger.predict(documents, progress=bool(progress), **options)
                _write(tagged, form, out, several=len(given) > 1 or given[0] == "-")
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    reporter.close()


class _Source:
    """What is to be tagged, a document at a time."""

    def __init__(
        self,
        splitter: Splitter,
        reporter: Reporter,
        form: str | None,
        by_line: bool,
        out: Path | None,
    ) -> None:
        self.splitter = splitter
        self.reporter = reporter
        self.form = form
        self.by_line = by_line
        self.out = out

    def documents(self, given: list[str]) -> Iterator[Document]:
        """The documents of all arguments.

        Names of files that are not there are refused at once, and so is a file that would be
        written over while it is read.
        """
        found = [(each, _path(each)) for each in given]
        for _, path in found:
            if path is not None and path.is_file() and self._is_output(path):
                raise DiscotagError(f"{path}: is what to tag, so --out must be another file")
        return self._documents(found)

    def _is_output(self, path: Path) -> bool:
        return self.out is not None and self.out.exists() and path.samefile(self.out)

    def _documents(self, given: list[tuple[str, Path | None]]) -> Iterator[Document]:
        for text, path in given:
            if path is None:
                yield self.splitter.document(text)
            elif path != STANDARD and path.is_dir():
                yield from self._folder(path)
            else:
                yield from self._file(path, path.stem)

    def _folder(self, folder: Path) -> Iterator[Document]:
        from discotag.corpora.files import files_in

        files = [file for file in files_in(folder) if not self._is_output(file)]
        known = PLAIN_SUFFIXES | LINE_SUFFIXES if self.form is None else {PLAIN}
        if self.form not in (None, PLAIN) or any(file.suffix == ".ann" for file in files):
            yield from self._corpus(folder)
            return
        chosen = [file for file in files if file.suffix in known or self.form == PLAIN]
        if not chosen:
            raise DiscotagError(f"{folder}: no file in this folder is text or JSON lines")
        if others := len(files) - len(chosen):
            print(f"{folder}: {others:,} files of other kinds are left out", file=sys.stderr)
        for file in chosen:
            yield from self._file(file, file.relative_to(folder).with_suffix("").as_posix())

    def _file(self, path: Path, name: str) -> Iterator[Document]:
        plain = path == STANDARD or path.suffix in PLAIN_SUFFIXES or not _is_corpus(path)
        if self.form == PLAIN or (self.form is None and plain):
            yield from self._plain(path, None if path == STANDARD else name)
        else:
            yield from self._corpus(path)

    def _corpus(self, path: Path) -> Iterator[Document]:
        from discotag.corpora import read

        form = self.form
        if form is None and path.suffix in LINE_SUFFIXES:
            form = "jsonl"
        return read(path, form, splitter=self.splitter, report=self.reporter.report)

    def _plain(self, path: Path, name: str | None) -> Iterator[Document]:
        from discotag.corpora import Problem
        from discotag.corpora.files import lines, read_text

        report = self.reporter.report
        if self.by_line:
            for number, line in lines(path, report):
                if line is not None:
                    identifier = str(number) if name is None else f"{name}-{number}"
                    yield self.splitter.document(line, id=identifier)
            return
        text = read_text(path, report)
        if text is not None and len(text) > MOST_BYTES:
            size = MOST_BYTES >> 20
            message = f"the text is over {size} million characters; --lines tags it line by line"
            report(Problem("too_long", message, str(path)))
        elif text is not None:
            yield self.splitter.document(text, id=name)


def _is_corpus(path: Path) -> bool:
    """Whether a file is in one of the formats of corpora."""
    from discotag.corpora.problems import CorpusError
    from discotag.corpora.registry import find_format

    if path.suffix in LINE_SUFFIXES:
        return True
    try:
        find_format(path)
    except CorpusError:
        return False
    return True


def _path(given: str) -> Path | None:
    """The path that an argument names, or None for a text."""
    if not given.strip():  # which would name the folder one is in
        return None
    path = Path(given)
    try:
        if path == STANDARD or path.exists():
            return path
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return None
    looks_like_one = ENDING.fullmatch(path.suffix) is not None or os.sep in given
    if looks_like_one and not any(char.isspace() for char in given):
        raise DiscotagError(f"{given}: there is no such file or folder")
    return None


def _write(documents: Iterator[Document], form: Output, out: Path | None, several: bool) -> None:
    if form is Output.terminal:
        _show(documents, several)
    elif form is Output.jsonl:
        from discotag.corpora.jsonl import to_line

        for document in documents:
            sys.stdout.buffer.write(to_line(document).encode())
            sys.stdout.buffer.flush()
    else:
        from discotag.corpora import write

        write(documents, out or STANDARD, form.value)


def _show(documents: Iterator[Document], several: bool) -> None:
    """Draw the documents for people to read."""
    from rich.text import Text

    from discotag.render import draw_mentions, printable

    console = plain_console()
    for document in documents:
        if document.id is not None and several:
            console.print(Text(printable(document.id), style="bold underline"))
        for sentence in document.sentences:
            console.print(draw_mentions(sentence, width=console.width), soft_wrap=True)


def _write_lines(
    tagger: Tagger,
    documents: Iterator[Document],
    out: Path,
    resume: bool,
    options: dict[str, Any],
) -> None:
    """Write JSON lines to a file as they come, so that what is done is never lost."""
    from discotag.corpora.jsonl import to_line

    done = _repair(out) if resume and out.exists() else 0
    try:
        stream = out.open("ab" if done else "wb")
    except OSError as error:
        raise DiscotagError(f"{out}: cannot be written: {error.strerror}") from None
    with stream:
        if done:
            print(f"{done:,} documents are done already", file=sys.stderr)
            documents = _checked(documents, out, done)
        for document in tagger.predict(documents, progress=True, skip=done, **options):
            stream.write(to_line(document).encode())
            stream.flush()


def _repair(out: Path) -> int:
    """Cut off a line that was not written to its end, and count the others."""
    whole = number = 0
    try:
        with out.open("rb+") as stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                number += 1
            stream.truncate(whole)
    except OSError as error:
        raise DiscotagError(f"{out}: cannot be resumed: {error.strerror}") from None
    return number


def _checked(documents: Iterator[Document], out: Path, done: int) -> Iterator[Document]:
    """The same documents; raises if those that are done are not in the output."""
    number = 0
    with out.open("rb") as stream:
        for number, document in enumerate(documents, start=1):
            if number <= done:
                _check_same(document, stream, out, number)
            yield document
    if number < done:
        raise DiscotagError(
            f"{out}: has {done:,} documents, but the input {number:,}; "
            "resume with the same input, or write to another file"
        )


def _check_same(document: Document, stream: IO[bytes], out: Path, number: int) -> None:
    try:
        data = json.loads(stream.readline())
        words = [word for sentence in data["sentences"] for word in sentence["words"]]
        same = (data.get("id"), data.get("text"), words) == (
            document.id,
            document.text,
            list(document.words),
        )
    except (ValueError, TypeError, KeyError):
        same = False
    if not same:
        raise DiscotagError(
            f"{out}:{number}: this is not document {number} of the input; "
            "resume with the same input, or write to another file"
        )


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Warnings of discotag as lines for users."""
    from discotag.model.decoding import TooManyMentions

    with warnings.catch_warnings():
        warnings.simplefilter("always", TooManyMentions)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, TooManyMentions):
                print(f"warning: {message}", file=sys.stderr)
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]
        try:
            yield
        finally:
            warnings.showwarning = usual
