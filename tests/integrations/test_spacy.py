"""The component of spaCy pipelines: the same mentions as the tagger, on spaCy's tokens."""

import gc
import importlib
import logging
import pickle
from importlib.metadata import entry_points

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import InputError, Mention, Scheme, Splitter
from discotag.model.files import BUNDLED, FILES, ModelError
from discotag.prediction import Wanted
from shell import python
from tiny import tiny_model

spacy = pytest.importorskip("spacy", reason="needs spacy: pip install spacy")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402

from discotag.integrations import spacy as integration  # noqa: E402

TEXTS = [
    "The pain I was experiencing around the hipjoints was incredible.",
    "I had pain in arms and shoulders. Swollen and stiff knees and elbows.",
    "",
    "   \n\n ",
    "Slept well.",
    "Cramps (and some nausea)\n\n  in my calves.\nTerrible  headaches.",
]


@pytest.fixture(scope="module")
def nlp():
    return pipeline()


def pipeline(*before, **config):
    nlp = spacy.blank("en")
    for name in before:
        nlp.add_pipe(name)
    nlp.add_pipe("discotag", config=config)
    return nlp


def found(doc):
    """Return all that is known of the mentions of a doc or document, except for words."""
    mentions = doc._.mentions if isinstance(doc, Doc) else doc.mentions
    return sorted((each.label, each.spans, each.text, round(each.score, 4)) for each in mentions)


def test_is_an_entry_point():
    (point,) = (
        each for each in entry_points(group="spacy_factories") if each.name == integration.NAME
    )
    assert point.load() is integration.make_component


def test_spacy_finds_the_factory_without_an_import_of_discotag():
    """The model is not loaded yet: spaCy itself imports PyTorch, but not the others."""
    code = (
        "import sys, spacy; print(spacy.blank('en').add_pipe('discotag').name,"
        " *{'transformers', 'onnxruntime'} & set(sys.modules))"
    )
    assert python(code).strip() == "discotag"


@pytest.mark.parametrize("text", TEXTS)
def test_finds_what_the_tagger_finds(nlp, tagger, text):
    assert found(nlp(text)) == found(tagger(text))


def test_fragments_of_a_mention_share_an_id(nlp):
    doc = nlp("I had pain in arms and shoulders.")
    assert [(span.id_, span.label_, span.text) for span in doc.spans["discotag"]] == [
        ("discotag-0", "ADR", "pain in"),
        ("discotag-0", "ADR", "shoulders"),
        ("discotag-1", "ADR", "pain in arms"),
    ]
    assert doc._.mentions == (
        Mention("ADR", [(2, 4), (6, 7)]),
        Mention("ADR", [(2, 5)]),
    )
    assert [mention.text for mention in doc._.mentions] == ["pain in shoulders", "pain in arms"]
    assert doc._.mentions[0].spans == ((6, 13), (23, 32))
    assert all(0 < mention.score <= 1 for mention in doc._.mentions)
    assert doc.ents == ()


def test_white_space_tokens_are_not_words_but_are_counted(nlp):
    doc = nlp("  \n Swollen  and   stiff knees")
    assert any(token.is_space for token in doc)
    assert {mention.text for mention in doc._.mentions} == {"Swollen knees", "stiff knees"}
    for mention in doc._.mentions:
        assert [doc[start:end].text for start, end in mention.fragments] == mention.text.split(
            " ", len(mention.fragments) - 1
        )


def test_mentions_are_widened_to_tokens(nlp, tagger):
    text = "Pain in arms/shoulders."
    assert {mention.text for mention in tagger(text).mentions} == {
        "Pain in arms",
        "Pain in shoulders",
    }
    doc = Doc(nlp.vocab, words=["Pain", "in", "arms/shoulders."], spaces=[True, True, False])
    (mention,) = nlp(doc)._.mentions
    assert mention.text == text
    assert mention.fragments == ((0, 3),)
    assert mention.score == pytest.approx(max(m.score for m in tagger(text).mentions), abs=1e-5)


