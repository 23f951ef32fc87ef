"""The figures of the status of mentions, and the notation of its texts."""

import json

import pytest

from discotag import Document
from discotag.integrations.status import statuses

CASES = """
Pt denies [N:chest pain], [N:SOB] or [N:nausea] but reports [P:cough].
I [P:can't sleep] and have [P:headaches]. [P:No appetite] either, [P:dizzy].
My mom says I am [P:moody]. My mother had a [O:stroke], and now I have [P:headaches].
[N:Rash] (-), [P:fever] (+), denies any history of [N:asthma].
no [N:fever], [P:rash] present
No [N:SOB]. [P:Rash] present.
No [N:rash], no [N:fever], mild [P:cough].
No [N:rash], [N:fever] or [N:cough].
Watch for [Y:rash] and [Y:swelling]. PMH: [H:asthma], [H:DVT].
Not only [P:nausea] but also [P:vomiting]; no change in [P:rash].
Fever and [N:rash] were absent.
[N:Edema] was ruled out. [Y:PE] cannot be ruled out.
As a child I had [H:migraines]. [H:Asthma] years ago, since starting it [P:wheezing].
Brought in by mother for [P:ear pain].
If I get [Y:hives] I stop. Does anyone get [Y:hair loss]?
No [12N:pain in] my [1N:arms] or [2N:legs], just [P:cold feet].
I’ve never had [N:seizures].
""".strip().splitlines()


@pytest.fixture
def bench(benchmark):
    return benchmark("status")


@pytest.mark.parametrize("line", CASES)
def test_cases(bench, line):
    document = bench.parse(line)
    assert statuses(document) == [mention.label for mention in document.mentions]


def test_there_may_be_no_mentions(bench):
    assert statuses(bench.parse("No rash.")) == []
    assert statuses(Document(())) == []


def test_on_the_texts_that_were_written_for_it(bench):
    documents = bench.texts()
    assert sum(len(document.mentions) for document in documents) == 559
    results = json.loads((bench.FOLDER / "results" / "status.json").read_text("utf-8"))
    page = (bench.FOLDER.parent / "docs" / "status.md").read_text("utf-8")
    assert bench.of_reactions() == results["reactions"]
    for name, half in (("looked at", documents[::2]), ("not looked at", documents[1::2])):
        found = bench.figures(bench.measure(half))
        assert found == results[name]
        assert found["lost"] <= 0.03 * found["present"]
        assert found["removed"] >= 0.9 * found["not present"]
        for part, whole in (("lost", "present"), ("removed", "not present")):
            assert f"| {found[part]} of {found[whole]}" in page
