"""CRAFT from its release: a small one made up here, and the real one where it is."""

import shutil
import tarfile
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from discotag.corpora import CorpusError, read
from discotag.corpora.recipes import prepare
from discotag.corpora.recipes.craft import FOLDERS
from real_corpora import CORPORA, craft_inline, needs_corpora

DATA = Path(__file__).parents[2] / "data" / "knowtator"

SPLIT = {"train": ["11", "12"], "dev": ["21"], "test": ["31"]}


@pytest.fixture
def release(tmp_path):
    """A release with four articles, all with the same text, annotated with CL and MONDO."""
    root = tmp_path / "release" / "CRAFT-0"
    for folder in ("articles/txt", "articles/ids", FOLDERS["CL"], FOLDERS["MONDO"]):
        (root / folder).mkdir(parents=True)
    for part, names in SPLIT.items():
        (root / f"articles/ids/craft-ids-{part}.txt").write_text("\n".join(names) + "\n")
        for name in names:
            shutil.copy(DATA / "articles/txt/case1.txt", root / f"articles/txt/{name}.txt")
            for label, source, ending in (
                ("CL", "case1.txt.knowtator.xml", ".txt.knowtator.xml"),
                ("MONDO", "case1.xml", ".xml"),
            ):
                content = (DATA / "annotations" / source).read_text("utf-8")
                target = root / FOLDERS[label] / f"{name}{ending}"
                target.write_text(content.replace("case1", name), "utf-8")
    return root


def packed(release, kind):
    if kind == "folder":
        return release
    return Path(shutil.make_archive(str(release.parent.parent / "packed"), kind, release.parent))


@pytest.mark.parametrize("kind", ["folder", "zip", "gztar"])
def test_a_small_release(release, tmp_path, kind):
    summary = prepare("craft", packed(release, kind), tmp_path / "out", labels=["CL", "MONDO"])
    for part, names in SPLIT.items():
        documents = list(read(tmp_path / "out" / f"{part}.jsonl"))
        assert [document.id for document in documents] == names
        for document in documents:
            found = [(each.label, each.text) for each in document.mentions]
            assert found == [
                ("CL", "Muscle cells"),
                ("MONDO", "Muscle cells"),
                ("CL", "nerve cells"),
                ("MONDO", "nerve cells"),
            ]
    assert summary.facts == {"annotations of CL": 8, "annotations of MONDO": 8}
    assert summary.problems == {}
    assert len(summary.differences) == summary.checked
    assert "train: documents should be 60, found 2" in map(str, summary.differences)


def test_one_label(release, tmp_path):
    prepare("craft", release, tmp_path / "out", labels=["MONDO"])
    (document,) = read(tmp_path / "out/dev.jsonl")
    assert {each.label for each in document.mentions} == {"MONDO"}


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_what_lies_beside_the_articles_is_passed_over_and_named(release, tmp_path, kind):
    alone = prepare("craft", release.parent, tmp_path / "a", labels=["CL"])
    assert alone.passed_over == ()
    beside = ["__MACOSX/articles/txt/._11.txt", "CRAFT-0/README.md", "CRAFT-0/articles/txt/a.py"]
    for name in beside:
        path = release.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff")
    source = release.parent if kind == "folder" else packed(release, kind)
    summary = prepare("craft", source, tmp_path / "b", labels=["CL"])
    assert (summary.parts, summary.problems) == (alone.parts, alone.problems)
    assert sorted(summary.passed_over) == sorted(beside)


def test_problems_name_files_of_the_release(release, tmp_path):
    (release / FOLDERS["CL"] / "12.txt.knowtator.xml").unlink()
    path = release / FOLDERS["CL"] / "21.txt.knowtator.xml"
    path.write_text(path.read_text().replace('start="28"', 'start="29"'))
    (release / "articles/txt/31.txt").write_bytes(b"\xff")
    summary = prepare("craft", packed(release, "zip"), tmp_path / "out", labels=["CL"])
    assert summary.problems == {"encoding": 1, "missing": 1, "text_mismatch": 1}
    problems = (tmp_path / "out/problems.json").read_text()
    for name in ("articles/txt/31.txt", f"{FOLDERS['CL']}/12.txt", "articles/txt/21.txt"):
        assert f'"{name}' in problems
    assert {part: count["documents"] for part, count in summary.parts.items()} == {
        "train": 1,
        "dev": 1,
        "test": 0,
    }


@pytest.mark.parametrize("missing", ["articles/txt", "articles/ids/craft-ids-dev.txt", "UBERON"])
def test_what_is_no_release(release, tmp_path, missing):
    if missing != "UBERON":
        path = release / missing
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    labels = ["UBERON"] if missing == "UBERON" else ["CL"]
    with pytest.raises(CorpusError, match=missing):
        prepare("craft", release, tmp_path / "out", labels=labels)
    assert not (tmp_path / "out").exists()


def test_archives_that_lead_outside(release, tmp_path):
    path = packed(release, "zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("CRAFT-0/articles/txt/../../../../evil.txt", "x")
    with pytest.raises(CorpusError, match="outside"):
        prepare("craft", path, tmp_path / "out")
    tape = tmp_path / "evil.tar.gz"
    with tarfile.open(tape, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("/articles/txt/1.txt"), BytesIO())
    with pytest.raises(CorpusError, match="outside"):
        prepare("craft", tape, tmp_path / "out")


ONLY_HERE = {
    "CL": [("Kidney Epithelial Cells",), ("kidney cortical", "cells")],
    "UBERON": [("Kidney Epithelial",), ("Sm . Int .",), ("kidney cortical",)],
    "GO_BP": [
        ("Control of", "Expression"),
        ("Expression",),
        ("intraflagellar transport",),
        ("regulation",),
        ("transfected",),
    ],
}
ONLY_THERE = {"CL": [], "UBERON": [], "GO_BP": [("differentiation", "to", "epithelial cells")]}


def spelling(sentence, label):
    """For each mention of this label the words of its fragments."""
    return [
        tuple(" ".join(sentence.words[start:end]) for start, end in mention.fragments)
        for mention in sentence.mentions
        if mention.label == label
    ]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The real release, prepared: its folder and the sentences of each part."""
    out = tmp_path_factory.mktemp("craft")
    summary = prepare("craft", CORPORA / "craft-5.0.2-raw.tar.gz", out)
    assert summary.differences == ()
    assert summary.problems == {"overlapping": 1, "widened": 881}
    return {
        part: [each for document in read(out / f"{part}.jsonl") for each in document.sentences]
        for part in SPLIT
    }


@needs_corpora
@pytest.mark.parametrize("label", ["CL", "UBERON", "GO_BP"])
def test_the_release_against_the_inline_archive(real, label):
    own, inline = Counter(), Counter()
    for part, sentences in real.items():
        others = [document.sentences[0] for document in read(craft_inline(label, part))]
        own.update((part, each) for sentence in sentences for each in spelling(sentence, label))
        inline.update((part, each) for sentence in others for each in spelling(sentence, label))
    assert abs(own.total() - inline.total()) <= 0.005 * inline.total()
    assert abs(gaps(own) - gaps(inline)) <= 0.03 * gaps(inline)
    # Far closer than that: what differs is what the recipe's docstring explains.
    assert sorted(mention for _, mention in (own - inline).elements()) == ONLY_HERE[label]
    assert sorted(mention for _, mention in (inline - own).elements()) == ONLY_THERE[label]


def gaps(mentions):
    return sum(times for (_, mention), times in mentions.items() if len(mention) > 1)
