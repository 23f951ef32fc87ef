"""Jobs: each document exactly once, and clear lines where that is not possible."""

import gzip
import hashlib
import json
import math
import os

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from archives import (
    BLOCK,
    InlineEngine,
    documents_of,
    made_up,
    parts_of,
    receipts_in,
    write_lines,
    write_table,
)
from discotag import Document, load
from discotag.corpora import read
from discotag.corpora.jobs import JobError
from discotag.errors import DiscotagError, InputError
from discotag.scale import job as job_module
from discotag.scale import read_manifest, run_job
from discotag.scale.parts import read_receipts
from discotag.scale.sources import find_sources
from discotag.scale.storage import Folder
from discotag.scale.work import Range, Work
from discotag.scale.worker import Worker
from discotag.words import Splitter
from locks import held


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Run blocks in the process of the test, which is quicker; engines have tests of their own."""
    monkeypatch.setattr(job_module, "ProcessEngine", InlineEngine)


def job(given, out, model, **options):
    return run_job(given, out, model=model, **{"block_bytes": BLOCK} | options)


def job_id(out):
    return json.loads((out / "_job.json").read_text("utf-8"))["id"]


def same(found, wanted):
    """Compare documents as plain data; batches differ, and with them the last digits of scores."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        scores = [[m.pop("score") for m in each["mentions"]] for each in (one, other)]
        assert one == other
        assert all(map(lambda a, b: math.isclose(a, b, abs_tol=1e-4), *scores))


def test_documents_are_those_of_plain_predictions(model, posts, done):
    wanted = [json.loads(json.dumps(each.to_dict())) for each in load(model).predict(read(posts))]
    found = documents_of(done)
    for each in found:
        assert each.pop("discotag") == 2
    same(found, wanted)
    assert sum(len(each["mentions"]) for each in found) == read_manifest(done).mentions > 100


def test_the_manifest_says_what_there_is(done):
    manifest = read_manifest(done)
    contents = parts_of(done)
    assert [part.name for part in manifest.parts] == list(contents)
    for part in manifest.parts:
        content = contents[part.name]
        assert part.bytes == len(content)
        assert part.sha256 == hashlib.sha256(content).hexdigest()
        assert part.documents == len(content.splitlines())
    assert manifest.documents == sum(part.documents for part in manifest.parts) == 1200
    assert manifest.sentences == sum(len(each["sentences"]) for each in documents_of(done))
    assert (manifest.flaws, manifest.errors) == (0, None)
    assert {path.name for path in done.iterdir()} - set(contents) == {
        "_job.json",
        "_manifest.json",
        "_receipts",
    }


def test_parquet_keeps_its_columns(model, tmp_path):
    posts = [
        {"n": n, "comment": post["text"], "mentions": post["drug"], "at": pd.Timestamp(n)}
        for n, post in enumerate(made_up(300))
    ]
    posts[3]["comment"] = None
    given = write_table(tmp_path / "posts.parquet", posts, at=pa.timestamp("ns"))
    told = []
    manifest = job(given, tmp_path / "out", model, text_column="comment", tell=told.append)
    table = pq.read_table(tmp_path / "out")
    before = pq.read_table(given)
    assert table.column_names == ["n", "comment", "input_mentions", "at", "mentions"]
    assert table.drop_columns("mentions").rename_columns(before.column_names).equals(before)
    assert manifest.documents == 300
    assert told == []
    wanted = list(load(model).predict(before["comment"].to_pylist()))
    for found, document in zip(table["mentions"].to_pylist(), wanted, strict=True):
        assert [(m["label"], m["text"], m["spans"], m["fragments"]) for m in found] == [
            (m.label, m.text, [list(s) for s in m.spans], [list(f) for f in m.fragments])
            for m in document.mentions
        ]
    assert table["mentions"].to_pylist()[3] == []
    frame = pd.read_parquet(tmp_path / "out")  # which ignores what is not a part
    assert len(frame) == 300


