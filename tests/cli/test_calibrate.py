"""`discotag calibrate`, and what `discotag predict` does with a guarantee."""

import json
from dataclasses import replace

import openpyxl
import pyarrow.parquet as pq
import pytest

from discotag import Document, load
from discotag.corpora import read, write
from discotag.errors import DiscotagError
from discotag.model.files import copy_model, read_config, write_config
from page_parser import Page
from shell import invoke
from tiny import tiny_model

pytestmark = pytest.mark.slow

TEXTS = [
    f"{text} {number}"
    for number in range(150)
    for text in ("I had pain in my arms and shoulders.", "swollen and stiff knees, bad pain")
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model, labelled text, and the model with a guarantee for it."""
    folder = tmp_path_factory.mktemp("calibrate")
    tagger = load(tiny_model(folder / "made"))
    labelled = []
    for number, each in enumerate(tagger.predict(TEXTS, candidates=0.01)):
        kind = "candidates" if number % 3 == 0 else "mentions"
        gold = each.with_mentions([getattr(one, kind)[:1] for one in each.sentences])
        labelled.append(Document(gold.sentences, text=each.text, id=str(number)))
    write(labelled, folder / "labelled.jsonl")
    done = run(folder, "--target-recall", 0.8, "--out", folder / "ready")
    assert done.exit_code == 0, done.output
    return folder


def run(folder, *options):
    given = ["calibrate", folder / "made" / "model", folder / "labelled.jsonl", *options]
    return invoke(*given)


def predict(*arguments):
    done = invoke("predict", *arguments, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output + str(done.exception)
    return done


def failed(done, message):
    assert done.exit_code != 0
    assert isinstance(done.exception, DiscotagError), done.output
    assert message in str(done.exception)


def test_a_table_for_people(place):
    done = run(place, "--target-recall", 0.8)
    shown = " ".join(done.stdout.split())
    assert "finds at least 0.8 of the mentions (a document with more than 10 counts as 10)" in shown
    for part in ("found of", "to read", "and candidates"):
        assert part in shown


def test_json_for_programs(place):
    options = ("--target-recall", 0.7, "--confidence", 0.95, "--count", "documents", "--json")
    done = run(place, *options, "--match", "overlap", "--unit", "sentences")
    found = json.loads(done.stdout)
    assert found["guarantee"]["target_recall"] == 0.7
    assert found["guarantee"]["confidence"] == 0.95
    assert found["guarantee"]["count"] == "documents"
    assert (found["guarantee"]["match"], found["guarantee"]["unit"]) == ("overlap", "sentences")
    assert found["model"] == str(place / "made" / "model")
    assert found["documents"] == 300
    assert found["gold"] == found["guarantee"]["units"] > 300  # sentences


def test_the_model_is_copied_with_its_guarantee(place):
    one, other = load(place / "made" / "model"), load(place / "ready")
    assert one.config.guarantee is None
    assert other.config.guarantee.target_recall == 0.8
    weights = [
        folder / "model.safetensors" for folder in (place / "made" / "model", place / "ready")
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert "## Guarantee" in (place / "ready" / "README.md").read_text("utf-8")
    options = ("--target-recall", 0.75, "--out", place / "ready")
    done = invoke("calibrate", place / "ready", place / "labelled.jsonl", *options)
    assert done.exit_code == 0, done.output
    assert load(place / "ready").config.guarantee.target_recall == 0.75


def test_candidates_are_marked_everywhere(place, tmp_path):
    (wanted,) = load(place / "ready")([TEXTS[0]])
    assert wanted.candidates
    given = [TEXTS[0], "--model", place / "ready"]
    assert predict(*given, "--format", "terminal").stdout.count("to review") == len(
        wanted.candidates
    )
    (line,) = predict(*given, "--format", "jsonl").stdout.splitlines()
    assert json.loads(line) == {"discotag": 2} | wanted.to_dict()
    assert "candidates" in json.loads(line)

    predict(*given, "--out", tmp_path / "found.jsonl")
    (again,) = read(tmp_path / "found.jsonl")
    assert again == wanted
    assert again.candidates == wanted.candidates

    predict(*given, "--out", tmp_path / "found.xlsx")
    header, *rows = openpyxl.load_workbook(tmp_path / "found.xlsx").active.values
    kinds = [row[header.index("status")] for row in rows]
    assert kinds.count("found") == len(wanted.mentions)
    assert kinds.count("to review") == len(wanted.candidates)
    starts = [json.loads(row[header.index("spans")]) for row in rows]
    assert starts == sorted(starts)

    predict(*given, "--rows", "documents", "--out", tmp_path / "found.csv")
    header, row = (tmp_path / "found.csv").read_text("utf-8-sig").splitlines()[:2]
    assert header.endswith("candidates,candidate_labels,candidate_scores,candidate_spans")
    assert wanted.candidates[0].text in row

    predict(*given, "--out", tmp_path / "found.html")
    page = (tmp_path / "found.html").read_text("utf-8")
    items = [each for each in Page(page).all("li") if "candidate" in (each.get("class") or "")]
    assert len(items) == len(wanted.candidates)
    assert f"candidates to review: {len(wanted.candidates)}" in page


def test_a_table_has_the_columns_even_if_the_first_documents_have_no_candidates(place, tmp_path):
    source = tmp_path / "posts.csv"
    source.write_text("text\n" + "\n".join(['""'] * 2000 + [TEXTS[0]]) + "\n")
    predict(source, "--model", place / "ready", "--out", tmp_path / "found.csv")
    rows = (tmp_path / "found.csv").read_text("utf-8-sig").splitlines()
    assert "status" in rows[0]
    assert sum("to review" in row for row in rows) > 0


def test_archives_have_candidates(place, tmp_path):
    """As plain predictions have them, in both formats of parts."""
    lines = [json.dumps({"id": str(n), "text": each}) for n, each in enumerate(TEXTS[:4])]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines))
    given = [tmp_path / "posts.jsonl", "--model", place / "ready"]
    plain = [json.loads(line) for line in predict(*given, "--format", "jsonl").stdout.splitlines()]
    assert any(each.get("candidates") for each in plain)

    options = ("--engine", "processes", "--workers", "1", "--out")
    done = predict(*given, *options, tmp_path / "lines")
    lines = (tmp_path / "lines" / "part-000000.jsonl").read_text().splitlines()
    texts = [[m["text"] for m in json.loads(line).get("candidates", ())] for line in lines]
    assert texts == [[m["text"] for m in each.get("candidates", ())] for each in plain]
    assert f"{sum(map(len, texts))} candidates to review" in done.stderr
    predict(*given, *options, tmp_path / "table", "--format", "parquet")
    columns = pq.read_table(tmp_path / "table").to_pydict()
    assert [[m["text"] for m in each] for each in columns["candidates"]] == texts

    predict(*given, *options, tmp_path / "none", "--no-candidates", "--format", "parquet")
    assert "candidates" not in pq.read_table(tmp_path / "none").column_names
    done = invoke("predict", *given, *options, tmp_path / "b", "--bias", "1")
    failed(done, "bias of 0, not 1")


def test_conversions_keep_candidates_or_say_so(place, tmp_path):
    found = tmp_path / "found.jsonl"
    late = load(place / "ready")(TEXTS[0])
    assert late.candidates
    write([*([Document((), text="Fine.")] * 1200), late], found)
    convert = ["corpus", "convert", str(found)]
    done = invoke(*convert, tmp_path / "found.csv")
    assert done.exit_code == 0, done.output + str(done.exception)
    assert (tmp_path / "found.csv").read_text().count("to review") == len(late.candidates)
    done = invoke(*convert, tmp_path / "found.txt")
    assert "does not keep candidates to review, which 1 document has" in done.stderr


def test_formats_that_cannot_mark_candidates_get_none(place, tmp_path):
    given = [TEXTS[0], "--model", place / "ready"]
    done = predict(*given, "--format", "brat", "--out", tmp_path / "brat")
    assert "brat cannot mark candidates to review, so it gets none" in done.stderr
    annotations = (tmp_path / "brat").rglob("*.ann")
    lines = [line for path in annotations for line in path.read_text().splitlines()]
    (plain,) = load(place / "made" / "model")([TEXTS[0]])
    assert len([line for line in lines if line.startswith("T")]) == len(plain.mentions)
    quiet = predict(*given, "--format", "brat", "--out", tmp_path / "b", "--no-candidates")
    assert "cannot mark" not in quiet.stderr


def test_no_candidates(place):
    (line,) = predict(
        TEXTS[0], "--model", place / "ready", "--no-candidates", "--format", "jsonl"
    ).stdout.splitlines()
    assert "candidates" not in json.loads(line)
    given = ["predict", TEXTS[0], "--candidates", "--model"]
    done = invoke(*given, place / "made" / "model")
    failed(done, "this model has no guarantee")
    done = invoke("predict", TEXTS[0], "--model", place / "ready", "--bias", "1")
    failed(done, "bias of 0, not 1")


def test_what_cannot_be_done(place, tmp_path):
    failed(run(place, "--target-recall", 0.99), "it would take about")
    done = run(place, "--target-recall", 1)
    assert (done.exit_code, "must be above 0 and below 1" in done.output) == (2, True)
    assert run(place).exit_code == 2
    assert run(place, "--target-recall", 0.8, "--count", "words").exit_code == 2
    (tmp_path / "kept.txt").write_text("mine")
    failed(run(place, "--target-recall", 0.8, "--out", tmp_path), "exists already")
    assert [each.name for each in tmp_path.iterdir()] == ["kept.txt"]
    write([Document(())], tmp_path / "empty.jsonl")
    model = str(place / "made" / "model")
    given = ["calibrate", model, str(tmp_path / "empty.jsonl"), "--target-recall", "0.8"]
    done = invoke(*given)
    failed(done, "empty.jsonl: it has no gold mentions of ADR")
    done = invoke("calibrate", model, tmp_path / "no", "--target-recall", "0.8")
    failed(done, "no such file")


def test_a_card_that_somebody_has_changed_stays(place, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, text in ((one, None), (other, "# Our model\n")):
        copy_model(place / "made" / "model", folder)
        if text is not None:
            (folder / "README.md").write_text(text)
        given = ["calibrate", folder, place / "labelled.jsonl", "--target-recall", 0.8]
        done = invoke(*given, "--out", folder)
        assert done.exit_code == 0, done.output
    assert "Our model" not in (one / "README.md").read_text()
    assert (other / "README.md").read_text() == "# Our model\n"


def test_an_export_has_no_guarantee(place, tmp_path):
    done = invoke("export", place / "ready", tmp_path / "onnx")
    assert done.exit_code == 0, done.output
    assert "without the guarantee" in done.stderr
    assert load(tmp_path / "onnx").config.guarantee is None


def test_an_export_of_other_weights_has_no_guarantee(place, tmp_path):
    copy_model(place / "made" / "model", tmp_path)
    for runtime, kept in (("torch", True), ("onnx-int8", False)):
        bound = replace(load(place / "ready").config.guarantee, runtime=runtime)
        write_config(tmp_path, replace(read_config(tmp_path)[1], guarantee=bound))
        done = invoke("export", tmp_path, tmp_path)
        assert done.exit_code == 0, done.output
        assert ("measured with other weights" in done.stderr) != kept
        assert (read_config(tmp_path)[1].guarantee == bound) == kept
