"""What a format can hold comes back as it was; what it cannot is refused."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from any_corpora import (
    AS_WRITTEN,
    FLAT,
    SENTENCES_ONLY,
    WRITERS,
    contents,
    documents,
    documents_of_text,
    sentences,
)
from discotag import Document, Mention, Sentence
from discotag.corpora import FORMATS, CorpusError, Problem, read, write
from discotag.corpora.formats.registry import find_format

OVERLAPPING = [name for name in WRITERS if name not in FLAT]
WITH_TEXT = [name for name in WRITERS if name not in SENTENCES_ONLY]


def there_and_back(found, path, format, splitter=AS_WRITTEN):
    """Write documents and read them; only what repeats, or differs by case, is a problem."""
    problems = []
    write(found, path, format)
    again = list(read(path, format, splitter=splitter, report=problems.append))
    labels = {mention.label for document in found for mention in document.mentions}
    alike = len({label.casefold() for label in labels}) < len(labels)
    kinds = {problem.kind for problem in problems}
    assert kinds <= {"duplicate", "label_case"}
    assert ("label_case" in kinds) == (alike and format == "brat")
    return again


@pytest.fixture
def fresh(tmp_path):
    """A new path for every example."""
    numbers = iter(range(1 << 30))
    return lambda: tmp_path / str(next(numbers))


quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("format", WRITERS)
@given(data=st.data())
@quick
def test_words_and_mentions_come_back(format, fresh, data):
    corpus = data.draw(documents(flat=format in FLAT))
    again = there_and_back(corpus, fresh(), format)
    assert contents(again) == contents(corpus)
    if format not in SENTENCES_ONLY or format == "conll":
        assert [len(found.sentences) for found in again] == [len(x.sentences) for x in corpus]


@pytest.mark.parametrize("format", WITH_TEXT)
@given(cut=documents_of_text())
@quick
def test_texts_offsets_and_ids_come_back(format, fresh, cut):
    splitter, document = cut
    try:
        (again,) = there_and_back([document], fresh(), format, splitter)
    except CorpusError as error:  # XML has no way to write some characters
        assert format == "bioc-xml"
        assert "cannot represent the character" in str(error)
        return
    assert again == document


@given(
    corpus=st.lists(
        st.builds(
            Document,
            st.lists(sentences(scores=True), max_size=3),
            id=st.none() | st.text(st.characters(exclude_categories=("Cs",)), max_size=5),
        )
        | documents_of_text().map(lambda cut: cut[1]),
        max_size=3,
    )
)
@quick
def test_json_lines_lose_nothing(fresh, corpus):
    again = there_and_back(corpus, fresh(), "jsonl")
    assert again == corpus
    assert [repr(found) for found in again] == [repr(found) for found in corpus]  # scores, texts


@given(corpus=documents())
@quick
def test_through_all_formats_and_back(fresh, corpus):
    found = corpus
    for format in OVERLAPPING:
        found = there_and_back(found, fresh(), format)
    assert contents(found) == contents(corpus)


@given(corpus=documents(flat=True))
@quick
def test_flat_mentions_through_all_formats_and_back(fresh, corpus):
    found = corpus
    for format in (*WRITERS, *reversed(WRITERS)):
        found = there_and_back(found, fresh(), format)
    assert contents(found) == contents(corpus)


TWO = [
    Document([Sentence("Sore toes and knees .".split(), [Mention("ADR", [(0, 2)])])], id="1"),
    Document([Sentence("Très fatigué 🙂 .".split(), [Mention("ADR", [(1, 2)])])], id="2"),
]


@pytest.mark.parametrize("format", WRITERS)
def test_what_was_written_is_recognised(format, tmp_path):
    write(TWO, tmp_path / "out", format)
    assert find_format(tmp_path / "out").name == format
    assert contents(read(tmp_path / "out", splitter=AS_WRITTEN)) == contents(TWO)


@pytest.mark.parametrize("format", WRITERS)
def test_writing_twice_gives_the_same_bytes(format, tmp_path):
    def files(path):
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        return [file.read_bytes() for file in found]

    write(TWO, tmp_path / "a", format)
    write(read(tmp_path / "a", splitter=AS_WRITTEN), tmp_path / "b", format)
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize("format", WRITERS)
def test_nothing_at_all_can_be_written(format, tmp_path):
    path = tmp_path / "out"
    write([], path, format)
    problems = []
    assert list(read(path, format, report=problems.append)) == []
    assert not problems


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize(
    "document",
    [
        Document([Sentence(["\ud83d"])], id="a"),
        Document([Sentence(["a"])], id="\ud83d"),
    ],
    ids=["word", "id"],
)
def test_halves_of_characters_are_refused(format, document, tmp_path):
    if document.id != "a" and format in SENTENCES_ONLY:
        pytest.skip("knows no ids")
    with pytest.raises(CorpusError):
        write([document], tmp_path / "out", format)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()], "nothing half written"


@pytest.mark.parametrize("format", WRITERS)
def test_a_failing_source_leaves_the_old_file_alone(format, tmp_path):
    def failing():
        yield TWO[0]
        raise CorpusError(Problem("syntax", "no more", "source"))

    if FORMATS[format].folder:
        pytest.skip("a folder is written document by document")
    path = tmp_path / "out"
    path.write_text("as it was")
    with pytest.raises(CorpusError, match="no more"):
        write(failing(), path, format)
    assert path.read_text() == "as it was"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", ["inline", "conll"])
@pytest.mark.parametrize(
    "sentence",
    [
        Sentence([]),
        Sentence(["a b"]),
        Sentence([""]),
        Sentence(["a\n"]),
        Sentence(["a"], [Mention("A B", [(0, 1)])]),
    ],
)
def test_what_lines_cannot_hold_is_refused(format, sentence, tmp_path):
    with pytest.raises(CorpusError, match="document 2: .*cannot represent") as caught:
        write([Document([Sentence(["good"])]), Document([sentence])], tmp_path / "out", format)
    assert "\n" not in str(caught.value)


def test_the_id_and_the_order_of_documents_are_kept_by_brat(tmp_path):
    corpus = [replace(TWO[0], id="b/z.1"), replace(TWO[1], id="a")]
    again = there_and_back(corpus, tmp_path / "out", "brat")
    assert [found.id for found in again] == ["a", "b/z.1"]
