"""CRAFT: 97 articles annotated with concepts of ontologies, from its release, with its split.

Each ontology is one label: CL (cells), UBERON (anatomy), GO_BP (biological processes) and MONDO
(diseases; the set without mentions inside genotypes). The id lists of the release are the split.

Sentences and words come from discotag's splitter, not from CRAFT's treebank, which is not in every
copy of the release. Compared with a conversion that used the treebank's sentences, only a handful
of mentions differ. Of 37,563 mentions of CL, UBERON and GO_BP in that
conversion 37,562 are the same here, character by character. The differences, all inspected:

- 10 mentions are only here, because they reach across two of the treebank's sentences.
  Eight are in article 17206865, whose trees are cut inside headings and phrases ("Kidney
  Epithelial Cells", "kidney cortical … cells", "mock-transfected"); the others are "Sm. Int." in
  14723793 and "Control of … Expression" in 16279840. Here sentences that a mention reaches across
  are joined.
- 1 mention is only there: in article 17201918 an annotation of GO_BP has the fragments
  "epithelial cells" and, inside it, "epithelial". Fragments that overlap are reported, and the
  mention is left out.
- 2 discontinuous annotations of the release are continuous mentions in both, because their
  fragments touch once they are widened to whole words: "zigzag … hairs" in "zigzag underhairs"
  and "processing of … antigens" in "processing of autoantigens".

Of MONDO's 3,080 annotations one is left out: in article 16579849 it has an empty fragment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from discotag.corpora.formats import knowtator
from discotag.corpora.parsing.problems import CorpusError, Problem, Report
from discotag.corpora.parsing.standoff import Annotation, Source, assembled
from discotag.corpora.recipes.recipe import ALL, PARTS, Order, Prepared, Recipe
from discotag.corpora.recipes.source import is_hidden, unpacked
from discotag.corpora.recipes.splits import read_splits
from discotag.mentions import Document
from discotag.words import Splitter

TEXTS: Final = "articles/txt"
IDS: Final = "articles/ids"
LISTS: Final = tuple(f"craft-ids-{part}.txt" for part in PARTS)

FOLDERS: Final = {
    "CL": "concept-annotation/CL/CL/knowtator",
    "UBERON": "concept-annotation/UBERON/UBERON/knowtator",
    "GO_BP": "concept-annotation/GO_BP/GO_BP/knowtator",
    "MONDO": "concept-annotation/MONDO/MONDO_without_genotype_annotations/knowtator-2",
}
"""The folders of the release with the annotations of each label."""

DOCUMENTS: Final = {"train": 60, "dev": 7, "test": 30}

MENTIONS: Final = {
    "CL": {"train": (3462, 209), "dev": (581, 35), "test": (1749, 175)},
    "UBERON": {"train": (10771, 199), "dev": (1498, 35), "test": (6551, 118)},
    "GO_BP": {"train": (7625, 438), "dev": (1655, 54), "test": (3680, 271)},
    "MONDO": {"train": (1834, 46), "dev": (232, 0), "test": (1013, 22)},
}
"""Mentions and discontinuous mentions of release 5.0.2, as counted by this recipe; see above on how
those of CL, UBERON and GO_BP were checked."""

ANNOTATIONS: Final = {"CL": 5792, "UBERON": 18820, "GO_BP": 12961, "MONDO": 3080}
"""The number of annotations in the files of release 5.0.2."""


def cook(source: Path, order: Order) -> Prepared:
    """Return the articles in the parts of the official split.

    Raises:
        CorpusError: The source has no articles, no id lists, or no annotations of a label.
    """
    problems: list[Problem] = []
    facts: Counter[str] = Counter()
    parts: dict[str, list[Document]] = {part: [] for part in PARTS}
    passed_over: list[str] = []
    with unpacked(source, _is_wanted, passed_over.append) as folder:
        root = _root(source, folder)
        split = read_splits(_inside(source, root, f"{IDS}/{name}") for name in LISTS)
        for label in order.labels:
            _inside(source, root, FOLDERS[label])
        report = _from(root, problems.append)
        for done, (name, part) in enumerate(split.items(), start=1):
            document = _document(root, name, order.labels, report, facts)
            if document is not None:
                parts[part].append(document)
            order.progress(done, len(split))
    return Prepared(
        parts, problems, facts, expected=_expected(order.labels), passed_over=passed_over
    )


RECIPE: Final = Recipe(
    name="craft",
    about="CRAFT: cells, anatomy, processes and diseases in 97 articles (CC BY 3.0)",
    source="the release, an archive or a folder, with articles/ and concept-annotation/ in it",
    labels=tuple(FOLDERS),
    default_labels=("CL", "UBERON", "GO_BP"),
    cook=cook,
)


def _is_wanted(name: str) -> bool:
    """Return whether a file of the release is read; there are many more."""
    path = PurePosixPath(name)
    folder = str(path.parent)
    return (
        (folder.endswith(TEXTS) and path.suffix == ".txt")
        or (folder.endswith(IDS) and path.name in LISTS)
        or (folder.endswith(tuple(FOLDERS.values())) and path.suffix == ".xml")
    )


def _root(source: Path, folder: Path) -> Path:
    """Return the folder of the release, which may be inside another in an archive."""
    for root in (folder, *sorted(folder.glob("*"))):
        if (root / TEXTS).is_dir() and not is_hidden(root.relative_to(folder)):
            return root
    message = f"the folder {TEXTS} is missing; is this a release of CRAFT?"
    raise CorpusError(Problem("missing", message, str(source)))


def _inside(source: Path, root: Path, name: str) -> Path:
    if not (root / name).exists():
        raise CorpusError(Problem("missing", f"{name} is missing", str(source)))
    return root / name


def _document(
    root: Path, name: str, labels: tuple[str, ...], report: Report, facts: Counter[str]
) -> Document | None:
    """Return an article with the annotations of all labels; None if it cannot be read."""
    found: Source | None = None
    annotations: list[Annotation] = []
    for label in labels:
        for source in _sources(root, label, name, report):
            found = source
            annotations += [_reduced(each, label) for each in source.annotations]
            facts[f"annotations of {label}"] += len(source.annotations)
    if found is None:
        return None
    text = str(root / TEXTS / f"{name}.txt")
    found = replace(found, id=name, annotations=annotations, path=text, line=None)
    return assembled(found, Splitter(), report)


def _sources(root: Path, label: str, name: str, report: Report) -> Iterator[Source]:
    files = [root / FOLDERS[label] / f"{name}{end}" for end in (".txt.knowtator.xml", ".xml")]
    path = next((path for path in files if path.is_file()), None)
    if path is None:
        report(Problem("missing", "the annotations of this article are missing", str(files[0])))
        return
    yield from knowtator.sources(path, report, texts=root / TEXTS)


def _reduced(annotation: Annotation, label: str) -> Annotation:
    """Replace the label, a class of the ontology, by the ontology, and add it to the name."""
    return replace(annotation, name=f"{label} {annotation.name}", label=label, line=None)


def _from(root: Path, report: Report) -> Report:
    """Make the paths of problems relative to the release, which may be in a temporary folder."""

    def tell(problem: Problem) -> None:
        report(replace(problem, path=problem.path.removeprefix(f"{root}/")))

    return tell


def _expected(labels: tuple[str, ...]) -> dict[str, dict[str, int]]:
    return {
        part: {
            "documents": documents,
            "mentions": sum(MENTIONS[label][part][0] for label in labels),
            "discontinuous_mentions": sum(MENTIONS[label][part][1] for label in labels),
        }
        for part, documents in DOCUMENTS.items()
    } | {ALL: {f"annotations of {label}": ANNOTATIONS[label] for label in labels}}
