"""Datasets of Hugging Face's `datasets` with the schema `bigbio_kb`, to documents and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from discotag.corpora import Report, strict
from discotag.corpora.formats import bigbio
from discotag.errors import InputError
from discotag.extras import optional
from discotag.mentions import Document
from discotag.words import Splitter

if TYPE_CHECKING:
    from datasets import Dataset, Features

NEEDED: Final = ("document_id", "passages", "entities")
"""The columns of a dataset that are read."""


def to_dataset(documents: Iterable[Document]) -> Dataset:
    """Return documents as a dataset with the columns and types of the schema `bigbio_kb`.

    The dataset is in memory: no text is written to the cache of `datasets`. The schema has no place
    for scores, sentences and words, nor for `Document.extra`.

    Args:
        documents: The documents.

    Raises:
        MissingPackageError: `datasets` is not installed.
        CorpusError: The schema cannot represent a document.

    Example:
        >>> from discotag import Splitter
        >>> from discotag.marks import Marked
        >>> text = "Sore toes and knees."
        >>> document = Splitter().document(text, [Marked("ADR", ((0, 4), (14, 19)))], id="7")
        >>> to_dataset([document])[0]["entities"][0]["text"]
        ['Sore', 'knees']
    """
    with optional("datasets", "datasets"):
        from datasets import Dataset

    schema = features()
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for number, document in enumerate(documents):
        for name, value in bigbio.to_dict(document, number).items():
            columns[name].append(value)
    return Dataset.from_dict(columns, features=schema)


def from_dataset(
    dataset: Iterable[Mapping[str, Any]],
    *,
    splitter: Splitter | None = None,
    report: Report = strict,
) -> Iterator[Document]:
    """Yield the documents of a dataset with the schema `bigbio_kb`.

    Args:
        dataset: A dataset, also a streamed one, or rows as dictionaries. It needs the columns
            `document_id`, `passages` and `entities`; all others are ignored.
        splitter: Splits text into sentences and words.
        report: Called with each problem, whose line is the row, counted from 1. If it returns, the
            invalid part is left out; the default raises for errors and ignores warnings.

    Raises:
        InputError: This is not a dataset with these columns.
        CorpusError: By default, for an error in a row.

    Example:
        >>> passage = {"text": ["Sore toes"], "offsets": [[0, 9]]}
        >>> entity = {"id": "1", "type": "ADR", "text": ["Sore toes"], "offsets": [[0, 9]]}
        >>> row = {"document_id": "7", "passages": [passage], "entities": [entity]}
        >>> [document.mentions[0].text for document in from_dataset([row])]
        ['Sore toes']
    """
    if isinstance(dataset, Mapping):
        raise InputError(
            f"this is a dictionary of datasets: choose one of {', '.join(map(str, dataset))}"
        )
    return bigbio.documents(_rows(dataset), "dataset", splitter or Splitter(), report)


def features() -> Features:
    """Return the columns of the schema `bigbio_kb` and their types.

    Raises:
        MissingPackageError: `datasets` is not installed.
    """
    with optional("datasets", "datasets"):
        from datasets import Features, Sequence, Value

    name = Value("string")
    texts, offsets = Sequence(name), Sequence([Value("int32")])
    normalized = [{"db_name": name, "db_id": name}]
    return Features(
        {
            "id": name,
            "document_id": name,
            "passages": [{"id": name, "type": name, "text": texts, "offsets": offsets}],
            "entities": [
                {
                    "id": name,
                    "type": name,
                    "text": texts,
                    "offsets": offsets,
                    "normalized": normalized,
                }
            ],
            "events": [
                {
                    "id": name,
                    "type": name,
                    "trigger": {"text": texts, "offsets": offsets},
                    "arguments": [{"role": name, "ref_id": name}],
                }
            ],
            "coreferences": [{"id": name, "entity_ids": Sequence(name)}],
            "relations": [
                {
                    "id": name,
                    "type": name,
                    "arg1_id": name,
                    "arg2_id": name,
                    "normalized": normalized,
                }
            ],
        }
    )


def _rows(dataset: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, row in enumerate(dataset, start=1):
        missing = [name for name in NEEDED if name not in row]
        if missing:
            raise InputError(
                f"row {number} of the dataset has no {', '.join(missing)}, but {', '.join(row)}: "
                "only datasets with the schema bigbio_kb can be read"
            )
        yield number, dict(row)
