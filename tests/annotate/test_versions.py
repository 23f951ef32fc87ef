"""Versions: the fold of actions against a plain model that copies everything."""

import copy

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from discotag import Document, Mention, Sentence
from discotag.annotate.actions import KINDS, Action, content_json, content_of
from discotag.annotate.versions import MOST_STEPS, RefusedError, apply, begin, fold

WORDS = ("pain", "in", "arms", "and", "hips")
PROPOSED = Mention("ADR", [(0, 1), (2, 3)], score=0.8)
GIVEN = Mention("Drug", [(1, 2)])
DOCUMENT = Document([Sentence(WORDS, [GIVEN, GIVEN]), Sentence(WORDS), Sentence(())])
PROPOSALS = [[Mention("ADR", [(0, 5)], score=0.1)], [PROPOSED], []]


def start():
    return begin(DOCUMENT, PROPOSALS)


def action(kind, sentence=None, mention=None, to=None):
    return Action(kind, sentence, mention, to)


def test_a_version_begins_with_the_corpus_and_elsewhere_with_proposals():
    version = start()
    assert version.mentions == ((GIVEN,), (PROPOSED,), ())  # once, and no proposal beside it
    assert [each.origin for held in version.sentences for each in held] == ["corpus", "model"]
    assert [each.status for held in version.sentences for each in held] == ["accepted", "proposed"]
    assert version.accepted == ((GIVEN,), (), ())
    assert version.sentences[1][0].mention.score == 0.8
    assert begin(DOCUMENT).mentions == ((GIVEN,), (), ())


def test_names_of_steps_say_what_is_undone():
    version = apply(start(), action("add", 1, Mention("ADR", [(0, 1), (4, 5)])))
    assert version.past[-1].name == "add ADR “pain hips”"
    version = apply(version, action("undo"))
    assert not version.past
    assert version.future[-1].name == "add ADR “pain hips”"
    changed = apply(start(), action("change", 1, PROPOSED, Mention("Drug", [(0, 1)])))
    assert changed.past[-1].name == "change ADR “pain arms” to Drug “pain”"
    assert apply(start(), action("accept_all")).past[-1].name == "accept 1 proposal"


def test_drawing_what_is_proposed_accepts_it():
    version = apply(start(), action("add", 1, Mention("ADR", [(0, 1), (2, 3)])))
    (held,) = version.sentences[1]
    assert (held.origin, held.status, held.mention.score) == ("model", "accepted", 0.8)


def test_a_changed_mention_is_that_of_a_person():
    version = apply(start(), action("change", 1, PROPOSED, Mention("ADR", [(0, 3)])))
    (held,) = version.sentences[1]
    assert (held.origin, held.status, held.mention.score) == ("person", "accepted", None)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (action("add", 3, PROPOSED), "invalid", "no sentence 3"),
        (action("add", 1, Mention("ADR", [(4, 6)])), "invalid", "reaches past the end"),
        (action("add", 2, Mention("ADR", [(0, 1)])), "invalid", "reaches past the end"),
        (action("add", 1), "invalid", "needs a sentence and a mention"),
        (action("change", 1, PROPOSED), "invalid", "needs a sentence and a mention"),
        (action("add", 0, GIVEN), "conflict", "is there already"),
        (action("remove", 1, GIVEN), "conflict", "no longer there"),
        (action("accept", 0, GIVEN), "conflict", "accepted already"),
        (action("change", 1, PROPOSED, PROPOSED), "conflict", "stay as it is"),
        (action("undo"), "conflict", "nothing to undo"),
        (action("redo"), "conflict", "nothing to redo"),
        (action("reopen"), "conflict", "open already"),
    ],
)
def test_what_does_not_fit_is_refused(given, code, said):
    with pytest.raises(RefusedError, match=said) as caught:
        apply(start(), given)
    assert caught.value.code == code


def test_a_finished_version_is_changed_after_reopening_only():
    version = apply(start(), action("finish"))
    assert version.finished
    assert version.accepted == version.mentions
    with pytest.raises(RefusedError, match="reopen it"):
        apply(version, action("remove", 1, PROPOSED))
    assert not apply(version, action("reopen")).finished
    undone = apply(version, action("undo"))  # back to proposals
    assert (undone.finished, undone.accepted) == (False, ((GIVEN,), (), ()))


