"""The command line: a module per command."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from io import RawIOBase, TextIOWrapper
from time import sleep
from typing import Annotated, Any, Final, NoReturn, TextIO

import typer
from typer.exceptions import Abort, TyperException

from discotag import __version__
from discotag.cli import (
    annotate,
    benchmark,
    calibrate,
    compare,
    corpus_check,
    corpus_convert,
    corpus_prepare,
    corpus_split,
    evaluate,
    export,
    lexicon,
    predict,
    scheme,
    serve,
    train,
)
from discotag.cli.commands import HELP_NAMES, Group, register
from discotag.cli.messages import Interrupted, fail, set_silent, set_verbosity
from discotag.errors import DiscotagError

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C, by convention."""

FIRST_SAY: Final = 1.0
"""Seconds before a failed process ends if it leaves the message to the first one on its machine:
when one process fails, torchrun ends the others."""


def _group(help: str, **more: Any) -> typer.Typer:
    return typer.Typer(cls=Group, help=help, no_args_is_help=True, rich_markup_mode="rich", **more)


app = _group(
    "Find mentions in text, including those whose words are not adjacent.",
    context_settings=HELP_NAMES,
    pretty_exceptions_enable=False,
)
corpus = _group("Read, check, convert, split and prepare corpora.")
names = _group("Names of body parts: make them from UMLS, find them in a text.")
SIMILAR: Final = dict(zip("━─┄╭╮–·’‘“”", "=--++-|''\"\"", strict=True)) | {"…": "..."}
"""What is shown instead of characters of messages and drawings by terminals without Unicode."""


def _show_version(asked: bool) -> None:
    if asked:
        print(f"discotag {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Show the version and exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Take the options that come before a command."""


register(app, "predict", predict.predict)
register(app, "train", train.train)
register(app, "evaluate", evaluate.evaluate)
register(app, "compare", compare.compare)
app.add_typer(corpus, name="corpus")
register(corpus, "check", corpus_check.check)
register(corpus, "convert", corpus_convert.convert)
register(corpus, "split", corpus_split.split)
register(corpus, "prepare", corpus_prepare.prepare)
register(app, "serve", serve.serve)
register(app, "annotate", annotate.annotate)
register(app, "export", export.export)
register(app, "benchmark", benchmark.benchmark)
register(app, "calibrate", calibrate.calibrate)
app.add_typer(names, name="lexicon")
register(names, "umls", lexicon.umls)
register(names, "match", lexicon.match)
register(app, "scheme", scheme.scheme)


def _similar(error: UnicodeError) -> tuple[str, int]:
    """Return what is shown instead of characters that a terminal cannot show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(SIMILAR.get(each, "?") for each in missing), error.end


codecs.register_error("discotag.similar", _similar)


def main() -> NoReturn:
    """Run the command line and exit; bad input ends in one line on stderr and status 1 or 2."""
    _open_standard_streams()
    set_verbosity()
    one_of_several = os.environ.get("LOCAL_RANK", "0") != "0"  # set by torchrun
    if one_of_several:
        set_silent()
    status = _run()
    if status and one_of_several:
        sleep(FIRST_SAY)
    sys.exit(status)


def _run() -> int:
    """Run the command line and return its exit status."""
    try:
        status = app(prog_name="discotag", standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        _explain(error)
        return error.exit_code
    except Abort:  # the end of the input where an answer was expected
        return 1
    except Interrupted as error:
        fail(str(error))
        return INTERRUPTED
    except DiscotagError as error:
        fail(str(error))
        return 1
    except OSError as error:  # such as a full disk below standard output
        reason = (error.strerror or str(error)).lower()
        fail(f"{error.filename or 'standard output'}: {reason}")
        return 1
    if status == INTERRUPTED:
        fail("stopped")
    return status if isinstance(status, int) else 0


def _explain(error: Any) -> None:
    """Say in one line how a command is used wrongly, or show the help if nothing was asked for."""
    context = getattr(error, "ctx", None)
    if context is not None and not context.args and type(error).__name__ == "NoArgsIsHelpError":
        return  # its help has been shown
    where = f"; see {context.command_path} --help" if context is not None else ""
    if getattr(error, "option_name", "").startswith("- "):  # a text, such as an item of a list
        where = f"; put -- before what begins with a dash{where}"
    fail(f"{error.format_message().rstrip('.')}{where}")


class _Closed(RawIOBase):
    """Replaces standard output if the shell closed it; writing fails."""

    def writable(self) -> bool:
        """Return True, so that writing is tried."""
        return True

    def write(self, _: Any) -> NoReturn:
        """Raise `OSError`."""
        raise OSError(errno.EBADF, "it is closed", "standard output")


def _open_standard_streams() -> None:
    """Make standard streams usable even if the shell closed them (`>&-`).

    A file that is opened later must not become standard output by taking its number, and what is
    said on a closed standard error must not end up among the data.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = TextIOWrapper(_Closed(), "utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="discotag.similar")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123
