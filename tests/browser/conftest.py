"""A real browser, as it comes with the system; without one these tests are skipped."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
DEVICES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 800}}


@pytest.fixture(scope="session")
def browser():
    """Start the browser once."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium here: install the package chromium of your distribution")
    # The browser's sandbox does not work for root, for example in a container.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a file; at the end, fail if the page had errors or requests."""
    contexts, wrong = [], []

    def opened(path, *, device="desktop", scheme="light", **options):
        context = browser.new_context(
            viewport=DEVICES[device], color_scheme=scheme, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        wanted = path.as_uri()
        page.on(
            "request",
            lambda request: (
                None
                if request.url == wanted or request.url.startswith("data:")
                else wrong.append(request.url)
            ),
        )
        page.goto(wanted)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
