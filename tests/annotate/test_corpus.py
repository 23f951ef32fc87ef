"""What can be annotated: the corpora that are read into a journal."""

import json

import pytest

from annotating import project_of, served, write_texts
from discotag import Document, Mention, Sentence, corpora
from discotag.annotate import corpus as corpus_room
from discotag.annotate.corpus import Source
from discotag.annotate.importing import Imported
from discotag.annotate.project import Plan, open_project
from discotag.corpora.tables import TableOptions
from discotag.errors import DiscotagError
from discotag.words import Splitter

TOES = Document(
    [Sentence(["sore", "big", "toes"], [Mention("ADR", [(0, 1), (2, 3)], score=0.5)])], id="toes"
)


def seen(path, **source):
    """Return the names, words and mentions of the documents of a project."""
    plan = Plan(Source(path, **source), use_model=False, labels=("X",))
    with open_project(plan) as project:
        with project.journal.reading() as db:
            rows = db.execute("SELECT number, name FROM documents ORDER BY number").fetchall()
            found = [(name, project.editor.document(db, number)) for number, name in rows]
        return project.viewer.labels, found


def test_json_lines_with_mentions(tmp_path):
    path = tmp_path / "corpus.jsonl"
    corpora.write([TOES, Document([Sentence(["Fine"])]), TOES], path)
    labels, found = seen(path)
    assert labels == ("X", "ADR")
    assert [name for name, _ in found] == ["toes", "2", "toes (2)"]
    assert found[0][1].sentences == TOES.sentences
    with project_of(path) as project, served(project) as client:
        client.enter("Ann")
        (mention,) = client.state(1)["sentences"][0]["mentions"]
        assert (mention["origin"], mention["status"]) == ("corpus", "accepted")
        assert mention["score"] is None
    assert "ADR" in path.read_text()  # the corpus is as it was


