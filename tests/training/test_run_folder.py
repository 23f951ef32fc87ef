import pytest

from discotag.errors import DiscotagError, InputError
from discotag.training.run_folder import RunError, check_outside, claim, locked_folder
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from locks import held

EVERYTHING = {"settings.yaml", "data.json", "left_out.jsonl", "checkpoints"}


def begin(out, error, write):
    with locked_folder(out):
        claim(out, Settings(), {})
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
        claim(earlier, Settings(), {})
    assert refused(earlier) == {"settings.yaml", "data.json"}


@pytest.mark.parametrize("name", ["notes.txt", "tensorboard", "figures.json"])
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
        claim(out, Settings(), {})
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
            check_outside(corpus / "runs" / "run", sources)
        check_outside(tmp_path / "run", sources)
