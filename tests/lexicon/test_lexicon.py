import re
from importlib import resources
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag.errors import DiscotagError
from discotag.lexicon import Lexicon, LexiconError, normalise
from discotag.lexicon.lexicon import HEADER, MAX_LINE

# Few letters, so that terms and texts meet often; plurals, compounds and hyphens come up.
PARTS = st.sampled_from(["toe", "hip", "joint", "ab", "toes", "artery", "arteries", "calf", "x"])
TERMS = st.lists(PARTS, min_size=1, max_size=3).map(" ".join)
WORDS = st.lists(
    st.one_of(PARTS, st.sampled_from(["hipjoints", "Hip-joint", "calves", "-", "the", "TOES!"])),
    max_size=6,
)


def slow_singulars(word):
    """A second reading of what a word may be the plural of."""
    yield word
    for ending, instead in {
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ves", "f"),
        ("es", "is"),
        ("ae", "a"),
        ("i", "us"),
        ("a", "um"),
    }:
        singular = re.sub(f"{ending}$", instead, word)
        if singular != word and len(singular) > 2:
            yield singular


def slow_is_term(run, terms):
    """Whether a run of normal words is a term: by making all that each term can look like."""
    for term, singular in product(terms, slow_singulars(run[-1])):
        parts = term.split()
        if [*run[:-1], singular] == parts:
            return True
        two_long_parts = len(parts) == 2 and all(len(part) > 2 for part in parts)
        if two_long_parts and len(run) == 1 and singular == parts[0] + parts[1]:
            return True
    return False


def slow_find(words, terms):
    """Which words are in terms: the first, then the longest, then go on behind it."""
    cut = [(n, piece) for n, word in enumerate(words) for piece in re.findall(r"\w+", word.lower())]
    found, at = [], 0
    while at < len(cut):
        runs = [cut[at:end] for end in range(at + 1, len(cut) + 1)]
        good = [run for run in runs if slow_is_term([piece for _, piece in run], terms)]
        if good:
            longest = max(good, key=len)
            found.append((longest[0][0], longest[-1][0] + 1))
            at += len(longest)
        else:
            at += 1
    return found


@settings(deadline=None, max_examples=300)
@given(st.lists(TERMS, min_size=1, max_size=6), WORDS)
def test_finds_what_a_slow_reading_finds(terms, words):
    found = Lexicon(terms).find(words)
    assert [match.fragment for match in found] == slow_find(words, terms)
    assert all(match.term in terms for match in found)


@settings(deadline=None, max_examples=200)
@given(st.text())
def test_normal_form_is_stable_and_matches_itself(text):
    normal = normalise(text)
    assert normalise(normal) == normal
    if normal:
        lexicon = Lexicon([text])
        assert text in lexicon
        assert [match.term for match in lexicon.find(text.split())] == [normal]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("toes", "toe"),
        ("Feet", "foot"),
        ("wisdom teeth", "wisdom tooth"),
        ("eyelashes", "eyelash"),
        ("arteries", "artery"),
        ("calves", "calf"),
        ("testes", "testis"),
        ("vertebrae", "vertebra"),
        ("bronchi", "bronchus"),
        ("hipjoints", "hip joint"),
        ("hip - joints", "hip joint"),
        ("HALF-MOON", "half-moon"),
        ("ABDOMEN", "abdomen"),
        ("Achilles' tendon", "Achilles tendon"),
    ],
)
def test_words_of_the_default_lexicon(text, term):
    lexicon = Lexicon.default()
    assert [match.term for match in lexicon.find(text.split())] == [normalise(term)]
    assert text in lexicon


@pytest.mark.parametrize(
    "word", "in am is as us stiff pain right small of tear sweat o a t".split()
)
def test_words_that_are_no_body_parts(word):
    assert word not in Lexicon.default()
    assert Lexicon.default().find([word]) == []


def test_a_compound_is_one_word_alone():
    lexicon = Lexicon(["hip joint"])
    assert [match.fragment for match in lexicon.find(["sore", "hipjoints"])] == [(1, 2)]
    assert "sore hipjoints" not in lexicon


def test_default_lexicon_has_all_it_should():
    folder = resources.files("discotag.lexicon")
    left_out = [
        line.split("\t")
        for line in (folder / "wordnet_left_out.tsv").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    terms = Lexicon.default().terms
    assert len(terms) + len(left_out) > 3500
    assert all(reason for _, reason in left_out)
    # Acronyms may coincide with a term in lower case, other terms are in one list only.
    assert not [term for term, _ in left_out if normalise(term) in terms and not term.isupper()]
    assert "Princeton University" in (folder / "WORDNET_LICENSE.txt").read_text("utf-8")
    assert all(re.fullmatch(r"\d{8}", source) for source in terms.values())


def lexicon_file(tmp_path, content):
    path = tmp_path / "terms.tsv"
    path.write_bytes(content)
    return path


def test_reads_its_file(tmp_path):
    content = f"\ufeff{HEADER}\r\n# mine\r\n\r\nleft foo\tF1\r\nbar\r\nLeft Foo\tF2\r\n"
    lexicon = Lexicon.load(lexicon_file(tmp_path, content.encode()))
    assert lexicon.terms == {"left foo": "F1", "bar": ""}
    assert len(lexicon) == 2


HEAD = HEADER.encode() + b"\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "terms.tsv: the file has no terms"),
        (HEAD, "terms.tsv: the file has no terms"),
        (
            b"toe\n",
            "terms.tsv:1: not a lexicon file; its first line must be '# disco",
        ),
        (b"# discotag lexicon 2\ntoe\n", "terms.tsv:1: not a lexicon file"),
        (HEAD + b"toe\n\xff\xfe\n", "terms.tsv:3: byte 0 is not UTF-8"),
        (HEAD + b"toe\tF1\tmore\n", "terms.tsv:2: expected a term and a source"),
        (HEAD + b"toe\n\tF1\n", "terms.tsv:3: the term '' has neither letters nor digits"),
        (HEAD + b"a" * (MAX_LINE + 1), f"terms.tsv:2: the line is longer than {MAX_LINE} bytes"),
    ],
)
def test_says_what_is_wrong_with_a_file(tmp_path, content, message):
    with pytest.raises(LexiconError, match=re.escape(message)):
        Lexicon.load(lexicon_file(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(LexiconError, match="none.tsv: No such file"):
        Lexicon.load(tmp_path / "none.tsv")


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=80))
def test_only_own_errors_come_out_of_a_file(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "terms.tsv"
    path.write_bytes(HEAD + content)
    try:
        assert len(Lexicon.load(path)) > 0
    except DiscotagError as error:
        assert str(error).startswith(str(path))


@pytest.mark.parametrize("terms", [[], ["toe", "--"]])
def test_a_lexicon_needs_terms(terms):
    with pytest.raises(LexiconError):
        Lexicon(terms)