@pytest.mark.parametrize("files", [1, 2])
def test_parquet_to_json_lines_is_like_a_table(model, tmp_path, files):
    posts = made_up(150)
    for n in range(files):
        write_table(tmp_path / "in" / f"{n}.parquet", posts[n::files])
    told = []
    job(tmp_path / "in", tmp_path / "out", model, format="jsonl", tell=told.append)
    assert "the texts are in the column 'text'" in told[0]
    tagger = load(model)
    wanted = []
    for n in range(files):
        for each in tagger.predict(read(tmp_path / "in" / f"{n}.parquet")):
            extra = {"file": str(n), **each.extra} if files > 1 else each.extra
            document = Document(each.sentences, text=each.text, id=each.id, extra=extra)
            wanted.append({"discotag": 2} | json.loads(json.dumps(document.to_dict())))
    same(documents_of(tmp_path / "out"), wanted)


def test_rows_without_ids_get_their_numbers(model, tmp_path):
    write_table(tmp_path / "posts.parquet", [{"text": "my arms"}, {"text": "my knees"}])
    job(tmp_path / "posts.parquet", tmp_path / "out", model, format="jsonl")
    found = documents_of(tmp_path / "out")
    assert [each["id"] for each in found] == ["posts-1", "posts-2"]


def test_json_lines_to_parquet(model, posts, done, tmp_path):
    job(posts, tmp_path / "out", model, format="parquet")
    table = pq.read_table(tmp_path / "out")
    assert table.column_names == ["id", "text", "mentions", "extra"]
    found = documents_of(done)
    assert table["id"].to_pylist() == [each["id"] for each in found]
    assert [json.loads(each) for each in table["extra"].to_pylist()] == [
        {"drug": each["drug"]} for each in found
    ]
    assert table["mentions"].to_pylist() == [each["mentions"] for each in found]


def test_documents_of_words_without_text(model, tmp_path):
    given = tmp_path / "words.jsonl"
    given.write_text(json.dumps({"sentences": [{"words": ["my", "stiff", "knees"]}]}) + "\n")
    job(given, tmp_path / "out", model, format="parquet")
    (row,) = pq.read_table(tmp_path / "out").to_pylist()
    assert (row["id"], row["text"], row["extra"]) == (None, None, None)
    assert all(each["spans"] is None for each in row["mentions"])


