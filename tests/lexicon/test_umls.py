import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag.lexicon import Lexicon, LexiconError, UmlsCounts, convert_umls
from discotag.lexicon.umls import MAX_LINE


def sty(concept, kind):
    return f"{concept}|{kind}|A1.2|Some Type|AT1||"


def conso(concept, name, *, language="ENG", kind="PT", suppress="N"):
    return f"{concept}|{language}|P|L1|PF|S1|Y|A1||||INVENTED|{kind}|X1|{name}|0|{suppress}|256|"


TYPES = [
    sty("C0000001", "T023"),
    sty("C0000002", "T029"),
    sty("C0000003", "T030"),
    sty("C0000003", "T047"),
    sty("C0000004", "T047"),
]
NAMES = [
    conso("C0000001", "Left foo bone"),
    conso("C0000001", "left FOO-bone", kind="SY"),
    conso("C0000001", "hueso foo", language="SPA"),
    conso("C0000001", "lfb", kind="AB"),
    conso("C0000001", "lf", kind="ACR", suppress="Y"),
    conso("C0000002", "Bar région", kind="SY"),
    conso("C0000002", "old bar", suppress="O"),
    conso("C0000002", "edited bar", suppress="E"),
    conso("C0000002", "odd bar", suppress="Y"),
    conso("C0000003", "Baz gap"),
    conso("C0000004", "Bazitis"),
]
EXPECTED = {"bar région": "C0000002", "baz gap": "C0000003", "left foo bone": "C0000001"}


def metathesaurus(folder, *, types=TYPES, names=NAMES, end="\n", compress=False):
    folder.mkdir(exist_ok=True)
    for name, lines in (("MRSTY.RRF", types), ("MRCONSO.RRF", names)):
        content = b"".join(
            (line if isinstance(line, bytes) else line.encode()) + end.encode() for line in lines
        )
        if compress:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_body_parts_in_english_without_abbreviations(tmp_path, compress, end):
    out = tmp_path / "body.tsv"
    told = []
    counts = convert_umls(
        metathesaurus(tmp_path / "META", end=end, compress=compress),
        out,
        progress=lambda *state: told.append(state),
    )
    assert counts == UmlsCounts(
        lines=11, concepts=3, names=9, abbreviations=2, suppressed=3, terms=3, bad=0
    )
    assert Lexicon.load(out).terms == EXPECTED
    lines = out.read_text("utf-8").splitlines()
    assert lines[2:] == sorted(lines[2:])
    assert [name.removesuffix(".gz") for name, done, size in told if done == size] == [
        "MRSTY.RRF",
        "MRCONSO.RRF",
    ]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["body.tsv"]


BAD = [
    ("C0000001|ENG|too|short|", "expected 18 fields that end with '|', got 4"),
    ("", "expected 18 fields that end with '|', got 0"),
    (conso("C0000001", "a|b"), "expected 18 fields that end with '|', got 19"),
    (conso("C0000001", "?").encode().replace(b"?", b"\xff"), "the name is not UTF-8"),
    (conso("C0000001", ""), "the name has neither letters nor digits"),
    (conso("C0000001", "a" * MAX_LINE), f"the line has more than {MAX_LINE} bytes"),
    (conso("C0000001", "a" * 3 * MAX_LINE), f"the line has more than {MAX_LINE} bytes"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_bad_line_is_named(tmp_path, line, message):
    meta = metathesaurus(tmp_path / "META", names=[*NAMES[:3], line, *NAMES[3:]])
    with pytest.raises(LexiconError, match=re.escape(f"MRCONSO.RRF:4: {message}")):
        convert_umls(meta, tmp_path / "body.tsv")
    assert not (tmp_path / "body.tsv").exists()


def test_bad_lines_are_left_out_and_counted(tmp_path):
    bad = [line for line, _ in BAD]
    meta = metathesaurus(
        tmp_path / "META",
        types=["nonsense", *TYPES, sty("no concept", "T023")],
        names=[*bad, *NAMES, *bad],
    )
    problems = []
    counts = convert_umls(meta, tmp_path / "body.tsv", skip=problems.append)
    assert counts.bad == len(problems) == 2 + 2 * len(BAD)
    assert counts.lines == len(NAMES) + 2 * len(BAD)
    assert Lexicon.load(tmp_path / "body.tsv").terms == EXPECTED
    places = [int(re.search(r"MRCONSO.RRF:(\d+): ", str(p))[1]) for p in problems[2:]]
    assert places == [*range(1, 8), *range(19, 26)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": [sty("C0000001", "T047")]}, "MRSTY.RRF: no concept has one of the types"),
        ({"names": NAMES[2:5]}, "MRCONSO.RRF: the file has no English names of body parts"),
    ],
)
def test_without_body_parts(tmp_path, change, message):
    with pytest.raises(LexiconError, match=message):
        convert_umls(metathesaurus(tmp_path / "META", **change), tmp_path / "body.tsv")


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(LexiconError, match="MRSTY.RRF and MRSTY.RRF.gz not found"):
        convert_umls(tmp_path, tmp_path / "body.tsv")
    meta = metathesaurus(tmp_path / "META")
    with pytest.raises(LexiconError, match="does not exist"):
        convert_umls(meta, tmp_path / "none" / "body.tsv")
    with pytest.raises(LexiconError, match="is a folder"):
        convert_umls(meta, tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-12], lambda data: b"no gzip", lambda data: data[:20] + b"x" * 40]
)
def test_damaged_compression(tmp_path, damage):
    meta = metathesaurus(tmp_path / "META", compress=True)
    path = meta / "MRCONSO.RRF.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(LexiconError, match="MRCONSO.RRF.gz: cannot be read after line"):
        convert_umls(meta, tmp_path / "body.tsv")


NAME = st.text(st.characters(exclude_characters="|\n\r", exclude_categories=["Cs"]), max_size=8)
ROW = st.tuples(
    st.sampled_from(["C0000001", "C0000004"]),
    st.one_of(st.sampled_from(["foo", "Foo bar", "in"]), NAME),
    st.sampled_from(["ENG", "SPA"]),
    st.sampled_from(["PT", "AB", "MTH_ACR"]),
    st.sampled_from("NOEY"),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(ROW, max_size=8))
def test_agrees_with_a_slow_reading(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("slow")
    lines = [
        conso(concept, name, language=language, kind=kind, suppress=suppress)
        for concept, name, language, kind, suppress in rows
    ]
    meta = metathesaurus(folder / "META", names=[conso("C0000002", "always"), *lines])
    convert_umls(meta, folder / "body.tsv", skip=lambda problem: None)
    good = [
        name
        for concept, name, *rest in rows
        if concept == "C0000001" and rest == ["ENG", "PT", "N"]
    ]
    expected = Lexicon(["always", *(name for name in good if any(map(str.isalnum, name)))])
    assert set(Lexicon.load(folder / "body.tsv").terms) == set(expected.terms)
