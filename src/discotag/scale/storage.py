"""Files and folders on local disks and at any address of fsspec, such as `s3://bucket/folder`.

Local paths need nothing; addresses with a protocol need fsspec and the package of their protocol.
Files are written so that they appear when they are complete.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, NamedTuple, cast

from discotag.errors import DiscotagError, one_line

TEMPORARY: Final = ".tmp"
"""The ending of files that are not complete yet; their names begin with a dot."""

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


class StorageError(DiscotagError):
    """A file that cannot be read or written.

    Attributes:
        lasting: Whether it is useless to try again.
    """

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting


class Facts(NamedTuple):
    """What is known of a file without reading it.

    Attributes:
        size: The number of its bytes.
        version: A text that changes when the file does: its entity tag or modification time.
    """

    size: int
    version: str | None


def is_remote(address: str) -> bool:
    """Return whether an address has a protocol other than `file`.

    Example:
        >>> is_remote("s3://bucket/posts"), is_remote("posts"), is_remote("file:///posts")
        (True, False, False)
    """
    return "://" in address and not address.startswith("file://")


def local_path(address: str) -> Path:
    """Return the path of a local address."""
    return Path(address.removeprefix("file://")).expanduser()


def absolute(address: str) -> str:
    """Return an address that means the same in other working folders."""
    return address.rstrip("/") if is_remote(address) else os.path.abspath(local_path(address))  # noqa: PTH100


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
def _explaining_writes(address: str) -> Iterator[None]:
    """Turn errors of the system into `StorageError`; what is written may fail for other reasons."""
    try:
        yield
    except OSError as error:
        raise explained(error, address) from None


@contextmanager
def explaining(address: str) -> Iterator[None]:
    """Turn errors of storage into `StorageError`, with one line that names the address."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError | EOFError) or _package(error) not in OWN:
            raise explained(error, address) from None
        raise


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


def file_system(address: str) -> tuple[Any, str]:
    """Return the file system of fsspec for a remote address, and the path in it.

    Raises:
        DiscotagError: fsspec or the package for the protocol is not installed, or the protocol is
            not known.
    """
    protocol = address.partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise DiscotagError(
            f"{public(address)}: addresses with a protocol need fsspec: pip install 'discotag[ray]'"
        ) from None
    try:
        found: tuple[Any, str] = url_to_fs(address)
    except ImportError as error:
        raise DiscotagError(
            f"{public(address)}: the package for {protocol}:// is not installed: {one_line(error)}"
        ) from None
    except ValueError as error:
        raise StorageError(f"{public(address)}: {one_line(error)}", lasting=True) from None
    except Exception as error:
        raise explained(error, address) from None
    return found


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        StorageError: It cannot be opened; errors while it is read are not translated.
    """
    with explaining(address):
        if is_remote(address):
            files, path = file_system(address)
            stream = files.open(path, "rb")
        else:
            stream = local_path(address).open("rb")
    with stream:
        yield cast(BinaryIO, stream)


def facts(address: str) -> Facts:
    """Return the size and the version of a file.

    Raises:
        StorageError: There is no such file, or it cannot be accessed.
    """
    with explaining(address):
        if not is_remote(address):
            found = local_path(address).stat()
            return Facts(found.st_size, f"{found.st_mtime_ns}")
        files, path = file_system(address)
        info = files.info(path)
        return Facts(int(info["size"]), version_of(info))


def version_of(info: dict[str, Any]) -> str | None:
    """Return what changes when a file of fsspec does, from its description."""
    for key in ("ETag", "etag", "checksum", "mtime", "LastModified", "modified", "created"):
        if info.get(key) is not None:
            return str(info[key]).strip('"')
    return None


class Folder(ABC):
    """A folder of outputs; use `folder_at` to get one.

    Attributes:
        address: Where it is.
        shown: The address as it was given, without a password, for messages.
    """

    address: str
    shown: str

    def join(self, name: str) -> str:
        """Return the address of a file in the folder."""
        return f"{self.address.rstrip('/')}/{name}"

    @abstractmethod
    def create(self) -> None:
        """Create the folder if it does not exist."""

    @abstractmethod
    def sizes(self, inner: str = "") -> dict[str, int]:
        """Return the sizes of the files in the folder, or in a folder inside, by name.

        Folders and files that are not complete are left out. A folder that does not exist is empty.
        """

    @abstractmethod
    def size(self, name: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return the content of a file."""

    @abstractmethod
    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of several files by name."""

    @abstractmethod
    def writing(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file for writing, which appears at the end of the `with` block.

        The stream can be read and positioned. If the block raises, nothing appears.
        """

    @abstractmethod
    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that do not exist are ignored."""

    @abstractmethod
    def remove_leftovers(self) -> None:
        """Remove files that another process did not complete."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether the folder does not exist or has nothing in it that is not hidden."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which appears when it is complete."""
        with self.writing(name) as stream:
            stream.write(data)


class LocalFolder(Folder):
    """A folder on a disk of this machine, or on one that all machines share."""

    def __init__(self, address: str) -> None:
        self.path = local_path(address)
        self.address = str(self.path)

    def create(self) -> None:
        """Create the folder; see `Folder`."""
        with explaining(self.address):
            self.path.mkdir(parents=True, exist_ok=True)

    def create_parent(self) -> None:
        """Create the folder that this one is in."""
        with explaining(self.address):
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def sizes(self, inner: str = "") -> dict[str, int]:
        """Return sizes by name; see `Folder`."""
        found = {}
        with explaining(self.address), suppress(FileNotFoundError):
            for path in (self.path / inner).iterdir():
                if path.is_file() and not path.name.startswith("."):
                    found[path.name] = path.stat().st_size
        return found

    def size(self, name: str) -> int | None:
        """Return the size of a file; see `Folder`."""
        with explaining(self.join(name)), suppress(FileNotFoundError):
            return (self.path / name).stat().st_size
        return None

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with explaining(self.join(name)):
            return (self.path / name).read_bytes()

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of files by name."""
        return {name: self.read(name) for name in names}

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for writing; see `Folder`."""
        path = self.path / name
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY}")
        try:
            with _explaining_writes(self.join(name)):
                path.parent.mkdir(parents=True, exist_ok=True)
                with temporary.open("w+b") as stream:
                    yield stream
                    stream.flush()
                    os.fsync(stream.fileno())  # a crash must not leave a name without its content
                temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink()

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; see `Folder`."""
        for name in names:
            with explaining(self.join(name)):
                (self.path / name).unlink(missing_ok=True)

    def remove_leftovers(self) -> None:
        """Remove files that are not complete; see `Folder`."""
        with explaining(self.address):
            for path in (*self.path.glob(f".*{TEMPORARY}"), *self.path.glob(f"_*/.*{TEMPORARY}")):
                if LEFTOVER.fullmatch(path.name):
                    path.unlink(missing_ok=True)

    def is_empty(self) -> bool:
        """Return whether there is nothing in the folder; see `Folder`."""
        with explaining(self.address):
            if not self.path.exists():
                return True
            return all(
                each.name.startswith(".") or _is_empty_folder(each) for each in self.path.iterdir()
            )


