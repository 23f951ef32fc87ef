"""BioC XML: read, written, and what is wrong with it."""

import tracemalloc
from pathlib import Path

import pytest

import samples
from discotag import Mention, Sentence
from discotag.corpora import CorpusError, read, strict, write
from discotag.corpora.parsing import xml_elements
from discotag.corpora.parsing.xml_elements import CHUNK, MAX_DEPTH, elements
from discotag.mentions import Document
from discotag.words import Splitter

POSTS = Path(__file__).parents[2] / "data" / "bioc" / "posts.xml"

DOCUMENT = """<document><id>d</id><passage><offset>0</offset><text>Sore toes.</text>
<annotation id="T1"><infon key="type">ADR</infon><location offset="0" length="9"/>
<text>Sore toes</text></annotation></passage></document>"""


def tried(tmp_path, content, format="bioc-xml"):
    """The documents and problems of a file with this content."""
    return samples.tried(tmp_path / "file.xml", content, format)


def collection(inside, start=""):
    return f"{start}<collection><source/><date/><key/>{inside}</collection>"


def test_a_sample():
    first, second = read(POSTS)
    assert first.id == "post-1"
    assert first.text == "Week one – nausea\nSore toes & knees. Slept well."
    assert [each.text for each in first.sentences][:2] == [
        "Week one – nausea",
        "Sore toes & knees.",
    ]
    assert first.sentences[1].mentions == (
        Mention("ADR", [(0, 1), (3, 4)]),
        Mention("ADR", [(0, 2)]),
    )
    assert [each.text for each in second.sentences] == ["Hands shook", "then stopped."]
    assert second.mentions[0].text == "Hands shook"


@pytest.mark.parametrize("format", ["bioc-xml", "bioc-json", "bigbio"])
def test_round_trip(tmp_path, format):
    text = " A <b> & \"c\"\r\nsore 😀 toes\t– 'end' "
    document = Splitter().document(text, id="x<&>\u2028 1")
    words = document.sentences[0].words
    mentions = [Mention('L"&<', [(0, 1), (len(words) - 1, len(words))]), Mention("M", [(2, 3)])]
    first = document.sentences[0]
    sentence = Sentence(words, mentions, text=first.text, offsets=first.offsets, start=first.start)
    documents = [
        Document((sentence, *document.sentences[1:]), text=text, id=document.id),
        Document([], text=""),
    ]
    write(documents, tmp_path / "out", format)
    assert list(read(tmp_path / "out", format)) == documents
    assert list(read(tmp_path / "out")) == documents


@pytest.mark.parametrize("bad", ["\x00", "\x0b", "\x1f", "\ufffe"])
def test_characters_that_xml_has_not(tmp_path, bad):
    with pytest.raises(CorpusError, match="cannot represent the character"):
        write([Document([], text=f"a{bad}b")], tmp_path / "out.xml", "bioc-xml")
    assert not list(tmp_path.iterdir())


def test_entities_are_refused(tmp_path):
    laughs = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
    start = f'<!DOCTYPE collection [<!ENTITY l0 "ha">{laughs}]>'
    documents, found = tried(tmp_path, collection(DOCUMENT.replace("Sore", "&l9;"), start))
    assert documents == []
    assert [problem.kind for problem in found] == ["syntax"]
    assert "defines entities" in found[0].message


@pytest.mark.parametrize(
    "start",
    [
        '<!DOCTYPE collection [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE collection [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>',
    ],
)
def test_external_entities_are_refused(tmp_path, start):
    documents, found = tried(tmp_path, collection(DOCUMENT.replace("Sore", "&x;"), start))
    assert documents == []
    assert "defines entities" in found[0].message


def test_a_document_type_is_not_fetched(tmp_path):
    start = '<!DOCTYPE collection SYSTEM "http://localhost:1/BioC.dtd">\n'
    documents, found = tried(tmp_path, collection(DOCUMENT, start))
    assert (len(documents), found) == (1, [])
    documents, found = tried(tmp_path, collection(DOCUMENT.replace("Sore", "&auml;"), start))
    assert documents == []
    assert [(problem.kind, problem.line) for problem in found] == [("syntax", 2)]
    assert "undefined entity" in found[0].message


