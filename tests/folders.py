"""Folders with files that cannot be read, also for a user who may read everything."""

import errno
import os
from pathlib import Path


def refuse_to_open(monkeypatch, *names):
    """Make files of these names unreadable."""
    original = Path.open

    def refuse(self, *arguments, **options):
        if self.name in names:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)


def refuse_to_list(monkeypatch, *names):
    """Make folders of these names unreadable."""
    original = os.scandir

    def refuse(path="."):
        if os.path.basename(path) in names:  # noqa: PTH119
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return original(path)

    monkeypatch.setattr(os, "scandir", refuse)
