"""Judge a model on text that was written for this purpose and kept apart from training.

The texts are in `benchmarks/held_out`, one per line, with their mentions in brackets; see
`DATASHEET.md` there. To judge a model, or to write the texts as JSON lines, run

    python benchmarks/held_out.py [--model FOLDER] [--misses]
    python benchmarks/held_out.py --write FOLDER
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from discotag import Document, Mention, Sentence, Tagger, load
from discotag.corpora import write
from discotag.evaluation import score
from discotag.marks import Marked
from discotag.words import Splitter

LABEL = "ADR"
NAMES = (
    "serious", "negated", "posts", "fresh_serious", "fresh_negated", "separate", "shared",
    "fresh_separate", "fresh_shared", "abbreviations", "clinical", "fresh_abbreviations",
    "fresh_clinical",
)  # fmt: skip
UNSEEN = tuple(name for name in NAMES if name.startswith("fresh_"))
"""Sets whose texts nobody has looked at while training or choosing anything."""
FOLDER = Path(__file__).parent / "held_out"
MARK = re.compile(r"\[(?:([1-9]+) )?([^\[\]]+)\]")


def parse(line: str, id: str | None = None) -> Document:
    """Return a line with brackets as a document of one sentence.

    `[words]` is a mention of its own. `[12 words]` is a part of the mentions 1 and 2 of the line.

    Raises:
        ValueError: A bracket is not closed, or a numbered mention has one part only.

    Example:
        >>> [each.text for each in parse("[12 Sore] [1 arms] and [2 legs], [nausea].").mentions]
        ['Sore legs', 'Sore arms', 'nausea']
    """
    text, passed = "", 0
    alone: list[tuple[int, int]] = []
    numbered: dict[str, list[tuple[int, int]]] = {}
    for match in MARK.finditer(line):
        text += line[passed : match.start()]
        part = (len(text), len(text) + len(match[2]))
        text += match[2]
        passed = match.end()
        for number in match[1] or "":
            numbered.setdefault(number, []).append(part)
        if not match[1]:
            alone.append(part)
    text += line[passed:]
    if "[" in text or "]" in text:
        raise ValueError(f"a bracket is not closed: {line}")
    for number, parts in numbered.items():
        if len(parts) == 1:
            raise ValueError(f"mention {number} has one part only, so needs no number: {line}")
    marked = [Marked(LABEL, tuple(parts)) for parts in numbered.values()]
    marked += [Marked(LABEL, (part,)) for part in alone]
    return Splitter("whole").document(text, marked, id=id)


def held_out(name: str) -> list[Document]:
    """Return the texts of one of the sets `NAMES`.

    Example:
        >>> held_out("serious")[2].mentions[0].text
        'kidneys shut down'
    """
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    texts = [line for line in lines if line and not line.startswith("#")]
    return [parse(line, f"{name}.{number}") for number, line in enumerate(texts, 1)]


def judge(tagger: Tagger) -> dict[str, float]:
    """Return the figures of a model, in percent.

    Returns:
        serious_found: Serious reports whose gold mentions are all found, see `is_found`.
        serious_exact: Serious reports whose gold mentions are all predicted exactly.
        negated_with_mention: Texts without gold mentions in which one is predicted.
        fresh_serious_found, fresh_serious_exact, fresh_negated_with_mention: The same of the texts
            that were written later.
        posts_f1, posts_precision, posts_recall: Exact figures of the mentions of the posts.
        posts_f1_discontinuous, posts_precision_discontinuous: The same of their discontinuous
            mentions.
        separate_invented: Separate coordinations in which a discontinuous mention is predicted.
        separate_exact: Separate coordinations whose mentions are all predicted exactly.
        shared_exact: Shared coordinations whose mentions are all predicted exactly.
        shared_f1: Exact F1 of the mentions of shared coordinations.
        fresh_separate_invented, fresh_separate_exact, fresh_shared_exact, fresh_shared_f1: The same
            of the lists that nobody has looked at.
        abbreviations_found: Mentions of texts with abbreviations that are found, see `is_found`.
        abbreviations_silent_with_mention: Texts with abbreviations that are no reactions, in which
            a mention is predicted.
        clinical_f1, clinical_silent_with_mention: Exact F1, and as above, of clinical texts.
        fresh_abbreviations_found, fresh_abbreviations_silent_with_mention, fresh_clinical_f1,
            fresh_clinical_silent_with_mention: The same of the lists that nobody has looked at.
    """
    gold = {name: held_out(name) for name in NAMES}
    found = {name: list(tagger.predict(gold[name])) for name in NAMES}
    figures: dict[str, float] = {}
    for kind in ("", "fresh_"):
        serious = [
            (truth.mentions, guess.mentions)
            for truth, guess in zip(gold[f"{kind}serious"], found[f"{kind}serious"], strict=True)
        ]
        figures[f"{kind}serious_found"] = _share(
            all(is_found(each, truth, guess) for each in truth) for truth, guess in serious
        )
        figures[f"{kind}serious_exact"] = _share(
            set(truth) <= set(guess) for truth, guess in serious
        )
        figures[f"{kind}negated_with_mention"] = _share(
            bool(each.mentions) for each in found[f"{kind}negated"]
        )
        pairs = list(zip(gold[f"{kind}separate"], found[f"{kind}separate"], strict=True))
        figures[f"{kind}separate_invented"] = _share(
            any(each.discontinuous for each in guess.mentions) for _, guess in pairs
        )
        figures[f"{kind}separate_exact"] = _share(_has_all(*pair) for pair in pairs)
        pairs = list(zip(gold[f"{kind}shared"], found[f"{kind}shared"], strict=True))
        figures[f"{kind}shared_exact"] = _share(_has_all(*pair) for pair in pairs)
    scores = {name: score(_sentences(gold[name]), _sentences(found[name])) for name in NAMES}
    figures |= {
        "posts_f1": scores["posts"].all.micro.f1,
        "posts_precision": scores["posts"].all.micro.precision,
        "posts_recall": scores["posts"].all.micro.recall,
        "posts_f1_discontinuous": scores["posts"].discontinuous.micro.f1,
        "posts_precision_discontinuous": scores["posts"].discontinuous.micro.precision,
        "shared_f1": scores["shared"].all.micro.f1,
        "fresh_shared_f1": scores["fresh_shared"].all.micro.f1,
    }
    for kind in ("", "fresh_"):
        name = f"{kind}abbreviations"
        figures[f"{name}_found"] = _share(
            is_found(each, truth.mentions, guess.mentions)
            for truth, guess in zip(gold[name], found[name], strict=True)
            for each in truth.mentions
        )
        figures[f"{kind}clinical_f1"] = scores[f"{kind}clinical"].all.micro.f1
        for name in (f"{kind}abbreviations", f"{kind}clinical"):
            figures[f"{name}_silent_with_mention"] = _share(
                bool(guess.mentions)
                for truth, guess in zip(gold[name], found[name], strict=True)
                if not truth.mentions
            )
    return {name: round(100 * value, 1) for name, value in figures.items()}


def is_found(mention: Mention, gold: Collection[Mention], predicted: Collection[Mention]) -> bool:
    """Return whether a predicted mention shares a word with this gold mention.

    One that also reaches into a separate gold mention does not count: "Seizure and a stroke"
    predicted as one mention finds neither.

    Example:
        >>> gold = parse("[Seizure] and a [stroke]").mentions
        >>> [is_found(each, gold, [Mention("ADR", [(0, 4)])]) for each in gold]
        [False, False]
    """
    words = set(mention.words)
    separate = {word for each in gold if words.isdisjoint(each.words) for word in each.words}
    return any(
        not words.isdisjoint(each.words) and separate.isdisjoint(each.words) for each in predicted
    )


def print_misses(tagger: Tagger, names: Iterable[str]) -> None:
    """Print the texts with wrong predictions, with what was missed (-) and invented (+)."""
    for name in names:
        documents = held_out(name)
        for truth, guess in zip(documents, tagger.predict(documents), strict=True):
            missed, invented = set(truth.mentions), set(guess.mentions)
            if missed != invented:
                print(truth.id, truth.text)
                for sign, mentions in (("-", missed - invented), ("+", invented - missed)):
                    for mention in sorted(mentions):
                        print("   ", sign, mention.text)


def _has_all(gold: Document, predicted: Document) -> bool:
    return set(gold.mentions) <= set(predicted.mentions)


def _sentences(documents: Iterable[Document]) -> list[Sentence]:
    return [sentence for document in documents for sentence in document.sentences]


def _share(values: Iterable[bool]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def main() -> None:
    """Judge a model, or write the texts as JSON lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="a model folder; by default, the bundled model")
    parser.add_argument("--misses", action="store_true", help="print the wrong predictions, too")
    parser.add_argument(
        "--fresh", action="store_true", help="also those of texts that nobody has looked at"
    )
    parser.add_argument("--write", type=Path, help="write the texts to this folder instead")
    options = parser.parse_args()
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            write(held_out(name), options.write / f"{name}.jsonl")
        return
    tagger = load(options.model) if options.model else load()
    if options.misses:
        print_misses(tagger, [name for name in NAMES if options.fresh or name not in UNSEEN])
    print(json.dumps(judge(tagger), indent=2))


if __name__ == "__main__":
    main()
