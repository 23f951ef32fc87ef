"""`discotag benchmark`: a table for people, JSON for programs."""

import json

from discotag.errors import DiscotagError
from shell import invoke


def test_table(tmp_path):
    path = tmp_path / "posts.txt"
    path.write_text("Sore toes. My arms hurt.\n", "utf-8")
    found = invoke("benchmark", path, "--sentences", "4", "--repeat", "1")
    assert found.exit_code == 0, found.output
    assert "4 sentences of 3.5 words" in found.output
    for step in ("text in, mentions out", "split text into words", "score words"):
        assert step in found.output


def test_texts_of_ones_own():
    options = ["--text", "headache", "--text", "Sore toes.", "--sentences", "2", "--repeat", "1"]
    found = invoke("benchmark", *options, "--json")
    assert json.loads(found.stdout)["words"] == 4


def test_json():
    found = invoke("benchmark", "--sentences", "3", "--repeat", "1", "--json")
    data = json.loads(found.stdout)
    assert (data["sentences"], data["runtime"], data["device"]) == (3, "onnx-int8", "cpu")
    assert data["sentences_per_second"].keys() == data["seconds"].keys()


def test_bad_input(tmp_path):
    found = invoke("benchmark", tmp_path / "no.txt")
    assert isinstance(found.exception, DiscotagError)
    assert "no such file" in str(found.exception)
    found = invoke("benchmark", "--sentences", "0")
    assert found.exit_code == 2


def test_encodings(tmp_path):
    path = tmp_path / "posts.txt"
    path.write_bytes("Schmerzen im Rücken.".encode("windows-1252"))
    options = ["--sentences", "1", "--repeat", "1", "--json"]
    found = invoke("benchmark", path, *options)
    assert "use --encoding windows-1252" in str(found.exception)
    found = invoke("benchmark", path, *options, "--encoding", "windows-1252")
    assert json.loads(found.stdout)["words"] == 4