def test_brat_with_and_without_annotations(tmp_path):
    folder = write_texts(tmp_path / "brat", {"one": "Sore toes", "two": "Sore knees"})
    (folder / "one.ann").write_text("T1\tADR 0 9\tSore toes\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "three.txt").write_text("Fine.")
    labels, found = seen(folder)
    assert labels == ("X", "ADR")
    assert [(name, len(document.mentions)) for name, document in found] == [
        ("one", 1),
        ("deep/three", 0),
        ("two", 0),
    ]
    assert sorted(path.name for path in folder.rglob("*.*")) == [
        "one.ann",
        "one.txt",
        "three.txt",
        "two.txt",
    ]


def test_tables(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("id,comment,drug\n7,Sore toes,A\n8,Fine,B\n")
    _, found = seen(path, table=TableOptions(text_column="comment"))
    assert [(name, document.text) for name, document in found] == [
        ("7", "Sore toes"),
        ("8", "Fine"),
    ]
    assert found[0][1].extra["drug"] == "A"


def test_lines(tmp_path):
    path = tmp_path / "posts.txt"
    path.write_text("Sore toes\nFine\n")
    _, found = seen(path, by_line=True)
    assert [document.text for _, document in found] == ["Sore toes", "Fine"]


def test_what_cannot_be_annotated(tmp_path, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DiscotagError, match="the folder has no files"):
        seen(empty)
    monkeypatch.setattr(corpus_room, "MOST_WORDS", 5)
    long = tmp_path / "long.txt"
    long.write_text("so many words that nobody can read them")
    with pytest.raises(DiscotagError, match="'long' has 8 words, but a page can show 5"):
        seen(long)
    texts = write_texts(tmp_path / "posts", {"a": "Fine."})
    with pytest.raises(DiscotagError, match="give some, --labels"), project_of(texts, labels=()):
        pass
    with pytest.raises(DiscotagError, match="white space"), project_of(texts, labels=("A B",)):
        pass


def test_names_that_look_like_counted_ones(tmp_path):
    path = tmp_path / "corpus.jsonl"
    texts = {"a": "One", "a ": "Two", "a (2)": "Three", "a  ": "Four"}
    corpora.write([Document([Sentence([word])], id=id.strip()) for id, word in texts.items()], path)
    for _ in range(2):  # the names are the same each time
        _, found = seen(path)
        assert [name for name, _ in found] == ["a", "a (2)", "a (2) (2)", "a (3)"]


def test_other_words_than_before(tmp_path):
    folder = write_texts(tmp_path / "posts", {"a": "Can't sleep.", "b": "Fine"})
    seen(folder)
    said = (
        "posts.journal: was begun with --sentences auto --words pattern, and its words are not "
        "those of --sentences auto --words spaces; use the same options"
    )
    with pytest.raises(DiscotagError, match=said):
        seen(folder, splitter=Splitter(words="spaces"))
    path = tmp_path / "words.jsonl"  # whose words do not depend on the options
    corpora.write([TOES], path)
    seen(path)
    seen(path, splitter=Splitter(words="spaces"))


def test_labels_that_no_scheme_can_have(tmp_path):
    path = tmp_path / "corpus.jsonl"
    corpora.write(
        [Document([Sentence(["sore", "toes"], [Mention("Side effect", [(0, 2)])])])], path
    )
    with pytest.raises(DiscotagError) as refused:
        seen(path)
    assert str(refused.value).startswith(f"{path}: its mentions have the label 'Side effect', but")
    assert "annotate a copy of the corpus" in str(refused.value)


def test_a_refused_start_leaves_nothing_behind(tmp_path):
    folder = write_texts(tmp_path / "posts")
    for refused in ({"labels": ()}, {"labels": ("A B",)}, {"use_model": True, "model": "./none"}):
        with pytest.raises(DiscotagError), project_of(folder, **refused):
            pass
        assert [each.name for each in tmp_path.iterdir()] == ["posts"]
    with project_of(folder) as project:
        project.enter("Ann")
    for refused in ({"labels": ("A B",)}, {"use_model": True, "model": "./none"}):
        with pytest.raises(DiscotagError), project_of(folder, **refused):
            pass
    with project_of(folder, labels=("X",)) as project:  # neither work nor labels have changed
        assert project.viewer.labels == ("X", "ADR", "Drug")
        assert [each["name"] for each in project.summary()["annotators"]] == ["Ann"]


def toes(*fragments, label="ADR"):
    mentions = [Mention(label, list(fragments))] if fragments else []
    return Sentence(["sore", "big", "toes"], mentions)


def test_changed_annotations_of_the_corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    documents = [Document([toes((0, 1)), toes()], id=name) for name in ("touched", "open", "same")]
    corpora.write(documents, path)
    with project_of(path) as project, served(project) as client:
        client.enter("Ann")
        client.add(1, (2, 3), sentence=1)
        before = client.state(1)["sentences"]
    changed = [
        Document([toes((1, 3), label="New"), toes()], id=name) for name in ("touched", "open")
    ]
    corpora.write([*changed, documents[2]], path)
    for turn in range(2):
        with project_of(path) as project, served(project) as client:
            assert project.imported == Imported(known=3, updated=1 - turn, outdated=1)
            assert client.state(1)["sentences"] == before
            (mention,) = client.state(2)["sentences"][0]["mentions"]
            assert (mention["label"], mention["fragments"]) == ("New", [[1, 3]])
            assert "New" in project.viewer.labels


def test_labels_stay(tmp_path):
    folder = write_texts(tmp_path / "posts")
    with project_of(folder, labels=("B", "A")) as project:
        assert project.viewer.labels == ("B", "A")
    with project_of(folder, labels=("C",)) as project:
        assert project.viewer.labels == ("C", "A", "B")


def test_names_of_documents_are_only_text(tmp_path):
    path = tmp_path / "evil.jsonl"
    names = ["../../etc/passwd", "<script>alert(1)</script>", "a\nb", "x'; DROP TABLE texts; --"]
    lines = [json.dumps({"id": name, "text": "Sore <b>toes</b>"}) for name in names]
    path.write_text("\n".join(lines))
    with project_of(path) as project, served(project) as client:
        client.enter("Ann")
        listed = client.ok("GET", "/api/documents", params={"order": "corpus"})["documents"]
        assert [each["name"] for each in listed] == names
        for number in range(1, 5):
            client.add(number, (0, 1))
            client.act(number, "finish")
        answer = client.get("/api/export", params={"format": "brat"})
        assert answer.status_code == 422  # no file name
        said = answer.json()["error"]["message"]
        assert said.startswith("Document '../../etc/passwd': this document id cannot be used")
        answer = client.get("/api/export", params={"format": "jsonl"})
        assert answer.headers["content-disposition"] == 'attachment; filename="annotations.jsonl"'
    assert sorted(each.name for each in tmp_path.iterdir()) == ["evil.jsonl", "evil.jsonl.journal"]
