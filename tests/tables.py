"""Make tables, and read them back as plain cells."""

import csv
import io

import openpyxl

from discotag import Document, Mention, Sentence
from discotag.corpora import TableOptions, read
from discotag.words import Splitter


def workbook(path, sheets, *, merged=(), hidden=()):
    """Write a workbook with these sheets, each a list of rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for cells in merged:
            sheet.merge_cells(cells)
        if title in hidden:
            sheet.sheet_state = "hidden"
    book.save(path)
    return path


def read_all(path, *, report=None, **options):
    """Return the documents of a table, and what was reported."""
    problems = []
    documents = list(read(path, table=TableOptions(**options), report=report or problems.append))
    return documents, problems


def texts(path, **options):
    """Return the texts of a table, which must have no errors."""
    documents, problems = read_all(path, **options)
    assert [each for each in problems if each.severity == "error"] == []
    return [document.text for document in documents]


def cells_of(path):
    """Return the rows of a file that was written as CSV or a workbook."""
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        return [list(row) for sheet in book for row in sheet.iter_rows(values_only=True)]
    separator = "\t" if path.suffix == ".tsv" else ","
    stream = io.StringIO(path.read_text("utf-8-sig"), newline="")
    return list(csv.reader(stream, delimiter=separator))


def tagged(text, *words, id=None, score=0.93456, **extra):
    """Return a document of a text, with a mention of the words at these positions."""
    document = Splitter().document(text, id=id)
    first = document.sentences[0]
    if not words:
        return Document(document.sentences, text=text, id=id, extra=extra)
    mention = Mention("ADR", [(word, word + 1) for word in words], score=score)
    sentences = (first.with_mentions([mention]), *document.sentences[1:])
    return Document(sentences, text=text, id=id, extra=extra)


def of_words(*words):
    """Return a document without a text."""
    return Document([Sentence(words, [Mention("ADR", [(0, 1)])])])
