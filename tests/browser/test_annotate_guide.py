"""The guide `docs/annotate.md`, followed word by word: from 30 texts to a trained model."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annotating import Running
from discotag import corpora
from waiting import wait_for

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "annotate.md").read_text("utf-8")
PART = GUIDE.split("## From a folder of texts to a model")[1].split("\n## ")[0]
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PART, re.DOTALL | re.MULTILINE)
STEPS = re.findall(r"^\d+\. (.*)$", PART, re.MULTILINE)
SECONDS = 20


class Reader:
    """Somebody who does what the guide says, and nothing else."""

    def __init__(self, page, folder):
        self.page = page
        self.folder = folder
        self.words = page.locator("#work .word")

    def saved(self):
        self.page.locator("#saved", has_text="All saved").wait_for()

    def until(self, count, selector):
        wait_for(lambda: self.page.locator(selector).count() == count, SECONDS)

    def enter(self):
        self.page.get_by_label("Your name").fill("Ann")
        self.page.get_by_role("button", name="Start").click()
        self.page.locator(".sentence").first.wait_for()

    def search(self):
        self.page.get_by_placeholder("Name or text").fill("bowel")
        self.page.locator("#documents").get_by_text("post-007", exact=True).click()
        self.page.locator("#work h2", has_text="post-007").wait_for()

    def clear(self):
        boxes = self.page.locator(".chip")
        while left := boxes.count():
            boxes.first.locator(".remove").click()
            self.until(left - 1, ".chip")

    def draw(self, *wanted):
        for word in wanted:
            self.words.get_by_text(word, exact=True).click()
        before = self.page.locator(".chip").count()
        self.page.locator("#bar").get_by_text("Add ADR").click()
        self.until(before + 1, ".chip")

    def undo_and_redo(self):
        self.page.locator("[data-tool=undo]").click()
        self.until(1, ".chip")
        self.page.locator("[data-tool=redo]").click()
        self.until(2, ".chip")
        self.saved()

    def finish(self):
        heading = self.page.locator("#work h2").inner_text()
        self.page.get_by_role("button", name="Finish and next").click()
        wait_for(lambda: self.page.locator("#work h2").inner_text() != heading, SECONDS)
        assert "1 of 30" in self.tally()

    def tally(self):
        return self.page.locator("#tally").inner_text()

    def correct_the_rest(self):
        for number in range(2, 31):
            accept = self.page.locator(".chip .accept")
            if number % 2 and accept.count():
                left = accept.count()
                accept.first.click()
                self.until(left - 1, ".chip .accept")
            elif not number % 3 and self.page.locator(".chip").count():
                self.page.locator(".chip .remove").first.click()
            self.page.get_by_role("button", name="Finish and next").click()
            wait_for(lambda done=number: f"{done} of 30" in self.tally(), SECONDS)
        self.saved()

    def open_export(self):
        self.page.get_by_role("link", name="Export").click()

    def download(self):
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name="Download").click()
        assert waiting.value.suggested_filename == "annotations.jsonl"
        waiting.value.save_as(self.folder / "downloaded.jsonl")


DO = [
    Reader.enter,
    Reader.search,
    Reader.clear,
    lambda reader: reader.draw("Paralysis", "of", "bladder"),
    lambda reader: reader.draw("Paralysis", "of", "bowel"),
    Reader.undo_and_redo,
    Reader.finish,
    Reader.correct_the_rest,
    Reader.open_export,
    Reader.download,
]
KNOWN = """
Type your name below **Your name**, and click **Start**.
Type `bowel` into the field **Name or text**, and click **post-007**.
If the model has proposed a mention, it has a dotted box below the sentence: \
click its **✕** to remove it. Do so for each box.
Click the words *Paralysis*, *of* and *bladder*, and click **Add ADR**. \
This is a mention of one fragment.
Click the words *Paralysis*, *of* and *bowel*, and click **Add ADR**. \
This is a mention of two fragments, which shares words with the first.
Click **↶** to undo the last step, and **↷** to do it again.
Click **Finish and next**. \
The next document is the one where the model expects most mistakes for its length.
For each further document, accept a proposal with its **✓**, remove it with its **✕**, \
or draw a mention as before; then click **Finish and next**. \
What is still proposed when you finish is accepted.
Click **Export**.
Click **Download**. The file is `annotations.jsonl`.
"""
ACTIONS = dict(zip(KNOWN.strip().splitlines(), DO, strict=True))
"""What to do for each step of the guide, by its words."""


def run(folder, script):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_the_guide_can_be_followed_word_by_word(browser, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="training needs PyTorch")
    assert list(ACTIONS) == STEPS
    texts, start, predict, export, train = COMMANDS
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "sample.jsonl", tmp_path / "docs")
    run(tmp_path, texts)
    assert len(list((tmp_path / "posts").iterdir())) == 30
    monkeypatch.chdir(tmp_path)
    command = re.fullmatch(r'discotag annotate posts --train --train-options "(.*)"\n', start)
    server = Running("posts", "--train", "--train-options", command[1])
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.goto(server.url)
        reader = Reader(page, tmp_path)
        for step in STEPS[:-2]:
            ACTIONS[step](reader)
        wait_for(lambda: "A new model is being trained" in reader.tally(), SECONDS)
        wait_for(lambda: "Model 2 proposes" in reader.tally(), 240)
        assert "Weakness of" in run(tmp_path, predict).stdout
        for step in STEPS[-2:]:
            ACTIONS[step](reader)
        run(tmp_path, export)
        assert "The model is in run/model" in run(tmp_path, train).stdout
    finally:
        context.close()
        server.stop()
    assert (tmp_path / "annotations.jsonl").read_text() == (
        tmp_path / "downloaded.jsonl"
    ).read_text()
    found = {each.id: each for each in corpora.read(tmp_path / "annotations.jsonl")}
    assert len(found) == 30
    assert sorted(each.text for each in found["post-007"].mentions) == [
        "Paralysis of bladder",
        "Paralysis of bowel",
    ]
