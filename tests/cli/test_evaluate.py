import json
import sys
from pathlib import Path

import pytest

import discotag
from discotag.corpora import write
from discotag.errors import DiscotagError
from discotag.evaluation import KINDS, SLICES
from discotag.marks import Marked
from discotag.words import Splitter
from shell import invoke

BUNDLED = Path(discotag.__file__).parent / "bundled"

GOLD = """\
pain in arms and legs since may
0,2 ADR|0,1,4,4 ADR

took [b]aspirin[/b]
1,1 Drug

"""
PREDICTED = """\
pain in arms and legs since may
0,2 ADR|0,4 ADR

took [b]aspirin[/b]
1,1 ADR

"""


def run(*arguments, **options):
    return invoke("evaluate", *arguments, **options)


def ok(*arguments, **options):
    done = run(*arguments, **options)
    assert done.exception is None, done.output
    assert done.exit_code == 0
    return done


def failure(*arguments):
    done = run(*arguments)
    assert isinstance(done.exception, DiscotagError)
    assert "\n" not in str(done.exception)
    return str(done.exception)


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text(GOLD, "utf-8")
    return path


@pytest.fixture
def predicted(tmp_path):
    path = tmp_path / "predicted.txt"
    path.write_text(PREDICTED, "utf-8")
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_of_documents_are_read(tmp_path, ending):
    text = "Sore arms and legs. So tired!"
    marks = [Marked("ADR", ((0, 4), (14, 18))), Marked("ADR", ((20, 28),))]
    write([Splitter().document(text, marks, id="1")], tmp_path / "gold.jsonl")
    write(
        [Splitter().document(text, marks[:1], id="1")],
        tmp_path / f"ours.{ending}",
        rows="documents",
    )
    for files in (("gold.jsonl", f"ours.{ending}"), (f"ours.{ending}", "gold.jsonl")):
        found = json.loads(ok(*(tmp_path / name for name in files), "--json").stdout)
        figures = found["slices"]["all"]["micro"]
        assert sorted([figures["precision"], figures["recall"]]) == [0.5, 1.0]
        assert found["discontinuous_sentences"] == 1


def test_tables(gold, predicted):
    shown = ok(gold, predicted, "--errors").stdout
    for about in SLICES.values():
        assert about[1:] in shown
    rows = [line.split() for line in shown.splitlines()]
    assert "ADR 33.33 50.00 40.00 0.00 to 50.00 2 3 1".split() in rows
    assert ["all", "2", "2"] in rows
    assert "gold      ADR 'pain in legs' [0:2 4:5]" in shown
    assert "predicted ADR '[b]aspirin[/b]' [1:2]" in shown  # shown as it is, no markup


def test_data(gold, predicted):
    data = json.loads(ok(gold, predicted, "--errors", "--json").stdout)
    assert (data["sentences"], data["discontinuous_sentences"], data["documents"]) == (2, 1, 2)
    assert list(data["slices"]) == list(SLICES)
    micro = data["slices"]["all"]["micro"]
    assert (micro["gold"], micro["predicted"], micro["correct"]) == (3, 3, 1)
    assert micro["f1"] == pytest.approx(1 / 3)
    low, high = micro["intervals"]["f1"]
    assert low <= micro["f1"] <= high
    assert set(data["slices"]["all"]["labels"]) == {"ADR", "Drug"}
    assert set(data["errors"]) == set(KINDS)
    (example,) = data["errors"]["gap_missed"]["examples"]
    assert (example["document"], example["id"], example["sentence"]) == (1, None, 1)
    legs = {"label": "ADR", "text": "pain in legs", "fragments": [[0, 2], [4, 5]]}
    assert example["gold"] == [legs]
    plain = json.loads(ok(gold, predicted, "--no-intervals", "--json").stdout)
    assert "intervals" not in plain["slices"]["all"]["micro"]
    assert "errors" not in plain


def test_two_systems(gold, predicted):
    arguments = (gold, predicted, "--other", gold, "--by", "document", "--seed", "5")
    data = json.loads(ok(*arguments, "--json").stdout)
    assert data["other"]["slices"]["discontinuous"]["micro"]["f1"] == 1
    compared = data["comparison"]["discontinuous"]["micro"]
    assert compared["difference"] == 1
    assert 0 < compared["p_value"] <= 1
    shown = ok(*arguments).stdout
    assert "by bootstrap over documents" in shown
    assert "+100.00" in shown


def test_other_formats_and_cuts(gold, tmp_path):
    whole = tmp_path / "whole.jsonl"
    words = " ".join(GOLD.splitlines()[::3]).split()
    mention = {"label": "ADR", "fragments": [[0, 2], [4, 5]]}
    sentence = {"words": words, "mentions": [mention]}
    whole.write_text(json.dumps({"discotag": 2, "sentences": [sentence]}) + "\n", "utf-8")
    data = json.loads(ok(gold, whole, "--json", "--no-intervals").stdout)
    assert data["slices"]["discontinuous"]["micro"]["f1"] == 1
    assert data["sentences"] == 2


def test_standard_input(gold, predicted):
    done = ok("-", predicted, "--no-intervals", "--format", "inline", "--json", input=GOLD)
    assert json.loads(done.stdout)["sentences"] == 2
    done = run("-", predicted, "--other", predicted)
    assert done.exit_code == 2
    assert "can only be read once" in done.output