class RemoteFolder(Folder):
    """A folder at an address of fsspec."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.files, self.path = file_system(self.address)
        self.atomic = address.partition("://")[0] in OBJECT_STORES
        self._prefix = f"discotag.{hashlib.sha256(self.address.encode()).hexdigest()[:12]}."

    def create(self) -> None:
        """Create the folder; see `Folder`."""
        if not self.atomic:  # object stores have no folders, only names with slashes
            with explaining(self.address):
                self.files.makedirs(self.path, exist_ok=True)

    def sizes(self, inner: str = "") -> dict[str, int]:
        """Return sizes by name; see `Folder`."""
        found = {}
        with explaining(self.address), suppress(FileNotFoundError):
            for each in self._listed(f"{self.path}/{inner}".rstrip("/")):
                name = each["name"].rstrip("/").rpartition("/")[2]
                if each["type"] == "file" and name and not name.startswith("."):
                    found[name] = int(each["size"])
        return found

    def size(self, name: str) -> int | None:
        """Return the size of a file; see `Folder`."""
        with explaining(self.join(name)), suppress(FileNotFoundError):
            self.files.invalidate_cache(f"{self.path}/{name}".rpartition("/")[0])
            return int(self.files.info(f"{self.path}/{name}")["size"])
        return None

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with explaining(self.join(name)):
            content: bytes = self.files.cat_file(f"{self.path}/{name}")
            return content

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of files by name, fetched at the same time."""
        wanted = {f"{self.path}/{name}": name for name in names}
        if not wanted:
            return {}
        with explaining(self.address):
            found = self.files.cat(list(wanted))
        if isinstance(found, bytes):  # of a single file
            return dict.fromkeys(wanted.values(), found)
        return {wanted[path]: content for path, content in found.items()}

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for writing; see `Folder`."""
        with tempfile.NamedTemporaryFile(prefix=self._prefix) as stream:
            with _explaining_writes(stream.name):
                yield stream
                stream.flush()
            with explaining(self.join(name)):
                self._upload(stream.name, f"{self.path}/{name}")

    def _upload(self, local: str, path: str) -> None:
        if self.atomic:
            self.files.put_file(local, path)
            return
        parent, _, name = path.rpartition("/")
        temporary = f"{parent}/.{name}.{secrets.token_hex(4)}{TEMPORARY}"
        self.files.makedirs(parent, exist_ok=True)
        self.files.put_file(local, temporary)
        if self.files.exists(path):  # some file systems do not replace a file
            self.files.rm_file(path)
        self.files.mv(temporary, path)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; see `Folder`."""
        for name in names:
            with explaining(self.join(name)), suppress(FileNotFoundError):
                self.files.rm_file(f"{self.path}/{name}")

    def remove_leftovers(self) -> None:
        """Remove files that are not complete, and those of this machine that wait for uploads."""
        for waiting in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            waiting.unlink(missing_ok=True)
        if self.atomic:
            return
        for inner in ("", "/_receipts", "/_errors"):
            with explaining(self.address), suppress(FileNotFoundError):
                for each in self._listed(f"{self.path}{inner}"):
                    if LEFTOVER.fullmatch(each["name"].rpartition("/")[2]):
                        self.files.rm_file(each["name"])

    def is_empty(self) -> bool:
        """Return whether there is nothing in the folder; see `Folder`."""
        with explaining(self.address):
            try:
                entries = self._listed(self.path)
            except FileNotFoundError:
                return True
            return all(
                each["name"].rstrip("/").rpartition("/")[2].startswith(".")
                or each["name"].rstrip("/") == self.path
                for each in entries
            )

    def _listed(self, path: str) -> list[dict[str, Any]]:
        """Return the entries of a folder as they are now."""
        self.files.invalidate_cache()  # which may have been filled before others wrote
        entries: list[dict[str, Any]] = self.files.ls(path, detail=True)
        return entries


def folder_at(address: str, shown: str | None = None) -> Folder:
    """Return the folder at a local path or an address.

    Args:
        address: Where it is.
        shown: The address for messages.
    """
    found = RemoteFolder(address) if is_remote(address) else LocalFolder(address)
    found.shown = public(shown or address).rstrip("/")
    return found


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _package(error: Exception) -> str:
    return type(error).__module__.partition(".")[0]
