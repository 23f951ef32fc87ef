import errno
import io
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from any_corpora import CORPORA, WRITERS, contents
from discotag import Document, Mention, Sentence
from discotag.corpora import FORMATS, CorpusError, Problem, read, strict, write
from discotag.corpora.parsing import files
from discotag.corpora.parsing.problems import KINDS, MAX_MESSAGE, WARNINGS
from samples import ALONE, SAMPLES

LINES = {path: format for path, format in SAMPLES.items() if format in ("jsonl", "inline", "conll")}
"""Formats in which a line is a thing of its own."""


def lines(tmp_path, raw, report=strict):
    path = tmp_path / "a"
    path.write_bytes(raw)
    return list(files.lines(path, report))


def test_lines_are_numbered_and_without_their_ends(tmp_path):
    assert lines(tmp_path, b"a\nb\r\n\n\r\nc\rd") == [
        (1, "a"), (2, "b"), (3, ""), (4, ""), (5, "c\rd"),
    ]  # fmt: skip
    assert lines(tmp_path, b"") == []
    # these end no line
    assert len(lines(tmp_path, "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\x00\n".encode())) == 1


def test_the_first_byte_order_mark_is_dropped(tmp_path):
    assert lines(tmp_path, "\ufeffa\n\ufeffb".encode()) == [(1, "a"), (2, "\ufeffb")]
    (tmp_path / "a").write_bytes("\ufeffa\r\nb".encode())
    assert files.read_text(tmp_path / "a", strict) == "a\r\nb"
    assert files.read_text(tmp_path / "a", strict, keep_mark=True) == "\ufeffa\r\nb"


def test_a_line_that_is_not_utf8_is_none(tmp_path):
    problems = []
    assert lines(tmp_path, b"a\n\xe9t\xe9\nb", problems.append) == [(1, "a"), (2, None), (3, "b")]
    (problem,) = problems
    assert str(problem) == (
        f"{tmp_path}/a:2: byte 0xe9 is not UTF-8; if the file is Windows-1252 or Latin-1, "
        "use --encoding windows-1252"
    )
    assert files.read_text(tmp_path / "a", problems.append) is None
    assert (problems[1].kind, problems[1].line) == ("encoding", 2)


def test_lines_and_files_have_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE", 8)
    problems = []
    raw = b"12345678\n123456789\n" + b"x" * 100 + b"\nend"
    found = lines(tmp_path, raw, problems.append)
    assert found == [(1, "12345678"), (2, None), (3, None), (4, "end")]
    assert [(each.kind, each.line) for each in problems] == [("too_long", 2), ("too_long", 3)]
    monkeypatch.setattr(files, "MAX_FILE", 8)
    assert files.read_text(tmp_path / "a", problems.append) is None
    assert problems[-1].kind == "too_long"


def test_a_line_of_200_megabytes_is_reported_quickly(tmp_path):
    path = tmp_path / "long.jsonl"
    with path.open("wb") as stream:
        stream.truncate(200 << 20)  # sparse: it takes no room
        stream.seek(0, os.SEEK_END)
        stream.write(b'\n{"sentences": [{"words": ["a"]}]}\n')
    problems = []
    started = time.monotonic()
    found = list(read(path, "jsonl", report=problems.append))
    assert time.monotonic() - started < 10
    assert [document.words for document in found] == [("a",)]
    assert [(problem.kind, problem.line) for problem in problems] == [("too_long", 1)]
    assert "longer than 64 MiB" in str(problems[0])


@pytest.mark.parametrize("path", LINES, ids=lambda path: path.name)
def test_windows_line_ends_and_byte_order_marks_change_nothing(path, tmp_path):
    raw = path.read_bytes()
    expected = list(read(path))
    for number, changed in enumerate(
        (raw.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + raw, raw.rstrip(b"\n"), raw + b"\n\n\n")
    ):
        copy = tmp_path / f"{number}{path.suffix}"
        copy.write_bytes(changed)
        assert list(read(copy)) == expected


@pytest.mark.parametrize("path", LINES, ids=lambda path: path.name)
def test_a_nul_is_a_character(path, tmp_path):
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes().replace(b"toes", b"to\x00es"))
    problems = []
    found = list(read(copy, SAMPLES[path], report=problems.append))
    if SAMPLES[path] == "jsonl":  # JSON has it as an escape only
        assert {problem.kind for problem in problems} == {"syntax"}
    else:
        assert any("to\x00es" in document.words for document in found)


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.name)
def test_standard_input(path):
    code = (
        "from discotag.corpora import read; print([(s.words, len(s.mentions)) "
        "for d in read('-') for s in d.sentences])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=path.read_bytes(), capture_output=True, check=True
    )
    expected = [(s.words, len(s.mentions)) for d in read(path) for s in d.sentences]
    assert done.stdout.decode().strip() == str(expected)


