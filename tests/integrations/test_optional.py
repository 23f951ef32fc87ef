"""A package that is not installed is named, with the extra that installs it."""

import pytest

from discotag import DiscotagError
from discotag.integrations.optional import optional


def test_names_the_extra():
    wanted = r"no_such_package is not installed: pip install 'discotag\[spacy\]'"
    with pytest.raises(ImportError, match=wanted) as caught, optional("no_such_package", "spacy"):
        import no_such_package.inner  # noqa: F401
    assert isinstance(caught.value, DiscotagError)


def test_other_missing_modules_are_reported_as_they_are():
    with pytest.raises(ModuleNotFoundError, match="No module"), optional("spacy", "spacy"):
        import no_such_package  # noqa: F401
