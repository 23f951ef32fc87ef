"""Proposals of the model: in the background, at once where they are needed, never over work."""

import pytest

from annotating import project_of, served, write_texts
from discotag import Document, Mention
from discotag.annotate.proposals import Model, Proposer, propose, usefulness
from discotag.errors import DiscotagError
from discotag.web.protection import Policy
from discotag.words import Splitter
from waiting import wait_for


@pytest.fixture
def folder(tmp_path):
    texts = {
        "clear": "I took it for a month and it worked.",
        "pain": "I had pain in arms and shoulders.",
        "odd": "Wasn't the virus: TB, dormant for forty years, woke up in my lungs.",
    }
    return write_texts(tmp_path / "posts", texts)


@pytest.fixture
def project(folder, tagger):
    """A project whose model is asked for what is opened only."""
    with project_of(folder, labels=("ADR",)) as project:
        project.proposer.model = Model(tagger, 1, "bundled")
        yield project


def models(project):
    with project.journal.reading() as db:
        return [model for (model,) in db.execute("SELECT model FROM documents ORDER BY number")]


def shown(state):
    return [
        (each["text"], each["status"], each["origin"])
        for sentence in state["sentences"]
        for each in sentence["mentions"]
    ]


def test_in_the_background(project):
    with served(project) as client:
        client.enter("Ann")
        assert models(project) == [None, None, None]
        project.proposer.start()
        wait_for(lambda: models(project) == [1, 1, 1])
        listed = client.ok("GET", "/api/documents")["documents"]
        expected = [usefulness(each["uncertainty"], each["words"]) for each in listed]
        assert expected == sorted(expected, reverse=True)
        assert (listed[-1]["name"], listed[-1]["number"]) == ("clear", 1)
        assert listed[0]["uncertainty"] > 0.3 > listed[2]["uncertainty"] >= 0
        assert {each["name"]: each["mentions"] for each in listed}["pain"] == 2
        first = {"number": listed[0]["number"]}
        assert client.ok("GET", "/api/next", params={"annotator": "Ann"}) == first


def test_at_once_for_a_document_that_is_opened(project, tagger):
    with served(project) as client:
        client.enter("Ann")
        state = client.state(3)
        assert models(project) == [None, None, 1]
        found = tagger("I had pain in arms and shoulders.").mentions
        assert shown(state) == [(each.text, "proposed", "model") for each in found]
        assert state["model_version"] == 1
        scores = [each["score"] for each in state["sentences"][0]["mentions"]]
        assert scores == pytest.approx([each.score for each in found], abs=1e-4)
        state = client.act(3, "accept_all")
        assert {status for _, status, _ in shown(state)} == {"accepted"}
        # An action is not what asks the model: nobody has seen what it would propose.
        state = client.act(1, "finish", base=0)
        assert models(project)[0] is None
        assert shown(state) == []


def test_nobody_accepts_what_the_page_does_not_show(project, tagger):
    model, project.proposer.model = project.proposer.model, None
    with served(project) as client:
        client.enter("Ann", "Ben")
        assert client.state(3)["model_version"] is None  # opened before there is a model
        project.proposer.model = model
        client.ok("DELETE", "/api/documents/3/presence", params={"annotator": "Ann"})
        project.proposer.start()
        wait_for(lambda: models(project)[2] == 1)
        for seen in ({"model_version": None}, {}, {"model_version": 2}):
            for kind in ("finish", "accept_all"):
                late = client.post_action(3, kind, base=0, **seen)
                assert late.status_code == 409, (kind, seen)
                error = late.json()["error"]
                assert "other proposals" in error["message"]
                assert error["state"]["model_version"] == 1
                assert {status for _, status, _ in shown(error["state"])} == {"proposed"}
        assert client.state(3)["revision"] == 0
        state = client.act(3, "finish", base=0, model_version=1)
        assert {status for _, status, _ in shown(state)} == {"accepted"}


