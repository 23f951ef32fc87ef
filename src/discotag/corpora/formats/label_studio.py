"""Label Studio's JSON and JSON-MIN: a list of tasks, each a text with labelled ranges.

A task of JSON has `data`, with the text, and `annotations`, each with a `result`: a list of ranges,
of the type `labels`, and of relations. Relations without a label, or with the label `frag` or
`fragment`, join ranges that have a label in common to one mention. Other types of results and other
relations are not read; the types are reported. Of several annotations of a task the ground
truth, or else the first that was not cancelled, is read; the others, and tasks without any, are
counted. A task of JSON-MIN has the text and the ranges, `"label": [{"start": 0, "end": 4,
"labels": ["ADR"]}]`, without relations.

The text is the field `text`, or the only string of `data`. Its other fields are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.parsing.json_documents import documents, first_text, good
from discotag.corpora.parsing.json_stream import first_object, values
from discotag.corpora.parsing.json_values import (
    as_list,
    as_name,
    as_number,
    as_object,
    as_objects,
    as_text,
)
from discotag.corpora.parsing.problems import MalformedError, Problem, Report, shown
from discotag.corpora.parsing.standoff import JOINING, Annotation, Piece, Source, joined
from discotag.counts import counted
from discotag.mentions import Document

MINIMAL: Final = frozenset(
    {"text", "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"}
)
"""The fields of a task of JSON-MIN that are read, or that Label Studio has for itself."""

MARKED: Final = re.compile(r'\[\s*\{[^{}\[\]]*"start"[^{}\[\]]*"labels"\s*:\s*\[')
"""Matches the beginning of a list of ranges of JSON-MIN."""

RESULT: Final = re.compile(r'"result"\s*:\s*\[')

UNREAD: Final = (
    ("task", "task is left out: it was not annotated", "tasks are left out: not annotated"),
    ("further", "further annotation of a task is not read", "further annotations are not read"),
)

RELATION: Final = "relation"
LABELS: Final = "labels"


def recognises(path: Path, head: str) -> bool:
    """Return whether tasks have data and annotations, or a text and labelled ranges."""
    keys = first_object(head)[1]
    if not keys.keys().isdisjoint(("annotations", "predictions")) and (
        keys.get("data") == "{" or RESULT.search(head)
    ):
        return True
    minimal = first_text(head)
    return minimal is not None and (
        minimal.keys() >= {"annotation_id", "annotator"} or MARKED.search(head) is not None
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each task that was annotated."""
    unread: Counter[str] = Counter()
    types: Counter[str] = Counter()

    def make(task: dict[str, Any], path: str, line: int | None, report: Report) -> Source | None:
        name = as_name(task.get("id"), "'id' of a task")
        called = "a task" if name is None else f"task {name}"
        if "data" in task:
            data = as_object(task["data"], f"'data' of {called}")
            key = _text_key(data, called)
            done = [each for each in as_objects(task, "annotations") if not _cancelled(each)]
            if not done:
                unread["task"] += 1
                return None
            unread["further"] += len(done) - 1
            chosen = next((each for each in done if each.get("ground_truth") is True), done[0])
            results = as_objects(chosen, "result")
            extra = {field: value for field, value in data.items() if field != key}
        else:
            data, key = task, "text"
            marked = [field for field in data if _is_marked(data[field])]
            results = [{"type": LABELS, "value": each} for field in marked for each in data[field]]
            extra = {k: v for k, v in data.items() if k not in MINIMAL and k not in marked}
        types.update(str(each.get("type")) for each in results)
        text = as_text(data.get(key), f"the text of {called}")
        annotations = _annotations(results, called, path, line, report)
        return Source(name, [Piece(0, text)], list(annotations), path, line, extra)

    rows = values(path, reading.report)
    yield from documents(rows, make, str(path), reading.splitter, reading.report)
    for key, one, several in UNREAD:
        if unread[key]:
            problem = Problem("left_out", counted(unread[key], one, several), str(path))
            reading.report(problem)
    for kind in sorted(types.keys() - {LABELS, RELATION}):
        message = f"results of the type {shown(kind)} are not read: {types[kind]:,}"
        reading.report(Problem("unknown_field", message, str(path)))


FORMAT: Final = Format(
    name="label-studio",
    about="Label Studio's JSON and JSON-MIN: tasks with labelled ranges (read only)",
    suffixes=(".json", ".jsonl"),
    recognises=recognises,
    read=read,
)


def _cancelled(annotation: dict[str, Any]) -> bool:
    return annotation.get("was_cancelled") is True


def _is_marked(data: Any) -> bool:
    """Return whether a field of a task of JSON-MIN is a list of labelled ranges."""
    return isinstance(data, list) and any(
        isinstance(each, dict) and LABELS in each for each in data
    )


def _text_key(data: dict[str, Any], called: str) -> str:
    keys = [key for key, value in data.items() if isinstance(value, str)]
    if "text" in data or len(keys) != 1:
        return "text"
    return keys[0]


def _annotations(
    results: list[dict[str, Any]], called: str, path: str, line: int | None, report: Report
) -> Iterator[Annotation]:
    """Return the annotations of results: one for each label of a range, joined by relations."""
    found: dict[tuple[str, str], Annotation] = {}

    def add(numbered: tuple[int, dict[str, Any]]) -> None:
        number, result = numbered
        name = as_name(result.get("id"), f"'id' of a result of {called}")
        value = as_object(result.get("value"), f"'value' of a result of {called}")
        start, end = (as_number(value.get(key), f"'{key}' in {called}") for key in ("start", "end"))
        text = value.get("text")
        texts = () if text is None else (as_text(text, f"'text' in {called}"),)
        said = f"the range at {start} of {called}"
        labels = [as_text(each, f"a label in {called}") for each in as_list(value, LABELS)]
        keys = [(f"without id {number}" if name is None else name, label) for label in labels]
        if not keys:
            raise MalformedError(f"{said} has no label")
        if len(set(keys)) < len(keys) or not found.keys().isdisjoint(keys):
            raise MalformedError(f"{said} has the id and the label of another")
        for key in keys:
            found[key] = Annotation(said, key[1], ((start, end),), texts, line)

    marked = ((n, each) for n, each in enumerate(results) if each.get("type") == LABELS)
    for _ in good(marked, add, path, line, report):
        pass
    labels: dict[str, set[str]] = {}
    for name, label in found:
        labels.setdefault(name, set()).add(label)
    pairs = []
    for each in results:
        if each.get("type") != RELATION:
            continue
        kinds = as_list(each, LABELS)
        if any(kind not in JOINING for kind in kinds):
            continue
        ends = [str(each.get(key)) for key in ("from_id", "to_id")]
        one, other = (labels.get(end, set()) for end in ends)
        if kinds and one and other and not one & other:
            message = f"{called}: a relation joins ranges with different labels"
            report(Problem("syntax", message, path, line))
        for end in ends:
            if end not in labels:
                message = f"a relation of {called} refers to {shown(end)}, which is not in the task"
                report(Problem("dangling", message, path, line))
        pairs += [((ends[0], label), (ends[1], label)) for label in sorted(one & other)]
    return joined(found, pairs, path, report)
