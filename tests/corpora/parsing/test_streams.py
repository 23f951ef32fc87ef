import gzip
import io
import os
import subprocess
import sys
import threading
import zipfile

import pytest

from discotag.corpora import CorpusError, read, strict
from discotag.corpora.parsing import files
from discotag.corpora.parsing.streams import UnknownEncodingError, check_encoding, decoded, decoding
from samples import ALONE

ENCODINGS = ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]

COUNT = (
    "import sys; from discotag.corpora import read; "
    "print([(d.id, s.words, len(s.mentions)) for d in read('-') for s in d.sentences])"
)


def contents(documents):
    return [(d.id, s.words, s.mentions) for d in documents for s in d.sentences]


def encoded(path, encoding):
    """A file in an encoding, with its byte-order mark, as an editor saves it."""
    mark = "" if encoding == "utf-16" else "\ufeff"
    return (mark + path.read_text("utf-8")).encode(encoding)


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.name)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_files_with_a_mark_are_decoded(path, encoding, tmp_path):
    copy = tmp_path / path.name
    copy.write_bytes(encoded(path, encoding))
    assert contents(read(copy)) == contents(read(path))
    assert contents(read(copy, encoding="latin-1")) == contents(read(path))  # the mark is right


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.name)
def test_gzip_is_unpacked_whatever_the_name(path, tmp_path):
    copy = tmp_path / path.name
    copy.write_bytes(gzip.compress(path.read_bytes()))
    assert contents(read(copy)) == contents(read(path))
    copy.write_bytes(gzip.compress(encoded(path, "utf-16")))
    assert contents(read(copy)) == contents(read(path))


def test_brat_is_unpacked_and_decoded(tmp_path):
    text = "Entzündete Zehen 🦶 schmerzen.\n"
    for encoding in ("utf-16", "utf-32"):
        (tmp_path / "a.txt").write_bytes(text.encode(encoding))
        (tmp_path / "a.ann").write_bytes(gzip.compress(b"T1\tADR 19 28\tschmerzen\n"))
        (document,) = read(tmp_path)
        assert (document.text, document.mentions[0].text) == (text, "schmerzen")


def test_encodings_that_are_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"text": "Müde – “é”"}\n'.encode("cp1252"))
    (document,) = read(path, encoding="windows-1252")
    assert document.text == "Müde – “é”"
    path.write_bytes('{"text": "Müde"}\n'.encode("utf-16-le"))
    assert [document.text for document in read(path, encoding="utf-16-le")] == ["Müde"]
    path.write_bytes('<?xml version="1.0" encoding="UTF-8"?><collection><document><id>é</id>'
                     "<passage><offset>0</offset><text>Müde</text></passage></document>"
                     "</collection>".encode("latin-1"))  # fmt: skip
    with pytest.raises(CorpusError, match="not in the encoding that the file declares; use --enc"):
        list(read(path))
    assert [document.text for document in read(path, encoding="latin-1")] == ["Müde"]


