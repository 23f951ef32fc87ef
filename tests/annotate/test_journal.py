"""The journal: what it survives, and what it refuses."""

import sqlite3
import subprocess
import sys
import threading
from uuid import uuid4

import pytest

from annotating import Client, project_of, running, served, write_texts
from discotag.annotate.importing import Imported
from discotag.annotate.journal import JournalError, open_journal, read_journal
from discotag.annotate.records import (
    accepted_content,
    actions_of,
    decision_of,
    status_of,
    versions_of,
)
from discotag.annotate.versions import begin, fold
from discotag.errors import DiscotagError

PAIN = {"label": "ADR", "fragments": [[2, 3], [6, 7]]}


def refuses(said, folder, **plan):
    with pytest.raises(DiscotagError, match=said), project_of(folder, **plan):
        pass


def check_folds(project):
    """Fold all actions again, and compare with what lists use."""
    with project.journal.reading() as db:
        kept = db.execute("SELECT document, annotator, revision, finished FROM versions").fetchall()
        for number, annotator, revision, finished in kept:
            document = project.editor.document(db, number)
            version = fold(begin(document), actions_of(db, number, annotator))
            assert (version.revision, version.finished) == (revision, bool(finished))
            assert version.accepted == accepted_content(db, number, annotator)
            known = status_of(versions_of(db, number), decision_of(db, number))
            assert project.editor.status(db, number)[1] == known
    return len(kept)


def test_every_answered_action_survives_a_kill(folder):
    """Four people work as fast as they can until the server is killed, three times."""
    answered = {}
    options = ("--no-model", "--labels", "ADR")

    def work(url, name, until):
        with Client(base_url=url, timeout=10) as client:
            client.enter(name)
            number, base = 1, client.state(1, name)["revision"]
            while True:
                kind = "undo" if base % 2 else "add"
                more = {} if base % 2 else {"sentence": 0, "mention": PAIN}
                id = str(uuid4())
                try:
                    answer = client.post_action(number, kind, name, base=base, id=id, **more)
                except OSError:
                    return
                except Exception as error:  # httpx's errors of connections
                    assert type(error).__module__.startswith("httpx"), error
                    return
                assert answer.status_code == 200, answer.text
                base = answer.json()["state"]["revision"]
                answered[id] = name
                if len(answered) >= until:
                    enough.set()

    for turn in range(1, 4):
        with running(folder, *options) as server:
            enough = threading.Event()
            threads = [
                threading.Thread(target=work, args=(server.url, name, 40 * turn))
                for name in ("Ann", "Ben", "Cleo", "Dan")
            ]
            for thread in threads:
                thread.start()
            assert enough.wait(60)
            server.kill()
            for thread in threads:
                thread.join(60)
    with read_journal(folder.with_name("posts.journal")) as journal, journal.reading() as db:
        assert answered.keys() <= {id for (id,) in db.execute("SELECT id FROM actions")}
    with project_of(folder, labels=("ADR",)) as project:
        with project.journal.reading() as db:
            known = dict(db.execute("SELECT id, annotator FROM actions"))
            ((result,),) = db.execute("PRAGMA integrity_check")
        assert answered.items() <= known.items()
        assert result == "ok"
        assert check_folds(project) == 4


def test_one_server_for_a_journal(folder):
    with project_of(folder):
        refuses("another discotag annotate uses this journal", folder)
        command = [sys.executable, "-m", "discotag", "annotate", str(folder), "--no-model"]
        ended = subprocess.run(
            [*command, "--labels", "ADR"], capture_output=True, text=True, timeout=60
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"discotag: {folder}.journal: another discotag annotate uses")
    assert ended.stderr.count("\n") == 1
    with project_of(folder):  # the lock is gone
        pass


def test_a_journal_of_another_version(folder):
    with project_of(folder):
        pass
    with sqlite3.connect(f"{folder}.journal") as db:
        db.execute("PRAGMA user_version = 7")
    db.close()
    refuses("version 7, but this discotag has version 1", folder)


def test_files_that_are_no_journals(tmp_path):
    path = tmp_path / "x.journal"
    for content in (b"text", b"SQLite format 3\0 and nothing else"):
        path.write_bytes(content)
        with (
            pytest.raises(JournalError, match="is not a journal|cannot be read"),
            open_journal(path),
        ):
            pass
        assert path.read_bytes() == content
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE other (x)")
    db.close()
    with pytest.raises(JournalError, match="is not a journal"), open_journal(path):
        pass
    with pytest.raises(JournalError, match="no such journal"), read_journal(tmp_path / "none"):
        pass
    with pytest.raises(JournalError, match="does not exist"), open_journal(tmp_path / "no" / "x"):
        pass


def test_a_journal_inside_the_corpus_is_refused(folder):
    refuses("must not be inside the corpus", folder, journal=folder / "work.journal")


def test_a_grown_corpus(folder):
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann")
        client.add(2, (1, 2))
    write_texts(folder, {"0": "It is new.", "d": "So is this."})  # before and after the others
    with project_of(folder) as project, served(project) as client:
        assert (project.imported.new, project.imported.known, project.imported.gone) == (2, 3, 0)
        listed = client.ok("GET", "/api/documents", params={"order": "corpus"})["documents"]
        assert [each["name"] for each in listed] == ["a", "b", "c", "0", "d"]
        assert client.state(2)["revision"] == 1