def test_sentences_of_the_pipeline_are_used(nlp):
    text = "pain in arms and\nshoulders"
    doc = nlp.make_doc(text)
    assert len(integration.to_document(doc, Splitter()).sentences) == 1
    for token in doc:
        token.is_sent_start = token.text in ("pain", "shoulders")
    document = integration.to_document(doc, Splitter())
    assert [each.words for each in document.sentences] == [
        ("pain", "in", "arms", "and"),
        ("shoulders",),
    ]
    assert "pain in shoulders" not in {mention.text for mention in nlp(doc)._.mentions}


PLAIN = spacy.blank("en")
SPLITTING = spacy.blank("en")
SPLITTING.add_pipe("sentencizer")


@pytest.mark.parametrize("nlp", [PLAIN, SPLITTING], ids=["plain", "sentencizer"])
@given(text=st.text(st.sampled_from("ab .\n\t()é\u00a0\u200b😀"), max_size=30))
@settings(max_examples=50, deadline=None)
def test_documents_have_all_words_of_the_text(nlp, text):
    document = integration.to_document(nlp(text), Splitter())
    for sentence in document.sentences:
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert text[sentence.start + start : sentence.start + end] == word
    assert "".join(document.words) == "".join(text.split())


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_mentions_cover_the_tokens_that_they_touch(data):
    """Compared with a search through all tokens and characters."""
    text = data.draw(st.text(st.sampled_from("ab- .\n"), min_size=1, max_size=15))
    document = Splitter("whole").document(text)
    words = range(len(document.words))
    if not words:
        return
    chosen = data.draw(st.sets(st.sampled_from(words), min_size=1))
    mention = Mention("A", [(word, word + 1) for word in chosen], score=0.5)
    doc = PLAIN.make_doc(text)
    document = document.with_mentions([[mention]])
    (placed,) = integration._on_tokens(doc, document)
    characters = {at for span in document.mentions[0].spans for at in range(*span)}
    touched = {token.i for token in doc if characters & {*range(token.idx, token.idx + len(token))}}
    assert set(placed.words) == touched


def test_very_long_docs(nlp):
    text = " ".join(["I had pain in arms and shoulders."] * 400)
    doc = nlp(text)
    assert len(doc._.mentions) == 800
    assert max(mention.spans[-1][1] for mention in doc._.mentions) == len(text) - 1
    one = pipeline()
    long = one.make_doc(text.replace(".", ","))
    for token in long:
        token.is_sent_start = token.i == 0  # one sentence, longer than the encoder's windows
    assert len(one(long)._.mentions) > 600


def test_pipe_keeps_the_order_and_finds_the_same(nlp):
    texts = TEXTS * 3
    docs = list(nlp.pipe(texts, batch_size=4))
    assert [doc.text for doc in docs] == texts
    for doc in docs:
        assert found(doc) == found(nlp(doc.text))


def test_pipe_tags_docs_together_with_the_settings():
    options = {"batch_size": 7, "bias": 1.5, "min_score": 0.25, "labels": ["ADR"]}
    nlp = pipeline(**options)
    component = nlp.get_pipe("discotag")
    batches = []
    tag_batch = component.tagger.tag_batch

    def counted(documents, wanted):
        batches.append((len(documents), wanted))
        return tag_batch(documents, wanted)

    component.tagger.tag_batch = counted
    assert len(list(nlp.pipe(iter(TEXTS), batch_size=4))) == len(TEXTS)
    wanted = Wanted(**options, candidates=False)
    assert batches == [(4, wanted), (2, wanted)]


def test_scores_and_the_key_of_the_group(tagger):
    text = "Terrible headaches and a very dry mouth."
    low, high = sorted(mention.score for mention in tagger(text).mentions)
    doc = pipeline(min_score=(low + high) / 2, spans_key="reactions")(text)
    assert [mention.score for mention in doc._.mentions] == [high]
    assert list(doc.spans) == ["reactions"]
    assert doc.spans["reactions"][0].id_ == "reactions-0"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"min_score": 1.5}, "min_score must be from 0 to 1"),
        ({"bias": 1e9}, "bias must be from"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"ents": "all"}, "ents must be one of none, hulls"),
        ({"spans_key": ""}, "spans_key must not be empty"),
    ],
)
def test_wrong_settings_are_refused_at_once(config, message):
    with pytest.raises(InputError, match=message):
        pipeline(**config)


