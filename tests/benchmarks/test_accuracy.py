"""Tests of the benchmark of accuracy, on a tiny encoder and a handful of sentences."""

import argparse
import doctest
import gzip
import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import accuracy
import accuracy_errors
import accuracy_jobs
import accuracy_summary
import accuracy_training
from accuracy_jobs import Encoder, Job, Variant, settings_of
from accuracy_summary import PARTS
from discotag import Mention, Sentence
from discotag.errors import InputError
from discotag.evaluation import score
from discotag.prediction.regions import Options
from discotag.training.development import to_dict
from discotag.training.settings import Settings, SettingsError
from learnable import SENTENCES, write_jsonl
from tiny import tiny_encoder

MPNET = Encoder("mpnet", "folder", 3e-5)
MAIN = ("best", "plain", "grid", "paper")
JOB = Job("psytar", "mpnet", "best", 1)
WORDS = "sore arms and legs".split()
ARM, LEG = Mention("ADR", [(0, 2)]), Mention("ADR", [(3, 4)])
BOTH = Mention("ADR", [(0, 1), (3, 4)])


def write_data(folder, sentences=SENTENCES, corpus="psytar"):
    """Write the same sentences as train, dev and test data."""
    folder.mkdir(exist_ok=True)
    data = [[s.words, [[m.label, m.fragments] for m in s.mentions]] for s in sentences]
    for part in accuracy_training.PARTS:
        with gzip.open(folder / f"{corpus}.{part}.json.gz", "wt") as stream:
            json.dump(data, stream)
    return folder


def call(monkeypatch, **options):
    """Call the benchmark with options; a list is an option that is repeated."""
    given = []
    for name, value in options.items():
        for each in value if isinstance(value, list) else [value]:
            given += [f"--{name}"] if each is True else [f"--{name}", str(each)]
    monkeypatch.setattr(sys, "argv", ["accuracy.py", *given])
    accuracy.main()


def sentences_of(gold):
    return [Sentence(WORDS, mentions) for mentions in gold]


def write_run(runs, variant, seed, found, gold, **more):
    """Write the results of a training that found certain mentions."""
    job = Job("psytar", "mpnet", variant, seed)
    sentences = sentences_of(gold)
    result = {
        "job": vars(job),
        "device": "CPU",
        "test": to_dict(score(sentences, found)),
        "test_sentences": len(gold),
    }
    accuracy_training.write(runs, job.name, result | more, sentences, found)


@pytest.fixture
def options(tmp_path):
    """Return the options of a benchmark with one training, whose encoder does not exist."""
    runs = tmp_path / "runs"
    runs.mkdir()
    return argparse.Namespace(
        data=tmp_path,
        runs=runs,
        encoder=[MPNET],
        epochs=None,
        jobs=1,
        only="psytar.mpnet.best.1",
        limit=60.0,
    )


def use_script(monkeypatch, folder, text):
    """Let trainings run another script."""
    script = folder / "script.py"
    script.write_text(text)
    monkeypatch.setattr(accuracy, "TRAINING", script)


