import sys
from types import ModuleType

import pytest
from accelerate import tracking

from discotag.errors import InputError
from discotag.training import reporting as module
from discotag.training.progress import Progress
from discotag.training.reporting import reporting
from discotag.training.settings import Settings

FIGURES = {"all": {"f1": 0.5, "gold": 4}}
WANTED = {"train/loss": 2.5, "eval/all_f1": 0.5, "eval/all_gold": 4}


def train(settings, logs):
    with reporting(settings, logs) as listener:
        listener(Progress(seed=1, steps=6, step=0, epoch=0))
        listener(Progress(seed=1, steps=6, step=1, epoch=0, loss=3.0))
        listener(Progress(seed=1, steps=6, step=3, epoch=1, loss=2.5, figures=FIGURES))


def test_epochs_are_reported_to_the_places_of_the_settings(tmp_path, monkeypatch):
    calls = []

    class Diary(tracking.GeneralTracker):
        name = "diary"
        requires_logging_directory = False

        def __init__(self, run_name, **_):
            super().__init__()
            calls.append(run_name)

        @property
        def tracker(self):
            return self

        def store_init_configuration(self, values):
            calls.append(values["slots"])

        def log(self, values, step=None, **_):
            calls.append((values, step))

        def finish(self):
            calls.append("end")

    monkeypatch.setattr(tracking, "_available_trackers", ["diary"])
    monkeypatch.setitem(tracking.LOGGER_TYPE_TO_CLASS, "diary", Diary)
    train(Settings(report_to=("diary",)), tmp_path / "seed-1")
    assert calls == ["discotag", "3", (WANTED, 3), "end"]
    with pytest.raises(InputError, match="report_to: nobody is unknown .*; use one of diary"):
        train(Settings(report_to=("nobody",)), None)


def test_tensorboard_is_written_where_it_is_installed(tmp_path, monkeypatch):
    written = []

    class SummaryWriter:
        def __init__(self, folder):
            written.append(folder)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            written.append("closed")

        def add_scalar(self, *given):
            written.append(given)

    fake = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    monkeypatch.setattr(module, "find_spec", bool)
    train(Settings(), tmp_path / "seed-1")
    scalars = [(name, value, 3) for name, value in WANTED.items()]
    assert written == [tmp_path / "seed-1", *scalars, "closed"]
