"""The work of several people on one corpus, over HTTP: nothing is lost, everybody is told."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from annotating import project_of, served, write_texts
from discotag.annotate import open_documents
from discotag.annotate import progress as progress_room
from discotag.annotate import views as views_room
from discotag.annotate.agreement import agree
from discotag.render.html_drawing import drawing_data
from waiting import wait_for

PAIN = {"label": "ADR", "fragments": [[2, 3], [6, 7]]}


def found(state, sentence=0):
    return [(each["label"], each["fragments"]) for each in state["sentences"][sentence]["mentions"]]


def rows(folder, query):
    with sqlite3.connect(f"file:{folder}.journal?mode=ro", uri=True) as db:
        answer = db.execute(query).fetchall()
    db.close()
    return answer


def test_draw_undo_redo_finish(client):
    state = client.add(1, (2, 3), (6, 7))
    (mention,) = state["sentences"][0]["mentions"]
    assert mention == {
        **PAIN,
        "text": "pain shoulders",
        "score": None,
        "origin": "person",
        "status": "accepted",
    }
    assert state["sentences"][0]["drawing"]["mentions"][0][5] == PAIN["fragments"]
    assert (state["revision"], state["mine"], state["status"]) == (1, "started", "started")
    assert state["undo"] == "add ADR “pain shoulders”"
    state = client.act(1, "undo")
    assert (found(state), state["redo"]) == ([], "add ADR “pain shoulders”")
    state = client.act(1, "redo")
    assert found(state) == [("ADR", PAIN["fragments"])]
    state = client.act(1, "finish")
    assert (state["finished"], state["status"], state["mine"]) == (True, "finished", "finished")
    assert client.ok("GET", "/api/project")["counts"]["finished"] == 1


def test_the_same_id_is_applied_once(client, folder):
    body = {"id": str(uuid4()), "project": client.project, "annotator": "Ann"}
    body |= {"base": 0, "kind": "add", "sentence": 0, "mention": PAIN}
    with ThreadPoolExecutor(4) as pool:  # as if answers were lost
        answers = list(
            pool.map(lambda _: client.ok("POST", "/api/documents/1/actions", json=body), range(8))
        )
    assert sorted(each["repeated"] for each in answers) == [False] + 7 * [True]
    assert {each["state"]["revision"] for each in answers} == {1}
    assert rows(folder, "SELECT count(*) FROM actions") == [(1,)]
    other = client.post("/api/documents/2/actions", json=body)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "id_used")


def test_two_windows_of_one_annotator(client, folder):
    client.add(1, (2, 5), base=0)
    late = client.post_action(1, "add", base=0, sentence=0, mention=PAIN)
    assert late.json()["moved"] is True  # it still makes sense
    assert len(found(late.json()["state"])) == 2
    client.act(1, "remove", sentence=0, mention=PAIN)
    id = str(uuid4())
    for _ in range(2):  # a repeated refusal is the same refusal
        gone = client.post_action(1, "remove", base=2, id=id, sentence=0, mention=PAIN)
        error = gone.json()["error"]
        assert (gone.status_code, error["code"]) == (409, "conflict")
        assert "no longer there" in error["message"]
        assert found(error["state"]) == [("ADR", [[2, 5]])]
        assert error["state"]["revision"] == 3
    kept = rows(folder, "SELECT kind, refused FROM actions WHERE refused IS NOT NULL")
    assert kept == [("remove", "conflict: ADR “pain shoulders” is no longer there")]
    ahead = client.post_action(1, "undo", base=99)
    assert ahead.status_code == 409


def test_undo_is_of_what_the_window_shows(client):
    client.add(1, (2, 5))
    client.act(1, "undo")
    client.act(1, "redo")
    client.add(1, (0, 1))  # in another window
    for kind in ("undo", "redo"):
        late = client.post_action(1, kind, base=3)
        error = late.json()["error"]
        assert (late.status_code, error["code"]) == (409, "conflict")
        assert f"look at it, then {kind} again" in error["message"]
        assert error["state"]["undo"] == "add ADR “I”"
    assert len(found(client.state(1))) == 2


def test_a_page_of_another_project_changes_nothing(client, tmp_path):
    other = write_texts(tmp_path / "other", {"x": "I had pain in arms and shoulders."})
    with project_of(other) as project:
        foreign = project.id
    with project_of(other) as project:
        assert project.id == foreign  # it is kept
    state = client.state(1)
    assert state["id"] == client.project != foreign
    client.act(1, "finish", project=client.project)
    client.act(1, "finish", "Ben")
    bodies = {
        "actions": {"id": str(uuid4()), "base": 1, "kind": "reopen"},
        "decision": {"id": str(uuid4()), "base": 2, "sentences": [[], []]},
        "presence": {},
    }
    for name, body in bodies.items():
        body |= {"annotator": "Ann", "project": foreign}
        answer = client.post(f"/api/documents/1/{name}", json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "other_project")
        del body["project"]
        assert client.post(f"/api/documents/1/{name}", json=body).status_code == 422
    assert client.state(1)["finished"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mention": {"label": "Other", "fragments": [[0, 1]]}}, "label is not one"),
        ({"mention": {"label": "ADR", "fragments": [[7, 9]]}}, "past the end"),
        ({"mention": {"label": "ADR", "fragments": [[3, 3]]}}, "empty"),
        ({"mention": {"label": "ADR", "fragments": [[0, 2], [1, 3]]}}, "overlap"),
        ({"mention": {"label": "ADR", "fragments": []}}, "at least 1"),
        ({"mention": {"label": "ADR", "fragments": [[0, 1, 2]]}}, "at most 2"),
        ({"mention": {"label": "ADR", "fragments": [["0", 1]]}}, "integer"),
        ({"mention": {"label": "ADR", "fragments": [[True, 1]]}}, "integer"),
        ({"mention": {"label": "A\nB", "fragments": [[0, 1]]}}, "printable"),
        ({"mention": None}, "add takes mention, sentence"),
        ({"sentence": 7}, "no sentence 7"),
        ({"sentence": -1}, "greater than or equal to 0"),
        ({"kind": "explode"}, "should be"),
        ({"id": "short"}, "at least 8"),
        ({"id": "../../../etc/passwd"}, "pattern"),
        ({"to": PAIN}, "add takes mention, sentence"),
        ({"more": 1}, "no field 'more'"),
    ],
)
def test_invalid_actions(client, change, said):
    body = {"id": str(uuid4()), "project": client.project, "annotator": "Ann"}
    body |= {"base": 0, "kind": "add", "sentence": 0, "mention": PAIN} | change
    answer = client.post("/api/documents/1/actions", json=body)
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["error"]["message"].lower()
    assert client.state(1)["revision"] == 0


def test_unknown_documents_and_people(client):
    for number in (0, 4, 2**31):
        answer = client.get(f"/api/documents/{number}", params={"annotator": "Ann"})
        assert answer.status_code in (404, 422)
    answer = client.get("/api/documents/1", params={"annotator": "Eve"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_annotator")
    assert client.post_action(1, "finish", "Eve", base=0).status_code == 404
    for name in ("", "   ", "x" * 51, "a\u0000b", "a\u202eb"):
        assert client.post("/api/annotators", json={"name": name}).status_code == 422
    assert client.ok("POST", "/api/annotators", json={"name": " Zoë "}) == {"name": "Zoë"}
    assert client.ok("POST", "/api/annotators", json={"name": "<b>A</b>"})


def test_people_see_who_has_which_document(client, monkeypatch):
    client.state(1, "Ben")
    assert client.state(1, "Ann")["holders"] == ["Ben"]
    listed = client.ok("GET", "/api/documents", params={"order": "corpus"})["documents"]
    assert [each["holders"] for each in listed] == [["Ann", "Ben"], [], []]
    chosen = client.ok("GET", "/api/next", params={"annotator": "Ann", "order": "corpus"})
    assert chosen == {"number": 2}  # Ben has the first
    client.ok("DELETE", "/api/documents/1/presence", params={"annotator": "Ben"})
    signs = client.ok(
        "POST", "/api/documents/1/presence", json={"project": client.project, "annotator": "Ann"}
    )
    assert signs["holders"] == []
    assert signs["revision"] == 0


def test_presence_expires():
    now = 0.0
    opened = open_documents.OpenDocuments(lambda: now)
    opened.enter(1, "Ann")
    now = open_documents.EXPIRES - 1
    opened.enter(2, "Ben")
    assert opened.by_document() == {1: ["Ann"], 2: ["Ben"]}
    now += 1
    assert opened.by_document() == {2: ["Ben"]}


def test_the_next_document(client):
    def next_of(**given):
        params = {"annotator": "Ann", "order": "corpus"} | given
        return client.ok("GET", "/api/next", params=params)["number"]

    assert next_of() == 1
    assert next_of(after=1) == 2
    assert next_of(after=3) == 1  # begins again
    client.act(1, "finish", "Ben")
    assert next_of(after=3) == 2  # what others have finished is left out
    client.act(2, "finish")
    assert next_of(after=2) == 3
    client.ok("DELETE", "/api/documents/2/presence", params={"annotator": "Ann"})
    assert next_of(after=3) is None  # nothing but the one that he has
    client.act(3, "finish")
    assert next_of() is None
    assert next_of(order="uncertainty", after=1) is None


def test_two_people_who_agree(client):
    for name in ("Ann", "Ben"):
        client.add(1, (2, 3), (6, 7), annotator=name)
        client.act(1, "finish", name)
    state = client.state(1)
    assert (state["status"], state["versions"]) == ("finished", ["Ann", "Ben"])
    signs = client.ok(
        "POST", "/api/documents/1/presence", json={"project": client.project, "annotator": "Ann"}
    )
    assert signs["finished_by"] == state["finished_by"] == ["Ann", "Ben"]
    assert client.ok("GET", "/api/documents/1/versions")["differences"] == []


@pytest.fixture
def disagreeing(client):
    client.add(1, (2, 3), (6, 7), annotator="Ann")
    client.act(1, "finish", "Ann")
    client.add(1, (2, 5), annotator="Ben")
    assert client.state(1)["status"] == "finished"  # Ben is not finished yet
    client.act(1, "finish", "Ben")
    return client


def decide(client, mentions, base=None, id=None, annotator="Ann"):
    if base is None:
        base = client.ok("GET", "/api/documents/1/versions")["revision"]
    body = {"id": id or str(uuid4()), "project": client.project, "annotator": annotator}
    body["base"] = base
    return client.post("/api/documents/1/decision", json=body | {"sentences": [mentions, []]})


def test_a_disagreement_is_kept_until_somebody_decides(disagreeing):
    client = disagreeing
    assert client.state(1)["disagreement"]
    listed = client.ok("GET", "/api/documents", params={"status": "disagreement"})
    assert [each["number"] for each in listed["documents"]] == [1]
    versions = client.ok("GET", "/api/documents/1/versions")
    assert [each["annotator"] for each in versions["versions"]] == ["Ann", "Ben"]
    assert versions["differences"] == [
        {"sentence": 0, "mention": PAIN, "annotators": ["Ann"]},
        {"sentence": 0, "mention": {"label": "ADR", "fragments": [[2, 5]]}, "annotators": ["Ben"]},
    ]
    id = str(uuid4())
    for _ in range(2):  # once, though it is sent twice
        decided = decide(client, [PAIN], versions["revision"], id)
        assert decided.status_code == 200, decided.text
        assert decided.json()["decision"]["by"] == "Ann"
        assert decided.json()["status"] == "decided"
    state = client.state(1, "Ben")
    assert (state["status"], state["decided"]) == ("decided", True)
    assert found(state) == [("ADR", [[2, 5]])]  # Ben's version is as he left it
    assert decide(client, [], versions["revision"]).status_code == 409  # decided meanwhile


def test_a_decision_on_versions_that_have_changed_is_refused(disagreeing):
    client = disagreeing
    base = client.ok("GET", "/api/documents/1/versions")["revision"]
    client.act(1, "reopen", "Ben")
    assert decide(client, [PAIN], base).status_code == 409
    assert client.state(1)["status"] == "finished"  # only Ann is
    assert decide(client, [PAIN]).status_code == 409  # nothing to decide


@pytest.mark.parametrize(
    "sentences",
    [
        [],
        [[]],
        [[PAIN, PAIN], []],
        [[{"label": "Other", "fragments": [[0, 1]]}], []],
        [[], [{"label": "ADR", "fragments": [[0, 99]]}]],
        [[{"label": "ADR", "fragments": [[2, 1]]}], []],
    ],
)
def test_invalid_decisions(disagreeing, sentences):
    base = disagreeing.ok("GET", "/api/documents/1/versions")["revision"]
    body = {"id": str(uuid4()), "project": disagreeing.project, "annotator": "Ann"}
    body |= {"base": base, "sentences": sentences}
    assert disagreeing.post("/api/documents/1/decision", json=body).status_code == 422
    assert disagreeing.state(1)["disagreement"]


def test_a_later_change_reopens_the_disagreement(disagreeing):
    client = disagreeing
    assert decide(client, [PAIN]).status_code == 200
    client.act(1, "reopen", "Ben")
    assert client.state(1)["status"] == "decided"  # nothing has changed yet
    client.add(1, (0, 1), annotator="Ben")
    assert client.state(1)["status"] == "disagreement"
    client.act(1, "finish", "Ben")
    assert client.state(1)["status"] == "disagreement"
    assert decide(client, [PAIN], annotator="Ben").status_code == 200
    assert client.state(1)["status"] == "decided"
    client.enter("Zoë")  # somebody who finishes later, with something else
    client.act(1, "finish", "Zoë")
    assert client.state(1)["status"] == "disagreement"
    assert len(client.ok("GET", "/api/documents/1/versions")["versions"]) == 3


def test_versions_that_become_the_same_after_a_decision(disagreeing):
    client = disagreeing
    assert decide(client, []).status_code == 200  # neither
    client.act(1, "reopen", "Ben")
    client.act(1, "remove", "Ben", sentence=0, mention={"label": "ADR", "fragments": [[2, 5]]})
    assert client.state(1)["status"] == "decided"  # Ben has come to the decision
    client.add(1, (2, 3), (6, 7), annotator="Ben")
    assert client.state(1)["status"] == "finished"  # it is what Ann has finished
    client.act(1, "finish", "Ben")
    assert client.state(1)["status"] == "finished"
    assert client.ok("GET", "/api/documents/1/versions")["differences"] == []
    assert "pain shoulders" in client.get("/api/export").text
    client.act(1, "reopen", "Ann")
    client.add(1, (0, 1), annotator="Ann")
    client.act(1, "finish", "Ann")
    assert client.state(1)["status"] == "disagreement"


def test_a_decided_document_that_nobody_has_finished_any_more(disagreeing):
    client = disagreeing
    assert decide(client, [PAIN]).status_code == 200
    for name in ("Ann", "Ben"):
        client.act(1, "reopen", name)
    client.add(1, (0, 1))
    assert client.state(1)["status"] == "disagreement"
    (left,) = client.ok("GET", "/api/export/summary")["left_out"]
    assert left["reason"] == "A version has changed since the decision, and is not finished."


def test_what_a_decision_was_about(disagreeing):
    client = disagreeing
    both = [PAIN, {"label": "ADR", "fragments": [[2, 5]]}]
    compared = decide(client, [PAIN]).json()["decision"]["compared"]
    assert compared == [both, []]
    client.act(1, "reopen", "Ben")
    client.add(1, (0, 1), annotator="Ben")
    client.act(1, "finish", "Ben")  # which the decision was not about
    assert client.ok("GET", "/api/documents/1/versions")["decision"]["compared"] == [both, []]


def test_problems_of_a_decision(disagreeing):
    client = disagreeing
    mixed = [PAIN, {"label": "Drug", "fragments": [[6, 7]]}]
    answer = client.ok("POST", "/api/documents/1/problems", json={"sentences": [mixed, []]})
    (first, second) = answer["problems"]
    assert ([each["reason"] for each in first], second) == (["mixed_labels"], [])
    assert first[0]["mentions"] == [0, 1]
    decided = decide(client, mixed).json()["decision"]
    assert [each["problems"] for each in decided["sentences"]] == answer["problems"]
    wrong = client.post("/api/documents/1/problems", json={"sentences": [[]]})
    assert wrong.status_code == 422
    assert client.post("/api/documents/9/problems", json={"sentences": []}).status_code == 404


def test_everything_is_there_after_a_restart(disagreeing, folder):
    before = [disagreeing.state(1, name) for name in ("Ann", "Ben")]
    shown = disagreeing.ok("GET", "/api/documents/1/versions")
    disagreeing.close()
    copy = folder.with_name("copy.journal")
    with sqlite3.connect(f"{folder}.journal") as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    with project_of(folder, journal=copy) as project, served(project) as client:
        after = [client.state(1, name) for name in ("Ann", "Ben")]
        for state in (*before, *after):
            state["holders"] = []
        assert after == before
        assert client.ok("GET", "/api/documents/1/versions") == shown


def test_lists_are_searched_and_cut(client):
    def listed(**params):
        answer = client.ok("GET", "/api/documents", params={"order": "corpus"} | params)
        return answer["total"], [each["name"] for each in answer["documents"]]

    assert listed() == (3, ["a", "b", "c"])
    assert listed(limit=1, offset=1) == (3, ["b"])
    assert listed(search="KNEES") == (1, ["b"])
    assert listed(search="100%") == (0, [])
    assert listed(search="_") == (0, [])
    assert listed(search="'; DROP TABLE documents; --") == (0, [])
    assert listed(offset=10) == (3, [])
    client.act(2, "finish")
    assert listed(status="finished") == (1, ["b"])
    assert listed(status="open") == (2, ["a", "c"])
    (row,) = client.ok("GET", "/api/documents", params={"search": "knees", "annotator": "Ann"})[
        "documents"
    ]
    assert (row["mine"], row["finished_by"], row["words"]) == ("finished", ["Ann"], 8)
    for wrong in ({"limit": 0}, {"limit": 10**6}, {"offset": -1}, {"order": "x"}, {"status": "x"}):
        assert client.get("/api/documents", params=wrong).status_code == 422


def test_only_changed_sentences_are_drawn_again(client, monkeypatch):
    client.add(1, (2, 5))
    drawn = []

    def watched(sentence, labels):
        drawn.append(sentence.words)
        return drawing_data(sentence, labels)

    monkeypatch.setattr(views_room, "drawing_data", watched)
    for act, count in (
        (lambda: client.add(1, (0, 1)), 2),
        (lambda: client.act(1, "undo"), 1),
        (lambda: client.act(1, "redo"), 2),
    ):
        drawn.clear()
        state = act()
        assert drawn == [tuple(state["sentences"][0]["words"])]
        assert len(found(state)) == count
    ann = client.state(1)["sentences"]
    assert client.state(1, "Ben")["sentences"] != ann  # each has a version of their own
    assert client.state(1)["sentences"] == ann


def test_what_the_scheme_cannot_hold_is_said_at_once(client):
    client.add(1, (2, 3), (6, 7))
    state = client.add(1, (4, 5), label="Drug")
    assert state["sentences"][0]["problems"] == []  # a gap mention
    state = client.add(1, (6, 7), label="Drug")
    (problem,) = state["sentences"][0]["problems"]
    assert problem["reason"] == "mixed_labels"
    assert problem["mentions"] == [0, 2]
    assert "share words but have different labels" in problem["message"]
    assert "training leaves this sentence out" in problem["message"]


def computed(client):
    """Return the progress when all agreements are computed."""
    wait_for(lambda: not client.ok("GET", "/api/progress")["computing"])
    return client.ok("GET", "/api/progress")


def test_progress(disagreeing):
    report = disagreeing.ok("GET", "/api/progress")
    assert (report["computing"], report["agreement"]) == (True, [])  # nobody waits for it
    report = computed(disagreeing)
    assert disagreeing.post_action(1, "finish").status_code == 409  # which is no work
    assert report["documents"]["disagreements"] == 1
    ann, ben = report["annotators"]
    assert (ann["name"], ann["finished"], ann["started"], ann["actions"]) == ("Ann", 1, 0, 2)
    assert ben["minutes"] >= 0
    (pair,) = report["agreement"]
    assert (pair["annotators"], pair["documents"], pair["f1"]) == (["Ann", "Ben"], 1, 0.0)
    assert pair["f1_discontinuous"] == 0.0
    assert pair["word_f1"] == pytest.approx(2 * 1 / 5)
    assert disagreeing.ok("GET", "/api/progress") == report


def test_agreements_are_those_of_the_last_versions(client):
    """Change two versions such that numbers, revisions and counts stay the same."""
    for number in (1, 2):
        for name in ("Ann", "Ben"):
            client.add(number, (0, 1), annotator=name)
            client.act(number, "finish", name)
    (pair,) = computed(client)["agreement"]
    assert pair["f1"] == 1.0
    client.act(1, "reopen", "Ann")
    client.act(1, "remove", "Ann", sentence=0, mention={"label": "ADR", "fragments": [[0, 1]]})
    client.act(1, "finish", "Ann")
    (pair,) = computed(client)["agreement"]
    assert pair["f1"] == pytest.approx(2 / 3)
    client.act(1, "undo", "Ann")
    (pair,) = computed(client)["agreement"]
    assert pair["documents"] == 1
    client.act(1, "redo", "Ann")
    (pair,) = computed(client)["agreement"]
    assert pair["documents"] == 2


def test_the_last_documents_are_compared(client, monkeypatch):
    monkeypatch.setattr(progress_room, "MOST_COMPARED", 1)
    for number in (3, 1):  # not in the order of the corpus
        client.add(number, (0, 1), label="ADR" if number == 1 else "Drug", annotator="Ann")
        for name in ("Ann", "Ben"):
            client.act(number, "finish", name)
    client.act(1, "reopen", "Ben")
    client.add(1, (0, 1), annotator="Ben")
    client.act(1, "finish", "Ben")
    (pair,) = computed(client)["agreement"]
    assert (pair["documents"], pair["f1"]) == (1, 1.0)


def test_agreements_hold_nobody_up(client, monkeypatch):
    """While one is computed, others read, write and ask for the progress."""
    allowed = threading.Event()

    def slow(texts):
        assert allowed.wait(60)
        return agree(texts)

    monkeypatch.setattr(progress_room, "agree", slow)
    for name in ("Ann", "Ben"):
        client.act(1, "finish", name)
    assert client.ok("GET", "/api/progress")["computing"]
    client.add(2, (0, 1))
    report = client.ok("GET", "/api/progress")
    assert (report["computing"], report["annotators"][0]["started"]) == (True, 1)
    allowed.set()
    assert computed(client)["agreement"][0]["documents"] == 1
