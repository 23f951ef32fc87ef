"""`discotag predict --engine`: archives into a folder of parts, by many workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from typing import Annotated, Any, cast

import typer

from discotag.cli.messages import Interrupted, is_quiet, is_verbose, say, warn
from discotag.counts import counted

EngineName = StrEnum("EngineName", ["processes", "ray"])
FORMATS = ("jsonl", "parquet")

EngineOption = Annotated[
    EngineName | None,
    typer.Option(
        "--engine",
        help="Tag Parquet or JSON lines into a folder of parts, by worker processes of this "
        "machine or by a Ray cluster.",
        show_default=False,
        rich_help_panel="Archives",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="With --engine, the number of workers. [default: one for each core or GPU]",
        min=1,
        show_default=False,
        rich_help_panel="Archives",
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --engine ray, the address of the cluster, or auto. [default: $RAY_ADDRESS, else "
        "a cluster is started on this machine]",
        show_default=False,
        rich_help_panel="Archives",
    ),
]


def refuse_options(given: Mapping[str, object]) -> None:
    """Raise for options that are not for archives.

    Args:
        given: The options by name, true where the user has chosen something.
    """
    for name, value in given.items():
        if value:
            raise typer.BadParameter(
                f"{name} is not for --engine, which reads Parquet and JSON lines"
            )


def predict_archive(
    inputs: Sequence[str],
    out: str | None,
    form: str | None,
    kind: str | None,
    *,
    engine: EngineName,
    address: str | None,
    **options: Any,
) -> None:
    """Run a job, and say what it has written."""
    if not inputs or "-" in inputs:
        raise typer.BadParameter("--engine reads files and folders, not standard input; name them")
    if not out:
        raise typer.BadParameter("--engine needs --out, a folder")
    if form is not None and form not in FORMATS:
        raise typer.BadParameter(f"with --engine, --format can be {' or '.join(FORMATS)}")
    if kind is not None and kind not in FORMATS:
        raise typer.BadParameter(f"with --engine, --from can be {' or '.join(FORMATS)}")
    if address is not None and engine != EngineName.ray:
        raise typer.BadParameter("--address is for --engine ray")
    if options["resume"] and options["force"]:
        raise typer.BadParameter("--resume continues a job and --force replaces it; choose one")
    from discotag.scale.job import run_job
    from discotag.scale.storage import public

    quiet = engine == EngineName.ray and not is_verbose()
    shown = public(out)
    try:
        with _only_own_lines() if quiet else nullcontext():
            manifest = run_job(
                list(inputs),
                out,
                engine=cast(Any, engine.value),
                address=address,
                format=cast(Any, form),
                kind=cast(Any, kind),
                progress=not is_quiet(),
                tell=_tell,
                **options,
            )
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped; the same command with --resume continues with what is in {shown}"
        ) from None
    if manifest.errors is not None:
        warn(
            f"{counted(manifest.flaws, 'error')} in the input; what was left out, and why, is in "
            f"{shown.rstrip('/')}/{manifest.errors}"
        )
    candidates = counted(manifest.candidates, "candidate")
    review = f", {candidates} to review" if manifest.candidates else ""
    found = f"{counted(manifest.mentions, 'mention')} in {counted(manifest.documents, 'document')}"
    say(f"{shown}: {found}, {counted(len(manifest.parts), 'part')}{review}")
    from discotag.prediction.predictions import LeftOut

    left_out = LeftOut(manifest.left_out, manifest.highest_left_out)
    if left_out.mentions and not manifest.mentions:
        say(left_out.described(options["wanted"].min_score))


@contextmanager
def _only_own_lines() -> Iterator[None]:
    """Hide what the libraries of Ray write to standard error by themselves.

    It is in Ray's logs as well. What discotag says goes where it went before.
    """
    sys.stderr.flush()
    before = sys.stderr
    own, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        with open(own, "w", encoding=before.encoding, errors="replace", closefd=False) as stream:
            sys.stderr = stream
            yield
    finally:
        sys.stderr = before
        os.dup2(own, 2)
        os.close(own)


def _tell(line: str) -> None:
    """Say what a job found out."""
    text = line.removeprefix("warning: ")
    if text == line:
        say(line)
    else:
        warn(text)
