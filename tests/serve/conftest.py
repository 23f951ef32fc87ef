"""Services that several tests share; each is started once."""

import pytest

from services import TOKEN, serving


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """A service with the default limits."""
    with serving(tmp_path_factory.mktemp("service"), workers=2) as running:
        yield running


@pytest.fixture(scope="session")
def guarded(tmp_path_factory):
    """A service with a token."""
    with serving(tmp_path_factory.mktemp("guarded"), token=TOKEN) as running:
        yield running


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A service with low limits."""
    options = {
        "--max-body": 20_000,
        "--max-texts": 5,
        "--max-text": 2_000,
        "--max-words": 300,
        "--max-body-seconds": 0.5,
    }
    pairs = [part for pair in options.items() for part in pair]
    with serving(tmp_path_factory.mktemp("small"), *pairs) as running:
        yield running