def test_trainings_end_to_end(tmp_path, monkeypatch, capsys):
    options = {
        "data": write_data(tmp_path / "data"),
        "runs": tmp_path / "runs",
        "encoder": f"tiny={tiny_encoder(tmp_path / 'encoder')}=1e-4",
        "out": tmp_path / "accuracy.json",
        "only": r"psytar\.tiny\.(best|plain|grid|paper)\.",
        "seeds": 1,
        "epochs": 1,
    }
    options["runs"].mkdir()
    for name in MAIN[1:]:  # in this process, to save time
        job, encoder = Job("psytar", "tiny", name, 1), Encoder.parse(options["encoder"])
        accuracy_training.work(job, encoder, 1, options["data"], options["runs"])
    call(monkeypatch, **options)
    out, err = capsys.readouterr()
    assert "trainings selected: 4, not finished: 1" in err
    assert "failed" not in err
    assert len(list(options["runs"].iterdir())) == 8

    summary = json.loads(options["out"].read_text())
    assert options["out"].with_suffix(".png").stat().st_size
    assert list(summary["systems"]) == [f"psytar.tiny.{name}" for name in MAIN]
    for name in MAIN:
        assert f"| psytar | tiny | {name} | 1 |" in out
    best = summary["systems"]["psytar.tiny.best"]
    assert set(best["test"]["all"]["against"]) == {"plain", "grid", "paper"}
    assert set(best["decoding"]) == {"best_path", "recall_0", "chosen", "oracle"}
    assert "calibration" not in summary["systems"]["psytar.tiny.grid"]
    assert summary["settings"]["psytar.tiny.plain"]["mention_scorer"] == 0

    run = json.loads((options["runs"] / "psytar.tiny.best.1.json").read_text())
    assert run["settings"]["num_train_epochs"] == len(run["curve"]) == run["best_epoch"] == 1
    assert run["test"]["all"]["gold"] == run["dev"]["all"]["gold"] == 8
    with gzip.open(options["runs"] / "psytar.tiny.best.1.predictions.jsonl.gz", "rt") as stream:
        found = [mention for line in map(json.loads, stream) for mention in line["found"]]
    assert len(found) == run["test"]["all"]["predicted"]
    assert all(0 <= score <= 1 for _, _, score in found)
    assert sum(each[0] for each in run["calibration"]["after"]["bins"]) == len(found)
    oracle = run["decoding"]["oracle"]["all"]["f1"]
    assert oracle >= max(run["test"]["all"]["f1"], run["decoding"]["recall_0"]["all"]["f1"])


def test_a_failed_training_leaves_its_log(options, tmp_path, monkeypatch, capsys):
    script = "import json, sys; print(json.dumps({'error': json.loads(input())['job']['variant']}))"
    use_script(monkeypatch, tmp_path, script)
    accuracy.run_all([JOB], options)
    assert "psytar.mpnet.best.1: failed after " in (err := capsys.readouterr().err)
    assert err.endswith("s: best\n")
    assert (options.runs / "psytar.mpnet.best.1.log").exists()


def test_a_process_that_ends_is_started_again(options, tmp_path, monkeypatch, capsys):
    use_script(monkeypatch, tmp_path, "import sys; input(); sys.exit('killed')")
    accuracy.run_all([JOB, JOB], options)
    assert capsys.readouterr().err.count("s: killed\n") == 2


def test_a_process_does_one_training_after_the_other(options, tmp_path, capsys):
    write_data(options.data)
    encoder = Encoder("mpnet", str(tiny_encoder(tmp_path / "encoder")), 1e-4)
    options.encoder, options.epochs, options.only = [encoder], 1, ""
    broken = replace(JOB, corpus="craft-cl")  # has no data
    accuracy.run_all([broken, replace(JOB, variant="plain")], options)
    err = capsys.readouterr().err
    assert "craft-cl.mpnet.best.1: failed after" in err
    assert "has neither craft-cl.train.json.gz" in err
    assert re.search(r"^psytar\.mpnet\.plain\.1: .* / .* / .* in \d+ s$", err, re.MULTILINE)
    names = sorted(path.name for path in options.runs.iterdir())
    assert names == [
        "craft-cl.mpnet.best.1.log",
        "psytar.mpnet.plain.1.json",
        "psytar.mpnet.plain.1.predictions.jsonl.gz",
    ]


def test_trainings_are_stopped_at_the_limit(options, tmp_path, monkeypatch, capsys):
    use_script(monkeypatch, tmp_path, "import time; time.sleep(60)")
    options.limit = 1.0
    start = time.monotonic()
    accuracy.run_all([JOB, JOB], options)
    assert time.monotonic() - start < 30
    # The second one is not begun.
    assert capsys.readouterr().err.count("psytar.mpnet.best.1: stopped after 1 s") == 1