def test_undoing_has_a_bound():
    toggles = [
        action("add", 1, Mention("ADR", [(0, 1)])),
        action("remove", 1, Mention("ADR", [(0, 1)])),
    ]
    version = fold(start(), toggles * MOST_STEPS)
    assert len(version.past) == MOST_STEPS
    assert version.revision == 2 * MOST_STEPS


def test_actions_and_contents_survive_as_text():
    given = action("change", 1, PROPOSED, Mention("Drug ”", [(0, 1)]))
    assert Action.from_json("change", given.to_json()) == given
    assert Action.from_json("undo", action("undo").to_json()) == action("undo")
    content = start().mentions
    assert content_of(content_json(content)) == content
    assert content_json([reversed(each) for each in content]) == content_json(content)


MENTIONS = st.builds(
    lambda label, words: Mention(label, [(each, each + 1) for each in words]),
    st.sampled_from(["ADR", "Drug"]),
    st.sets(st.integers(0, len(WORDS)), min_size=1, max_size=3),
)


class Fold(RuleBasedStateMachine):
    """Compares with a model that keeps a full copy before every step."""

    def __init__(self):
        super().__init__()
        self.version = start()
        self.actions = []
        self.now = {"finished": False, "held": [{GIVEN: True}, {PROPOSED: False}, {}]}
        self.before, self.after = [], []

    @rule(
        kind=st.sampled_from(KINDS),
        sentence=st.integers(-1, 3),
        mention=MENTIONS | st.sampled_from([GIVEN, PROPOSED]),
        to=MENTIONS,
    )
    def act(self, kind, sentence, mention, to):
        given = Action(kind)
        if kind in ("add", "remove", "accept", "change"):
            given = Action(kind, sentence, mention, to if kind == "change" else None)
        old = copy.deepcopy(self.now)
        possible = self.plain(given)
        if not possible:
            self.now = old
            with pytest.raises(RefusedError):
                apply(self.version, given)
            return
        self.version = apply(self.version, given)
        self.actions.append(given)
        if kind not in ("undo", "redo"):
            self.before.append(old)
            self.after = []

    def plain(self, given):
        """Change the model, and return whether the action is possible."""
        now, kind = self.now, given.kind
        if kind in ("undo", "redo"):
            source, target = (
                (self.before, self.after) if kind == "undo" else (self.after, self.before)
            )
            if not source:
                return False
            target.append(now)
            self.now = source.pop()
            return True
        if kind in ("finish", "reopen"):
            possible = now["finished"] == (kind == "reopen")
            now["finished"] = kind == "finish"
            if possible and kind == "finish":
                now["held"] = [dict.fromkeys(each, True) for each in now["held"]]
            return possible
        if now["finished"]:
            return False
        if kind == "accept_all":
            possible = not all(all(each.values()) for each in now["held"])
            now["held"] = [dict.fromkeys(each, True) for each in now["held"]]
            return possible
        if not 0 <= given.sentence < 3 or given.mention.end > len(
            DOCUMENT.sentences[given.sentence].words
        ):
            return False
        held = now["held"][given.sentence]
        if kind == "add":
            possible = not held.get(given.mention)
            held[given.mention] = True
        elif kind == "remove":
            possible = held.pop(given.mention, None) is not None
        elif kind == "accept":
            possible = held.get(given.mention) is False
            held[given.mention] = True
        else:
            possible = given.mention in held and given.to not in held and given.to.end <= len(WORDS)
            held.pop(given.mention, None)
            held[given.to] = True
        return possible

    @invariant()
    def same(self):
        shown = [
            {each.mention: each.status == "accepted" for each in held}
            for held in self.version.sentences
        ]
        assert shown == self.now["held"]
        assert self.version.finished == self.now["finished"]
        assert self.version.revision == len(self.actions)
        assert all(list(each) == sorted(each) for each in self.version.mentions)

    def teardown(self):
        again = fold(start(), self.actions)
        assert again == self.version


TestFold = Fold.TestCase
TestFold.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
