"""A small real file of each format, and how made-up ones are read."""

from pathlib import Path

import pytest

from discotag.corpora import CorpusError, read

DATA = Path(__file__).parent / "data"

SAMPLES = {
    DATA / "knowtator/annotations/case1.txt.knowtator.xml": "knowtator",
    DATA / "knowtator/annotations/case1.xml": "knowtator",
    DATA / "bioc/posts.xml": "bioc-xml",
    DATA / "bioc/posts.json": "bioc-json",
    DATA / "bigbio/posts.jsonl": "bigbio",
    DATA / "doccano/posts.jsonl": "doccano",
    DATA / "prodigy/posts.jsonl": "prodigy",
    DATA / "label-studio/posts.json": "label-studio",
    DATA / "label-studio/minimal.json": "label-studio",
    DATA / "pubannotation/posts.json": "pubannotation",
    DATA / "hugging-face/posts.jsonl": "hugging-face",
    DATA / "pubtator/posts.pubtator": "pubtator",
    DATA / "jsonl/three.jsonl": "jsonl",
    DATA / "brat/good/joints.ann": "brat",
    DATA / "brat/good/ward/windows.ann": "brat",
    DATA / "bionlp/knees.a1": "bionlp",
    DATA / "bionlp/knees.a2": "bionlp",
    DATA / "w2ner/two.json": "w2ner",
    DATA / "inline/two.txt": "inline",
    DATA / "conll/documents.conll": "conll",
    DATA / "conll/bioes.tsv": "conll",
    DATA / "conll/iob1.conll": "conll",
}

ALONE = {
    path: format
    for path, format in SAMPLES.items()
    if format not in ("bionlp", "brat", "knowtator")
}
"""Samples that are read without another file beside them."""


def tried(path, content, format):
    """Write a file, and return its documents and problems.

    If something is left out, reading without a report must raise the first of these errors.
    """
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = []
    documents = list(read(path, format, report=found.append))
    if errors := [problem for problem in found if problem.severity == "error"]:
        with pytest.raises(CorpusError) as caught:
            list(read(path, format))
        assert caught.value.problem == errors[0]
    return documents, found


def bigbio_row(**changes):
    """Return a document of bigbio with one entity, which the changes are made to."""
    entity = {"id": "1", "type": "ADR", "text": ["Sore", "knees"], "offsets": [[0, 4], [9, 14]]}
    passage = {"id": "2", "type": "body", "text": ["Sore and knees"], "offsets": [[0, 14]]}
    return {
        "id": "0",
        "document_id": "d",
        "passages": [passage],
        "entities": [entity | changes],
    }
