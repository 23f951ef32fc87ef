"""The export of `discotag annotate`, without a server."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any, cast

from discotag.cli.messages import say
from discotag.corpora import write
from discotag.corpora.outputs import check_apart, check_free, check_place, format_to_write
from discotag.counts import counted
from discotag.errors import DiscotagError


def export_annotations(
    corpus: Path, journal: Path, target: str, format: str | None, which: str
) -> None:
    """Write the annotations of a journal, and say what was written and what was left out.

    Args:
        corpus: The corpus, which is never written to.
        journal: The journal.
        target: The file or folder to write, as the user gave it.
        format: Its format; None: from its ending.
        which: `finished` or `all`.

    Raises:
        DiscotagError: There is nothing to write, or it cannot be written.
    """
    from discotag.annotate.exporting import LeftOut, settled_documents
    from discotag.annotate.journal import read_journal

    form, path = format_to_write(target, format, "--format"), Path(target)
    check_place(path, form)
    check_apart(path, [corpus, journal])
    check_free(path, "give another name, or remove it first")
    left_out: list[LeftOut] = []
    count = mentions = 0

    def documents() -> Any:
        nonlocal count, mentions
        for _, document in settled_documents(db, cast(Any, which), None, left_out):
            count += 1
            mentions += sum(len(sentence.mentions) for sentence in document.sentences)
            yield document

    with read_journal(journal) as opened, opened.reading() as db:
        found = documents()
        first = next(found, None)
        if first is not None:
            write(chain([first], found), path, form.name)
    for each in left_out:
        say(f"left out {each.name}: {each.reason}")
    if first is None:
        raise DiscotagError(
            f"{journal}: nothing is settled yet, so nothing was written; finish a document, decide "
            "where versions differ, or use --which all"
        )
    say(
        f"wrote {path} as {form.name}: {counted(count, 'document')}, {counted(mentions, 'mention')}"
    )
