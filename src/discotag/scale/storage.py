"""Files and folders at any address of fsspec: local paths, and others such as `s3://bucket/folder`.

Local paths need nothing else; a protocol may need a package of its own, such as `s3fs`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, TypeVar, cast

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from discotag.errors import DiscotagError, one_line

OBJECT_STORES: Final = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oci", "oss"})
"""Protocols of stores in which an upload appears only when it is complete."""

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

DENIED: Final = re.compile(
    r"credential|token|expired|forbidden|access ?denied|unauthori[sz]ed|authenticat|signature", re.I
)
"""What the names and messages of errors about credentials have in common."""

SECRET: Final = re.compile(r"(?<=://)([^/:]*):[^/]*@")
"""A password in an address."""

SIGNED: Final = re.compile(r"^(https?://[^?]*)\?.*", re.DOTALL)
"""An address with a query, which may have a signature in it."""

LEFTOVER: Final = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")
"""Names of files of ours that are not complete."""

OWN: Final = frozenset({"builtins", "discotag"})
"""Packages whose exceptions, except `OSError`, are not about storage."""

VERSIONS: Final = ("ETag", "etag", "checksum", "mtime", "LastModified", "modified", "created")
"""What a file system may know of a file that changes when the file does."""

AT_A_TIME: Final = 16
"""The number of files that are asked for at a time."""

T = TypeVar("T")
Found = TypeVar("Found")


class StorageError(DiscotagError):
    """A file that cannot be read or written.

    Attributes:
        lasting: Whether it is useless to try again.
    """

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting


def is_remote(address: str) -> bool:
    """Return whether an address has a protocol other than `file`.

    Example:
        >>> is_remote("s3://bucket/posts"), is_remote("posts"), is_remote("file:///posts")
        (True, False, False)
    """
    return "://" in address and not address.startswith("file://")


def absolute(address: str) -> str:
    """Return an address that means the same in other working folders."""
    if is_remote(address):
        return address.rstrip("/")
    return os.path.abspath(Path(address.removeprefix("file://")).expanduser())  # noqa: PTH100


def public(address: str) -> str:
    """Return an address without passwords and signatures, for messages and records.

    Example:
        >>> public("sftp://ward:secret@host/posts")
        'sftp://ward@host/posts'
        >>> public("https://host/posts.jsonl?signature=secret")
        'https://host/posts.jsonl'
    """
    return SIGNED.sub(r"\1", SECRET.sub(r"\1@", address))


@contextmanager
def explaining(address: str, *, only_system: bool = False) -> Iterator[None]:
    """Turn errors of storage into `StorageError`, with one line that names the address.

    Args:
        address: The address.
        only_system: Whether the block does more than use storage, so that only errors of the system
            are those of storage, and not those of any library.
    """
    try:
        yield
    except Exception as error:
        foreign = isinstance(error, EOFError) or type(error).__module__.partition(".")[0] not in OWN
        if not isinstance(error, OSError) and (only_system or not foreign):
            raise
        raise explained(error, address) from None


def explained(error: Exception, address: str) -> StorageError:
    """Return the `StorageError` for an error of a file system or of a library for storage."""
    shown = public(address)
    if isinstance(error, OSError) and error.errno in FULL:
        return StorageError(f"{shown}: no space is left there", lasting=True)
    if isinstance(error, FileNotFoundError):
        return StorageError(f"{shown}: there is no such file or folder", lasting=True)
    text = f"{type(error).__name__}: {error}"
    if is_remote(address) and (isinstance(error, PermissionError) or DENIED.search(text)):
        return StorageError(
            f"{shown}: access was denied; the credentials may be missing, wrong or expired "
            f"({one_line(error)})",
            lasting=True,
        )
    if isinstance(error, PermissionError | IsADirectoryError | NotADirectoryError):
        return StorageError(f"{shown}: {(error.strerror or str(error)).lower()}", lasting=True)
    reason = getattr(error, "strerror", None) or one_line(error)
    return StorageError(f"{shown}: {reason.lower() if not is_remote(address) else reason}")


def file_system(address: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of an address as it is now, and the path in it.

    Raises:
        DiscotagError: The protocol is not known, or its package is not installed.
    """
    if not is_remote(address):
        return LocalFileSystem(), absolute(address)
    try:
        files, path = url_to_fs(address)
    except ImportError as error:
        protocol = address.partition("://")[0]
        raise DiscotagError(
            f"{public(address)}: the package for {protocol}:// is not installed: {one_line(error)}"
        ) from None
    except ValueError as error:
        raise StorageError(f"{public(address)}: {one_line(error)}", lasting=True) from None
    except Exception as error:
        raise explained(error, address) from None
    files.invalidate_cache()  # which may have been filled before others wrote
    return files, path


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        StorageError: It cannot be opened; errors while it is read are not translated.
    """
    with explaining(address):
        files, path = file_system(address)
        stream = files.open(path, "rb")
    with stream:
        yield cast(BinaryIO, stream)


def version_of(info: dict[str, Any]) -> str | None:
    """Return what changes when a file does, from its description by fsspec."""
    known = (info[key] for key in VERSIONS if info.get(key) is not None)
    return next((str(each).strip('"') for each in known), None)


def in_parallel(function: Callable[[T], Found], items: Iterable[T]) -> list[Found]:
    """Return what a function returns for each item, computed by several threads."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(function, items))