@pytest.mark.parametrize("name", ["klingon", "hex", "", "idna", "undefined", "a\0b", "../x"])
def test_names_that_are_not_encodings(name, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(UnknownEncodingError, match="unknown encoding"):
        read(tmp_path / "a.jsonl", encoding=name)
    with pytest.raises(UnknownEncodingError):
        check_encoding(name)


def test_bytes_that_are_not_in_the_encoding_are_reported(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\x81"}\n{"text": "\xc3\xa9"}\n')
    problems = []
    found = list(read(path, report=problems.append, encoding="cp1252"))
    assert [document.text for document in found] == ["a", "Ã©"]
    assert [(each.kind, each.line) for each in problems] == [("encoding", 2)]
    assert "byte 0x81 is not cp1252, the encoding that the file is read in" in str(problems[0])
    problems.clear()
    list(read(path, report=problems.append, encoding="ascii"))  # what looks like UTF-8 is not
    assert [(each.kind, each.line) for each in problems] == [("encoding", 2), ("encoding", 3)]
    path.write_bytes(b"\xff\xfe" + '{"text": "a"}\n'.encode("utf-16-le") + b"x")
    problems.clear()
    assert len(list(read(path, report=problems.append))) == 1
    assert [(each.kind, each.line) for each in problems] == [("encoding", 2)]


def test_the_line_of_a_bad_byte_in_a_list(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"text": "a"},\n{"text": "b"},\n{"text": "\xe9"}]')
    problems = []
    assert len(list(read(path, "jsonl", report=problems.append))) == 2
    assert [(each.kind, each.line) for each in problems] == [("encoding", 3)]
    assert "byte 0xe9" in str(problems[0])


def test_two_readers_and_two_threads_do_not_mix_their_encodings(tmp_path):
    for name in ("utf-8", "latin-1"):
        (tmp_path / name).write_bytes('{"text": "é"}\n{"text": "é"}\n'.encode(name))
    one = read(tmp_path / "latin-1", "jsonl", encoding="latin-1")
    other = read(tmp_path / "utf-8", "jsonl")
    assert [document.text for pair in zip(one, other, strict=True) for document in pair] == [
        "é"
    ] * 4
    seen = []
    with decoding("latin-1"):
        thread = threading.Thread(
            target=lambda: seen.extend(files.lines(tmp_path / "utf-8", strict))
        )
        thread.start()
        thread.join()
    assert seen == [(1, '{"text": "é"}'), (2, '{"text": "é"}')]
    lines = list(decoded(files.lines(tmp_path / "latin-1", strict), "latin-1"))
    assert lines == seen


def test_gzip_that_is_cut_off_or_damaged(tmp_path):
    path = tmp_path / "a.jsonl"
    packed = gzip.compress(b"".join(b'{"text": "%d"}\n' % n for n in range(100_000)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(CorpusError, match=r"a\.jsonl: the gzip file is truncated"):
        list(read(path))
    path.write_bytes(packed[:100] + bytes(1000) + packed[1100:])
    with pytest.raises(CorpusError, match="the gzip file is damaged"):
        list(read(path, "jsonl"))
    path.write_bytes(gzip.compress(packed))
    with pytest.raises(CorpusError, match="a gzip file inside another, not text"):
        read(path)


def test_bombs_are_bounded(tmp_path, monkeypatch):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(50 << 20)))
    assert path.stat().st_size < 1 << 16
    monkeypatch.setattr(files, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(files, "MAX_FILE", 1 << 20)
    problems = []
    assert list(files.lines(path, problems.append)) == [(1, None)]
    assert files.read_text(path, problems.append) is None
    assert [problem.kind for problem in problems] == ["too_long", "too_long"]


def packed(*names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("raw", "about"),
    [
        (
            packed("[Content_Types].xml", "xl/workbook.xml"),
            "an Excel workbook, not text; give it as a file",
        ),
        (packed("[Content_Types].xml", "word/document.xml"), "a Word document"),
        (packed("a.txt"), "a zip archive, not text; unpack it first"),
        (b"%PDF-1.4\n%\xe2", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"PAR1\x15\x04", "a Parquet table"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an old Excel or Word file \(\.xls, \.doc\)"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"BZh91AY&SY", "a bzip2 file"),
    ],
)
def test_files_that_are_not_text_are_named(raw, about, tmp_path):
    path = tmp_path / "reviews"
    path.write_bytes(raw)
    table = "give it as a file" in about or "Parquet" in about  # which are read
    for format in ("jsonl" if table else None, "jsonl", "inline", "bioc-xml", "w2ner"):
        with pytest.raises(CorpusError, match=f"reviews: {about}") as caught:
            list(read(path, format))
        assert "\n" not in str(caught.value)
    with pytest.raises(CorpusError, match=about):
        files.read_text(path, strict)


def test_text_may_begin_like_a_file_of_another_kind(tmp_path):
    (tmp_path / "a").write_text("PAR1 is a receptor.")
    assert files.read_text(tmp_path / "a", strict) == "PAR1 is a receptor."


@pytest.mark.parametrize(
    "raw",
    [
        b'{"id": 1, "rating": 5, "text": "Sore toes"}\n{"id": 2, "text": "Fine"}\n',
        b'[{"id": 1, "text": "Sore toes"},\n{"id": 2, "text": "Fine"}]',
        b'{\n"id": 1,\n"text": "Sore toes"\n}\n{\n"id": 2,\n"text": "Fine"\n}\n',
        *[path.read_bytes() for path, name in ALONE.items() if name.startswith(("bioc", "w2"))],
        gzip.compress(b'{"text": "Sore toes"}\n', mtime=0),
        b"\xff\xfe" + '{"text": "Sore toes"}\n'.encode("utf-16-le"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_standard_input_that_comes_in_small_pieces(raw, size, tmp_path):
    (tmp_path / "file").write_bytes(raw)
    process = subprocess.Popen(
        [sys.executable, "-c", COUNT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for start in range(0, len(raw), size):
        process.stdin.write(raw[start : start + size])
        process.stdin.flush()
    expected = [
        (d.id, s.words, len(s.mentions)) for d in read(tmp_path / "file") for s in d.sentences
    ]
    assert expected
    assert process.communicate()[0].decode().strip() == str(expected)


def test_json_lines_of_a_pipe_are_read_while_they_are_written():
    code = "from discotag.corpora import read\nfor d in read('-'): print(d.text, flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        for text in ("one", "two"):
            process.stdin.write(f'{{"text": "{text}"}}\n')
            process.stdin.flush()
            assert process.stdout.readline() == f"{text}\n"


def test_a_pipe_with_a_list_is_read_if_its_format_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(
        target=(tmp_path / "pipe").write_text, args=('[{"text": "a"}, {"text": "b"}]',)
    )
    writer.start()
    assert [document.text for document in read(tmp_path / "pipe", "jsonl")] == ["a", "b"]
    writer.join()
