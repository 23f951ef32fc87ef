"""Documents as a dataset with the schema of bigbio, and back."""

import json

import pytest
from hypothesis import given, settings

from any_corpora import AS_WRITTEN, contents, documents, documents_of_text
from discotag import Document, InputError, Mention, Sentence
from discotag.corpora import CorpusError, read, write
from discotag.integrations.datasets import features, from_dataset, to_dataset
from samples import DATA, bigbio_row
from shell import python

datasets = pytest.importorskip("datasets", reason="needs datasets: pip install datasets")

few = settings(max_examples=15, deadline=None)


def test_a_dataset_has_the_rows_of_the_file(tmp_path):
    corpus = list(read(DATA / "bioc" / "posts.xml"))
    write(corpus, tmp_path / "out.jsonl", "bigbio")
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    dataset = to_dataset(corpus)
    assert list(dataset) == [json.loads(line) for line in lines]
    assert dataset.features == features()
    assert list(from_dataset(dataset)) == list(read(tmp_path / "out.jsonl"))


@given(corpus=documents())
@few
def test_words_and_mentions_come_back(corpus):
    again = list(from_dataset(to_dataset(corpus), splitter=AS_WRITTEN))
    assert contents(again) == contents(corpus)


@given(cut=documents_of_text())
@few
def test_texts_and_ids_come_back(cut):
    splitter, document = cut
    assert list(from_dataset(to_dataset([document]), splitter=splitter)) == [document]


def test_no_documents():
    dataset = to_dataset([])
    assert len(dataset) == 0
    assert set(dataset.column_names) == set(features())
    assert list(from_dataset(dataset)) == []


def test_streams_and_rows_are_read_lazily():
    def rows():
        yield bigbio_row()
        raise AssertionError("read too far")

    for source in (rows(), datasets.IterableDataset.from_generator(rows)):
        assert next(from_dataset(source)).mentions[0].text == "Sore knees"


def test_nothing_is_written_to_the_cache(tmp_path):
    code = (
        "from discotag import Splitter;"
        "from discotag.integrations.datasets import to_dataset;"
        "to_dataset([Splitter().document('Sore toes.')])"
    )
    python(code, HOME=str(tmp_path), HF_HOME=str(tmp_path / "hf"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_problems_name_the_row():
    bad = bigbio_row(offsets=[[0, 4], [9, 99]])
    with pytest.raises(CorpusError, match="^dataset:2: .*outside"):
        list(from_dataset([bigbio_row(), bad]))
    problems = []
    found = list(from_dataset([bigbio_row(), bad, bigbio_row()], report=problems.append))
    assert [len(each.mentions) for each in found] == [1, 0, 1]
    assert [(each.kind, each.line) for each in problems] == [("outside", 2)]


def test_other_datasets_are_refused():
    other = datasets.Dataset.from_dict({"tokens": [["a"]], "ner_tags": [[0]]})
    with pytest.raises(
        InputError, match="no document_id, passages, entities, but tokens, ner_tags"
    ):
        list(from_dataset(other))
    parts = datasets.DatasetDict({"train": other, "test": other})
    with pytest.raises(InputError, match="choose one of train, test"):
        from_dataset(parts)


def test_what_the_schema_has_no_place_for_is_refused():
    odd = Document([Sentence(["a b"], [Mention("ADR", [(0, 1)])])])
    with pytest.raises(CorpusError, match="cannot represent the word 'a b'"):
        to_dataset([odd])
