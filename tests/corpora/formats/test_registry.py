import gzip
import os
import shutil

import pytest

from discotag import Document, Sentence
from discotag.corpora import FORMATS, CorpusError, read, write
from discotag.corpora.formats.registry import (
    UnrecognisedError,
    find_format,
    named_format,
)
from discotag.corpora.parsing import streams
from discotag.corpora.parsing.files import files_in
from folders import refuse_to_list, refuse_to_open
from samples import DATA, SAMPLES


@pytest.mark.parametrize(("path", "format"), SAMPLES.items(), ids=lambda each: str(each))
def test_samples_are_recognised(path, format):
    assert find_format(path).name == format


@pytest.mark.parametrize(
    ("path", "format"),
    [item for item in SAMPLES.items() if not FORMATS[item[1]].folder],
    ids=lambda each: str(each),
)
@pytest.mark.parametrize("way", ["windows", "mark", "space", "no suffix", "only a head"])
def test_samples_are_recognised_in_disguise(path, format, way, tmp_path, monkeypatch):
    raw = path.read_bytes()
    copy = tmp_path / ("file" if way == "no suffix" else path.name)
    if way == "windows":
        raw = raw.replace(b"\n", b"\r\n")
    elif way == "mark":
        raw = b"\xef\xbb\xbf" + raw
    elif way == "space" and format not in ("inline", "conll"):
        raw = b"\n  \n" + raw
    elif way == "only a head":
        monkeypatch.setattr(streams, "HEAD", max(len(raw) * 2 // 3, 60))
    copy.write_bytes(raw)
    assert find_format(copy).name == format


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("a b\n0,0 A", "inline"),
        ("a b\n\n\nc\n0,0,1,1 A|0,0 B\n\n", "inline"),
        ("O\n0,0 O\n\n", "inline"),
        ("a\n\n\nb\n\n\nc\n", "inline"),  # where nothing is marked
        ("a\n0,0 A\ntoo much\n\nb\n0,0 A\n\n", "inline"),  # a block is broken
        ("a O\n0,1 B-X\n\n", "conll"),
        ("a O", "conll"),
        ("a\tB-X\nb\tI-X\n", "conll"),
        ("a O\nb\nc O\nd O\ne O\nf O\n", "conll"),  # one row is broken
        ("-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n", "conll"),
        ("Sore B\ntoes I\n", "conll"),  # which the reader refuses, and says why
        ("# id 5 domain=en\nthe _ _ O\n", "conll"),
        ("[]", "w2ner"),
        ('[ {"ner": [], "sentence": []} ]', "w2ner"),
        ('{"text": "a", "mentions": []}', "jsonl"),
        ('{"discotag" : 1, "sentences": []}', "jsonl"),
        ('{"id": "1", "text": "a"}', "jsonl"),
        (f'{{"text": "{"sore " * 20_000}", "mentions": []}}', "jsonl"),
        ('{"id": 1, "rating": 5, "drug": "x", "text": "Sore"}', "jsonl"),
        ('{"rating": {"documents": [1]}, "drug": ["passages"], "text": "Sore"}', "jsonl"),
        (f'{{"rating": 5, "text": "{"sore " * 20_000}"}}\n', "jsonl"),
        ('[{"text": "a"}, {"text": "b"}]', "jsonl"),
        ('[\n  {\n    "drug": "x",\n    "text": "a"\n  }\n]', "jsonl"),
        ('{\n  "drug": "x",\n  "text": "a"\n}\n', "jsonl"),
        ('{"drug": "x",\n "text": "a"}\n', "jsonl"),
        ('[{"text": "a b", "sentence": ["a", "b"], "ner": []}]', "w2ner"),
        ('[{"text": "a", "meta": {"sentence": 3}}]', "jsonl"),
        ('{"text": 5}', None),
        ('{"meta": {"text": "a"}}', None),
        ("Sore toes.\n", None),
        ("Sore toes.\n\nAnd\n\nmore.\n", None),
        ("I took vitamin O\nand then B-12 as well.\nThen I slept.\n", None),
        ("0,0 A", None),
        ("{}", None),
        ("[1]", None),
        ('"a"', None),
        ("<html></html>", None),
    ],
)
def test_small_files(text, format, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(text)
    if format is None:
        with pytest.raises(UnrecognisedError, match="not recognised; name it"):
            find_format(path)
    else:
        assert find_format(path).name == format


@pytest.mark.parametrize(("path", "format"), SAMPLES.items(), ids=lambda each: str(each))
def test_samples_are_recognised_where_there_may_be_prose(path, format):
    assert find_format(path, prose=True).name == format


@pytest.mark.parametrize(
    ("text", "format", "other"),
    [
        ("", "text", None),
        ("{}", "text", None),
        ("[1]", "text", None),
        ("Sore.", "text", None),
        ("My blood group is O", "text", "conll"),
        ("I take B-12\nand I-131\n", "text", "conll"),
        ("So sore\n\n\nAnd tired\n\n\nNothing else\n", "text", "inline"),
        ("a b\n0,0 A\n\n", "inline", "text"),
        ("a B-ADR\nb I-ADR\n", "conll", "text"),
    ],
)
@pytest.mark.parametrize("name", ["post.txt", "post", "post.md", "post.note"])
def test_what_may_be_prose_or_not_is_told_of(text, format, other, name, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    problems = []
    assert find_format(path, prose=True, report=problems.append).name == format
    assert [(each.kind, each.message) for each in problems] == (
        []
        if other is None
        else [
            (
                "guessed",
                f"the file is read as {format}; if it is {other}, use --from {other}",
            )
        ]
    )


def test_endings_decide_where_prose_looks_like_a_format(tmp_path):
    for name, format in (("a.conll", "conll"), ("a.tsv", "conll"), ("a.csv", "csv")):
        (tmp_path / name).write_text("a O\nb O\n")
        for prose in (False, True):
            assert find_format(tmp_path / name, prose=prose).name == format
    (tmp_path / "a.csv").write_text("a B-X\nb I-X\n")  # which no table looks like
    assert find_format(tmp_path / "a.csv").name == "conll"


def test_a_table_beside_a_corpus_is_not_the_corpus(tmp_path):
    (tmp_path / "a.csv").write_text("id,comment\n1,so very sore\n")
    assert [each.text for each in read(tmp_path)] == ["so very sore"]
    shutil.copy(DATA / "jsonl/three.jsonl", tmp_path / "corpus.jsonl")
    assert find_format(tmp_path).name == "jsonl"


def test_files_that_cannot_be_recognised(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        find_format(tmp_path / "none")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    for prose in (False, True):
        with pytest.raises(CorpusError, match="a PDF document, not text"):
            find_format(tmp_path / "a.pdf", prose=prose)


@pytest.mark.parametrize("raw", [b"", b" \n", b"\xef\xbb\xbf"])
def test_empty_files_have_no_format(raw, tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(raw)
    with pytest.raises(CorpusError, match="the file is empty"):
        read(path)
    assert list(read(path, "jsonl")) == []


def test_a_folder_is_read_file_by_file(tmp_path):
    for name in ("b.jsonl", "sub/a.jsonl", ".hidden/c.jsonl", "a.jsonl.bak"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(DATA / "jsonl/three.jsonl", tmp_path / name)
    (tmp_path / "README.md").write_text("# About\n")
    ignored = []
    assert [path.name for path in files_in(tmp_path, (".jsonl",), ignored.append)] == [
        "b.jsonl",
        "a.jsonl",
    ]
    assert len(list(read(tmp_path))) == 6


def test_a_folder_of_brat_is_one_of_brat_whatever_else_is_in_it(tmp_path):
    folder = shutil.copytree(DATA / "brat/good", tmp_path / "good")
    (folder / "annotation.conf").write_text("[entities]\nADR\n")
    shutil.copy(DATA / "jsonl/three.jsonl", folder / "a.jsonl")
    assert find_format(folder).name == "brat"
    assert len(list(read(folder))) == 3


def test_folders_without_a_corpus(tmp_path):
    with pytest.raises(CorpusError, match="the folder has no files"):
        read(tmp_path)
    (tmp_path / "README.md").write_text("# About\n")
    with pytest.raises(CorpusError, match="no file in this folder was recognised"):
        read(tmp_path)
    with pytest.raises(CorpusError, match=r"the folder has no file that ends with \.jsonl or"):
        list(read(tmp_path, "jsonl"))


def test_unknown_formats(tmp_path):
    with pytest.raises(CorpusError, match="word: unknown format; known formats are .*jsonl"):
        named_format("word")
    with pytest.raises(CorpusError, match="knowtator: this format can only be read, not written"):
        write([], tmp_path / "out", "knowtator")


def test_formats_say_what_they_are():
    for name, format in FORMATS.items():
        assert name == format.name
        assert format.about
        assert "\n" not in format.about
        assert f"`{name}`" in (DATA.parents[1] / "docs/corpora.md").read_text("utf-8")
        assert format.read or format.write
        assert format.ending.startswith(".") or format.folder
        assert all(suffix.startswith(".") for suffix in format.suffixes)


def folder_with_broken_files(tmp_path, monkeypatch):
    for name in ("a.jsonl", "b.jsonl", "locked/c.jsonl", "z.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'{{"id": "{name}", "text": "Sore"}}\n')
    (tmp_path / "dangling.jsonl").symlink_to("none")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "picture.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "README.md").write_text("# About\n")
    refuse_to_open(monkeypatch, "b.jsonl")
    refuse_to_list(monkeypatch, "locked")
    return tmp_path


def test_files_of_a_folder_that_cannot_be_read_are_reported(tmp_path, monkeypatch):
    folder = folder_with_broken_files(tmp_path, monkeypatch)
    problems = []
    assert [each.id for each in read(folder, report=problems.append)] == ["a.jsonl", "z.jsonl"]
    assert {(each.path.rpartition("/")[2], each.message) for each in problems} == {
        ("b.jsonl", "permission denied"),
        ("locked", "permission denied"),
        ("dangling.jsonl", "no such file or directory"),
        ("loop.jsonl", "too many levels of symbolic links"),
        ("picture.jsonl", "a PNG image, not text; convert it to text first"),
        (tmp_path.name, "1 file is not read: README.md"),
    }
    with pytest.raises(CorpusError, match="permission denied|symbolic|no such"):
        list(read(folder))


def test_files_that_are_left_out_are_named_up_to_a_number(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    for number in range(30):
        (tmp_path / f"{number:02d}.png").write_text("")
    (tmp_path / "linked").symlink_to(tmp_path / "..")
    os.mkfifo(tmp_path / "pipe.jsonl")
    problems = []
    assert len(list(read(tmp_path, report=problems.append))) == 1
    ((kind, message),) = [(each.kind, each.message) for each in problems]
    assert kind == "left_out"
    assert message.startswith("32 files are not read: 00.png, 01.png")
    assert message.endswith("19.png and 12 more")


def test_a_link_that_leads_to_itself_is_named(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(CorpusError, match="loop: too many levels of symbolic links"):
        read(tmp_path / "loop")
    with pytest.raises(CorpusError, match="loop: too many levels of symbolic links"):
        find_format(tmp_path / "loop")


def test_packed_files_of_a_folder_are_read(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n'))
    assert [document.text for document in read(tmp_path)] == ["a"]


def test_ids_that_occur_twice(tmp_path):
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"id": 1, "text": "a"}\n{"text": "b"}\n{"text": "c"}\n')
    (folder / "b.jsonl").write_text('{"id": 2, "text": "a"}\n{"id": "1", "text": "b"}\n')
    for name in ("one", "two"):
        write([Document([Sentence(["a"])], id="1")] * 2, tmp_path / f"{name}.xml", "bioc-xml")
        write([Document([Sentence(["a"])], id="1")] * 2, tmp_path / f"{name}.json", "bioc-json")
    for path, place in (
        (folder, (folder / "b.jsonl", 2)),
        (tmp_path / "one.xml", (tmp_path / "one.xml", 7)),
        (tmp_path / "one.json", (tmp_path / "one.json", None)),
    ):
        problems = []
        documents = list(read(path, check_ids=True, report=problems.append))
        assert documents == list(read(path))
        assert [(each.kind, each.path, each.line) for each in problems] == [
            ("duplicate_id", str(place[0]), place[1])
        ]
        assert problems[0].severity == "warning"
