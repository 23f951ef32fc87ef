"""What all recipes share: the split by name, the counts, the folder they write to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from discotag.corpora import CorpusError
from discotag.corpora.recipes import RECIPES, prepare
from discotag.corpora.recipes.recipe import SHARES, Recipe, part_of
from discotag.errors import DiscotagError


def test_the_split_by_name_is_near_its_shares() -> None:
    parts = Counter(part_of(f"drug.{number}") for number in range(10_000))
    for part, share in SHARES.items():
        assert abs(parts[part] / 10_000 - share / 100) < 0.015


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_recipes_are_consistent(recipe: Recipe) -> None:
    assert set(recipe.default_labels) <= set(recipe.labels)
    assert recipe.about
    assert recipe.source


def test_an_unknown_recipe(tmp_path: Path) -> None:
    with pytest.raises(DiscotagError, match="unknown recipe 'conll'; recipes are cadec, share2013"):
        prepare("conll", tmp_path, tmp_path)


def post(folder: Path, text: str) -> Path:
    for part, name, content in (("text", "A.1.txt", text), ("original", "A.1.ann", "")):
        (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / part / name).write_text(content)
    return folder


def test_a_folder_with_files_is_not_written_into_without_force(tmp_path: Path) -> None:
    source, out = post(tmp_path / "in", "Fine.\n"), tmp_path / "out"
    prepare("cadec", source, out)
    before = (out / "all.jsonl").read_bytes()
    post(source, "Bad.\n")
    with pytest.raises(CorpusError, match="not empty; .* --force"):
        prepare("cadec", source, out)
    assert (out / "all.jsonl").read_bytes() == before
    (out / "mine.txt").write_text("kept")
    (tmp_path / "train.txt").write_text("A.1\n")
    prepare("cadec", source, out, splits=[tmp_path / "train.txt"], force=True)
    assert sorted(path.name for path in out.iterdir()) == [
        "dev.jsonl", "mine.txt", "problems.json", "report.json", "test.jsonl", "train.jsonl",
    ]  # fmt: skip


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    source = post(tmp_path / "in", "Fine.\n")
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="this is a file, not a folder"):
        prepare("cadec", source, tmp_path / "file")
    with pytest.raises(CorpusError, match="not a directory"):
        prepare("cadec", source, tmp_path / "file" / "out")