def test_without_scipy_there_are_no_intervals(gold, predicted, monkeypatch):
    for name in ("scipy", "scipy.stats", "scipy.sparse"):
        monkeypatch.setitem(sys.modules, name, None)
    done = ok(gold, predicted, "--json")
    assert "no intervals: " in done.stderr
    assert "pip install openpyxl scipy" in done.stderr
    assert "intervals" not in json.loads(done.stdout)["slices"]["all"]["micro"]
    done = ok(gold, predicted, "--other", predicted, "--no-intervals")
    assert done.stderr.count("need SciPy") == 1
    assert "F1" in done.stdout


def test_one_sentence_is_scored(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("sore arm\n0,1 ADR\n\n", "utf-8")
    done = ok(path, path)
    assert "100.00" in done.stdout
    assert "no intervals: intervals need at least two units" in done.stderr


def test_bad_input_is_one_line(gold, predicted, tmp_path):
    assert "no such file" in failure(tmp_path / "none", predicted)
    assert "unknown format" in failure(gold, predicted, "--predicted-format", "nope")
    other = tmp_path / "other.txt"
    other.write_text(PREDICTED.replace("since", "until"), "utf-8")
    assert failure(gold, other) == (
        f"{other}: there is 'since' (document 1, sentence 1, word 6) in the gold, "
        "but 'until' (document 1, sentence 1, word 6) in the predictions"
    )
    assert failure(gold, predicted, "--other", other).startswith(str(other))
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"discotag": 2, "sentences": []}\n', "utf-8")
    assert failure(empty, empty) == f"{empty}: no sentences to score"


def test_encodings_and_ids_that_occur_twice(tmp_path):
    gold, predicted = tmp_path / "gold.jsonl", tmp_path / "predicted.jsonl"
    for path in (gold, predicted):
        path.write_bytes('{"id": 1, "text": "Müde"}\n{"id": 1, "text": "Träge"}\n'.encode("cp1252"))
    assert "use --encoding windows-1252" in failure(gold, predicted)
    done = ok(gold, predicted, "--encoding", "cp1252", "--no-intervals")
    assert done.stderr.splitlines() == [
        f"warning: {path}:2: the document at {path}:1 also has the id '1'"
        for path in (gold, predicted)
    ]


def test_warnings_about_the_gold_are_printed_once(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("nr,comment\n1,I had nausea.\n2,I slept well.\n", "utf-8")
    done = ok(gold, gold, "--other", gold, "--no-intervals")
    assert done.stderr.splitlines() == [f"{gold}: the texts are in the column 'comment'"] * 3


def test_names_of_files_cannot_move_the_cursor(gold, tmp_path):
    path = tmp_path / "\x1b[31mpredicted.txt"
    path.write_text(PREDICTED.replace("|0,4 ADR", "|0,4 ADR|0,4 ADR"))
    done = ok(gold, path, "--other", path, "--errors")
    assert "\x1b" not in done.stdout + done.stderr
    assert "·[31mpredicted.txt:2: '0,4 ADR'" in done.stderr


def test_a_report_and_a_model_instead_of_predictions(tmp_path):
    gold, page = tmp_path / "gold.txt", tmp_path / "report.html"
    gold.write_text("Pain in arms and legs .\n0,2 ADR|0,1,4,4 ADR\n\n", "utf-8")
    shown = ok(BUNDLED, gold, "--no-intervals", "--report", page)
    assert "100.00 100.00 100.00" in " ".join(shown.stdout.split())
    assert f"wrote {page}" in shown.stderr
    assert "<h2>Scores</h2>" in page.read_text("utf-8")
    same = json.loads(ok(gold, "bundled", "--no-intervals", "--json").stdout)
    assert same["slices"]["all"]["micro"]["correct"] == 2


def test_a_report_replaces_nothing_that_is_evaluated(gold, predicted, tmp_path):
    for target in (gold, predicted, "-", tmp_path, tmp_path / "none" / "report.html"):
        done = run(gold, predicted, "--report", target)
        assert done.exit_code == 2
    assert gold.read_text("utf-8") == GOLD
    done = run("-", BUNDLED, input=GOLD)
    assert "a model reads the gold a second time" in done.output
    assert "both are models" in run(BUNDLED, "bundled").output


def test_gold_in_the_place_of_predictions_is_noticed(tmp_path):
    texts = tmp_path / "gold.txt"
    texts.write_text(GOLD, "utf-8")
    scored = tmp_path / "scored.jsonl"
    sentence = discotag.Sentence(
        "pain in arms and legs since may".split(), [discotag.Mention("ADR", [(0, 3)], score=0.9)]
    )
    other = discotag.Sentence(["took", "[b]aspirin[/b]"])
    write([discotag.Document([each]) for each in (sentence, other)], scored)
    swapped, right = (ok(*pair, "--no-intervals") for pair in ((scored, texts), (texts, scored)))
    assert "have scores" in swapped.stderr
    assert "the gold must come first" in swapped.stderr
    assert right.stderr == ""


def test_it_is_said_how_many_examples_are_not_shown(tmp_path):
    for name, mentions in (("gold", "0,0 ADR"), ("predicted", "")):
        (tmp_path / f"{name}.txt").write_text(f"sore toes\n{mentions}\n\n" * 5, "utf-8")
    done = ok(tmp_path / "gold.txt", tmp_path / "predicted.txt", "--errors", "--no-intervals")
    assert done.output.count("sentence 1: sore toes") == 3
    assert "and 2 more; --report shows them" in done.output