def test_two_components_of_two_models(tmp_path):
    nlp = pipeline()
    folder = tiny_model(tmp_path, Scheme(labels=("DRUG",)))
    config = {"model": str(folder), "spans_key": "drugs", "device": "cpu"}
    nlp.add_pipe("discotag", name="drugs", config=config)
    doc = nlp("I had pain in arms and shoulders, no sleep, and the knees hurt.")
    assert {each.label_ for each in doc.spans["drugs"]} == {"DRUG"}
    assert {mention.label for mention in doc._.mentions} == {"ADR", "DRUG"}
    assert list(doc._.mentions) == sorted(doc._.mentions)


def test_hulls_are_entities_if_asked_for():
    doc = pipeline(ents="hulls")("Swollen and stiff knees. I had pain in arms and shoulders.")
    assert [(each.text, each.label_, each.ent_id_) for each in doc.ents] == [
        ("Swollen and stiff knees", "ADR", "discotag-0"),
        ("pain in arms and shoulders", "ADR", "discotag-2"),
    ]
    assert doc.spans["discotag"][0].id_ == "discotag-0"


def test_hulls_do_not_replace_entities():
    nlp = pipeline("entity_ruler", ents="hulls")
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "BODY", "pattern": "arms"}])
    doc = nlp("I had pain in arms and shoulders. Swollen knees.")
    assert [(each.text, each.label_) for each in doc.ents] == [
        ("arms", "BODY"),
        ("Swollen knees", "ADR"),
    ]
    assert len(doc._.mentions) == 3


def test_docs_can_be_stored(nlp):
    doc = nlp(TEXTS[1])
    again = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
    stored = DocBin()
    stored.add(doc)
    (binned,) = DocBin().from_bytes(stored.to_bytes()).get_docs(spacy.blank("en").vocab)
    for other in (again, binned, doc.copy(), pickle.loads(pickle.dumps(doc))):
        assert found(other) == found(doc)
        assert [s.id_ for s in other.spans["discotag"]] == [s.id_ for s in doc.spans["discotag"]]


def test_tagging_again_replaces_mentions(nlp):
    doc = nlp(TEXTS[1])
    before = found(doc)
    assert found(nlp(doc)) == before


def test_other_span_groups_are_not_mentions(nlp):
    doc = nlp("Slept well.")
    doc.spans["other"] = [Span(doc, 0, 1, label="ADR")]
    assert doc._.mentions == ()


@pytest.fixture(scope="module")
def saved(tmp_path_factory, nlp):
    folder = tmp_path_factory.mktemp("pipeline") / "nlp"
    nlp.to_disk(folder)
    return folder


def test_a_pipeline_folder_has_the_model(saved, nlp):
    there = {path.name for path in (saved / "discotag").iterdir()}
    assert there == {name for name in FILES if (BUNDLED / name).is_file()}
    again = spacy.load(saved)
    for text in TEXTS:
        assert found(again(text)) == found(nlp(text))


def test_a_pipeline_folder_can_be_moved(tmp_path):
    """To a machine where the folder of the model does not exist."""
    folder = tiny_model(tmp_path / "made")
    nlp = pipeline(model=str(folder), device="cpu")
    wanted = found(nlp(TEXTS[1]))
    assert wanted
    nlp.to_disk(tmp_path / "nlp")
    folder.rename(tmp_path / "gone")
    again = spacy.load((tmp_path / "nlp").rename(tmp_path / "moved"))
    assert found(again(TEXTS[1])) == wanted
    again.to_disk(tmp_path / "second")
    assert found(spacy.load(tmp_path / "second")(TEXTS[1])) == wanted


def test_bytes_have_the_model(nlp):
    data = nlp.to_bytes()
    again = spacy.blank("en").from_config(nlp.config).from_bytes(data)
    assert found(again(TEXTS[1])) == found(nlp(TEXTS[1]))
    folder = again.get_pipe("discotag").tagger.folder
    assert folder.is_dir()
    assert again.to_bytes() == data
    del again
    gc.collect()
    assert not folder.exists()


