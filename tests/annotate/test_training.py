"""Training in the background: from finished documents to a model in use."""

import shutil
from threading import Event
from uuid import uuid4

import pytest

from annotating import Client, project_of, running, served, write_texts
from discotag import extras, load
from discotag.annotate import training as training_room
from discotag.annotate.models import keep_model, models_folder
from discotag.annotate.training import TrainingPlan
from discotag.annotate.training_data import ONE_IN, has_enough
from discotag.annotate.training_process import (
    Recipe,
    last_message,
    run_process,
    write_encoder,
)
from discotag.errors import DiscotagError
from discotag.model.encoder import load_encoder
from learnable import learnable_encoder
from tiny import tiny_model
from waiting import wait_for

TEXTS = {
    f"post-{number}": text
    for number, text in enumerate(
        [
            "i had no sleep",
            "my knees hurt",
            "my arms hurt",
            "my shoulders hurt",
            "the sleep was in my arms",
            "i had no pain",
        ]
    )
}
QUICK = "--num-train-epochs 2 --learning-rate 5e-3 --batch-size 2 --dropout 0 --fold 0"


@pytest.fixture
def folder(tmp_path):
    return write_texts(tmp_path / "posts", TEXTS)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return learnable_encoder(tmp_path_factory.mktemp("encoder") / "encoder")


def plan(encoder, *, after=3):
    settings = {"num_train_epochs": 2, "learning_rate": 5e-3, "batch_size": 2, "dropout": 0.0}
    return TrainingPlan(after, Recipe({**settings, "fold": 0.0, "encoder": str(encoder)}))


def annotate(client, *numbers):
    for number in numbers:
        words = client.state(number)["sentences"][0]["words"]
        client.add(number, (len(words) - 2, len(words)))
        client.act(number, "finish")


def ended(client, state="done"):
    def holds():
        training = client.ok("GET", "/api/project")["training"]
        assert training["state"] in ("waiting", "running", state), training
        return training["state"] == state

    wait_for(holds, 120)
    return client.ok("GET", "/api/project")


def proposer_of(project, number):
    """Return the version of the model whose proposals a document has."""
    with project.journal.reading() as db:
        return project.editor.status(db, number)[2]


def test_train_and_reload_without_stopping(folder, encoder):
    settings = {"labels": ("ADR",), "training": plan(encoder)}
    with project_of(folder, **settings) as project, served(project) as client:
        client.enter("Ann", "Ben")
        before = client.ok("GET", "/api/project")
        assert (before["model"], before["can_train"]) == (None, True)
        waiting = {"state": "waiting", "message": "", "finished_since": 0, "needed": 3}
        assert before["training"] == waiting
        answer = client.post("/api/training", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "too_little")
        annotate(client, 1, 2)
        client.add(4, (0, 1), annotator="Ben")  # touched: it keeps its proposals, none
        annotate(client, 3)
        after = ended(client)
        assert after["model"]["version"] == 1
        assert after["training"]["finished_since"] == 0
        said = after["training"]["message"]
        assert said.startswith("version 1 of the model is in use; its F1 on the documents")
        wait_for(lambda: proposer_of(project, 5) == 1)
        assert client.state(5)["model_version"] == 1
        touched = client.state(4, "Ben")
        assert (touched["model_version"], touched["revision"]) == (None, 1)
        folder_of_models = folder.with_name("posts.journal.models")
        first = folder_of_models / "training-1" / "run" / "model"
        assert load(first).scheme.labels == ("ADR",)

        annotate(client, 6)
        client.ok("POST", "/api/training", json={})  # before enough is finished
        again = client.post("/api/training", json={})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "training_runs")

        def next_is_used():
            client.state(5)  # which Ann has open
            return client.ok("GET", "/api/project")["model"]["version"] == 2

        wait_for(next_is_used, 120)
        assert proposer_of(project, 5) == 1
        client.ok("DELETE", "/api/documents/5/presence", params={"annotator": "Ann"})
        wait_for(lambda: proposer_of(project, 5) == 2)
        card = (folder_of_models / "training-2" / "run" / "model" / "README.md").read_text()
        assert "Training began with the weights of `model`" in card  # of version 1
        assert first.is_dir()  # versions are kept
    with project_of(folder, labels=("ADR",)) as project:  # the last model is loaded again
        assert project.proposer.model.version == 2