class Looks:
    """Counts how often a proposer finds nothing to do."""

    def __init__(self, proposer, monkeypatch):
        self.proposer = proposer
        self.idle = 0
        self._next = proposer._next
        monkeypatch.setattr(proposer, "_next", self.look)

    def look(self):
        batch = self._next()
        self.idle += not batch
        return batch

    def again(self):
        """Wait until it has looked again, and found nothing."""
        before = self.idle
        self.proposer._wake.set()
        wait_for(lambda: self.idle > before)


def test_a_new_model_leaves_open_and_touched_documents_alone(project, tagger, monkeypatch):
    looks = Looks(project.proposer, monkeypatch)
    with served(project) as client:
        client.enter("Ann", "Ben")
        client.state(1)  # Ann has it open
        client.add(2, (0, 1), annotator="Ben")
        client.ok("DELETE", "/api/documents/2/presence", params={"annotator": "Ben"})
        before = shown(client.state(2, "Ben"))
        client.ok("DELETE", "/api/documents/2/presence", params={"annotator": "Ben"})
        project.proposer.use(Model(tagger, 2, "next"))
        looks.again()
        assert models(project) == [1, 1, 2]
        assert shown(client.state(2, "Ben")) == before
        # Ann goes away, and the new model proposes for the document she had open.
        client.ok("DELETE", "/api/documents/1/presence", params={"annotator": "Ann"})
        project.proposer._wake.set()
        wait_for(lambda: models(project)[0] == 2)
        late = client.post_action(1, "finish", base=0, model_version=1)
        assert late.status_code == 409
        assert "other proposals" in late.json()["error"]["message"]
        assert client.post_action(1, "finish", base=0, model_version=2).status_code == 200


def test_mistakes_are_expected_where_corpus_and_model_differ(tagger):
    document = Splitter().document("I had pain in arms and shoulders.")
    (found,) = propose(tagger, [document])
    (certain,) = propose(tagger, [document.with_mentions(found.mentions)])
    (wrong,) = propose(tagger, [document.with_mentions([[Mention("ADR", [(0, 1)])]])])
    assert found.mentions[0] == document.with_mentions(found.mentions).sentences[0].mentions
    assert certain.mistakes == pytest.approx(found.mistakes)
    assert wrong.mistakes > 2 + found.mistakes / 2
    (nothing,) = propose(tagger, [Document([])])
    assert nothing == ((), 0)
    assert propose(tagger, []) == []


def test_long_documents_need_more_mistakes():
    assert usefulness(1, 20) > usefulness(1, 40) > usefulness(1, 400)


def test_a_model_that_fails_does_not_stop_the_work(project):
    class Broken:
        def analyse(self, sentences, **options):
            raise error

    error = DiscotagError("no memory left")
    project.proposer.model = Model(Broken(), 1, "broken")
    proposer = Proposer(project.journal, project.proposer.model, list)
    proposer.start()
    wait_for(lambda: proposer.failure == "The model cannot propose: no memory left")
    proposer.stop()
    with served(project) as client:
        client.enter("Ann")
        error = RuntimeError("with a text")
        assert shown(client.state(1)) == []  # it can be annotated nevertheless
        said = client.ok("GET", "/api/project")["model"]["problem"]
        assert said == "The model cannot propose: RuntimeError"
        client.add(1, (0, 1))


def test_data_needs_the_token(project):
    token = "a-token-of-some-length"
    with served(project, Policy(token=token)) as client:
        assert client.get("/").status_code == 200
        for path in ("/api/project", "/api/export", "/api/documents/1?annotator=Ann"):
            assert client.get(path).status_code == 401
        client.headers["authorization"] = f"Bearer {token}"
        assert client.ok("GET", "/api/project")["name"] == "posts"
        foreign = {"origin": "https://example.org"}
        assert client.get("/api/project", headers=foreign).status_code == 403
