import pytest

from discotag.errors import DiscotagError, InputError
from discotag.training.run_folder import RunError, check_apart, claim, locked_folder
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from locks import held

EVERYTHING = {"settings.yaml", "data.json", "left_out.jsonl", "checkpoints"}
DIGESTS = {"train": ["0a"], "dev": ["0b"]}


def begin(out, error, write):
    with locked_folder(out):
        claim(out, Settings(), DIGESTS)
        (out / "left_out.jsonl").write_text("")
        (out / "checkpoints" / "seed-1").mkdir(parents=True, exist_ok=True)
        for name in write:
            (out / name).write_text("")
        raise error


def refused(out, error=InputError, write=()):
    """Begin a run that fails before it trains, and return the names of what it leaves."""
    with pytest.raises(error):
        begin(out, error("no mention"), write)
    return {path.name for path in out.iterdir()} if out.exists() else None


@pytest.mark.parametrize("error", [InputError, RunError])
def test_a_refused_run_leaves_nothing(tmp_path, error):
    assert refused(tmp_path / "run", error) is None
    assert refused(tmp_path / "a" / "b" / "run", error) is None
    assert not list(tmp_path.iterdir())


def test_a_refused_run_keeps_what_was_there(tmp_path):
    (tmp_path / "a" / "empty").mkdir(parents=True)
    assert refused(tmp_path / "a" / "empty") == set()
    assert refused(tmp_path / "a" / "b" / "run") is None
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["empty"]
    earlier = tmp_path / "earlier"
    with locked_folder(earlier):
        claim(earlier, Settings(), DIGESTS)
    assert refused(earlier) == {"settings.yaml", "data.json"}


@pytest.mark.parametrize("name", ["notes.txt", "figures.json"])
def test_a_run_folder_with_more_in_it_is_kept(tmp_path, name):
    assert refused(tmp_path / "run", RunError, write=[name]) == {*EVERYTHING, name}


def test_a_run_with_a_checkpoint_and_an_interrupted_one_are_kept(tmp_path):
    part = "checkpoints/seed-1/best-3.safetensors.part"
    assert refused(tmp_path / "begun", write=[part]) == EVERYTHING
    assert refused(tmp_path / "begun") == EVERYTHING
    assert refused(tmp_path / "stopped", KeyboardInterrupt) == EVERYTHING


def test_a_folder_that_another_process_uses_is_kept(tmp_path):
    out = tmp_path / "run"
    with locked_folder(out):
        claim(out, Settings(), DIGESTS)
    with (
        held(out),
        pytest.raises(DiscotagError, match="another process is writing it"),
        locked_folder(out),
    ):
        pass
    assert {path.name for path in out.iterdir()} == {"settings.yaml", "data.json"}


def test_a_run_folder_in_a_corpus_is_refused(tmp_path):
    corpus, file = tmp_path / "corpus", tmp_path / "train.jsonl"
    corpus.mkdir()
    message = r"run: is in .*corpus, which is read; give another folder"
    for sources in (Sources(corpus, file), Sources(file, file, None, (), (corpus,))):
        with pytest.raises(RunError, match=message):
            check_apart(corpus / "runs" / "run", sources)
        check_apart(tmp_path / "run", sources)


def test_a_run_folder_with_a_file_that_is_read_is_refused(tmp_path):
    file, other = tmp_path / "run" / "data.json", tmp_path / "other.jsonl"
    message = r"run: contains .*data\.json, which is read; give another folder"
    for sources in (Sources(file, other), Sources(other, other, file)):
        with pytest.raises(RunError, match=message):
            check_apart(tmp_path / "run", sources)
    with pytest.raises(RunError, match="run: contains .*run, which is read"):
        check_apart(tmp_path / "run", Sources(tmp_path / "run", other))


@pytest.mark.parametrize(
    "files",
    [
        {"data.json": "[]"},
        {"data.json": "{}", "settings.yaml": "slots: 2"},
        {"data.json": '{"train": [], "dev": []}', "notes.txt": ""},
        {"settings.yaml": "slots: 2"},
    ],
)
def test_files_of_others_are_not_overwritten(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(RunError, match="contains files that are not of a run"):
        claim(tmp_path, Settings(), {"train": [], "dev": []})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def test_a_run_that_was_stopped_early_can_be_begun_again(tmp_path):
    claim(tmp_path / "run", Settings(), {"train": ["a"], "dev": []})
    (tmp_path / "run" / "tensorboard").mkdir()
    claim(tmp_path / "run", Settings(slots=2), {"train": ["b"], "dev": []})
    (tmp_path / "run" / "settings.yaml").unlink()
    claim(tmp_path / "run", Settings(), {"train": ["b"], "dev": []})