def test_a_failed_training_says_why_and_can_be_tried_again(folder, tmp_path):
    settings = {"labels": ("ADR",), "training": plan(tmp_path / "nothing", after=2)}
    with project_of(folder, **settings) as project, served(project) as client:
        client.enter("Ann")
        annotate(client, 2, 3)
        failed = ended(client, "failed")["training"]
        assert failed["message"].startswith("training failed: ")
        assert "nothing: there is no such" in failed["message"]
        assert "training-1/log.txt" in failed["message"]
        assert failed["finished_since"] == 0  # it does not try again by itself
        client.ok("POST", "/api/training", json={})
        wait_for(lambda: "training-2" in client.ok("GET", "/api/project")["training"]["message"])


def test_a_training_continues_after_a_kill(folder, encoder):
    options = ("--no-model", "--labels", "ADR", "--train", "--train-after", 2, "--train-options")
    more = f"{QUICK} --encoder {encoder}"
    with running(folder, *options, more) as server:
        with Client(base_url=server.url, timeout=60) as client:
            client.enter("Ann")
            annotate(client, 2, 3)
            wait_for(lambda: client.ok("GET", "/api/project")["training"]["state"] == "running")
        server.kill()
    with running(folder, *options, more) as server, Client(base_url=server.url) as client:
        assert ended(client)["model"]["version"] == 1
        assert client.state(2)["finished"]


