"""A job: an input tagged into a folder of parts, each document exactly once.

Besides the parts, the folder has

- `_job.json`: the record of the job: its settings, input and plan; written first;
- `_receipts/`: what each part has in it, and what was left out of it; a part without a receipt is
  not complete;
- `_errors.jsonl`: all that was left out;
- `_manifest.json`: all parts with their digests; written last. Without it the job is not complete.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from discotag.corpora.jobs import JobError, changed, locked
from discotag.corpora.tables.parquet import import_arrow
from discotag.corpora.tables.table import TableOptions
from discotag.errors import DiscotagError, InputError
from discotag.model.config import ModelConfig
from discotag.model.files import BUNDLED_NAME, digest, find_model, read_config
from discotag.model.guarantee import usable
from discotag.prediction.loading import choose_runtime
from discotag.prediction.wanted import Wanted
from discotag.scale.columns import Columns, examine
from discotag.scale.parts import (
    PART,
    RECEIPT,
    RECEIPTS,
    Part,
    Receipt,
    read_receipts,
    receipt_name,
)
from discotag.scale.processes import ProcessEngine
from discotag.scale.ray_engine import RayEngine
from discotag.scale.sources import Kind, Source, check_apart, find_sources
from discotag.scale.storage import Folder, explaining, public
from discotag.scale.work import (
    FORMATS,
    UNPACKED,
    Extent,
    Format,
    Work,
    choose_size,
    make_blocks,
)
from discotag.words import Splitter

RECORD: Final = "_job.json"
MANIFEST: Final = "_manifest.json"
ALL_ERRORS: Final = "_errors.jsonl"

EngineName = Literal["processes", "ray"]
ENGINES: Final[tuple[EngineName, ...]] = ("processes", "ray")

Tell = Callable[[str], None]
"""Called with lines that say what a job found out or does."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a complete job has written.

    Attributes:
        format: The format of the parts.
        documents: The number of documents.
        sentences: The number of sentences.
        mentions: The number of mentions.
        flaws: The number of entries in the file of errors.
        errors: The name of the file with what was left out; None if nothing was.
        parts: The parts, in the order of the input.
        settings: The settings of the job.
        left_out: The number of mentions that were left out because of their scores.
        highest_left_out: The highest of their scores.
        candidates: The number of candidates to review.
    """

    format: Format
    documents: int
    sentences: int
    mentions: int
    flaws: int
    errors: str | None
    parts: tuple[Part, ...]
    settings: Mapping[str, Any]
    left_out: int = 0
    highest_left_out: float = 0.0
    candidates: int = 0


def run_job(
    inputs: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    engine: EngineName = "processes",
    workers: int | None = None,
    address: str | None = None,
    format: Format | None = None,
    model: str | Path | None = None,
    runtime: str | None = None,
    device: str | None = None,
    wanted: Wanted | None = None,
    splitter: Splitter | None = None,
    kind: Kind | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    skip_bad: bool = False,
    resume: bool = False,
    force: bool = False,
    block_bytes: int | None = None,
    progress: bool = False,
    tell: Tell = lambda line: None,
    **options: Any,
) -> Manifest:
    """Tag files of any size into a folder of parts.

    The input is divided into blocks, and block i becomes part i. The content of the parts does not
    depend on the engine or on the number of workers. A job that was stopped can be resumed: then
    only the blocks without a complete part are done.

    Args:
        inputs: Files, folders or patterns, Parquet or JSON lines, which may be compressed with
            gzip; local, or with a protocol that fsspec knows, such as `s3://bucket/posts/*.jsonl`.
        out: The folder to write, local or with a protocol.
        engine: `processes` for worker processes of this machine, `ray` for a Ray cluster.
        workers: The number of workers; by default, one for each core or GPU.
        address: The address of the Ray cluster, or `auto`; by default, the one of the variable
            `RAY_ADDRESS`, else one is started on this machine.
        format: The format of parts, `parquet` or `jsonl`; by default that of the input.
        model: A folder, which all workers must be able to read, or a name on the Hugging Face hub;
            by default, the bundled model.
        runtime: As in `discotag.load`.
        device: `cpu` or `cuda`; by default, `cuda` for PyTorch models if there are GPUs.
        wanted: What is wanted of the model.
        splitter: Splits texts into sentences and words; by default, as the model was trained.
        kind: What the input is, `parquet` or `jsonl`; by default this is found from the files.
        text_column: The column of Parquet with the texts; by default, the only one that can be it.
        id_column: The column of Parquet with the ids; by default, `id` if there is one.
        skip_bad: Leave out documents that cannot be read, and write them to a file of errors;
            otherwise the job stops at the first one.
        resume: Continue a job that was stopped.
        force: Replace an earlier job in the folder.
        block_bytes: The bytes of text in a block; by default, by the size of the input.
        progress: Show a progress bar on standard error, if it is a terminal.
        tell: Called with lines that say what was found out.
        options: Fields of `Wanted`, such as `min_score`, instead of those of `wanted`.

    Returns:
        What was written.

    Raises:
        InputError: An argument has a wrong value, or the input cannot be read.
        JobError: There is another job in the folder, or it cannot be resumed.
        DiscotagError: The job cannot continue; what is done is kept.

    Example:
        >>> manifest = run_job("posts/*.parquet", "found/", workers=8)  # doctest: +SKIP
        >>> manifest.documents, manifest.mentions  # doctest: +SKIP
        (1000000, 371204)
    """
    if engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}")
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if address is not None and engine != "ray":
        raise InputError("an address is for the engine ray")
    if format not in (None, *FORMATS):
        raise InputError(f"the format of parts is {' or '.join(FORMATS)}; got {format!r}")
    if device not in (None, "cpu", "cuda"):  # which GPU a worker uses is chosen for it
        raise InputError(f"with an engine, the device is cpu or cuda; got {device!r}")
    if resume and force:
        raise InputError("resume continues a job and force replaces it; choose one")
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    arguments, folder = [str(each) for each in given], Folder(str(out))
    check_apart(arguments, folder.address)
    runner = RayEngine(address) if engine == "ray" else ProcessEngine()
    with _only_writer(folder), closing(runner):
        before = _before(folder, resume=resume, force=force)
        sources = find_sources(arguments, kind)
        form = format or sources[0].kind
        if form == "parquet":
            import_arrow("writing")  # raises if it is not installed
        place = find_model(None if model is None else str(model))
        runtime = choose_runtime(place, runtime, device).runtime
        if device is None:
            device = "cuda" if runtime == "torch" and runner.has_gpus() else "cpu"
        config = read_config(place)[1]
        columns, extents = _examined(sources, TableOptions(text_column, id_column), tell)
        size = block_bytes or choose_size(extents)
        work = Work(
            out=folder.address,
            format=form,
            sources=tuple(sources),
            columns=columns,
            size=size,
            blocks=tuple(make_blocks(extents, size)),
            model=_everywhere(model),
            digest=digest(place),
            runtime=runtime,
            device=device,
            splitter=splitter or config.splitter(),
            wanted=_settled(Wanted.made(wanted, options), config, runtime),
            skip_bad=skip_bad,
            job=secrets.token_hex(8) if before is None else before["id"],
        )
        return _run(folder, work, before, runner, workers, tell, progress=progress, force=force)


def read_manifest(out: str | Path) -> Manifest:
    """Return the manifest of a complete job.

    Raises:
        JobError: There is none, so the job is not complete.
    """
    folder = Folder(str(out))
    if folder.size(MANIFEST) is None:
        raise JobError(f"{folder.shown}: has no {MANIFEST}: the job is not complete")
    data = json.loads(folder.read(MANIFEST))
    return Manifest(**{**data, "parts": tuple(Part(**each) for each in data["parts"])})


@contextmanager
def _only_writer(folder: Folder) -> Iterator[None]:
    """Keep other jobs from writing to a local folder; object stores have no locks."""
    if not folder.is_local:
        yield
        return
    path = Path(folder.path)
    if path.is_file():
        raise InputError(f"{folder.shown}: is a file; a job writes a folder")
    with explaining(folder.address):
        path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        yield


def _before(folder: Folder, *, resume: bool, force: bool) -> dict[str, Any] | None:
    """Return the record of the job in a folder, or None if a new one begins.

    Raises:
        JobError: The folder has something in it that may not be replaced, or cannot be resumed.
    """
    where = folder.shown
    complete = folder.size(MANIFEST) is not None
    if not complete and folder.size(RECORD) is None:
        if not folder.is_empty():
            raise _foreign(folder)
        return None
    if force:
        _check_ours(folder, MANIFEST if complete else RECORD)
        return None
    if not resume:
        state = "is complete" if complete else "was begun and is not complete"
        advice = "" if complete else "--resume to continue it, "
        raise JobError(
            f"{where}: the job there {state}; use {advice}--force to replace it, or another folder"
        )
    try:
        record: dict[str, Any] = json.loads(folder.read(RECORD))
        _ = record["id"], record["settings"], record["input"], record["blocks"]
    except (ValueError, TypeError, KeyError):
        raise JobError(
            f"{where}: cannot be resumed: {RECORD} is damaged; use --force to start again"
        ) from None
    return record


def _check_ours(folder: Folder, name: str) -> None:
    """Raise `JobError` if a file that a job would have written was written by something else."""
    try:
        _ = json.loads(folder.read(name))["settings"]["discotag"]
    except (ValueError, TypeError, KeyError):
        raise _foreign(folder) from None


def _foreign(folder: Folder) -> JobError:
    return JobError(
        f"{folder.shown}: the folder is not empty, and what is in it is not from a job; write to "
        "another folder"
    )


def _settled(wanted: Wanted, config: ModelConfig, runtime: str) -> Wanted:
    """Return what is wanted, with what the user leaves to the model.

    Raises:
        InputError: The model does not have what is wanted.
    """
    wanted.check_labels(config.scheme.labels)
    if wanted.candidates is None:
        wanted = replace(wanted, candidates=config.guarantee is not None)
    if wanted.candidates is True:
        usable(config.guarantee, runtime, wanted.bias)
    return wanted


def _everywhere(model: str | Path | None) -> str | None:
    """Return the name of a model for workers, which may run in another folder."""
    if model is None or str(model) == BUNDLED_NAME:
        return None
    folder = Path(model).expanduser()
    return str(folder.absolute() if folder.is_dir() else model)


def _examined(
    sources: Sequence[Source], options: TableOptions, tell: Tell
) -> tuple[Columns | None, list[Extent]]:
    """Return the columns of Parquet files, None for JSON lines, and how much is in each file."""
    if sources[0].kind == "parquet":
        columns, rows, weight, notes = examine(sources, options)
        for note in notes:
            tell(note)
        return columns, [Extent(each, weight, True) for each in rows]
    if options:
        raise InputError("--text-column and --id-column are for Parquet; JSON lines have 'text'")
    return None, [
        Extent(each.size, UNPACKED if each.packed else 1, not each.packed) for each in sources
    ]


def _run(
    folder: Folder,
    work: Work,
    before: dict[str, Any] | None,
    engine: ProcessEngine | RayEngine,
    workers: int | None,
    tell: Tell,
    *,
    progress: bool,
    force: bool,
) -> Manifest:
    """Do what is not done yet, and write the manifest."""
    total = len(work.blocks)
    record = {
        "id": work.job,
        "settings": work.settings(),
        "input": [[public(s.address), s.name, s.size, s.version] for s in work.sources],
        "blocks": work.blocks,
    }
    done: dict[int, Receipt] = {}
    if before is not None:
        _check_same(folder, before, json.loads(json.dumps(record)))
        if folder.size(MANIFEST) is not None:
            tell(f"{folder.shown}: the job is already complete")
            return read_manifest(folder.address)
        done = read_receipts(folder, work.job, work.format, total)
        tell(f"{folder.shown}: {len(done):,} of {total:,} parts are already done")
    left = [block for block in range(total) if block not in done]
    receipts = engine.run(work, left, workers) if left else _nothing()
    if force:
        _clear(folder)
    folder.remove_leftovers(RECEIPTS)
    if before is None:
        folder.write(RECORD, f"{json.dumps(record)}\n".encode())
    try:
        with closing(receipts):
            for receipt in _watched(receipts, total, len(done)) if progress else receipts:
                done[receipt.block] = receipt
                for warning in receipt.warnings:
                    tell(f"warning: {receipt.part.name}: {warning}")
        return _finish(folder, work, [done[block] for block in range(total)])
    except DiscotagError as error:
        state = f"{len(done):,} of {total:,} parts are complete; --resume continues"
        error.args = (f"{error} ({state})",)
        raise
    finally:
        with suppress(DiscotagError):  # the storage may be unreachable
            folder.remove_leftovers(RECEIPTS)


def _check_same(folder: Folder, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise `JobError` unless the records of two jobs are those of the same one."""
    where = folder.shown
    changes = changed(before["settings"], now["settings"])
    if changes:
        raise JobError(
            f"{where}: was begun with other settings ({'; '.join(changes)}); resume with the "
            "same settings, or write to another folder"
        )
    old = {name: facts for name, *facts in before["input"]}
    new = {name: facts for name, *facts in now["input"]}
    if [*old] != [*new] and {*old} == {*new}:
        raise JobError(
            f"{where}: was begun with its input in another order; give the files and folders "
            "in the same order"
        )
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            what = "has changed" if name in old else "is new"
            what = what if name in new else "is missing"
            raise JobError(
                f"{where}: was begun with another input: {name} {what}; resume with the same "
                "input, or write to another folder"
            )
    if before["blocks"] != now["blocks"]:
        raise JobError(f"{where}: cannot be resumed: its plan differs; use --force")


