"""Storage: local and remote folders behave alike, and what goes wrong is one line."""

import errno
import os
import shutil
import subprocess
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from archives import BLOCK, InlineEngine, made_up, parts_of, write_lines
from discotag.errors import DiscotagError
from discotag.scale import job as job_module
from discotag.scale import run_job, storage, worker
from discotag.scale.storage import (
    Folder,
    StorageError,
    explained,
    explaining,
    public,
)


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path):
    """A folder on disk, and one in memory, which fsspec knows by an address."""
    if request.param == "local":
        yield Folder(str(tmp_path / "out"))
        return
    yield Folder("memory://out")
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


def test_files_appear_when_they_are_complete(folder):
    assert folder.is_empty()
    assert folder.sizes() == folder.sizes("_receipts") == {}
    assert folder.size("a") is None
    with folder.writing("a") as stream:
        stream.write(b"one")
        assert folder.size("a") is None
    folder.write("_receipts/b", b"three")
    assert (folder.size("a"), folder.size("_receipts/b")) == (3, 5)
    folder.write("a", b"four")
    assert folder.sizes() == {"a": 4}
    assert folder.sizes("_receipts") == {"b": 5}
    assert folder.read("a") == b"four"
    assert folder.read_all(["a", "_receipts/b"]) == {"a": b"four", "_receipts/b": b"three"}
    assert folder.read_all(["a"]) == {"a": b"four"}
    assert folder.read_all([]) == {}
    assert not folder.is_empty()
    folder.remove(["a", "_receipts/b", "no such file"])
    assert folder.sizes() == {}
    with pytest.raises(StorageError, match="a: there is no such file"):
        folder.read("a")


def _fail(stream):
    stream.write(b"half")
    raise ZeroDivisionError


def test_a_file_that_fails_does_not_appear(folder):
    with pytest.raises(ZeroDivisionError), folder.writing("a") as stream:
        _fail(stream)
    assert folder.sizes() == {}
    assert folder.is_empty()


