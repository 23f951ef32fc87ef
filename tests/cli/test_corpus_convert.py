import pytest
import typer
from typer.testing import CliRunner

from discotag.cli.commands import register
from discotag.cli.corpus_convert import convert
from discotag.corpora import read

app = typer.Typer()
register(app, "convert", convert)
app.command("other")(lambda: None)

TEXT = "pain in arms and légs\n0,1,4,4 ADR|0,2 ADR\n\nfine .\n\n\n"


def run(*arguments, **options):
    return CliRunner().invoke(app, ["convert", *map(str, arguments)], **options)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(TEXT, "utf-8")
    return path


def test_there_and_back(source, tmp_path):
    lines, back = tmp_path / "out.jsonl", tmp_path / "back.txt"
    done = run(source, lines)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "as jsonl: 2 documents, 2 sentences, 2 mentions; left out with errors: 0" in done.stderr
    done = run(lines, back)
    assert done.exit_code == 0
    assert "keeps words" not in done.stderr  # there was nothing else to keep
    assert back.read_bytes() == source.read_bytes()


def test_standard_input_and_output(source, tmp_path):
    done = run("-", "-", "--from", "inline", "--to", "inline", input=TEXT.encode())
    assert (done.exit_code, done.stdout) == (0, TEXT)
    done = run("-", "-", "--format", "inline", "--to", "inline", input=TEXT.encode())
    assert (done.exit_code, done.stdout) == (0, TEXT)  # as check and split call it
    done = run(source, "-")
    assert len(done.stdout.splitlines()) == 2
    assert done.stdout.startswith('{"discotag":1,')


def test_text_is_cut_by_options_and_its_loss_told_of(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "d", "text": "Can\'t sleep.\\nSore.", "mentions": []}\n')
    done = run(source, "-", "--to", "inline", "--sentences", "lines", "--words", "spaces")
    assert done.stdout == "Can't sleep.\n\n\nSore.\n\n\n"
    assert "texts, ids and borders of 1 documents are not in it" in done.stderr


def test_bad_input_leaves_nothing_unless_skipped(tmp_path):
    source, target = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("sore toes\n0,1 ADR|7,7 ADR\n\n" * 30)
    done = run(source, target)
    assert done.exit_code == 1
    assert "in.txt:2: '7,7 ADR' reaches past the sentence" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]
    done = run(source, target, "--skip-bad")
    assert done.exit_code == 0
    assert done.stderr.count("left out: ") == 20
    assert "… and 10 problems more" in done.stderr
    assert "left out with errors: 30" in done.stderr
    assert sum(len(each.mentions) for each in read(target)) == 30


def test_what_a_format_cannot_hold(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.txt"
    source.write_text('{"sentences": [{"words": ["two words"]}]}\n')
    done = run(source, target)
    assert done.exit_code == 1
    assert "the format cannot hold the word 'two words'" in str(done.exception)
    assert not target.exists()


def test_nothing_is_overwritten(source, tmp_path):
    target = tmp_path / "out.jsonl"
    target.write_text("mine")
    done = run(source, target)
    assert "is there already; say --force" in str(done.exception)
    assert target.read_text() == "mine"
    assert run(source, target, "--force").exit_code == 0
    assert target.read_text() != "mine"
    done = run(source, source, "--to", "jsonl", "--force")
    assert "is part of what is read" in str(done.exception)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "in.txt").write_text(TEXT, "utf-8")
    done = run(folder, folder / "out.jsonl")
    assert "is part of what is read" in str(done.exception)
    assert run(folder, tmp_path / "new.jsonl").exit_code == 0


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("out.pdf", [], "no format is known by this ending; say --to with one of"),
        ("out", [], "no format is known by this ending"),
        ("out.xml", ["--to", "knowtator"], "knowtator can be read, not written"),
        ("out.jsonl", ["--to", "odd"], "unknown format; there are"),
        ("out.jsonl", ["--from", "odd"], "unknown format; there are"),
        ("folder", ["--to", "jsonl"], "folder is a folder; jsonl is written to a file"),
        ("none/out.jsonl", [], "no such file or directory"),
    ],
)
def test_bad_usage_is_one_line(source, tmp_path, target, options, message):
    (tmp_path / "folder").mkdir()
    done = run(source, tmp_path / target, *options)
    assert done.exit_code == 1
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "in.txt"]


def test_a_folder_is_brat(source, tmp_path):
    folder, back = tmp_path / "brat", tmp_path / "back.txt"
    assert run(source, f"{folder}/").exit_code == 0
    assert (folder / "000001.ann").read_text().startswith("T1\tADR 0 7;17 21\tpain in légs\n")
    done = run(folder, back, "--sentences", "lines", "--words", "spaces")
    assert (done.exit_code, back.read_text("utf-8")) == (0, TEXT)
    assert "is there already" in str(run(source, folder).exception)
    assert "cannot be written to -" in str(run(source, "-", "--to", "brat").exception)
    assert "is written to a folder" in str(run(source, back, "--to", "brat").exception)


def test_mentions_that_bio_cannot_hold(source, tmp_path):
    done = run(source, tmp_path / "out.conll")
    assert "cannot hold mention ADR 'pain in légs'" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_endings_name_formats_that_are_there():
    from discotag.cli.corpus_convert import BY_SUFFIX, WORDS_ONLY
    from discotag.corpora import FORMATS

    for name in {*BY_SUFFIX.values(), *WORDS_ONLY, "brat"}:
        assert FORMATS[name].write is not None
