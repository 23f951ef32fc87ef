"""Tables in Markdown, written only, to be pasted into a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.files import created
from discotag.corpora.tables.cells import as_text
from discotag.corpora.tables.table import Append, Table

MARKUP: Final = re.compile(r"[\\`*_~<>\[\]|&$]")
"""Characters that would be markup in a cell: text of others must not become links or pictures."""


@contextmanager
def create(path: Path, columns: Mapping[str, Any]) -> Iterator[Append]:
    """Open a file to write."""
    with created(path) as stream:

        def append(cells: Sequence[Any]) -> None:
            stream.write(f"| {' | '.join(map(_cell, cells))} |\n")

        append(list(columns))
        stream.write(f"|{' --- |' * len(columns)}\n")
        yield append


def _cell(value: Any) -> str:
    r"""Return a value as the text of a cell, in one line.

    Example:
        >>> _cell("sore_toes |\nknees")
        'sore\\_toes \\| knees'
    """
    return MARKUP.sub(r"\\\g<0>", " ".join(as_text(value).split()))


MARKDOWN: Final = Table("markdown", create=create)