def test_leftovers_are_removed(tmp_path):
    folder = Folder(str(tmp_path))
    ours = (".part-000000.jsonl.0123abcd.tmp", "_receipts/.000000.json.0123abcd.tmp")
    for name in (*ours, ".mine", "a.tmp", ".mine.tmp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    folder.remove_leftovers("_receipts")
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert left == {".mine", "a.tmp", ".mine.tmp", "_receipts"}


class ExpiredTokenError(Exception):
    """What a library for storage may raise."""


ExpiredTokenError.__module__ = "cloud.errors"


@pytest.mark.parametrize(
    ("error", "wanted", "lasting"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space is left there", True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "no space is left there", True),
        (FileNotFoundError("x"), "there is no such file or folder", True),
        (PermissionError("Forbidden"), "access was denied; the credentials may be missing", True),
        (ExpiredTokenError("please\nlog in"), "expired (please log in)", True),
        (OSError("The provided token has expired"), "access was denied", True),
        (TimeoutError("Read timed out"), "Read timed out", False),
        (EOFError("closed"), "closed", False),
    ],
)
def test_errors_are_explained_in_one_line(error, wanted, lasting):
    with pytest.raises(StorageError) as caught, explaining("s3://me:secret@bucket/posts"):
        raise error
    message = str(caught.value)
    assert message.startswith("s3://me@bucket/posts: ")
    assert wanted in message
    assert "\n" not in message
    assert caught.value.lasting == lasting


def test_errors_of_programs_are_not_explained():
    with pytest.raises(ZeroDivisionError), explaining("s3://bucket"):
        raise ZeroDivisionError
    with pytest.raises(DiscotagError, match="^as it is$"), explaining("s3://bucket"):
        raise DiscotagError("as it is")


def test_local_errors(tmp_path):
    denied = PermissionError(errno.EACCES, "Permission denied")
    assert str(explained(denied, "/posts")) == "/posts: permission denied"
    with pytest.raises(StorageError, match="no such file"):
        Folder(str(tmp_path)).read("none")


def test_protocols(monkeypatch):
    with pytest.raises(StorageError, match="nothing://here: Protocol not known"):
        Folder("nothing://here")
    with pytest.raises(DiscotagError, match="the package for gdrive:// is not installed"):
        Folder("gdrive://here")
    assert public("s3://bucket/a") == "s3://bucket/a"


# Jobs on storage that fails


class FlakyFileSystem(MemoryFileSystem):
    """A file system in memory that refuses to write or read some files a number of times."""

    protocol = "flaky"
    store, pseudo_dirs = {}, [""]
    error: Exception = OSError()
    times = 0
    name = ""

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(path.replace("flaky://", "memory://"))

    def _refuse(self, path):
        if type(self).times and self.name in path:
            type(self).times -= 1
            raise self.error

    def put_file(self, lpath, rpath, **options):
        self._refuse(rpath)
        super().put_file(lpath, rpath, **options)

    def _open(self, path, mode="rb", **options):
        if mode == "rb":
            self._refuse(path)
        return super()._open(path, mode, **options)


@pytest.fixture
def flaky(monkeypatch):
    """Storage that fails as often as `times` says."""
    fsspec.register_implementation("flaky", FlakyFileSystem, clobber=True)
    monkeypatch.setattr(worker, "PAUSE", 0.0)
    monkeypatch.setattr(job_module, "ProcessEngine", InlineEngine)
    yield FlakyFileSystem
    FlakyFileSystem.store.clear()
    FlakyFileSystem.pseudo_dirs[:] = [""]
    FlakyFileSystem.times = 0


def remote_parts():
    return {
        name.rpartition("/")[2]: file.getvalue()
        for name, file in sorted(FlakyFileSystem.store.items())
        if "/part-" in name
    }


def test_what_may_pass_is_tried_again(flaky, model, posts, done):
    flaky.name, flaky.times, flaky.error = "part-000002", 3, TimeoutError("Read timed out")
    run_job(posts, "flaky://out", model=model, block_bytes=BLOCK)
    assert remote_parts() == parts_of(done)
    assert flaky.times == 0
    assert "/out/_manifest.json" in flaky.store
    assert not any(name.endswith(".tmp") for name in flaky.store)


def test_what_does_not_pass_ends_the_job(flaky, model, posts, done):
    flaky.name, flaky.times, flaky.error = "part-000002", 99, TimeoutError("Read timed out")
    with pytest.raises(DiscotagError) as caught:
        run_job(posts, "flaky://out", model=model, block_bytes=BLOCK)
    assert flaky.times == 95
    assert str(caught.value) == (
        f"flaky://out/part-000002.jsonl: Read timed out (2 of {len(parts_of(done))} parts are "
        "complete; --resume continues)"
    )
    assert "/out/_manifest.json" not in flaky.store
    flaky.times = 0
    run_job(posts, "flaky://out", model=model, block_bytes=BLOCK, resume=True)
    assert remote_parts() == parts_of(done)


@pytest.mark.parametrize("name", ["part-000002", "000002.json.", "_manifest"])
def test_credentials_that_expire(flaky, model, posts, done, name):
    flaky.name, flaky.times, flaky.error = name, 1, PermissionError("The token has expired")
    with pytest.raises(DiscotagError, match="access was denied; the credentials may be missing"):
        run_job(posts, "flaky://out", model=model, block_bytes=BLOCK)
    assert flaky.times == 0  # it is useless to try again
    assert "/out/_manifest.json" not in flaky.store
    run_job(posts, "flaky://out", model=model, block_bytes=BLOCK, resume=True)
    assert remote_parts() == parts_of(done)


def test_credentials_that_are_missing(flaky, model, tmp_path):
    flaky().pipe_file("/in/posts.jsonl", b'{"text": "my arms"}\n')
    flaky.name, flaky.times, flaky.error = "posts", 1, PermissionError("Forbidden")
    with pytest.raises(DiscotagError, match="flaky://in/posts.jsonl: access was denied"):
        run_job("flaky://in/*.jsonl", tmp_path / "out", model=model)
    assert not (tmp_path / "out" / "_manifest.json").exists()
    assert run_job("flaky://in", tmp_path / "out", model=model, resume=True).documents == 1


@pytest.mark.parametrize("name", ["part-000002", "000002.json.", "_manifest"])
def test_a_full_disk(monkeypatch, model, posts, done, tmp_path, name):
    monkeypatch.setattr(job_module, "ProcessEngine", InlineEngine)
    synced, full = os.fsync, [True]

    def fsync(number):
        if full[0] and name in Path(f"/proc/self/fd/{number}").readlink().name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(number)

    monkeypatch.setattr(storage.os, "fsync", fsync)
    out = tmp_path / "out"
    with pytest.raises(DiscotagError, match="(000002|_manifest).*: no space is left there"):
        run_job(posts, out, model=model, block_bytes=BLOCK)
    assert not (out / "_manifest.json").exists()
    assert not list(out.rglob("*.tmp"))
    full[0] = False
    run_job(posts, out, model=model, block_bytes=BLOCK, resume=True)
    assert parts_of(out) == parts_of(done)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte; only root may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(small_disk, model, tmp_path):
    given = write_lines(tmp_path / "posts.jsonl", made_up(2000))
    with pytest.raises(DiscotagError, match="no space is left there .*parts are complete"):
        run_job(given, small_disk / "out", model=model, block_bytes=20_000, workers=1)
    out = small_disk / "out"
    assert list(out.glob("part-*"))
    assert not (out / "_manifest.json").exists()
    assert not list(out.rglob("*.tmp"))