def test_shares_are_kept(folder, encoder):
    with project_of(folder, labels=("ADR",)) as project, served(project) as client:
        client.enter("Ann")

        annotate(client, 1, 2, 3)
        first = shares_of(project)
        assert sorted(first.values()) == ["dev", "train", "train"]
        annotate(client, 4, 5, 6)
        second = shares_of(project)
        assert first.items() <= second.items()
        assert sorted(second.values()).count("dev") == 2 == -(-6 // ONE_IN)


def shares_of(project):
    with project.journal.writing() as db:
        training_room.share_documents(db)
        return dict(db.execute("SELECT document, share FROM shares"))


def test_the_same_text_is_not_learned_and_measured_on(tmp_path):
    texts = {f"{name}-{copy}": text for name, text in TEXTS.items() for copy in range(3)}
    folder = write_texts(tmp_path / "posts", texts)
    with project_of(folder, labels=("ADR",)) as project, served(project) as client:
        client.enter("Ann")
        annotate(client, *range(1, 19, 3))  # one of each text
        shares_of(project)
        annotate(client, *(number for number in range(1, 19) if number % 3 != 1))
        shares = shares_of(project)
    assert len(shares) == 18
    assert {*shares.values()} == {"train", "dev"}
    for first in range(1, 19, 3):
        assert len({shares[number] for number in range(first, first + 3)}) == 1


def test_enough_is_what_was_decided(folder):
    with project_of(folder, labels=("ADR",)) as project, served(project) as client:
        client.enter("Ann", "Ben")

        def enough():
            with project.journal.reading() as db:
                return has_enough(db)

        annotate(client, 1)
        annotate(client, 2)
        client.act(2, "finish", "Ben")  # without mentions
        assert not enough()  # a disagreement
        for wanted in ([], [{"label": "ADR", "fragments": [[0, 1]]}]):
            base = client.ok("GET", "/api/documents/2/versions")["revision"]
            body = {"id": str(uuid4()), "project": client.project, "annotator": "Ann"}
            body |= {"base": base, "sentences": [wanted]}
            client.ok("POST", "/api/documents/2/decision", json=body)
            assert enough() is bool(wanted)


def test_code_of_the_current_folder_is_not_run(tmp_path, monkeypatch):
    for name in ("discotag", "typer", "torch"):
        (tmp_path / f"{name}.py").write_text(f"open('{name}-was-here', 'w')")
    monkeypatch.chdir(tmp_path)
    assert run_process(tmp_path, Recipe({"encoder": "nothing"}), Event()) == 1
    assert "there is no such" in last_message(tmp_path)
    assert not list(tmp_path.glob("*-was-here"))


def versions_of_models(project):
    with project.journal.reading() as db:
        return db.execute("SELECT version, base, folder FROM models ORDER BY version").fetchall()


@pytest.fixture
def trained(folder, tmp_path):
    """A project with a trained model, and with another model after it."""
    model, other = tiny_model(tmp_path / "a"), tiny_model(tmp_path / "b")
    inside = "training-1/run/model"
    with project_of(folder, use_model=True, model=str(model)) as project:
        shutil.copytree(model, models_folder(project.journal.path) / inside)
        keep_model(project.journal, 2, str(model), inside)
    with project_of(folder, use_model=True, model=str(model)) as project:
        assert project.proposer.model.version == 2
    with project_of(folder, use_model=True, model=str(other)) as project:
        assert project.proposer.model.version == 3
    return model, inside


def test_the_trained_model_is_back_after_another_one(folder, trained):
    model, inside = trained
    for _ in range(2):
        with project_of(folder, use_model=True, model=str(model)) as project:
            assert project.proposer.model.version == 4  # so that proposals are renewed
            assert project.proposer.model.tagger.folder.as_posix().endswith(inside)
            assert versions_of_models(project)[-1] == (4, str(model), inside)


def test_a_backup_without_the_folder_of_models(folder, trained, caplog):
    model, _ = trained
    models = folder.with_name("posts.journal.models")
    kept = models.rename(folder.with_name("elsewhere"))
    for _ in range(2):
        caplog.clear()
        with project_of(folder, use_model=True, model=str(model)) as project:
            assert project.proposer.model.version == 4
            assert project.proposer.model.tagger.folder == model
        assert "the last model of this project is missing" in caplog.text
        assert f"it goes on with {model}" in caplog.text
    kept.rename(models)
    with project_of(folder, use_model=True, model=str(model)) as project:
        assert project.proposer.model.version == 5
        assert project.proposer.model.tagger.folder.is_relative_to(models)


def test_what_training_needs(folder, monkeypatch):
    def refuses(said):
        with (
            pytest.raises(DiscotagError, match=said),
            project_of(folder, training=TrainingPlan()),
        ):
            pass

    refuses("needs an encoder to begin with")
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "torch" else 1)
    refuses("training needs torch: pip install accelerate .*transformers")


def test_other_labels_begin_with_the_encoder_of_the_model(folder, tmp_path):
    model = str(tiny_model(tmp_path))
    settings = {"use_model": True, "model": model, "training": TrainingPlan()}
    with project_of(folder, labels=(), **settings) as project:
        recipe = project.trainer.recipe(tmp_path)
        assert (recipe.settings["from_model"], recipe.encoder_of) == (model, None)
        assert recipe.settings["labels"] == ("ADR",)
    with project_of(folder, labels=("Drug",), **settings) as project:
        assert project.viewer.labels == ("ADR", "Drug")
        recipe = project.trainer.recipe(tmp_path)
        assert "from_model" not in recipe.settings
        assert recipe.settings["encoder"] == str(tmp_path / "encoder")
    write_encoder(recipe.encoder_of, tmp_path / "encoder")
    encoder, _ = load_encoder(str(tmp_path / "encoder"))
    assert encoder.config.hidden_size == 32


def test_training_is_off_unless_asked_for(folder):
    with project_of(folder) as project, served(project) as client:
        answer = client.post("/api/training", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_training")
        assert client.ok("GET", "/api/project")["training"] is None


def test_wrong_settings_are_refused_at_the_start(folder, encoder):
    training = TrainingPlan(3, Recipe({"encoder": str(encoder), "learning_rate": 7}))
    with pytest.raises(DiscotagError, match="learning_rate"), project_of(folder, training=training):
        pass
