"""Answers: what clients get is what the tagger finds."""

import io
import json
import random
import zipfile
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from discotag.corpora import FORMATS, read
from discotag.mentions import Document, Mention, Sentence
from discotag.model.guarantee import Guarantee
from discotag.serve.answers import fill, write_answer
from discotag.serve.engine import Found
from discotag.serve.models import find_models
from discotag.serve.schemas import EXPORTS, PredictRequest
from services import TEXT, serving

TEXTS = [
    TEXT,
    "I had pain in arms and shoulders. Dry mouth!",
    "",
    "  \n\n ",
    "No problem at all.",
    "<script>alert(1)</script> headaches & <b>nausea</b>",
    "Schmerzen 🤕 und dry mouth — “ok”\u0000\u202e.",
    "Cramps (and some nausea) in my calves. " * 30,
]


def ask(service, **request):
    answer = service.post(json=request)
    assert answer.status_code == 200, answer.text
    return answer.json()


def same(found, expected):
    """Return whether documents are equal, but for the last digit of scores.

    The tagger's own scores depend on the batch in the sixth digit, now and then.
    """
    for one, other in zip(found, expected, strict=True):
        for given, wanted in zip(one["mentions"], other["mentions"], strict=True):
            assert given["score"] == pytest.approx(wanted["score"], abs=2e-6)
            given["score"] = wanted["score"]
    return found == expected


def test_text(service, tagger):
    answer = ask(service, text=TEXT)
    assert answer == {"model": "bundled", "documents": [tagger(TEXT).to_dict()]}
    (mention,) = answer["documents"][0]["mentions"]
    assert mention["text"] == "pain hipjoints"
    assert mention["spans"] == [[4, 8], [39, 48]]


def test_texts(service, tagger):
    assert same(ask(service, texts=TEXTS)["documents"], [each.to_dict() for each in tagger(TEXTS)])
    assert ask(service, texts=[]) == {"model": "bundled", "documents": []}


def test_words_and_sentences(service, tagger):
    words = ["pain", "in", "arms", "and", "shoulders"]
    many = [words, [], ["", " ", "\n"], ["dry", "mouth"]]
    expected = [each.to_dict() for each in tagger(many)]
    assert ask(service, sentences=many)["documents"] == expected
    assert ask(service, words=words)["documents"] == expected[:1]


@pytest.mark.parametrize("options", [{"min_score": 0.95}, {"bias": 2.5}, {"bias": -3}])
def test_options(service, tagger, options):
    found = list(tagger.predict(TEXTS, **options))
    answer = ask(service, texts=TEXTS, **options)
    assert same(answer["documents"], [each.to_dict() for each in found])


def test_alternatives(service, tagger):
    (document,) = ask(service, text=TEXTS[1], alternatives=3)["documents"]
    (expected,) = tagger.alternatives([TEXTS[1]], k=3)
    assert [[each["probability"] for each in found] for found in document["alternatives"]] == [
        [each.probability for each in found] for found in expected
    ]
    words = len(document["sentences"][0]["words"])
    for sentence, shift in ((0, 0), (1, words)):
        for given, wanted in zip(
            document["alternatives"][sentence], expected[sentence], strict=True
        ):
            mentions = [each.shifted(shift).to_dict() for each in wanted.sentence.mentions]
            assert given["mentions"] == mentions
    assert any(
        mention["text"] == TEXTS[1][slice(*mention["spans"][0])]
        for found in document["alternatives"]
        for each in found
        for mention in each["mentions"]
    )


def test_tags_and_drawings(service, tagger):
    answer = ask(service, text=TEXTS[1], tags=True, draw=True)
    (document,) = answer["documents"]
    assert answer["labels"] == ["ADR"]
    for sentence, tags, drawing in zip(
        document["sentences"], document["tags"], document["drawings"], strict=True
    ):
        assert len(tags) == len(sentence["words"]) == len(drawing["words"])
        tagger.scheme.decode(tags)
    assert document["tags"][1] == ["CB", "CI", "O"]


def test_tags_of_a_part_of_a_mention_set_are_null(tagger):
    """Of a mention set of two by two mentions, three are left: no tags encode that."""
    words = "pain and cramps in arms and legs".split()
    document = Document((Sentence(words, ()),))
    places = [(0, 4), (0, 6), (2, 4), (2, 6)]
    found = [Mention("ADR", [(x, x + 1), (y, y + 1)], score=0.9) for x, y in places]
    model = find_models([])[0]

    def tags(kept):
        request = PredictRequest(words=words, tags=True)
        filled = fill([document], [Found(kept)])
        return json.loads(write_answer(request, model, filled, []))["documents"][0]["tags"]

    assert tags(found) == [list(tagger.scheme.encode(len(words), found))]
    assert tags(found[:3]) == [None]


def test_equal_with_many_clients(service, tagger):
    texts = [text for each in read("docs/sample.jsonl") if (text := each.text or "")]
    texts = texts or [" ".join(each.words) for each in read("docs/sample.jsonl")]
    expected = {each.text: each.to_dict() for each in tagger(texts)}
    recalled = {each.text: each.to_dict() for each in tagger.predict(texts, bias=1.0)}

    def client(number):
        own = random.Random(number).sample(texts, 20)
        with httpx.Client(base_url=service.url, timeout=60) as http:
            for text in own:
                bias = random.Random(text).choice([0.0, 1.0])
                answer = http.post("/api/predict", json={"text": text, "bias": bias}).json()
                wanted = expected if bias == 0 else recalled
                assert same(answer["documents"], [wanted[text]])

    before = service.figure("discotag_batch_sentences_count")
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(client, range(16)))
    batches = service.figure("discotag_batch_sentences_count") - before
    assert batches < 16 * 20, "no requests shared a batch"


