"""Which tests `make check` leaves out."""

import pytest

import shell
from annotating import running, write_texts
from discotag.training import runs
from page_parser import Page
from shell import invoke, python
from slow import is_slow


def calls_a_helper():
    write_texts(shell.ok("predict", "Sore toes."))


def calls_another_function():
    return [calls_a_helper() for _ in "ab"]


@pytest.fixture
def service():
    with running("posts") as found:
        yield found


def trains():
    runs.run()


class Service(Page):
    @property
    def shown(self):
        return python("print()")


def stays_in_this_process():
    return Page(invoke("predict", "Sore toes.").stdout)


@pytest.mark.parametrize(
    "what", [calls_a_helper, calls_another_function, service, trains, lambda: Service("<p>")]
)
def test_what_starts_processes_or_trains_is_slow(what):
    assert is_slow(what)


@pytest.mark.parametrize("what", [stays_in_this_process, Page, write_texts])
def test_the_rest_is_not(what):
    assert not is_slow(what)