class Folder:
    """A folder of outputs, in which a file appears when it is complete.

    It is created with its first file.

    Args:
        address: Where it is.
        shown: The address for messages.
    """

    def __init__(self, address: str, shown: str | None = None) -> None:
        self.address = absolute(address)
        self.shown = public(shown or address).rstrip("/")
        self.files, self.path = file_system(self.address)
        self.is_local = not is_remote(self.address)
        self._prefix = f"discotag.{hashlib.sha256(self.address.encode()).hexdigest()[:12]}."

    def join(self, name: str) -> str:
        """Return the address of a file in the folder."""
        return f"{self.address.rstrip('/')}/{name}"

    def is_empty(self) -> bool:
        """Return whether the folder does not exist or has no file in it that is not hidden."""
        with explaining(self.address), suppress(FileNotFoundError):
            for root, _, names in self.files.walk(self.path, on_error="raise"):
                below = f"{root.removeprefix(self.path)}/"
                if any(name and "/." not in f"{below}{name}" for name in names):
                    return False
        return True

    def sizes(self, inner: str = "") -> dict[str, int]:
        """Return the sizes of the files in the folder, or in a folder inside, by name.

        Folders and files that are not complete are left out. A folder that does not exist is empty.
        """
        return {
            name: int(each["size"])
            for name, each in self._listed(inner).items()
            if name and not name.startswith(".") and each["type"] == "file"
        }

    def size(self, name: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        with explaining(self.join(name)), suppress(FileNotFoundError):
            self.files.invalidate_cache()
            return int(self.files.info(f"{self.path}/{name}")["size"])
        return None

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with explaining(self.join(name)):
            return bytes(self.files.cat_file(f"{self.path}/{name}"))

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of several files by name."""
        wanted = list(names)
        return dict(zip(wanted, in_parallel(self.read, wanted), strict=True))

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which appears when it is complete."""
        with self.writing(name) as stream:
            stream.write(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for writing, which appears at the end of the `with` block.

        The stream can be read and positioned. If the block raises, nothing appears.
        """
        path = f"{self.path}/{name}"
        temporary: Path | None = None
        try:
            here = self.join(name) if self.is_local else tempfile.gettempdir()
            with (
                explaining(here, only_system=True),
                self._temporary(path) as stream,
            ):
                temporary = Path(stream.name)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())  # a crash must not leave a name without its content
            with explaining(self.join(name)):
                self._publish(str(temporary), path)
        finally:
            if temporary is not None:
                with suppress(OSError):
                    temporary.unlink()

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that do not exist are ignored."""
        for name in names:
            with explaining(self.join(name)), suppress(FileNotFoundError):
                self.files.rm_file(f"{self.path}/{name}")

    def remove_leftovers(self, *inner: str) -> None:
        """Remove files that another process did not complete, in this folder and some inside."""
        for folder in ("", *inner):
            names = filter(LEFTOVER.fullmatch, self._listed(folder))
            self.remove([f"{folder}/{name}".lstrip("/") for name in names])
        for waiting in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            waiting.unlink(missing_ok=True)

    def _listed(self, inner: str) -> dict[str, dict[str, Any]]:
        """Return what fsspec says of the entries of a folder as they are now, by name."""
        with explaining(self.address), suppress(FileNotFoundError):
            self.files.invalidate_cache()
            found = self.files.ls(f"{self.path}/{inner}".rstrip("/"), detail=True)
            return {each["name"].rstrip("/").rpartition("/")[2]: each for each in found}
        return {}

    def _temporary(self, path: str) -> IO[bytes]:
        """Open a new file beside a local path, or in the folder for such files before an upload."""
        if not self.is_local:
            return cast(IO[bytes], tempfile.NamedTemporaryFile(prefix=self._prefix, delete=False))
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return Path(_hidden(path)).open("w+b")

    def _publish(self, complete: str, path: str) -> None:
        if self.is_local:
            Path(complete).replace(path)
        elif self.address.partition("://")[0] in OBJECT_STORES:
            self.files.put_file(complete, path)
        else:
            uploaded = _hidden(path)
            self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self.files.put_file(complete, uploaded)
            if self.files.exists(path):  # some file systems do not replace a file
                self.files.rm_file(path)
            self.files.mv(uploaded, path)


def _hidden(path: str) -> str:
    """Return the path of a file that is not complete, beside the one that it will be."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.{secrets.token_hex(4)}.tmp"