@pytest.mark.parametrize("format", EXPORTS)
def test_export(service, tagger, format, tmp_path):
    texts = [TEXT, "Dry mouth."] if format != "conll" else ["Dry mouth."]
    answer = service.post("/api/export", json={"texts": texts, "format": format})
    assert answer.status_code == 200, answer.text
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="mentions.')
    assert answer.headers["cache-control"] == "no-store"
    name = disposition.split('"')[1]
    path = tmp_path / name
    path.write_bytes(answer.content)
    if FORMATS[format].table is not None:
        assert len(answer.content) > 50
        return
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert all(".." not in each and "/" not in each for each in archive.namelist())
            archive.extractall(tmp_path / "brat")
        path = tmp_path / "brat"
    found = [m.text for document in read(path, format) for m in document.mentions]
    assert found == [m.text for document in tagger(texts) for m in document.mentions]


def test_export_of_what_a_format_cannot_hold(service):
    answer = service.post("/api/export", json={"text": TEXT, "format": "conll"})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "not_writable"
    assert service.post("/api/export", json={"text": TEXT, "format": "exe"}).status_code == 422


def test_export_of_words(service):
    for format in EXPORTS:
        request = {"words": ["dry", "mouth"], "format": format}
        assert service.post("/api/export", json=request).status_code == 200, format


def test_models(service):
    (model,) = service.get("/api/models").json()["models"]
    assert model["name"] == "bundled"
    assert model["labels"] == ["ADR"]
    assert model["slots"] == 3


def test_state(service):
    assert service.get("/healthz").json() == {"status": "ok"}
    assert service.get("/readyz").json() == {"status": "ready"}


def test_reference(service):
    page = service.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "/api/predict" in page.text
    assert "PredictAnswer" in page.text
    for forbidden in ("<script", "<style", " style=", "http://", "https://"):
        assert forbidden not in page.text
    paths = service.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        "/api/predict", "/api/export", "/api/models", "/healthz", "/readyz", "/metrics",
    }  # fmt: skip


def test_metrics_are_of_all_engines(service):
    name = 'discotag_requests_total{path="/api/predict",status="200"}'
    before = service.figure(name), service.figure("discotag_words_total")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(service, text="Dry mouth."), range(24)))
    assert service.figure(name) == before[0] + 24
    assert service.figure("discotag_words_total") == before[1] + 3 * 24
    assert service.figure("discotag_engines") == 2
    assert service.figure("discotag_waiting_words") == 0
    assert "hipjoints" not in service.get("/metrics").text
    assert json.dumps(TEXT) not in service.get("/metrics").text


def test_candidates(tagger, tmp_path):
    """A model with a guarantee is served beside the bundled one, which has none."""
    guarantee = Guarantee(
        threshold=0.005,
        target_recall=0.5,
        confidence=0.9,
        count="mentions",
        unit="sentences",
        match="exact",
        units=100,
        runtime="onnx-int8",
    )
    ready = tagger.with_guarantee(guarantee)
    ready.save_pretrained(tmp_path / "ready")
    (tmp_path / "log").mkdir()
    options = ["--model", "bundled", "--model", tmp_path / "ready"]
    with serving(tmp_path / "log", *options, workers=1) as service:
        wanted = [each.to_dict() for each in ready.predict(TEXTS)]
        assert any("candidates" in each for each in wanted)
        request = {"model": "ready", "candidates": True}
        found = ask(service, texts=TEXTS, **request)["documents"]
        assert [each["candidates"] for each in found] == [
            each.get("candidates", []) for each in wanted
        ]
        both = ask(service, text=TEXTS[1], alternatives=2, **request)["documents"][0]
        assert both["candidates"] == wanted[1]["candidates"]
        assert len(both["alternatives"][0]) == 2
        sure = ask(service, text=TEXTS[1], min_score=1, **request)["documents"][0]
        assert sure["mentions"] == []
        assert len(sure["candidates"]) == len(wanted[1]["candidates"] + wanted[1]["mentions"])
        drawn = ask(service, text=TEXTS[1], draw=True, **request)["documents"][0]["drawings"]
        rows = [row for each in drawn for row in each.get("mentions", ())]
        assert sum(len(row) == 7 for row in rows) == len(wanted[1]["candidates"])
        for more, message in (
            ({"model": "bundled"}, "no guarantee"),
            ({"bias": 1.0}, "bias of 0, not 1"),
        ):
            answer = service.post(json={"text": TEXT, **request, **more})
            assert answer.status_code == 422
            assert answer.json()["error"]["code"] == "no_candidates"
            assert message in answer.json()["error"]["message"]
        export = {"text": TEXTS[1], **request}
        table = service.post("/api/export", json={**export, "format": "csv"})
        assert "to review" in table.text
        table = service.post("/api/export", json={**export, "text": "Fine.", "format": "csv"})
        assert "status" in table.text
        refused = service.post("/api/export", json={**export, "format": "brat"})
        assert refused.status_code == 422
        assert "brat cannot mark candidates" in refused.text
        facts = service.get("/api/models").json()["models"]
        assert [each["guarantee"] for each in facts] == [None, str(guarantee)]