def test_trainings_without_enough_time_are_not_begun(options, tmp_path, monkeypatch, capsys):
    use_script(monkeypatch, tmp_path, "")
    write_run(options.runs, "best", 2, [[]], [[]], seconds={"reading": 1.0, "training": 99.0})
    assert accuracy.expected_seconds(options.runs, JOB) == 100
    accuracy.run_all([JOB], options)
    assert not list(options.runs.glob("*.log"))


def test_settings_of_variants():
    def settings(variant, encoder=MPNET, corpus="psytar"):
        return settings_of(Job(corpus, encoder.name, variant, 7), encoder)

    given = {"encoder": "folder", "seed": 7, "learning_rate": 3e-5}
    best = Settings(**given, labels=("ADR",))
    assert settings("best") == best
    assert settings("grid") == best
    assert settings("grid_no_fold") == replace(best, fold=0.0)
    plain = settings("plain")
    assert (plain.slots, plain.gap_mentions, plain.mention_scorer) == (2, False, 0)
    assert (plain.discontinuous_weight, plain.dropout) == (1.0, best.dropout)
    assert plain.adversarial == best.adversarial > 0 == settings("plain_no_adversarial").adversarial
    assert settings("rate_5e-5") == replace(best, learning_rate=5e-5)
    assert settings("best", corpus="craft-go_bp").num_train_epochs == best.num_train_epochs // 2
    paper = settings("paper")
    assert (paper.learning_rate, paper.head_learning_rate, paper.dropout) == (1e-5, 1e-5, 0.5)
    small = settings("paper", Encoder("minilm", "folder", 3e-5))
    assert (small.learning_rate, small.head_learning_rate) == (1e-4, 1e-4)


@pytest.mark.parametrize("variant", list(accuracy_jobs.VARIANTS))
def test_variants_differ_from_best(variant):
    settings = settings_of(Job("psytar", "mpnet", variant, 1), MPNET)
    chosen = accuracy_jobs.VARIANTS[variant]
    same = (chosen.grid and chosen.fold) or variant == "best"
    assert same == (settings == settings_of(JOB, MPNET))


def test_a_setting_that_does_not_exist_is_named(monkeypatch):
    monkeypatch.setitem(accuracy_jobs.VARIANTS, "new", Variant("new", {"shape": 1}))
    with pytest.raises(SettingsError, match="variant new needs settings .* not have: shape"):
        settings_of(Job("psytar", "mpnet", "new", 1), MPNET)


def test_all_trainings_are_planned_once():
    jobs = accuracy_jobs.plan_jobs(["minilm", "mpnet"], 2)
    number = len(accuracy_jobs.CORPORA) * len(accuracy_jobs.VARIANTS) * 2 * 2
    assert len(set(jobs)) == len(jobs) == number
    main = {job.name for job in jobs[:24]}
    corpora = ("psytar", "craft-cl", "craft-go_bp")
    assert main == {f"{c}.mpnet.{v}.{s}" for c in corpora for v in MAIN for s in (1, 2)}


def test_both_layouts_of_data_are_read(tmp_path):
    other = Mention("Drug", [(0, 1)])
    sentences = [Sentence(SENTENCES[0].words, (*SENTENCES[0].mentions, other)), *SENTENCES[1:]]
    plain = write_data(tmp_path / "plain", sentences)
    (tmp_path / "psytar").mkdir()
    write_jsonl(sentences, tmp_path / "psytar" / "dev.jsonl")
    for folder in (plain, tmp_path):
        found = accuracy_training.read_part(folder, "psytar", "dev")
        assert [each.words for each in found] == [each.words for each in SENTENCES]
        assert [set(each.mentions) for each in found] == [set(each.mentions) for each in SENTENCES]
    with pytest.raises(InputError, match=r"neither psytar.test.json.gz nor psytar/test"):
        accuracy_training.read_part(tmp_path, "psytar", "test")