def test_a_corpus_that_moved_or_lost_documents(folder, tmp_path):
    with project_of(folder):
        pass
    moved = folder.rename(tmp_path / "elsewhere")
    (moved / "c.txt").unlink()
    with project_of(moved, journal=tmp_path / "posts.journal") as project:
        assert (project.imported.known, project.imported.gone) == (2, 1)
        with served(project) as client:
            client.enter("Ann")
            assert client.state(3)["sentences"][0]["words"] == ["No", "sleep", "."]


def names(client, **params):
    listed = client.ok("GET", "/api/documents", params={"order": "corpus"} | params)
    return [each["name"] + " gone" * each["gone"] for each in listed["documents"]]


def test_documents_that_are_gone_are_no_work(folder):
    write_texts(folder, {"d": "More.", "e": "Even more."})
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann")
        client.add(1, (0, 1))
        client.act(2, "finish")
    for name in "abd":
        (folder / f"{name}.txt").rename(folder.with_name(name))
    with project_of(folder) as project, served(project) as client:
        assert (project.imported.known, project.imported.gone) == (2, 3)
        assert names(client) == ["a gone", "b gone", "c", "e"]  # nobody has touched d
        assert names(client, status="open") == ["a gone", "c", "e"]
        assert client.ok("GET", "/api/project")["counts"]["documents"] == 4
        params = {"annotator": "Ann", "order": "corpus"}
        assert client.ok("GET", "/api/next", params=params) == {"number": 3}
        assert client.ok("GET", "/api/next", params=params | {"after": 5}) == {"number": 3}
        client.act(1, "finish")  # what was begun can be finished
        assert client.get("/api/export").text.count("\n") == 2
        assert client.get("/api/export?which=all").text.count("\n") == 4
    for name in "abd":
        folder.with_name(name).rename(folder / f"{name}.txt")
    with project_of(folder) as project, served(project) as client:
        assert (project.imported.known, project.imported.gone) == (5, 0)
        assert names(client) == ["a", "b", "c", "d", "e"]


def test_a_renamed_document_is_known_again(folder):
    write_texts(folder, {"twin": "The same.", "other": "The same."})
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann")
        client.add(1, (0, 1))
    (folder / "a.txt").rename(folder / "first.txt")
    (folder / "twin.txt").rename(folder / "brother.txt")  # one of two with this text
    (folder / "other.txt").rename(folder / "sister.txt")
    with project_of(folder) as project, served(project) as client:
        assert project.imported == Imported(new=2, known=3, renamed=1, gone=2)
        assert names(client) == ["first", "b", "c", "brother", "sister"]
        assert client.state(1)["revision"] == 1
    for path in folder.iterdir():
        path.rename(path.with_name(f"new-{path.name}"))
    with project_of(folder) as project:
        assert project.imported.renamed == 3


def test_the_journal_of_another_corpus(folder, tmp_path):
    with project_of(folder):
        pass
    journal = tmp_path / "posts.journal"
    before = journal.read_bytes()
    other = write_texts(tmp_path / "other", {"x": "Something else.", "a": "Another text."})
    refuses("is the journal of another corpus than", other, journal=journal)
    (folder / "b.txt").write_text("Changed.")
    refuses("document 'b' has another text than in", folder)
    assert journal.read_bytes() == before


def fill(client):
    """Add and remove a mention until the journal is full, and return the last revision."""
    for _ in range(3000):
        revision = client.state(1)["revision"]
        mention = {"label": "ADR", "fragments": [[revision % 7, revision % 7 + 1]]}
        answer = client.post_action(1, "add", base=revision, sentence=0, mention=mention)
        if answer.status_code == 409:
            answer = client.post_action(1, "remove", base=revision, sentence=0, mention=mention)
        if answer.status_code != 200:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (507, "disk_full")
            assert "the disk is full, so this was not saved" in error["message"]
            return revision
    raise AssertionError("the journal never became full")


def test_a_full_journal_loses_nothing(folder):
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann")
        writer = project.journal._writer
        ((pages,),) = writer.execute("PRAGMA page_count")
        writer.execute(f"PRAGMA max_page_count = {pages + 3}")
        revision = fill(client)
        assert client.state(1)["revision"] == revision
        writer.execute("PRAGMA max_page_count = 100000")  # there is space again
        client.act(1, "finish")
        assert client.state(1)["revision"] == revision + 1
        assert check_folds(project) == 1


def test_a_full_disk_loses_nothing(folder, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        journal = disk / "posts.journal"
        with project_of(folder, journal=journal) as project, served(project) as client:
            client.enter("Ann")
            ballast = disk / "ballast"
            ballast.write_bytes(b"x" * 250_000)
            revision = fill(client)
            assert client.state(1)["revision"] == revision
            ballast.unlink()
            client.act(1, "finish")
        with project_of(folder, journal=journal) as project:
            assert check_folds(project) == 1
            assert project.summary()["counts"]["finished"] == 1
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