def _finish(folder: Folder, work: Work, receipts: Sequence[Receipt]) -> Manifest:
    """Write the file of errors and the manifest."""
    sizes = folder.sizes()
    parts = [receipt.part for receipt in receipts]
    for part in parts:
        if sizes.get(part.name) != part.bytes:
            where = public(folder.join(part.name))
            raise DiscotagError(f"{where}: the part was removed or changed")
    flaws = sum(receipt.flaws for receipt in receipts)
    if flaws:
        _merge_errors(folder, work, receipts)
    manifest = Manifest(
        format=work.format,
        documents=sum(part.documents for part in parts),
        sentences=sum(part.sentences for part in parts),
        mentions=sum(part.mentions for part in parts),
        flaws=flaws,
        errors=ALL_ERRORS if flaws else None,
        parts=tuple(parts),
        settings=work.settings(),
        left_out=sum(receipt.left_out for receipt in receipts),
        highest_left_out=max((receipt.highest_left_out for receipt in receipts), default=0.0),
        candidates=sum(receipt.candidates for receipt in receipts),
    )
    folder.write(MANIFEST, f"{json.dumps(asdict(manifest), indent=1)}\n".encode())
    return manifest


def _merge_errors(folder: Folder, work: Work, receipts: Sequence[Receipt]) -> None:
    """Write all errors to one file, with lines counted from the beginning of their files."""
    passed: Counter[int] = Counter()  # lines of each file
    with folder.writing(ALL_ERRORS) as stream:
        for receipt, block in zip(receipts, work.blocks, strict=True):
            name = receipt_name(receipt.block)
            errors = json.loads(folder.read(name))["errors"] if receipt.flaws else []
            for entry in errors:
                source = entry.pop("source")
                entry["file"] = work.sources[source].shown
                if "line" in entry:
                    entry["line"] += passed[source]
                stream.write(f"{json.dumps(entry, ensure_ascii=False)}\n".encode())
            for part, lines in zip(block, receipt.lines, strict=True):
                passed[part.file] += lines


def _nothing() -> Generator[Receipt, None, None]:
    yield from ()


def _watched(receipts: Iterator[Receipt], total: int, done: int) -> Iterator[Receipt]:
    """Yield receipts, and show a progress bar on standard error, if it is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    counts = "{task.completed:,.0f}/{task.total:,.0f} parts", "{task.fields[documents]:,} documents"
    columns = ("Tagging", BarColumn(), *counts, TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total, completed=done, documents=0)
        documents = 0
        for receipt in receipts:
            documents += receipt.part.documents
            bar.update(task, advance=1, documents=documents)
            yield receipt


def _clear(folder: Folder) -> None:
    """Remove a job, in an order in which it is never taken for complete."""
    folder.remove([MANIFEST])
    folder.remove(
        f"{RECEIPTS}/{name}" for name in folder.sizes(RECEIPTS) if RECEIPT.fullmatch(name)
    )
    folder.remove(name for name in folder.sizes() if PART.fullmatch(name))
    folder.remove([ALL_ERRORS, RECORD])