def test_calibration_error():
    scored = [ARM.with_score(0.9), LEG.with_score(0.2), BOTH.with_score(1.0)]
    found = accuracy_training.calibration([Sentence(WORDS, [ARM])], [scored])
    assert found["error"] == pytest.approx((abs(1 - 1.9) + 0.2) / 3)
    assert found["bins"][9] == [2, 1.9, 1]
    assert found["bins"][2] == [1, 0.2, 0]
    assert accuracy_training.calibration([Sentence(WORDS)], [[]])["error"] == 0


def test_the_best_choice_has_most_right_minus_wrong_mentions():
    options = Options(0, [ARM, LEG, BOTH], [(0.7, [0]), (0.2, [0, 1, 2]), (0.1, [1, 2])])
    assert accuracy_training.best_choice(Sentence(WORDS, [ARM]), [(options, [])]) == {ARM}
    gold = Sentence(WORDS, [LEG, BOTH])
    assert accuracy_training.best_choice(gold, [(options, [])]) == {LEG, BOTH}


def test_summary_of_runs_from_elsewhere(tmp_path, capsys, monkeypatch):
    gold = [[ARM, BOTH], [LEG], [ARM], [BOTH], []] * 8
    right = gold
    wrong = [mentions[:1] for mentions in gold[:8]] + [[LEG]] * 32
    for seed in (1, 2):
        write_run(tmp_path, "best", seed, right, gold)
        write_run(tmp_path, "plain", seed, wrong, gold)
    for seed in (1, 2):
        write_run(tmp_path, "idea", seed, wrong, gold)
    write_run(tmp_path, "guess", 1, right, gold)
    call(monkeypatch, runs=tmp_path, jobs=0, out=tmp_path / "summary", markdown=True)
    summary = json.loads((tmp_path / "summary").read_text())
    best, plain, guess, idea = summary["systems"].values()
    assert best["test"]["all"]["mean"] == 1
    assert best["test"]["all"]["interval"] == [1, 1]
    values = [figures["f1"] for figures in to_dict(score(sentences_of(gold), wrong)).values()]
    assert [plain["test"][part]["mean"] for part in PARTS] == values
    for part, value in zip(PARTS, values, strict=True):
        low, high = plain["test"][part]["interval"]
        assert low < value < high
        against = best["test"][part]["against"]["plain"]
        assert against["difference"] == pytest.approx(1 - value)
        assert against["larger_than_noise"]
        assert against["p_value"] < 0.01
        assert not idea["test"][part]["against"]["plain"]["larger_than_noise"]
    assert idea["test"]["all"]["against"]["plain"]["p_value"] == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "| encoder | trained with | seeds | all | discontinuous sentences | discontinuous |",
        "|---|---|---|---|---|---|",
        "| **PsyTAR ADR** | | | | | |",
    ]
    assert lines[3].startswith("| MPNet | best | 2 | 100.0* (100.0–100.0) |")
    assert any(line.startswith("| PsyTAR ADR | MPNet | idea | best | -") for line in lines)
    # A single seed is not tested.
    assert guess["test"]["all"]["against"]["plain"]["larger_than_noise"]
    assert "| MPNet | guess | 1 | 100.0 (100.0–100.0) |" in "\n".join(lines)
    (row,) = (line for line in lines if line.startswith("| PsyTAR ADR | MPNet | guess | plain |"))
    assert "p " not in row