@pytest.mark.parametrize("format", ["jsonl", "inline", "conll", "w2ner", "bioc-xml"])
def test_standard_output_is_utf8_wherever_one_is(format, tmp_path):
    code = (
        "import sys; from discotag.corpora import read, write; "
        f"print('é'); write(read(sys.argv[1]), '-', {format!r}); print('done')"
    )
    source = next(path for path in SAMPLES if path.name == "bioes.tsv")
    done = subprocess.run(
        [sys.executable, "-c", code, source],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert done.stdout.startswith(b"\xe9\n")
    assert done.stdout.endswith(b"done\n")
    (tmp_path / "out").write_bytes(done.stdout.removeprefix(b"\xe9\n").removesuffix(b"done\n"))
    assert contents(read(tmp_path / "out"))[0][0] == ("Sore", "red", "toes")


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(CorpusError, match="a pipe can only be read once: name its format"):
        read(path)
    writer = threading.Thread(target=path.write_text, args=('{"text": "Sore toes"}\n',))
    writer.start()
    assert [document.words for document in read(path, "jsonl")] == [("Sore", "toes")]
    writer.join()


def test_paths_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none", tmp_path / "a\x00b", tmp_path / ("x" * 300), "a\nb"):
        for format in (None, *CORPORA):
            with pytest.raises(CorpusError) as caught:
                read(path, format, report=lambda problem: None)
            assert caught.value.problem.kind == "missing"
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="the folder has no files"):
        read(tmp_path / "empty")
    with pytest.raises(CorpusError, match="is a directory"):
        list(files.lines(tmp_path, strict))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that cannot be read from 0")
def test_a_file_that_fails_while_it_is_read():
    with pytest.raises(CorpusError, match="input/output error"):
        list(files.lines(files.Path("/proc/self/mem"), strict))


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out"
    path.write_text("before")

    def fail():
        with files.created(path) as stream:
            stream.write("half")
            raise KeyError("a bug")

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]  # noqa: PTH208
    with files.created(path) as stream:
        stream.write("é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    other = tmp_path / "other"
    other.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_devices_and_links_stay_what_they_are(tmp_path):
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to("file")
    with files.created(tmp_path / "link") as stream:
        stream.write("after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "after"
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    with files.created(tmp_path / "pipe") as stream:
        stream.write("through")
    assert reader.communicate()[0] == b"through"
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize("redirected", ["- < /dev/null >&-", "- > /dev/full", "/dev/full"])
def test_output_that_fails(tmp_path, redirected):
    target, _, shell = redirected.partition(" ")
    code = (
        "import sys; from discotag import Document; from discotag.corpora import write, CorpusError"
        "\ntry: write([Document([])], sys.argv[1])"
        "\nexcept CorpusError as error: sys.exit(f'caught {error}')"
    )
    line = f'exec "$0" -c "$1" {target} {shell}'
    done = subprocess.run(["sh", "-c", line, sys.executable, code], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    reason = "it is closed" if shell.endswith("-") else "no space left on device"
    named = "standard output" if target == "-" else target
    assert f"caught {named}: {reason}" in done.stderr


def test_standard_input_that_is_closed():
    code = (
        "from discotag.corpora import read, CorpusError"
        "\ntry: read('-')\nexcept CorpusError as error: print(error)"
    )
    line = ["sh", "-c", 'exec "$0" -c "$1" <&-', sys.executable, code]
    assert subprocess.run(line, stdout=subprocess.PIPE, text=True).stdout == "-: it is closed\n"


def test_paths_that_cannot_be_written(tmp_path):
    one = [Document([Sentence(["a"], [Mention("X", [(0, 1)])])])]
    (tmp_path / "file").write_text("")
    for name in WRITERS:
        paths = [tmp_path / "file/out", tmp_path / "a\x00b"]
        if not FORMATS[name].folder:
            paths += [tmp_path / "none/out", tmp_path]
        for path in paths:
            with pytest.raises(CorpusError) as caught:
                write(one, path, name)
            assert caught.value.problem.kind == "missing"


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("a/b.txt", True),
        ("a..b", True),
        ("../a", False),
        ("a/../../b", False),
        ("/a", False),
        ("\\a", False),
        ("..\\a", False),
        ("C:a", False),
    ],
)
def test_entries_of_archives_stay_inside(name, inside):
    assert files.is_inside(name) == inside


@pytest.mark.parametrize("name", ["", ".", "..", ".a", "a/b", "a\\b", "a:b", "a\nb", "é" * 101])
def test_names_that_are_no_names_of_files(name):
    with pytest.raises(CorpusError, match="cannot be used as a file name"):
        files.file_name(name)
    assert files.file_name("LIPITOR.1 é") == "LIPITOR.1 é"


def test_kinds_of_problems():
    assert set(KINDS) >= WARNINGS
    assert Problem("widened", "", "a").severity == "warning"
    strict(Problem("widened", "", "a"))
    with pytest.raises(CorpusError, match="a:3: no"):
        strict(Problem("empty", "no", "a", 3))


def test_messages_have_a_bound():
    problem = Problem("syntax", f"begin {'x' * 10_000_000} end", "a")
    assert len(str(problem)) < MAX_MESSAGE + 10
    assert problem.message.startswith("begin")
    assert problem.message.endswith("end")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("moment", ["write", "close"])
def test_a_full_disk_is_named_with_the_file(name, moment, tmp_path, monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            if moment == "write":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return len(text)

        def close(self):
            if moment == "close" and not self.closed:
                super().close()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(handle, *arguments, **options):
        os.close(handle)
        return Full()

    monkeypatch.setattr(files, "open", full, raising=False)
    target = tmp_path / "out"
    with pytest.raises(CorpusError, match=r"no space left on device") as caught:
        write([Document([Sentence(["a"])], id="a")], target, name)
    expected = target / "a.txt" if FORMATS[name].folder else target
    assert caught.value.problem.path == str(expected)
    assert not expected.exists()


def test_problems_are_safe_to_print():
    problem = Problem("syntax", "bad \x1b[31m\nword", "a\x9b.txt", 3)
    assert str(problem) == "a·.txt:3: bad ·[31m·word"
    assert str(CorpusError(problem)) == str(problem)
