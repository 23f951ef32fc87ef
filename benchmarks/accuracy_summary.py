"""The summary of the trainings of `accuracy.py`: figures, comparisons, tables and a plot."""

from __future__ import annotations

import gzip
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from accuracy_jobs import COMPARED, COMPARED_BY_DEFAULT, CORPORA, ENCODERS, VARIANTS, Job
from discotag.evaluation import SLICES, tally
from discotag.mentions import Mention

RESAMPLES: Final = 2000
LEVEL: Final = 0.95
PARTS: Final = tuple(SLICES)
MEANS: Final = ("all", "discontinuous")
"""The slices of the table of means over corpora."""

PLAIN: Final = ("plain", "plain_no_adversarial")
"""Variants that tables mark significant differences from; each is compared with one of them."""

DECODINGS: Final = {
    "best_path": "best path, without the mention scorer",
    "recall_0": "chosen, bias 0",
    "chosen": "chosen, bias set on development data",
    "oracle": "best choice with hindsight",
}

Run = dict[str, Any]
Summary = dict[str, Any]


def load(runs: Path) -> list[Run]:
    """Return the figures of all finished trainings."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(runs.glob("*.json"))]


def summarise(runs: Path) -> Summary:
    """Return the mean, deviation and interval of each system, and differences between systems."""
    found: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(load(runs), key=_order):
        found[Job(**run["job"]).system].append(run)
    samples, apart = {}, {}
    for system, some in found.items():
        counted = [count_mentions(runs, each) for each in some]
        samples[system] = resampled(counted)
        apart[system] = discontinuous_figures(counted, [count_joined(runs, each) for each in some])
    return {
        "what": "F1 on test data; intervals by bootstrap of sentences and seeds",
        "level": LEVEL,
        "resamples": RESAMPLES,
        "device": sorted({run["device"] for some in found.values() for run in some}),
        "settings": {system: some[0].get("settings") for system, some in found.items()},
        "systems": {
            system: _system(system, found, samples) | {"discontinuous": apart[system]}
            for system in found
        },
    }


def merge(before: Summary, after: Summary) -> Summary:
    """Return a summary with the systems of both; those that are in both are taken from `after`.

    Systems of different summaries are not compared with each other, since that needs the
    predictions of both.
    """
    systems = before["systems"] | after["systems"]
    ordered = sorted(systems, key=lambda name: _places(systems[name]))
    settings = before["settings"] | after["settings"]
    return after | {
        "device": sorted({*before["device"], *after["device"]}),
        "settings": {name: settings[name] for name in ordered},
        "systems": {name: systems[name] for name in ordered},
    }


def _order(run: Run) -> tuple[Any, ...]:
    """Return a key that sorts trainings as tables list them."""
    return *_places(run["job"]), run["job"]["seed"]


def _places(system: dict[str, Any]) -> tuple[Any, ...]:
    """Return a key that sorts systems as tables list them; unknown variants come last."""
    return tuple(
        (list(known).index(name) if name in known else len(known), name)
        for name, known in (
            (system["corpus"], CORPORA),
            (system["encoder"], ENCODERS),
            (system["variant"], VARIANTS),
        )
    )


def _system(
    system: str, found: dict[str, list[Run]], samples: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Return the figures of one system."""
    runs = found[system]
    job = Job(**runs[0]["job"])
    others = COMPARED.get(job.variant, COMPARED_BY_DEFAULT)
    test: dict[str, Any] = {}
    for place, part in enumerate(PARTS):
        values = _values(runs, part)
        test[part] = {
            "mean": statistics.fmean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else None,
            "interval": interval(samples[system][:, place]),
            "seeds": values,
            "against": {
                other: compare(
                    statistics.fmean(values) - statistics.fmean(_values(found[name], part)),
                    samples[system][:, place] - samples[name][:, place],
                )
                | {"seeds": min(len(runs), len(found[name]))}
                for other in others
                if (name := f"{job.corpus}.{job.encoder}.{other}") in found and other != job.variant
            },
        }
    result: dict[str, Any] = {
        "corpus": job.corpus,
        "encoder": job.encoder,
        "variant": job.variant,
        "seeds": [each["job"]["seed"] for each in runs],
        "test": test,
    }
    if dev := [each["dev"] for each in runs if "dev" in each]:
        result["dev"] = {part: _mean(each[part]["f1"] for each in dev) for part in PARTS}
    if some := [each["seconds"]["training"] for each in runs if "seconds" in each]:
        result["training_seconds"] = _mean(some)
    for name in ("train", "left_out"):
        if name in runs[0]:
            result[name] = runs[0][name]
    if some := [each["calibration"] for each in runs if "calibration" in each]:
        result["calibration"] = {
            when: {
                "error": _mean(each[when]["error"] for each in some),
                "bins": np.sum([each[when]["bins"] for each in some], axis=0).round(4).tolist(),
            }
            for when in ("before", "after")
        }
    if some := [each for each in runs if "decoding" in each]:
        result["recall"] = [each["recall"] for each in some]
        ways = [each["decoding"] | {"chosen": each["test"]} for each in some]
        result["decoding"] = {
            name: {part: _mean(way[name][part]["f1"] for way in ways) for part in PARTS}
            for name in ways[0]
        }
        result["candidates"] = {
            part: _mean(each["candidates"][part] for each in some) for part in some[0]["candidates"]
        }
    return result