def test_discontinuous_mentions_that_join_separate_ones_are_counted(tmp_path, capsys, monkeypatch):
    gold = [[ARM, LEG]] * 4 + [[ARM, BOTH]] * 4 + [[]] * 2
    found = [[BOTH]] * 4 + [[ARM, BOTH]] * 2 + [[ARM]] * 2 + [[BOTH]] * 2
    for seed in (1, 2):
        write_run(tmp_path, "best", seed, found, gold)
    call(monkeypatch, runs=tmp_path, jobs=0, out=tmp_path / "summary")
    (best,) = json.loads((tmp_path / "summary").read_text())["systems"].values()
    figures = best["discontinuous"]
    assert (figures["predicted"], figures["joined"]) == (16, 8)
    assert (figures["precision"], figures["recall"]) == (0.25, 0.5)
    for name in ("precision", "recall"):
        low, high = figures[f"{name}_interval"]
        assert low < figures[name] < high
    row = next(line for line in capsys.readouterr().out.splitlines() if "(50.0%)" in line)
    assert row.startswith("| PsyTAR ADR | MPNet | best | 16 | 25.0 (")
    assert row.endswith("| 8 (50.0%) |")


def test_systems_can_be_added_to_a_summary(tmp_path, capsys, monkeypatch):
    gold = [[ARM, BOTH], [LEG], [ARM], [BOTH], []] * 8
    out = tmp_path / "summary"
    for folder, systems in (("first", {"plain": gold, "idea": gold}), ("second", {"best": gold})):
        (tmp_path / folder).mkdir()
        for variant, found in systems.items():
            write_run(tmp_path / folder, variant, 1, found, gold)
        more = {"add": True} if out.exists() else {}
        call(monkeypatch, runs=tmp_path / folder, jobs=0, out=out, **more)
    summary = json.loads(out.read_text())
    assert [each["variant"] for each in summary["systems"].values()] == ["best", "plain", "idea"]
    assert list(summary["settings"]) == list(summary["systems"])
    best, _, idea = summary["systems"].values()
    assert not best["test"]["all"]["against"]
    assert list(idea["test"]["all"]["against"]) == ["plain"]


def test_means_over_corpora_are_of_variants_that_have_all_of_them():
    def system(corpus, variant, dev, test):
        return {
            "corpus": corpus,
            "encoder": "minilm",
            "variant": variant,
            "seeds": [1],
            "dev": dict.fromkeys(PARTS, dev),
            "test": {part: {"mean": test} for part in PARTS},
        }

    systems = [
        system("psytar", "plain", 0.5, 0.4),
        system("psytar", "best", 0.7, 0.1),
        system("psytar", "idea", 0.9, 0.9),
        system("craft-cl", "plain", 0.7, 0.8),
        system("craft-cl", "best", 0.9, 0.2),
    ]
    assert list(accuracy_summary.mean_table(systems))[2:] == [
        "| MiniLM | best | 1+1 | 80.0 | 80.0 | 15.0 | 15.0 |",
        "| MiniLM | plain tagger, recipe of best | 1+1 | 60.0 | 60.0 | 60.0 | 60.0 |",
    ]
    assert not list(accuracy_summary.mean_table(systems[:3]))


def test_nothing_to_summarise(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="no training is finished"):
        call(monkeypatch, runs=tmp_path, jobs=0)


def test_the_most_frequent_errors(tmp_path, capsys, monkeypatch):
    data = write_data(tmp_path / "data", [Sentence(WORDS)] * 3)
    gold, found = [[ARM, BOTH], [LEG], [ARM]], [[ARM], [BOTH], [ARM, BOTH]]
    write_run(tmp_path, "best", 1, found, gold)
    write_run(tmp_path, "plain", 1, gold, gold)
    given = ["errors", "--data", str(data), "--runs", str(tmp_path), "--only", "best"]
    monkeypatch.setattr(sys, "argv", given)
    accuracy_errors.main()
    *_, row = capsys.readouterr().out.splitlines()
    assert row == "| psytar.mpnet.best.1 | 2 (sore … legs 2) | 2 (sore … legs 1, legs 1) |"


def test_examples():
    for module in (accuracy_jobs, accuracy_training, accuracy_summary, accuracy_errors):
        assert doctest.testmod(module).failed == 0
