"""What `predict` returns: lazy, and shown by notebooks without using it up."""

import pytest

from discotag import Document, Mention, Sentence
from discotag.prediction.predictions import SHOWN, Predictions


def documents(number, read):
    for each in range(number):
        read.append(each)
        yield Document([Sentence(["sore"], [Mention("ADR", [(0, 1)])])], id=f"<{each}>")


def test_showing_uses_nothing_up():
    read = []
    found = Predictions(documents(9, read))
    assert next(found).id == "<0>"
    assert read == [0]
    shown = found._repr_html_()
    assert read == list(range(SHOWN + 1))
    assert found._repr_html_() == shown
    assert read == list(range(SHOWN + 1))
    assert "&lt;1&gt;" in shown
    assert "&lt;0&gt;" not in shown
    assert "1 document was taken before these" in shown
    assert [each.id for each in found] == [f"<{n}>" for n in range(1, 9)]
    assert "no more documents; 9 were taken" in found._repr_html_()
    assert "9 documents taken" in repr(found)


def test_errors_are_shown_and_still_raised():
    def failing():
        yield Document([Sentence(["sore"])], id="good")
        raise ValueError("<bad> item")

    found = Predictions(failing())
    assert "Then an error occurs: &lt;bad&gt; item" in found._repr_html_()
    assert next(found).id == "good"
    with pytest.raises(ValueError, match="bad"):
        next(found)
    assert list(found) == []


def test_documents_and_sentences_show_themselves():
    sentence = Sentence(["sore", "toes"], [Mention("ADR", [(0, 2)])])
    assert "sore toes" in sentence._repr_html_()
    assert "sore toes" in Document([sentence])._repr_html_()
