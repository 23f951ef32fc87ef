"""Knowtator XML, and how the texts it names are found."""

import shutil
from pathlib import Path

import pytest

from discotag.corpora import CorpusError, read
from discotag.corpora.formats import knowtator
from discotag.corpora.formats.format import Reading

DATA = Path(__file__).parents[2] / "data" / "knowtator"
FIRST, SECOND = "case1.txt.knowtator.xml", "case1.xml"


@pytest.fixture
def project(tmp_path):
    return Path(shutil.copytree(DATA, tmp_path / "project"))


def changed(project, name, before, after):
    """The problems and documents of the file, changed so."""
    path = project / "annotations" / name
    content = path.read_text("utf-8")
    assert before in content
    path.write_text(content.replace(before, after, 1), "utf-8")
    found = []
    documents = list(read(path, report=found.append))
    if errors := [problem for problem in found if problem.severity == "error"]:
        with pytest.raises(CorpusError) as caught:
            list(read(path))
        assert caught.value.problem == errors[0]
    return documents, found


@pytest.mark.parametrize("name", [FIRST, SECOND])
def test_samples(name):
    (document,) = read(DATA / "annotations" / name)
    assert document.id == "case1"
    assert document.text == (DATA / "articles/txt/case1.txt").read_text("utf-8")
    assert [(each.label, each.text) for each in document.mentions] == [
        ("CL:0000187", "Muscle cells"),
        ("CL:0000540", "nerve cells"),
    ]


def test_a_folder_of_files(project):
    assert len(list(read(project / "annotations"))) == 2


def test_where_texts_are_found(project):
    text = project / "articles/txt/case1.txt"
    path = project / "annotations" / FIRST
    for place in ("annotations/case1.txt", "txt/case1.txt", "annotations/text/case1.txt"):
        moved = project / place
        moved.parent.mkdir(exist_ok=True)
        text = text.rename(moved)
        assert len(list(read(path))) == 1
    below = project / "a/b/c/d/e"
    below.mkdir(parents=True)
    with pytest.raises(CorpusError, match="'case1.txt' is not in the same folder"):
        list(read(path.rename(below / FIRST)))
    found = knowtator.read(below / FIRST, Reading(), texts=text.parent)
    assert len(list(found)) == 1
    with pytest.raises(CorpusError, match="is not in"):
        list(knowtator.read(below / FIRST, Reading(), texts=below))


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../case1.txt", "/etc/passwd", "a/case1.txt", "..\\case1.txt", "a" * 5000,
     "C:case1.txt", "&#9;"],
)  # fmt: skip
def test_names_that_are_no_texts(project, name):
    for file, key in ((FIRST, "textSource"), (SECOND, "text-file")):
        documents, found = changed(project, file, f'{key}="case1.txt"', f'{key}="{name}"')
        assert documents == []
        assert [problem.severity for problem in found] == ["error"]


@pytest.mark.parametrize(
    ("name", "before", "after", "kind"),
    [
        (FIRST, 'start="28"', 'start="x"', "syntax"),
        (FIRST, 'start="28"', 'start="-1"', "syntax"),
        (FIRST, 'start="28"', f'start="{"9" * 5000}"', "syntax"),
        (FIRST, 'start="28" ', "", "syntax"),
        (FIRST, 'start="28"', 'start="80"', "inverted"),
        (FIRST, 'start="28"', 'start="29"', "text_mismatch"),
        (FIRST, 'end="39"', 'end="390"', "outside"),
        (FIRST, '<span start="28" end="39" />', "", "empty"),
        (FIRST, '<classMention id="I_2">', "<classMention>", "syntax"),
        (FIRST, '<mention id="I_2" />', "", "syntax"),
        (FIRST, ' id="CL:0000540"', "", "syntax"),
        (SECOND, 'start="28"', 'start="x"', "syntax"),
        (SECOND, 'start="28"', 'start="29"', "text_mismatch"),
        (SECOND, '<class id="http://purl.obolibrary.org/obo/CL_0000540"', "<klass ", "syntax"),
    ],
)
def test_bad_annotations_are_left_out(project, name, before, after, kind):
    documents, found = changed(project, name, before, after)
    assert [problem.kind for problem in found] == [kind]
    assert found[0].line is not None
    assert [each.text for each in documents[0].mentions] == ["Muscle cells"]


def test_other_classes_keep_their_address(project):
    address = "http://example.org/classes#neuron"
    documents, found = changed(
        project, SECOND, "http://purl.obolibrary.org/obo/CL_0000540", address
    )
    assert found == []
    assert documents[0].mentions[1].label == address


def test_entities_are_refused(project):
    documents, found = changed(
        project, FIRST, "<annotations ", '<!DOCTYPE a [<!ENTITY x "y">]><annotations '
    )
    assert documents == []
    assert "defines entities" in found[0].message


def test_texts_that_cannot_be_read(project):
    (project / "articles/txt/case1.txt").write_bytes(b"\xe9\xff")
    found = []
    assert list(read(project / "annotations" / FIRST, report=found.append)) == []
    assert [problem.kind for problem in found] == ["encoding"]


def test_a_text_that_is_not_text_is_reported(project):
    text = project / "articles/txt/case1.txt"
    text.write_bytes(b"%PDF-1.7")
    problems = []
    assert list(read(project / "annotations" / FIRST, report=problems.append)) == []
    assert [(each.kind, each.path) for each in problems] == [("binary", str(text))]
