"""Archives: unpacked where they should be, refused where they would do harm."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag.corpora import CorpusError
from discotag.corpora.recipes import source
from discotag.corpora.recipes.source import unpacked

FILES = {"a/text/1.txt": b"one", "a/2.ann": b"two", "a/.hidden": b"", "__MACOSX/a/1.txt": b"?"}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.mkdir("a")
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def tarred(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tape:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tape.addfile(member, io.BytesIO(content))
    return path


def inside(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tgz", "no-ending"])
def test_archives_are_unpacked_and_gone_afterwards(name: str, tmp_path: Path) -> None:
    make = zipped if name == "a.zip" else tarred
    with unpacked(make(tmp_path / name, FILES)) as folder:
        assert inside(folder) == {"a/text/1.txt": b"one", "a/2.ann": b"two"}
    assert not folder.exists()
    with unpacked(tmp_path / name, lambda entry: entry.endswith(".ann")) as folder:
        assert inside(folder) == {"a/2.ann": b"two"}


@pytest.mark.parametrize("mode", ["w", "w:bz2", "w:xz"])
def test_other_tar_files(mode: str, tmp_path: Path) -> None:
    with unpacked(tarred(tmp_path / "a.tar", FILES, mode)) as folder:
        assert len(inside(folder)) == 2


def test_a_folder_is_left_alone(tmp_path: Path) -> None:
    with unpacked(tmp_path) as folder:
        assert folder == tmp_path
    assert tmp_path.exists()


def refused(path: Path, message: str, kind: str = "syntax") -> None:
    with pytest.raises(CorpusError, match=message) as caught, unpacked(path):
        pass
    assert caught.value.problem.kind == kind
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/evil.txt", "C:\\evil.txt"])
def test_entries_that_leave_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    refused(zipped(tmp_path / "a.zip", {name: b"evil"}), "outside of its folder")
    refused(tarred(tmp_path / "a.tgz", {name: b"evil"}), "outside of its folder")
    assert not list(tmp_path.rglob("evil.txt"))


def test_links_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tape:
        member = tarfile.TarInfo("a.txt")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tape.addfile(member)
    refused(tmp_path / "a.tar", "'a.txt' is a link or a device")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        info = zipfile.ZipInfo("a.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(info, "/etc/passwd")
    refused(tmp_path / "a.zip", "'a.txt' is a link or a device")


def test_bombs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = {f"{number}.txt": b"0" * 50_000 for number in range(4)}
    packed, tape = zipped(tmp_path / "a.zip", large), tarred(tmp_path / "a.tgz", large)
    assert packed.stat().st_size < 5_000
    monkeypatch.setattr(source, "MAX_UNPACKED", 120_000)
    for path in (packed, tape):
        refused(path, "the unpacked archive is too large, at '2.txt'", "too_long")
    monkeypatch.setattr(source, "MAX_FILE", 20_000)
    for path in (packed, tape):
        refused(path, "the unpacked archive is too large, at '0.txt'", "too_long")
    monkeypatch.setattr(source, "MAX_TAPE", 10_000)
    with pytest.raises(CorpusError, match="too large"), unpacked(tape, lambda name: False):
        pass
    monkeypatch.setattr(source, "MAX_ENTRIES", 2)
    refused(
        zipped(tmp_path / "b.zip", dict.fromkeys("abc", b"")), "more than 2 entries", "too_long"
    )


def test_what_is_no_archive(tmp_path: Path) -> None:
    refused(tmp_path / "none.zip", "no such file or folder", "missing")
    (tmp_path / "text.zip").write_text("not a zip file")
    refused(tmp_path / "text.zip", "neither a folder nor an archive")


def test_damaged_archives(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", {"a.txt": bytes(range(256)) * 40}).read_bytes()
    at = whole.index(b"a.txt") + 20
    (tmp_path / "b.zip").write_bytes(whole[:at] + b"\xff\xff\xff" + whole[at + 3 :])
    refused(tmp_path / "b.zip", "damaged|cannot be unpacked")
    tape = tarred(tmp_path / "a.tgz", {"a.txt": bytes(range(256)) * 40}).read_bytes()
    (tmp_path / "b.tgz").write_bytes(tape[: len(tape) // 2])
    refused(tmp_path / "b.tgz", "damaged|cannot be unpacked|neither")


def test_zip_files_of_another_version_or_encoding(tmp_path: Path) -> None:
    """Both are bytes of the central directory: the version needed, and the name."""
    whole = bytearray(zipped(tmp_path / "a.zip", {"é.txt": b""}).read_bytes())
    directory = whole.rindex(b"PK\x01\x02")
    whole[whole.rindex("é".encode())] = 0xFF
    (tmp_path / "b.zip").write_bytes(whole)
    refused(tmp_path / "b.zip", "cannot be unpacked: 'utf-8' codec")
    whole[directory + 6] = 200
    whole[whole.rindex(b"\xff")] = "é".encode()[0]
    (tmp_path / "c.zip").write_bytes(whole)
    refused(tmp_path / "c.zip", "cannot be unpacked: zip file version")


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_only_the_own_error_comes_out(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    make = data.draw(st.sampled_from([zipped, tarred]))
    raw = bytearray(make(folder / "good", FILES).read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=6)):
        raw[at] = data.draw(st.integers(0, 255))
    (folder / "bad").write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    try:
        with unpacked(folder / "bad"):
            pass
    except CorpusError:
        pass