def test_encodings(tmp_path):
    document = DOCUMENT.replace("toes.", "toes ä")
    latin = collection(document, '<?xml version="1.0" encoding="ISO-8859-1"?>').encode("latin-1")
    documents, found = tried(tmp_path, latin)
    assert (documents[0].text, found) == ("Sore toes ä", [])
    wide = collection(document, '<?xml version="1.0" encoding="UTF-16"?>').encode("utf-16")
    documents, found = tried(tmp_path, wide)
    assert (documents[0].text, found) == ("Sore toes ä", [])
    documents, found = tried(tmp_path, b"\xef\xbb\xbf" + collection(document).encode())
    assert (len(documents), found) == (1, [])
    documents, found = tried(tmp_path, collection(document).encode("latin-1"))
    assert [problem.kind for problem in found] == ["encoding"]
    assert "0xe4" in found[0].message
    for name in ("klingon", "hex", "utf-7", "big5"):
        start = f'<?xml version="1.0" encoding="{name}"?>'
        assert tried(tmp_path, collection(document, start).encode())[1]


def test_a_truncated_file_gives_what_was_whole(tmp_path):
    whole = collection(DOCUMENT + "\n" + DOCUMENT)
    for cut in range(len(whole) - 1):
        documents, found = tried(tmp_path, whole[:cut])
        assert len(documents) == whole[:cut].count("</document>")
        assert [problem.kind for problem in found] == ["syntax"]


def test_large_and_deep(tmp_path):
    attribute = DOCUMENT.replace('id="T1"', f'id="{"T" * (1 << 20)}"')
    documents, found = tried(tmp_path, collection(attribute))
    assert (len(documents[0].mentions), found) == (1, [])
    wrong = attribute.replace(">Sore toes</text>", ">Other</text>")
    _, (problem,) = tried(tmp_path, collection(wrong))
    assert (problem.kind, problem.line) == ("text_mismatch", 2)
    assert len(str(problem)) < 1000
    deep = "<document>" + "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH + "</document>"
    documents, found = tried(tmp_path, collection(deep))
    assert documents == []
    assert "deep" in found[0].message
    endless = "<document>" + "<a>" * 200_000
    assert len(tried(tmp_path, collection(endless))[1]) == 1


def test_bad_parts_are_left_out(tmp_path):
    for before, after, kind, number in [
        ('key="type"', 'key="kind"', "syntax", 1),
        ('length="9"', 'length="x"', "syntax", 1),
        ('length="9"', "", "syntax", 1),
        ('length="9"', f'length="{"9" * 5000}"', "syntax", 1),
        ('length="9"', 'length="-1"', "inverted", 1),
        ('length="9"', 'length="0"', "empty", 1),
        ('length="9"', 'length="99"', "outside", 1),
        ('length="9"', 'length="8"', "text_mismatch", 1),
        ('<location offset="0" length="9"/>', "", "empty", 1),
        ("<offset>0</offset>", "", "syntax", 0),
        ("<offset>0</offset>", "<offset>٣</offset>", "syntax", 0),
    ]:
        documents, found = tried(tmp_path, collection(DOCUMENT.replace(before, after) + DOCUMENT))
        assert [problem.kind for problem in found] == [kind], before
        assert [len(each.mentions) for each in documents] == [0] * number + [1]
        assert found[0].line is not None


def test_memory_holds_one_document(tmp_path):
    path = tmp_path / "large.xml"
    number, text = 400, "word " * 20_000
    with path.open("w") as stream:
        stream.write("<collection>")
        for _ in range(number):
            stream.write(f"<document><id>1</id><passage><offset>0</offset><text>{text}</text>")
            stream.write("</passage></document>")
        stream.write("</collection>")
    tracemalloc.start()
    try:
        assert sum(1 for _ in elements(path, ("document",), strict)) == number
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * CHUNK < path.stat().st_size / 4


def test_documents_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_elements, "MAX_LINE", 2 * CHUNK)
    monkeypatch.setattr(xml_elements, "CHUNK", 1 << 16)
    whole = DOCUMENT.replace("Sore", "Sore " * 120_000)
    documents, found = tried(tmp_path, collection(DOCUMENT + whole + whole))
    assert [problem.kind for problem in found] == ["text_mismatch", "text_mismatch"]
    documents, found = tried(tmp_path, collection(DOCUMENT + whole.replace("Sore", "Sore Sore")))
    assert (len(documents), [problem.kind for problem in found]) == (1, ["too_long"])


def test_relations_to_nothing_are_reported_with_their_line(tmp_path):
    (tmp_path / "a.xml").write_text(
        """<collection><document><id>7</id><passage><offset>0</offset><text>Sore</text>
<annotation id="T1"><infon key="type">A</infon><location offset="0" length="4"/></annotation>
<relation id="R1"><node refid="T1" role=""/>
<node refid="T2" role=""/></relation>
</passage></document></collection>"""
    )
    problems = []
    (found,) = read(tmp_path / "a.xml", report=problems.append)
    assert len(found.mentions) == 1
    assert [(each.kind, each.line, each.message) for each in problems] == [
        (
            "dangling",
            4,
            "relation 'R1' of document '7' refers to 'T2', which is not in the document",
        )
    ]
