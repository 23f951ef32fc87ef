"""A progress bar for jobs."""

from __future__ import annotations

from collections.abc import Iterator

from discotag.scale.parts import Receipt


def watched(receipts: Iterator[Receipt], total: int, done: int) -> Iterator[Receipt]:
    """Yield receipts, and show a progress bar on standard error, if it is a terminal.

    Args:
        receipts: The receipts, as blocks are done.
        total: The number of blocks.
        done: The number of blocks that were done before.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("Tagging"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} parts"),
        TextColumn("{task.fields[documents]:,} documents"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total, completed=done, documents=0)
        documents = 0
        for receipt in receipts:
            documents += receipt.documents
            bar.update(task, advance=1, documents=documents)
            yield receipt