def _mean(values: Iterable[float]) -> float:
    return statistics.fmean(values)


def _values(runs: Sequence[Run], part: str) -> list[float]:
    return [each["test"][part]["f1"] for each in runs]


# Bootstrap


def count_mentions(runs: Path, run: Run) -> np.ndarray:
    """Return the numbers of gold, predicted and correct mentions, (slices, test sentences, 3)."""
    table = np.zeros((len(PARTS), run["test_sentences"], 3), dtype=np.float32)
    name = Job(**run["job"]).name
    with gzip.open(runs / f"{name}.predictions.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in map(json.loads, stream):
            gold, found = ([Mention(m[0], m[1]) for m in line[side]] for side in ("gold", "found"))
            for (part, _), counts in tally(gold, found).items():
                row = counts.gold, counts.predicted, counts.correct
                table[PARTS.index(part), line["n"]] += row
    return table


def count_joined(runs: Path, run: Run) -> int:
    """Return how many predicted mentions join two separate gold mentions."""
    name = Job(**run["job"]).name
    number = 0
    with gzip.open(runs / f"{name}.predictions.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in map(json.loads, stream):
            gold, found = ([Mention(m[0], m[1]) for m in line[side]] for side in ("gold", "found"))
            number += sum(joins_separate(each, gold) for each in found)
    return number


def joins_separate(mention: Mention, gold: Sequence[Mention]) -> bool:
    """Return whether a mention is discontinuous, wrong, and has words of two separate gold ones.

    Gold mentions are separate if they share no word.

    Example:
        >>> rash, pain = Mention("ADR", [(0, 1)]), Mention("ADR", [(2, 4)])
        >>> joins_separate(Mention("ADR", [(0, 1), (3, 4)]), [rash, pain])
        True
    """
    if not mention.discontinuous or mention in gold:
        return False
    words = set(mention.words)
    touched = [set(each.words) for each in gold if not words.isdisjoint(each.words)]
    return any(one.isdisjoint(other) for one, other in combinations(touched, 2))


def discontinuous_figures(tables: Sequence[np.ndarray], joined: Sequence[int]) -> dict[str, Any]:
    """Return how right the discontinuous mentions of several trainings are.

    Args:
        tables: What `count_mentions` returns for each training.
        joined: What `count_joined` returns for each training.
    """
    counts = np.stack([each[PARTS.index("discontinuous")] for each in tables])
    sums = np.tensordot(draws(counts.shape[1]), counts, axes=(1, 1)).mean(1)  # over the seeds
    gold, predicted, correct = counts.sum((0, 1)).tolist()
    return {
        "predicted": predicted,
        "precision": correct / max(1, predicted),
        "precision_interval": interval(sums[:, 2] / np.maximum(sums[:, 1], 1e-9)),
        "recall": correct / max(1, gold),
        "recall_interval": interval(sums[:, 2] / np.maximum(sums[:, 0], 1e-9)),
        "joined": sum(joined),
    }


def resampled(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Return the F1 of bootstrap samples of sentences and seeds, (resamples, slices).

    The same sentences are drawn for all systems of a corpus, so that they can be compared in pairs.
    """
    stacked = np.stack(tables)  # (seeds, slices, sentences, 3)
    sums = np.tensordot(draws(stacked.shape[2]), stacked, axes=(1, 2))
    f1 = f1_of(sums)  # (resamples, seeds, slices)
    seeds = len(tables)
    drawn = np.random.default_rng(seeds).integers(seeds, size=(RESAMPLES, seeds, 1))
    mean: np.ndarray = np.take_along_axis(f1, drawn, axis=1).mean(1)
    return mean


@lru_cache(maxsize=1)  # systems of one corpus come one after the other
def draws(sentences: int) -> np.ndarray:
    """Return how often each sentence is in each bootstrap sample, (resamples, sentences)."""
    random = np.random.default_rng(0)
    shares = np.full(sentences, 1 / sentences)
    return random.multinomial(sentences, shares, size=RESAMPLES).astype(np.float32)


def f1_of(sums: np.ndarray) -> np.ndarray:
    """Return F1 from the numbers of gold, predicted and correct mentions, in the last dimension."""
    both = sums[..., 0] + sums[..., 1]
    found: np.ndarray = np.divide(2 * sums[..., 2], both, out=np.zeros_like(both), where=both > 0)
    return found


def interval(values: np.ndarray) -> list[float]:
    """Return the ends of the percentile interval."""
    tail = 100 * (1 - LEVEL) / 2
    return [float(each) for each in np.percentile(values, [tail, 100 - tail])]


def compare(difference: float, samples: np.ndarray) -> dict[str, Any]:
    """Return a difference with its interval and the p-value of a paired, two-sided bootstrap test.

    Args:
        difference: The difference of two means.
        samples: The difference in each bootstrap sample.
    """
    low, high = interval(samples)
    beyond = min((samples <= 0).sum(), (samples >= 0).sum())
    return {
        "difference": difference,
        "interval": [low, high],
        "p_value": min(1.0, 2 * float(beyond + 1) / (len(samples) + 1)),
        "larger_than_noise": bool(low > 0 or high < 0),
    }


# Tables


def report(summary: Summary, *, markdown: bool = False) -> Iterator[str]:
    """Yield the lines of all tables, which are Markdown.

    Args:
        summary: The summary.
        markdown: Whether the first table has the form of docs/experiments.md.
    """
    systems = list(summary["systems"].values())
    yield from (page_table if markdown else table)(systems)
    for part in (
        discontinuous_table,
        comparison_table,
        mean_table,
        decoding_table,
        calibration_table,
    ):
        if lines := list(part(systems)):
            yield ""
            yield from lines


def table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table; * marks significant differences from the plain tagger."""
    yield from _head("corpus", "encoder", "variant", "seeds", *PARTS)
    for each in systems:
        seeds = len(each["seeds"])
        cells = [_cell(each["test"][part], deviation=True) for part in PARTS]
        yield _row(each["corpus"], each["encoder"], each["variant"], seeds, *cells)


def page_table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table like those of docs/experiments.md, with a line for each corpus."""
    yield from _head("encoder", "trained with", "seeds", *PARTS)
    corpus = None
    for each in systems:
        if each["corpus"] != corpus:
            corpus = each["corpus"]
            yield f"| **{_titles(each)[0]}** |" + " |" * (2 + len(PARTS))
        cells = [_cell(each["test"][part]) for part in PARTS]
        yield _row(*_titles(each)[1:], len(each["seeds"]), *cells)


def comparison_table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table of differences between systems, in points of F1."""
    rows = []
    for each in systems:
        for other in each["test"]["all"]["against"]:
            found = [each["test"][part]["against"][other] for part in PARTS]
            rows.append(_row(*_titles(each), other, *map(_difference, found)))
    if rows:
        yield from _head("corpus", "encoder", "trained with", "minus", *PARTS)
        yield from rows


def discontinuous_table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table of precision, recall and joined mentions."""
    rows = []
    for each in systems:
        if found := each.get("discontinuous"):
            shares = [
                f"{100 * found[name]:.1f} ({100 * low:.1f}–{100 * high:.1f})"
                for name in ("precision", "recall")
                for low, high in [found[f"{name}_interval"]]
            ]
            share = 100 * found["joined"] / max(1, found["predicted"])
            joined = f"{found['joined']} ({share:.1f}%)"
            rows.append(_row(*_titles(each), f"{found['predicted']:.0f}", *shares, joined))
    if rows:
        yield from _head(
            "corpus", "encoder", "trained with", "discontinuous predicted, all seeds", "precision",
            "recall", "joining two separate gold mentions",
        )  # fmt: skip
        yield from rows


def mean_table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table of means over corpora, best on development data first.

    It has the variants that were trained on all corpora of an encoder, two or more.
    """
    corpora: dict[str, set[str]] = defaultdict(set)
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for each in systems:
        if "dev" in each:
            corpora[each["encoder"]].add(each["corpus"])
            found[_titles(each)[1:]].append(each)
    rows = []
    for titles, some in found.items():
        if len(some) == len(corpora[some[0]["encoder"]]) > 1:
            dev = [_mean(each["dev"][part] for each in some) for part in MEANS]
            test = [_mean(each["test"][part]["mean"] for each in some) for part in MEANS]
            seeds = "+".join(str(len(each["seeds"])) for each in some)
            rows.append((titles, seeds, dev, test))
    if rows:
        columns = [f"{data}, {part}" for data in ("dev", "test") for part in MEANS]
        yield from _head("encoder", "trained with", "seeds", *columns)
        for titles, seeds, dev, test in sorted(rows, key=lambda row: (row[0][0], -row[2][0])):
            yield _row(*titles, seeds, *(f"{100 * value:.1f}" for value in (*dev, *test)))


def decoding_table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table of ways to find mentions with the weights of `best`."""
    rows = []
    for each in systems:
        if "decoding" in each:
            found = each["decoding"]
            for name, title in DECODINGS.items():
                values = (f"{100 * found[name][part]:.1f}" for part in PARTS)
                rows.append(_row(*_titles(each), title, *values))
            shares = [each["candidates"].get(part) for part in PARTS]
            shown = ("–" if share is None else f"{100 * share:.1f}" for share in shares)
            rows.append(_row(*_titles(each), "recall of candidates", *shown))
    if rows:
        yield from _head("corpus", "encoder", "trained with", "mentions", *PARTS)
        yield from rows


def calibration_table(systems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table of expected calibration errors."""
    rows = []
    for each in systems:
        if found := each.get("calibration"):
            errors = (f"{found[when]['error']:.3f}" for when in ("before", "after"))
            rows.append(_row(*_titles(each), *errors))
    if rows:
        yield from _head("corpus", "encoder", "trained with", "error before", "calibration error")
        yield from rows


def _titles(system: dict[str, Any]) -> tuple[str, str, str]:
    """Return the names of corpus, encoder and variant in tables."""
    corpus, encoder, variant = (system[name] for name in ("corpus", "encoder", "variant"))
    return (
        CORPORA[corpus].title if corpus in CORPORA else corpus,
        ENCODERS.get(encoder, encoder),
        VARIANTS[variant].title if variant in VARIANTS else variant,
    )


def _head(*names: str) -> Iterator[str]:
    yield _row(*names).replace("_", " ")
    yield "|---" * len(names) + "|"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _cell(figures: dict[str, Any], *, deviation: bool = False) -> str:
    low, high = figures["interval"]
    against = [figures["against"][name] for name in PLAIN if name in figures["against"]]
    star = "*" if any(each["larger_than_noise"] and _tested(each) for each in against) else ""
    spread = ""
    if deviation and figures["deviation"] is not None:
        spread = f" ± {100 * figures['deviation']:.1f}"
    return f"{100 * figures['mean']:.1f}{star}{spread} ({100 * low:.1f}–{100 * high:.1f})"


def _difference(found: dict[str, Any]) -> str:
    if not _tested(found):
        return f"{100 * found['difference']:+.1f}"
    low, high = (f"{100 * end:+.1f}" for end in found["interval"])
    p_value = "p < 0.001" if found["p_value"] < 0.001 else f"p = {found['p_value']:.3f}"
    return f"{100 * found['difference']:+.1f} ({low} to {high}, {p_value})"


def _tested(found: dict[str, Any]) -> bool:
    """Return whether a test means something: that of a single seed knows nothing of other seeds."""
    return bool(found["seeds"] > 1)


# Plot


def plot(summary: Summary, path: Path) -> None:
    """Plot F1 with intervals, and below the reliability of `best`, with a column per corpus.

    Variants that are not in `VARIANTS` are left out.
    """
    from matplotlib.figure import Figure

    systems = [each for each in summary["systems"].values() if each["variant"] in VARIANTS]
    if not systems:
        return
    corpora = list(dict.fromkeys(each["corpus"] for each in systems))
    most = max(sum(each["corpus"] == corpus for each in systems) for corpus in corpora)
    heights = [1.5 + 0.3 * most, 4.5]
    figure = Figure(figsize=(5.5 * len(corpora), sum(heights)), layout="constrained")
    panels = figure.subplots(2, len(corpora), squeeze=False, height_ratios=heights)
    for corpus, (above, below) in zip(corpora, panels.T, strict=True):
        rows = [each for each in systems if each["corpus"] == corpus]
        plot_f1(above, rows[::-1])
        above.set(xlabel="test F1")
        above.set_title(_titles(rows[0])[0], loc="left")
        plot_reliability(below, [each for each in rows if each["variant"] == "best"])
    figure.savefig(path, dpi=150)


def plot_f1(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Plot the F1 of all and of discontinuous mentions, with intervals."""
    for part, colour in (("all", "tab:blue"), ("discontinuous", "tab:orange")):
        means = [100 * each["test"][part]["mean"] for each in rows]
        ends = [[100 * end for end in each["test"][part]["interval"]] for each in rows]
        errors = [
            [max(0.0, mean - low) for mean, (low, _) in zip(means, ends, strict=True)],
            [max(0.0, high - mean) for mean, (_, high) in zip(means, ends, strict=True)],
        ]
        axes.errorbar(means, range(len(rows)), xerr=errors, fmt="o", color=colour, label=part)
    axes.set_yticks(range(len(rows)), [f"{e['encoder']} {e['variant']}" for e in rows])
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)  # no point is behind it


def plot_reliability(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Plot the share of right mentions by score, before and after calibration."""
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1)
    for each in rows:
        for when, style in (("before", "o:"), ("after", "o-")):
            if "calibration" in each:
                bins = np.array(each["calibration"][when]["bins"])
                number, scores, right = bins[bins[:, 0] > 0].T
                label = f"{each['encoder']} best, {when} calibration"
                axes.plot(scores / number, right / number, style, label=label)
    axes.set(xlabel="mean score of mentions", ylabel="share that is right")
    axes.grid(alpha=0.3)
    if len(axes.get_lines()) > 1:
        axes.legend()
