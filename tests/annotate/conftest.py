"""A project of three texts, and a client of its server."""

import pytest

from annotating import project_of, served, write_texts


@pytest.fixture
def folder(tmp_path):
    return write_texts(tmp_path / "posts")


@pytest.fixture
def client(folder):
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann", "Ben")
        yield client
