"""Packages that are not installed are named, with a command that installs them."""

from importlib.metadata import PackageNotFoundError

import pytest

from discotag import DiscotagError, extras
from discotag.extras import MissingPackageError, check_installed, how_to_install, optional


def test_a_missing_import_is_named():
    wanted = "no_such_package is not installed: pip install spacy$"
    with pytest.raises(ImportError, match=wanted) as caught, optional("no_such_package", "spacy"):
        import no_such_package.inner  # noqa: F401
    assert isinstance(caught.value, DiscotagError)


def test_other_missing_modules_are_reported_as_they_are():
    with pytest.raises(ModuleNotFoundError, match="No module"), optional("spacy", "spacy"):
        import no_such_package  # noqa: F401


@pytest.mark.parametrize(
    "extra", ["train", "corpora", "spacy", "datasets", "tables", "ray", "serve"]
)
def test_every_extra_has_packages_and_none_is_discotag(extra):
    _, install, *packages = how_to_install(extra).split()
    assert install == "install"
    assert packages
    assert not any("discotag" in each or "." in each for each in packages)


def test_names_of_packages_with_options_are_quoted():
    assert how_to_install("ray").endswith(" 'ray[data]'")


def test_a_clone_that_is_not_installed_names_its_extra(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", missing)
    assert how_to_install("tables") == "pip install '.[tables]'"


def test_only_what_is_missing_is_named():
    check_installed("a test", "tables", "numpy")
    with pytest.raises(MissingPackageError, match="^a test needs no_such_package: pip install "):
        check_installed("a test", "tables", "numpy", "no_such_package")
