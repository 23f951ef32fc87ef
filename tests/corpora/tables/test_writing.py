"""Documents as rows: mentions or texts, other columns, formulas."""

import pytest

from discotag import Mention, to_dataframe
from discotag.corpora import CorpusError, write
from discotag.corpora.formats.registry import find_format
from discotag.corpora.tables import writing
from discotag.corpora.tables.cells import RISKY, as_text, safe
from tables import cells_of, of_words, tagged

PAIN = "The pain around the hipjoints. Slept well."


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_row_for_each_mention(tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    documents = [
        tagged(PAIN, 1, 4, id="7", row=2, drug="A\nB"),
        tagged("Slept well.", id="8", row=3, drug=None),
        tagged("So tired", 1, id=None, row=4, drug="C"),
    ]
    write(documents, path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert cells_of(path) == [
        ["row", "id", "label", "text", "spans", "score", "sentence", "drug"],
        ["2", "7", "ADR", "pain hipjoints", "[[4, 8], [20, 29]]", "0.9346",
         "The pain around the hipjoints.", "A\nB"],
        ["4", "", "ADR", "tired", "[[3, 8]]", "0.9346", "So tired", "C"],
    ]  # fmt: skip


def test_a_row_for_each_document(tmp_path):
    path = tmp_path / "out.csv"
    documents = [tagged(PAIN, 1, 4, id="7"), tagged("Slept well."), of_words("sore", "toes")]
    write(documents, path, rows="documents")
    assert cells_of(path) == [
        ["id", "text", "count", "mentions", "labels", "scores", "spans"],
        ["7", PAIN, "1", "pain hipjoints", "ADR", "0.9346", "[[[4, 8], [20, 29]]]"],
        ["", "Slept well.", "0", "", "", "", ""],
        ["", "sore toes", "1", "sore", "ADR", "", ""],
    ]


def test_columns_of_the_input_that_have_the_names_of_others(tmp_path):
    path = tmp_path / "out.csv"
    write([tagged("pain", 0, score=1, **{"label": "x", "input_label": "y"})], path)
    header, row = cells_of(path)
    assert header[6:] == ["input_label", "input_input_label"]
    assert row[6:] == ["x", "y"]


def test_the_file_is_the_first_column(tmp_path):
    path = tmp_path / "out.csv"
    write([tagged("pain", 0, drug="A", row=3, file="may")], path)
    header, row = cells_of(path)
    assert (header[:2], row[:2]) == (["file", "row"], ["may", "3"])


@pytest.mark.parametrize("text", ["=1+1", "+1 day", "-me", "@you", "\tx", "\rx", "-", "=", "+1-2"])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_formulas_get_an_apostrophe(tmp_path, text, ending):
    path = tmp_path / f"out.{ending}"
    write([tagged("pain", 0, id=text, **{text: text})], path)
    raw = path.read_bytes().decode("utf-8-sig")
    cells = [
        cell.strip('"') for line in raw.split("\n") for cell in line.split(",\t"[ending == "tsv"])
    ]
    if "\t" not in text or ending == "csv":
        assert f"'{text}" in cells
    assert not any(cell and cell[0] in RISKY for row in cells_of(path) for cell in row)


@pytest.mark.parametrize(
    "text", ["-3", "+4.5", "-1,000.50", "-.5", "-3%", "+1e-5", "a=b", "'x", ""]
)
def test_numbers_and_other_texts_are_not_changed(text):
    assert safe(text) == text


def test_fields_of_later_documents_must_be_known(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "LOOK_AHEAD", 2)
    path = tmp_path / "out.csv"
    documents = [tagged("pain", 0, a=1), tagged("pain", 0, b=1), tagged("pain", 0, c=1)]
    with pytest.raises(
        CorpusError, match="csv: document 3: the format cannot represent the field 'c'"
    ):
        write(documents, path)
    assert list(tmp_path.iterdir()) == []
    write(documents, path, columns={"c": "carried"})
    assert cells_of(path)[0][-3:] == ["a", "b", "c"]


def test_endings_decide(tmp_path):
    names = ["id", "label", "text", "spans", "score", "sentence"]
    write([], tmp_path / "out.CSV")
    assert cells_of(tmp_path / "out.CSV") == [names]
    write([], tmp_path / "out.ods", "csv")
    assert cells_of(tmp_path / "out.ods") == [names]
    for name in ("out.json", "out.txt"):  # which would lose texts
        write([tagged("pain", 0)], tmp_path / name)
        assert find_format(tmp_path / name).name == "jsonl"


def test_a_table_in_markdown(tmp_path):
    path = tmp_path / "out.md"
    text = "pain | ![x](http://a.b)\n<img> *a* `b` \\"
    document = tagged(text, 0, 3, id="1", score=0.5)
    write([document, tagged("Fine.", id="2")], path)
    assert path.read_text() == (
        "| id | label | text | spans | score | sentence |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        r"| 1 | ADR | pain \[ | \[\[0, 4\], \[8, 9\]\] | 0.5 | "
        r"pain \| !\[x\](http://a.b) \<img\> \*a\* \`b\` \\ |" + "\n"
    )
    write([document], path, rows="documents")
    assert path.read_text().splitlines()[0].startswith("| id | text | count | mentions |")


def test_half_of_a_surrogate_pair(tmp_path):
    for name in ("out.csv", "out.parquet"):
        with pytest.raises(CorpusError, match="half of a surrogate pair"):
            write([tagged("pain", 0, bad="\ud800")], tmp_path / name)
        assert not (tmp_path / name).exists()


def test_values_as_text():
    assert as_text(float("nan")) == ""
    assert as_text(1e300) == "1e+300"
    assert as_text(True) == "TRUE"
    assert as_text(b"caf\xc3\xa9") == "café"
    assert as_text({"a": [1]}) == '{"a": [1]}'


def reviewed():
    """Return a document with a mention and two candidates, and one without any."""
    document = tagged(PAIN, 1, 4, id="7")
    first, second = document.sentences
    candidates = [[Mention("ADR", [(0, 1)], score=0.2)], [Mention("ADR", [(1, 2)], score=0.1)]]
    return [document.with_mentions([first.mentions, second.mentions], candidates), tagged("Fine.")]


def test_candidates_have_a_status(tmp_path):
    write(reviewed(), tmp_path / "out.csv")
    header, *rows = cells_of(tmp_path / "out.csv")
    at = [header.index(name) for name in ("text", "score", "status")]
    assert [[row[each] for each in at] for row in rows] == [
        ["The", "0.2", "to review"],
        ["pain hipjoints", "0.9346", "found"],
        ["well", "0.1", "to review"],
    ]


def test_candidates_have_columns_of_their_own_in_a_row_for_each_document(tmp_path):
    write(reviewed(), tmp_path / "out.csv", rows="documents")
    header, first, second = cells_of(tmp_path / "out.csv")
    assert header[-4:-1] == ["candidates", "candidate_labels", "candidate_scores"]
    assert header[-1] == "candidate_spans"
    assert first[-4:-1] == ["The; well", "ADR; ADR", "0.2; 0.1"]
    assert second[-4:] == ["", "", "", ""]
    frame = to_dataframe(reviewed(), rows="documents")
    assert frame["candidates"].tolist() == [["The", "well"], []]
    assert to_dataframe(reviewed())["status"].tolist() == ["to review", "found", "to review"]


def test_candidates_that_come_too_late(tmp_path):
    late = [*[tagged("Fine.")] * (writing.LOOK_AHEAD + 1), *reviewed()]
    with pytest.raises(CorpusError, match="candidates, which the first"):
        write(late, tmp_path / "out.csv")
    write(late, tmp_path / "out.csv", candidates=True)
    assert sum("to review" in row for row in cells_of(tmp_path / "out.csv")) == 2
