import json

import pytest

import shell

FIGURE = "Chronic fatigue together with swollen and stiff knees and left elbows ."
FIGURE_MENTIONS = [
    "Chronic fatigue",
    "swollen knees",
    "swollen left elbows",
    "stiff knees",
    "stiff left elbows",
]
FIGURE_TAGS = "CB CI O O DB-Bx DI-O DI-Bx DI-By DI-O DI-By DI-Iy O"


def discotag(*arguments, **environment):
    return shell.discotag("scheme", *arguments, **environment)


def ok(*arguments):
    done = discotag(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def figure_options():
    return [option for mention in FIGURE_MENTIONS for option in ("-m", mention)]


def test_shows_the_scheme():
    shown = ok()
    for part in ("9 tags", "DI-Iy", "a mention set ends with a component word", "37047"):
        assert part in shown


def test_encodes_the_figure_and_draws_it():
    shown = ok(FIGURE, *figure_options())
    assert FIGURE in shown
    assert FIGURE_TAGS.split() in [line.split() for line in shown.splitlines()]
    assert "swollen left elbows" in shown


def test_encodes_and_decodes_as_data():
    encoded = json.loads(ok(FIGURE, *figure_options(), "--json"))["example"]
    assert " ".join(encoded["tags"]) == FIGURE_TAGS
    assert encoded["sets"] == [
        {"label": "ADR", "slots": [[[4, 5], [6, 7]], [[7, 8], [9, 11]]]},
    ]
    decoded = json.loads(ok(FIGURE, "--tags", FIGURE_TAGS, "--json"))["example"]
    assert decoded == encoded
    assert sorted(mention["text"] for mention in decoded["mentions"]) == sorted(FIGURE_MENTIONS)
    for mention in decoded["mentions"]:
        parts = [FIGURE[start:end] for start, end in mention["spans"]]
        assert " ".join(parts) == mention["text"]


def test_data_of_the_scheme():
    data = json.loads(ok("--json", "--slots", "3", "--gap-mentions"))
    assert (data["slots"], data["gap_mentions"], len(data["tags"])) == (3, True, 13)
    assert (data["grammar"]["states"], len(data["grammar"]["arcs"])) == (23, 136)
    assert data["grammar"]["well_formed"][5] == 590
    assert "example" not in data


def test_mentions_by_ranges_and_with_labels():
    example = json.loads(
        ok(
            "a b c d",
            "-m",
            "B=1:2",
            "-m",
            "A=a c",
            "--label",
            "A",
            "--label",
            "B",
            "--gap-mentions",
            "--json",
        )
    )["example"]
    assert example["tags"] == ["DB-Bx:A", "DI-CB:B", "DI-By:A", "O"]


def test_semantic_naming_and_tags_without_words():
    shown = ok("--naming", "semantic", "--tags", "DB-By DI-O DI-Bx")
    assert "0 2" in shown


@pytest.mark.parametrize("text", ["pain [/b]", "[sic] pain", "take :pill:", "a\\[b"])
def test_text_is_shown_as_it_is(text):
    shown = ok(text, "-m", text).splitlines()
    assert shown[0] == text
    assert text in shown[-1]  # the decoded mention
    assert "[red]" in ok("--label", "[red]")


def test_what_would_move_the_cursor_is_made_visible():
    assert "\x1b" not in ok("a\x1b[31m b", "-m", "a\x1b[31m")


def test_a_terminal_that_knows_only_ascii():
    done = discotag("a b c", "-m", "a c", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "DB-Bx DI-O DI-By" in done.stdout


def test_nothing_is_cut_off_in_a_narrow_terminal():
    done = discotag("pain shoulders", "-m", "pain shoulders", COLUMNS="20")
    assert "…" not in done.stdout
    done = discotag("pain shoulders", "-m", "pain shoulders", COLUMNS="12")
    assert "━━━━ ADR …\nshoulders\n━━━━━━━━━ … ADR\n" in done.stdout  # continued, not cut off
    large = ["--slots", "4", "--naming", "semantic", "--gap-mentions"]
    assert "4424677" in ok(*large, *[f"--label={c}" for c in "A"])


def test_labels_that_hold_an_equals_sign():
    shown = json.loads(ok("a b", "--label", "A=B", "--label", "C", "-m", "A=B=a", "--json"))
    assert shown["example"]["tags"] == ["CB:A=B", "O"]


def test_many_words_are_drawn_in_time():
    assert ok("--tags", " ".join(["CB"] * 20_000)).count("ADR") >= 20_000


def test_dot():
    dot = ok("--dot", "--slots", "0")
    assert dot.startswith('digraph "discotag" {')
    assert '[label="CB\\nCI"]' in dot


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slots", "7"], "slots must be 0 to 4, got 7"),
        (["--tags", "CI"], "word 0 (CI) breaks rule 1: CI follows CB or CI"),
        (["--tags", "O B-ADR"], "word 1: 'B-ADR' is not a tag of this scheme: O CB CI"),
        (["a b c", "--tags", "O O"], "3 words but 2 tags; give one tag for each word"),
        (["a b", "-m", "z"], "mention 'z': its words do not occur in the sentence in order"),
        (["a b", "-m", "0:5"], "reaches past the end of its sentence, which has 2 words"),
        (["a b", "-m", "1:1"], "fragment (1, 1) is empty"),
        (["a b", "-m", "0:1 z"], "mention '0:1 z': its words"),
        (["a", "--tags", "O O"], "1 word but 2 tags"),
        (["a b", "-m", "a", "--label", "A", "--label", "B"], "use one of A=…, B=…"),
        (["a b c", "-m", "a c", "-m", "b"], "mention_in_gap: a continuous mention is in a gap"),
        (["a b", "-m", "a", "-m", "a"], "same_words: the same mention is given twice"),
    ],
)
def test_bad_input_ends_in_one_line(arguments, message):
    done = discotag(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "a"],
        ["a", "-m", "a", "--tags", "O"],
        ["--dot", "--json"],
        ["--dot", "a"],
        ["--naming", "odd"],
    ],
)
def test_wrong_usage_exits_2(arguments):
    done = discotag(*arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_help_has_an_example():
    assert 'discotag scheme "pain in arms and shoulders"' in ok("--help")