def test_folders_patterns_and_compressed_files(model, tmp_path):
    posts = made_up(60)
    write_lines(tmp_path / "in" / "b.jsonl", posts[20:40])
    write_lines(tmp_path / "in" / "deep" / "c.ndjson", posts[40:])
    with gzip.open(tmp_path / "in" / "a.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(post) + "\n" for post in posts[:20])
    (tmp_path / "in" / "notes.txt").write_text("not read")
    (tmp_path / "in" / "_errors.jsonl").write_text("not read")
    manifest = job(tmp_path / "in", tmp_path / "out", model)
    assert [each["id"] for each in documents_of(tmp_path / "out")] == [each["id"] for each in posts]
    assert len(manifest.parts) == 2  # a compressed file counts as if it were larger
    manifest = job(
        [str(tmp_path / "in" / "*.jsonl"), tmp_path / "in" / "a.jsonl.gz"], tmp_path / "two", model
    )
    assert [each["id"] for each in documents_of(tmp_path / "two")] == [
        each["id"] for each in (*posts[20:40], *posts[:20])
    ]


def test_which_files_are_read(tmp_path, monkeypatch):
    names = ("a.jsonl", "deep/b.jsonl", ".git/c.jsonl", "_old/d.jsonl", "deep/_e.jsonl", "f.txt")
    for name in names:
        write_lines(tmp_path / "in" / name, made_up(1))
    (tmp_path / "in" / "link.jsonl").symlink_to(tmp_path / "in" / "f.txt")
    (tmp_path / "in" / "broken.jsonl").symlink_to(tmp_path / "nothing")
    monkeypatch.chdir(tmp_path)
    for argument, wanted in (
        ("in", ["in/a.jsonl", "in/deep/b.jsonl", "in/link.jsonl"]),
        ("./in/deep/", ["in/deep/b.jsonl"]),
        ("in/*.jsonl", ["in/a.jsonl", "in/link.jsonl"]),
        ("in/**/*.jsonl", ["in/_old/d.jsonl", "in/a.jsonl", "in/deep/b.jsonl", "in/link.jsonl"]),
        (f"{tmp_path}/in/d*/*", [f"{tmp_path}/in/deep/b.jsonl"]),
        (f"file://{tmp_path}/in/a.jsonl", [f"{tmp_path}/in/a.jsonl"]),
        ("in/_old/d.jsonl", ["in/_old/d.jsonl"]),
    ):
        assert [each.shown for each in find_sources([argument])] == wanted
    found = find_sources(["in"])
    assert [each.name for each in found] == ["a", "deep/b", "link"]
    assert [each.address for each in found] == [f"{tmp_path}/{each.shown}" for each in found]
    assert [each.size for each in found] == [
        len((tmp_path / each.shown).read_bytes()) for each in found
    ]


def test_rows_are_written_some_at_a_time(model, tmp_path, monkeypatch):
    """What was read ahead is written later, and what is left out is not written."""
    monkeypatch.setattr("discotag.scale.parts.WRITTEN_ROWS", 7)
    monkeypatch.setattr("discotag.scale.reading.READ_ROWS", 10)
    monkeypatch.setattr("discotag.scale.reading.MAX_CELL", 500)
    posts = [{"n": n, "text": post["text"]} for n, post in enumerate(made_up(100))]
    for n in (0, 13, 57, 99):
        posts[n]["text"] = "a" * 501
    given = write_table(tmp_path / "posts.parquet", posts, rows=30)
    options = {"text_column": "text", "skip_bad": True, "block_bytes": 1 << 20}
    manifest = job(given, tmp_path / "out", model, **options)
    assert (manifest.documents, manifest.flaws, len(manifest.parts)) == (96, 4, 1)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert [row["n"] for row in rows] == [n for n in range(100) if n not in (0, 13, 57, 99)]
    for row, document in zip(rows, load(model).predict([row["text"] for row in rows]), strict=True):
        assert [m["text"] for m in row["mentions"]] == [m.text for m in document.mentions]


def test_an_empty_input(model, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    manifest = job(tmp_path / "empty.jsonl", tmp_path / "out", model)
    assert (manifest.documents, manifest.parts) == (0, ())
    write_table(tmp_path / "none.parquet", [{"text": "x"}])
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "none.parquet")
    assert job(tmp_path / "none.parquet", tmp_path / "no", model, text_column="text").parts == ()


def test_options_of_predictions(model, tmp_path):
    text = "my arms hurt\nmy knees"
    given = write_lines(tmp_path / "posts.jsonl", [{"text": text}])
    splitter = Splitter("lines", "spaces")
    options = {"min_score": 0.3, "bias": 1.0, "batch_size": 1, "splitter": splitter}
    job(given, tmp_path / "out", model, **options)
    (found,) = documents_of(tmp_path / "out")
    tagger = load(model, splitter=splitter)
    (wanted,) = tagger.predict([text], min_score=0.3, bias=1.0, batch_size=1)
    assert [m["spans"] for m in found["mentions"]] == [
        [list(span) for span in m.spans] for m in wanted.mentions
    ]
    assert len(found["sentences"]) == 2
    with pytest.raises(InputError, match="min_score must be from"):
        job(given, tmp_path / "no", model, min_score=2)


# Stopped and resumed


def test_a_part_without_a_receipt_is_not_done(model, posts, done, tmp_path):
    out = tmp_path / "out"
    job(posts, out, model)
    (out / "_manifest.json").unlink()
    (out / "_receipts" / "000001.json").unlink()
    (out / "_receipts" / "000002.json").write_text('{"block": 2')
    (out / "part-000003.jsonl").write_text("cut off")
    (out / "part-000004.jsonl").unlink()
    count = len(parts_of(done))
    found = read_receipts(Folder(str(out)), job_id(out), "jsonl", count)
    assert set(range(count)) - set(found) == {1, 2, 3, 4}
    job(posts, out, model, resume=True)
    assert parts_of(out) == parts_of(done)


def test_a_complete_job_is_not_done_again(model, posts, tmp_path):
    given = write_lines(tmp_path / "posts.jsonl", made_up(30))
    out = tmp_path / "out"
    first = job(given, out, model)
    with pytest.raises(JobError, match="the job there is complete; use --force"):
        job(given, out, model)
    told = []
    assert job(given, out, model, resume=True, tell=told.append) == first
    assert told == [f"{out}: the job is already complete"]
    part = out / "part-000000.jsonl"
    part.write_text("changed")
    (out / "part-000077.jsonl").write_text("of an earlier job")
    (out / "mine.txt").write_text("kept")
    assert job(given, out, model, force=True) == first
    assert part.read_text() != "changed"
    assert not (out / "part-000077.jsonl").exists()
    assert (out / "mine.txt").exists()
    with pytest.raises(InputError, match="choose one"):
        job(given, out, model, force=True, resume=True)


def test_resuming_needs_the_same_settings_and_input(model, tmp_path):
    given = write_lines(tmp_path / "in" / "posts.jsonl", made_up(30))
    out = tmp_path / "out"
    job(tmp_path / "in", out, model)
    (out / "_manifest.json").unlink()

    def refused(**options):
        with pytest.raises(JobError) as caught:
            job(tmp_path / "in", out, model, resume=True, **options)
        return str(caught.value)

    assert "--min-score was 0.0, now 0.5" in refused(min_score=0.5)
    assert "bytes of a block was 4000, now 9" in refused(block_bytes=9)
    assert "--sentences was 'auto', now 'lines'" in refused(splitter=Splitter("lines"))
    write_lines(tmp_path / "in" / "more.jsonl", made_up(3))
    assert "more.jsonl is new" in refused()
    (tmp_path / "in" / "more.jsonl").unlink()
    os.utime(given, ns=(0, 0))
    assert "posts.jsonl has changed" in refused()
    given.rename(given.with_name("other.jsonl"))
    assert "posts.jsonl is missing" in refused()
    (out / "_job.json").write_text("{}")
    assert "_job.json is damaged; use --force" in refused()


def test_a_stopped_job_may_leave_out_bad_documents_when_it_is_resumed(model, tmp_path):
    given = tmp_path / "posts.jsonl"
    lines = [json.dumps(post) for post in made_up(200)]
    lines[150] = "{"
    given.write_text("\n".join(lines))
    with pytest.raises(DiscotagError, match=r"posts.jsonl:151: not JSON.*; use --skip-bad"):
        job(given, tmp_path / "out", model, workers=1)
    assert receipts_in(tmp_path / "out") > 0
    manifest = job(given, tmp_path / "out", model, resume=True, skip_bad=True)
    assert (manifest.documents, manifest.flaws) == (199, 1)


def test_one_job_at_a_time(model, posts, tmp_path):
    with held(tmp_path / "out"), pytest.raises(JobError, match="another process is writing it"):
        job(posts, tmp_path / "out", model)


def test_folders_that_are_not_of_a_job(model, posts, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    for options in ({}, {"resume": True}, {"force": True}):
        with pytest.raises(JobError, match="mine: the folder is not empty, and what is in it is"):
            job(posts, tmp_path / "mine", model, **options)
    with pytest.raises(InputError, match="notes.txt: is a file"):
        job(posts, tmp_path / "mine" / "notes.txt", model)
    with pytest.raises(JobError, match="the job is not complete"):
        read_manifest(tmp_path)


# Bad input


def test_bad_documents_are_left_out_with_their_reasons(model, tmp_path):
    good = [json.dumps(post) for post in made_up(300)]
    bad = {
        7: ('{"text": 3}', "'text' must be a string"),
        120: ("{", "not JSON"),
        121: ('{"id": "x"}', "a document needs 'sentences' or 'text'"),
        200: ("[1]", "a document must be an object"),
        250: ('{"text": "\\ud800"}', "half of a surrogate pair"),
        299: ("", None),
    }
    for line, (content, _) in bad.items():
        good[line] = content
    content = "\r\n".join(good).encode().replace(b'"p180"', b'"\xff"')
    write_lines(tmp_path / "in" / "a.jsonl", made_up(5))
    (tmp_path / "in" / "posts.jsonl").write_bytes(content)
    manifest = job(tmp_path / "in", tmp_path / "out", model, skip_bad=True)
    assert (manifest.documents, manifest.flaws) == (298, 6)
    entries = errors_of(tmp_path / "out")
    assert {entry["file"] for entry in entries} == {str(tmp_path / "in" / "posts.jsonl")}
    assert [entry["line"] for entry in entries] == [8, 121, 122, 181, 201, 251]
    assert not any(entry["kept"] for entry in entries)
    reasons = {entry["line"] - 1: entry["reason"] for entry in entries}
    assert reasons.pop(180) == "byte 0xff is not UTF-8"
    for line, reason in reasons.items():
        assert bad[line][1] in reason
    for entry in entries:
        start = content[entry["byte"] :]
        assert start.startswith(content.split(b"\r\n")[entry["line"] - 1])


@pytest.mark.parametrize("line", [3, 150])
def test_without_leaving_out_a_bad_document_stops_the_job(model, tmp_path, line):
    lines = [json.dumps(post) for post in made_up(200)]
    lines[line] = '{"text": null}'
    (tmp_path / "posts.jsonl").write_text("\n".join(lines))
    with pytest.raises(DiscotagError) as caught:
        job(tmp_path / "posts.jsonl", tmp_path / "out", model)
    assert f"posts.jsonl:{line + 1}: a document needs" in str(caught.value)
    assert "parts are complete; --resume continues)" in str(caught.value)
    assert not (tmp_path / "out" / "_manifest.json").exists()


def test_bad_mentions_in_the_input_are_left_out_of_kept_documents(model, tmp_path):
    given = tmp_path / "posts.jsonl"
    given.write_text('{"text": "my arms", "mentions": [{"label": "ADR", "spans": [[3, 99]]}]}\n')
    with pytest.raises(DiscotagError, match="posts.jsonl:1: mention of ADR"):
        job(given, tmp_path / "out", model)
    manifest = job(given, tmp_path / "out", model, skip_bad=True, resume=True)
    assert (manifest.documents, manifest.flaws) == (1, 1)
    (entry,) = errors_of(tmp_path / "out")
    assert entry["kept"]


def test_bad_rows(monkeypatch, model, tmp_path):
    kind = pa.string()
    texts = pa.Array.from_buffers(
        kind,
        3,
        [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0\6\0\0\0"), pa.py_buffer(b"ab\xff\xffcd")],
    )
    pq.write_table(pa.table({"n": [1, 2, 3], "text": texts}), tmp_path / "bad.parquet")
    with pytest.raises(DiscotagError, match="bad.parquet:2: the text is not UTF-8; use --skip-bad"):
        job(tmp_path / "bad.parquet", tmp_path / "out", model, text_column="text")
    manifest = job(
        tmp_path / "bad.parquet", tmp_path / "o", model, text_column="text", skip_bad=True
    )
    assert (manifest.documents, manifest.flaws) == (2, 1)
    assert pq.read_table(tmp_path / "o")["n"].to_pylist() == [1, 3]
    (entry,) = errors_of(tmp_path / "o")
    assert (entry["row"], entry["reason"]) == (2, "the text is not UTF-8")


def test_all_rows_of_a_block_are_bad(model, tmp_path):
    write_table(tmp_path / "long.parquet", [{"text": "a" * (5 << 20)}])
    manifest = job(
        tmp_path / "long.parquet", tmp_path / "out", model, text_column="text", skip_bad=True
    )
    assert (manifest.documents, manifest.flaws) == (0, 1)
    assert pq.read_table(tmp_path / "out").column_names == ["text", "mentions"]


def errors_of(folder):
    return [json.loads(line) for line in (folder / "_errors.jsonl").read_text().splitlines()]


def refused(given, out, model, **options):
    """Return the line of a job that cannot be done; nothing of it may look complete."""
    with pytest.raises(DiscotagError) as caught:
        job(given, out, model, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert not (out / "_manifest.json").exists()
    return message


def test_columns_that_differ_between_files(model, tmp_path):
    write_table(tmp_path / "in" / "a.parquet", [{"text": "my arms", "n": 1}])
    other = tmp_path / "in" / "b.parquet"
    for posts, wanted in (
        (
            [{"text": "my arms", "n": "1"}],
            "b.parquet: the column 'n' has the type string, but int64",
        ),
        ([{"text": "my arms"}], "b.parquet: has no column 'n', which"),
        ([{"text": "my arms", "n": 1, "m": 2}], "b.parquet: has a column 'm', which"),
    ):
        write_table(other, posts)
        assert wanted in refused(tmp_path / "in", tmp_path / "out", model)
    write_table(other, [{"n": 1, "text": "my knees"}])  # the order does not matter
    assert job(tmp_path / "in", tmp_path / "out", model).documents == 2
    assert pq.read_table(tmp_path / "out")["text"].to_pylist() == ["my arms", "my knees"]


def test_columns_of_texts(model, tmp_path):
    given = write_table(tmp_path / "a.parquet", [{"text": "my arms", "n": 1}])
    out = tmp_path / "out"
    assert "no column named 'x'; columns are text, n" in refused(given, out, model, text_column="x")
    assert "'n' has the type int64, not text" in refused(given, out, model, text_column="n")
    pq.write_table(pa.table([["my arms"], ["x"]], names=["a", "a"]), given)
    assert "two columns have the name 'a'" in refused(given, out, model)
    lines = write_lines(tmp_path / "a.jsonl", made_up(1))
    assert "are for Parquet" in refused(lines, out, model, text_column="text")


def test_unreadable_files(model, tmp_path):
    out = tmp_path / "out"
    damaged = write_table(tmp_path / "a.parquet", made_up(200), rows=50)
    content = bytearray(damaged.read_bytes())
    content[200:1200] = b"\xff" * 1000
    damaged.write_bytes(content)
    message = refused(damaged, out, model, text_column="text")
    assert "a.parquet: the Parquet file is damaged" in message
    damaged.write_bytes(b"PAR1")
    assert "a.parquet: the Parquet file is damaged" in refused(damaged, tmp_path / "o", model)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(made_up(1)[0]).encode() * 50)[:-20])
    assert "b.jsonl.gz: the gzip file is truncated" in refused(packed, tmp_path / "p", model)
    packed.write_bytes(b"{}")
    assert "b.jsonl.gz: the gzip file is damaged" in refused(packed, tmp_path / "q", model)


def test_files_that_are_not_there_or_something_else(model, tmp_path):
    out = tmp_path / "out"
    assert "a.jsonl: there is no such file" in refused(tmp_path / "a.jsonl", out, model)
    assert "*.jsonl: no file matches" in refused(tmp_path / "*.jsonl", out, model)
    (tmp_path / "in").mkdir()
    assert "no file there ends with .jsonl" in refused(tmp_path / "in", out, model)
    assert "not standard input" in refused("-", out, model)
    assert "give the files" in refused([], out, model)
    (tmp_path / "a.txt").write_text("I had pain.")
    assert "neither Parquet nor JSON lines" in refused(tmp_path / "a.txt", out, model)
    given = write_lines(tmp_path / "in" / "a.jsonl", made_up(1))
    assert "given twice" in refused([given, tmp_path / "in"], out, model)
    (tmp_path / "link.jsonl").symlink_to(given)
    assert "given twice" in refused([given, tmp_path / "link.jsonl"], out, model)
    write_table(tmp_path / "in" / "b.parquet", made_up(1))
    assert "b.parquet is Parquet and" in refused(tmp_path / "in", out, model)


def test_files_are_recognised_without_an_ending(model, tmp_path):
    for name, content in (
        ("lines", json.dumps(made_up(1)[0]).encode()),
        ("packed", gzip.compress(json.dumps(made_up(1)[0]).encode())),
        ("table", write_table(tmp_path / "a.parquet", made_up(1)).read_bytes()),
    ):
        (tmp_path / name).write_bytes(content)
        assert job(tmp_path / name, tmp_path / f"{name}-out", model).documents == 1
    assert job(tmp_path / "lines", tmp_path / "out", model, kind="jsonl").documents == 1


def test_outputs_among_inputs(model, tmp_path):
    write_lines(tmp_path / "in" / "a.jsonl", made_up(1))
    for given, out in (
        (tmp_path / "in", tmp_path / "in" / "out"),
        (tmp_path / "in", tmp_path / "in"),
        (tmp_path / "**" / "*.jsonl", tmp_path / "in" / "out"),
        (tmp_path / "in" / "*.jsonl", tmp_path / "in"),
        (tmp_path / "*" / "*.jsonl", tmp_path / "found"),
    ):
        with pytest.raises(InputError, match="the output is in the input"):
            job(given, out, model)
    job(tmp_path / "in" / "*.jsonl", tmp_path / "in" / "out", model)
    job(tmp_path / "i*" / "*.jsonl", tmp_path / "found", model)


def test_arguments(model, posts, tmp_path):
    out = tmp_path / "out"
    assert "engine must be one of" in refused(posts, out, model, engine="spark")
    assert "workers must be at least 1" in refused(posts, out, model, workers=0)
    assert "an address is for the engine ray" in refused(posts, out, model, address="auto")
    assert "the format of parts is" in refused(posts, out, model, format="csv")
    assert "the device is cpu or cuda" in refused(posts, out, model, device="cuda:1")
    assert "there is no such folder" in refused(posts, out, str(tmp_path / "no-model"))
    assert not out.exists()


def test_columns_that_json_cannot_represent(model, tmp_path):
    given = write_table(tmp_path / "a.parquet", [{"text": "my arms", "scan": b"\xff\xfe"}])
    message = refused(given, tmp_path / "out", model, format="jsonl")
    assert "document a-1: the format cannot represent" in message
    assert "write Parquet" in message


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_file_that_changes_while_the_job_runs(model, tmp_path, form, monkeypatch):
    def write(number):
        if form == "jsonl":
            return write_lines(tmp_path / "a.jsonl", made_up(number))
        return write_table(tmp_path / "a.parquet", made_up(number))

    class ChangingEngine(InlineEngine):
        def run(self, *arguments):
            write(9)
            return super().run(*arguments)

    given = write(3)
    monkeypatch.setattr(job_module, "ProcessEngine", ChangingEngine)
    assert f"a.{form}: the file has changed since" in refused(given, tmp_path / "out", model)
    assert not (tmp_path / "out" / "_manifest.json").exists()


def stopped(given, out, model, **options):
    """Begin a job, and stop it after its first part."""

    class StoppingEngine(InlineEngine):
        def run(self, *arguments):
            yield next(iter(super().run(*arguments)))
            raise DiscotagError("stopped")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "ProcessEngine", StoppingEngine)
        with pytest.raises(DiscotagError, match="stopped"):
            job(given, out, model, **options)


def test_resuming_needs_the_same_order(model, tmp_path):
    posts = [{"text": post["text"]} for post in made_up(200)]
    one = write_lines(tmp_path / "a.jsonl", posts)
    other = write_lines(tmp_path / "b.jsonl", posts[::-1])  # of the same size
    stopped([one, other], tmp_path / "out", model)
    message = refused([other, one], tmp_path / "out", model, resume=True)
    assert "was begun with its input in another order" in message
    assert job([one, other], tmp_path / "out", model, resume=True).documents == 400


def test_errors_of_a_job_that_is_resumed_from_another_folder(model, tmp_path, monkeypatch):
    lines = [json.dumps(post) for post in made_up(300)]
    lines[2] = lines[290] = "{"
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    stopped("a.jsonl", "out", model, skip_bad=True)
    given = tmp_path / "a.jsonl"
    manifest = job(given, tmp_path / "out", model, skip_bad=True, resume=True)
    assert (manifest.documents, manifest.flaws) == (298, 2)
    lines = (tmp_path / "out" / "_errors.jsonl").read_text("utf-8").splitlines()
    found = [(each["file"], each["line"]) for each in map(json.loads, lines)]
    assert found == [(str(given), 3), (str(given), 291)]


def test_receipts_of_other_jobs_do_not_count(model, posts, done, tmp_path):
    out = tmp_path / "out"
    stopped(posts, out, model)
    receipt = out / "_receipts" / "000000.json"
    receipt.write_text(json.dumps(json.loads(receipt.read_text("utf-8")) | {"job": "another"}))
    told = []
    job(posts, out, model, resume=True, tell=told.append)
    assert any("0 of" in line and "already done" in line for line in told)
    assert parts_of(out) == parts_of(done)


def test_files_of_others_are_kept(model, posts, tmp_path):
    out = tmp_path / "out"
    (out / "_receipts").mkdir(parents=True)  # as a job leaves it that could not be replaced
    (out / ".notes.tmp").write_text("mine")
    job(posts, out, model)
    (out / "_receipts" / "notes.json").write_text("mine")
    job(posts, out, model, force=True)
    assert (out / ".notes.tmp").read_text() == "mine"
    assert (out / "_receipts" / "notes.json").read_text() == "mine"
    other = tmp_path / "other"
    other.mkdir()
    (other / "_manifest.json").write_text('{"files": []}')
    (other / "part-000000.jsonl").write_text("mine")
    with pytest.raises(JobError, match="is not from a job"):
        job(posts, other, model, force=True)
    assert (other / "part-000000.jsonl").read_text() == "mine"


def test_errors_of_the_model_are_not_those_of_storage(model, posts, tmp_path, monkeypatch):
    class StrangeError(Exception):
        __module__ = "runtime"

    def fail(self, reading):
        raise StrangeError("out of memory")

    monkeypatch.setattr(Worker, "_found", fail)
    monkeypatch.setattr("discotag.scale.worker.PAUSE", 0)
    message = refused(posts, tmp_path / "out", model)
    assert "posts.jsonl, bytes 0 to" in message
    assert "cannot be tagged: StrangeError: out of memory" in message


def test_another_model_on_a_worker(model, posts, tmp_path):
    work = Work(
        str(tmp_path), "jsonl", tuple(find_sources([str(posts)])), None, 9, ((Range(0, 0, 10),),),
        model, "other", "onnx", "cpu", Splitter(),
    )  # fmt: skip
    with pytest.raises(DiscotagError, match="this is another model than where the job was started"):
        Worker(work).tag(0)