def test_pickles_have_the_model_and_the_settings():
    nlp = pipeline(min_score=0.9)
    again = pickle.loads(pickle.dumps(nlp))
    assert again.get_pipe("discotag").settings == nlp.get_pipe("discotag").settings
    assert found(again(TEXTS[1])) == found(nlp(TEXTS[1]))


def test_another_process_can_use_a_pickle(nlp, tmp_path):
    (tmp_path / "nlp").write_bytes(pickle.dumps(nlp))
    code = (
        "import pickle, sys; nlp = pickle.load(open(sys.argv[1], 'rb'));"
        "print(nlp(sys.argv[2]).to_bytes().hex())"
    )
    doc = bytes.fromhex(python(code, tmp_path / "nlp", TEXTS[1]))
    assert found(Doc(nlp.vocab).from_bytes(doc)) == found(nlp(TEXTS[1]))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("runtime", [None, "torch"])
def test_several_processes(tmp_path, runtime):
    """Also if the tagger was used before they were forked, which PyTorch does not expect."""
    model = "bundled" if runtime is None else str(tiny_model(tmp_path))
    nlp = pipeline(model=model, runtime=runtime, device="cpu")
    wanted = [found(doc) for doc in nlp.pipe(TEXTS)]
    assert any(wanted)
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=2))
    assert [doc.text for doc in docs] == TEXTS
    for doc, each in zip(docs, wanted, strict=True):
        assert found(doc) == each


def test_models_are_loaded_when_they_are_needed(tmp_path):
    nlp = pipeline(model=str(tmp_path / "none"))
    with pytest.raises(ModelError, match="none: there is no such folder"):
        nlp("Sore toes.")
    with pytest.raises(ModelError, match="none: there is no such folder"):
        nlp.to_disk(tmp_path / "nlp")


def test_a_model_that_was_deleted_is_not_saved(tmp_path):
    folder = tiny_model(tmp_path)
    nlp = pipeline(model=str(folder), device="cpu")
    nlp("Sore toes.")
    folder.rename(tmp_path / "gone")
    with pytest.raises(ModelError, match="no longer"):
        nlp.to_disk(tmp_path / "nlp")


def test_a_pipeline_folder_without_its_model_is_refused(tmp_path, nlp):
    nlp.to_disk(tmp_path / "nlp", exclude=["discotag"])
    with pytest.raises(ModelError, match="not a model"):
        spacy.load(tmp_path / "nlp")


def test_docs_that_fail_are_given_to_the_error_handler(monkeypatch):
    nlp = pipeline()
    component = nlp.get_pipe("discotag")
    tag = component._tag

    def fail(docs):
        if any("bad" in doc.text for doc in docs):
            raise RuntimeError("bad doc")
        tag(docs)

    monkeypatch.setattr(component, "_tag", fail)
    with pytest.raises(RuntimeError, match="bad doc"):
        list(nlp.pipe(["bad"]))
    failed = []
    nlp.set_error_handler(lambda name, _, docs, error: failed.extend((name, each) for each in docs))
    docs = list(nlp.pipe(["good", "bad", "good"], batch_size=1))
    assert [doc.text for doc in docs] == ["good", "good"]
    assert [(name, doc.text) for name, doc in failed] == [("discotag", "bad")]
    assert component.get_error_handler() is nlp.default_error_handler


@pytest.fixture
def own_extension():
    """Put back the getter of `doc._.mentions` after a test has replaced it."""
    before = Doc.get_extension("mentions")
    yield
    Doc.set_extension("mentions", getter=before[2], force=True)


def test_the_module_can_be_reloaded(nlp, own_extension):
    importlib.reload(integration)
    assert [mention.text for mention in nlp("Sore toes.")._.mentions] == ["Sore toes"]
    importlib.reload(integration)


def test_an_extension_of_another_library_is_left_alone(nlp, own_extension, caplog):
    Doc.set_extension("mentions", default=7, force=True)
    with caplog.at_level(logging.WARNING):
        integration._register()
    assert "another library uses doc._.mentions" in caplog.text
    doc = nlp("Sore toes.")
    assert doc._.mentions == 7
    assert [mention.text for mention in integration.mentions(doc)] == ["Sore toes"]
