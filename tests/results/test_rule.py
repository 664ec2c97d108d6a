"""Each rule of a study: judged by its audit, or by what training wrote down."""

from __future__ import annotations

import json
import statistics
from itertools import pairwise
from pathlib import Path

import pytest
from auditing.audited_networks import audit_of, audited, from_runs
from results.written_studies import put_audit, put_plan, write_audit, write_study
from scheduling.metrics_lines import lines_in
from scipy import stats
from store.small_runs_on_disk import finished, run_config, started

from depthgauge.results.load import load
from depthgauge.store.study_folder import StudyFolder
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

HEALTHY = {"h_norm": [1.0, 1.5, 2.0], "g_norm": [0.5, 0.5, 0.5], "g_over_e": 0.5}
DEAD = {"h_norm": [1.0, 900.0, 999.0], "g_norm": [1e-9] * 3, "g_over_e": 1e-9}
USELESS = {0: {1: 0.30, 2: 0.31}, 2: {1: 0.30, 2: 0.30}}
SEVERAL = {0: dict.fromkeys(range(5), 0.3), 2: {s: 0.6 + s / 100 for s in range(5)}}


def read_by_hand(folder: Path, rule: str) -> list[dict[str, float | None]]:
    """The readings of the last epochs of the runs with all (two) blocks trained."""
    configs = {p.parent: json.loads(p.read_text()) for p in folder.glob("runs/*/config.json")}
    own = {
        (config["seed"], config["k"]): lines_in(path / "metrics.jsonl")[-1]
        for path, config in configs.items()
        if config["rule"]["label"] == rule
    }
    return [
        {
            "growth": max(b / a for a, b in pairwise(line["h_norm"])),
            "gradient": line["g_norm"][-1],
            "error_share": line.get("g_over_e"),
            "depth_gain": line["accuracy"] - own[seed, 0]["accuracy"] if (seed, 0) in own else None,
        }
        for (seed, k), line in sorted(own.items())
        if k == 2
    ]


# By what training wrote down


@pytest.mark.parametrize(
    ("rule", "rungs", "readings"),
    [
        ("dfa", USELESS, DEAD),
        ("dfa", USELESS, HEALTHY),
        ("dfa", SEVERAL, HEALTHY),
        ("dfa", {2: {1: 0.6, 2: 0.62}}, HEALTHY),
        ("dfa", {0: {1: 0.3}, 2: {1: 0.6, 2: 0.62}}, HEALTHY),
        ("dfa", {0: {1: 0.3}, 2: {1: 0.6}}, HEALTHY),
        ("dfa", {0: {1: 0.30, 2: 0.2}, 2: {1: 0.31, 2: 0.6}}, HEALTHY),
    ],
)
def test_the_verdict_is_that_of_the_last_epochs(tmp_path, rule, rungs, readings):
    rules = {"bp": SEVERAL, rule: rungs}
    folder = write_study(tmp_path / "s", rules, readings={"bp": HEALTHY, rule: readings})
    gain = statistics.fmean(one["depth_gain"] for one in read_by_hand(folder, "bp"))
    found = load(folder)[rule]
    by_hand = read_by_hand(folder, rule)
    expected = judge(by_hand, Thresholds(), gain, used_depth=found.used_depth)
    assert (found.verdict, found.basis) == (expected, "training")


def test_the_words_that_these_give(tmp_path):
    rungs = {"bp": SEVERAL, "dfa": USELESS, "fa": {2: {1: 0.6}}}
    readings = {"bp": HEALTHY, "dfa": DEAD, "fa": HEALTHY}
    found = load(write_study(tmp_path / "s", rungs, readings=readings)).verdicts
    untested = "no alarm, depth untested"
    words = {label: (verdict.word, verdict.published.word) for label, verdict in found.items()}
    assert words == {
        "bp": (untested, "trustworthy"),
        "dfa": ("walk back", "walk back"),
        "fa": (untested, untested),
    }
    assert found["fa"].single_seed


def test_what_backpropagation_gains_is_that_of_its_most_accurate_setting(tmp_path):
    """Of the better setting, not of the larger gain, and never of a control."""
    rungs = {"bp[a=1]": SEVERAL, "bp[a=2]": {0: {1: 0.90}, 2: {1: 0.91}}, "dfa": USELESS}
    rungs["bp[wide_block]"] = {0: {1: 0.1}, 1: {1: 0.99}}
    readings = dict.fromkeys(rungs, HEALTHY) | {"bp[wide_block]": {"g_over_e": 0.5}}
    study = load(write_study(tmp_path / "s", rungs, readings=readings))
    assert study.bp_gain == pytest.approx(0.01)
    assert study["dfa"].verdict.word == "no alarm, depth untested"
    assert study["dfa"].finding("D3").untested


def test_a_low_gradient_whose_share_was_not_recorded_is_not_judged(tmp_path):
    old = {name: value for name, value in DEAD.items() if name != "g_over_e"}
    calm = old | {"h_norm": [1.0, 1.0, 1.0]}
    readings = {"bp": HEALTHY, "dfa": calm, "fa": old}
    found = load(write_study(tmp_path / "s", dict.fromkeys(readings, SEVERAL), readings=readings))
    verdict = found["dfa"].verdict
    assert (verdict.word, verdict.fired, verdict.single_seed) == ("not judged", (), False)
    assert str(verdict) == "not judged: too little was recorded for D2"
    assert found["dfa"].finding("D2").untested
    assert str(found["fa"].verdict) == "walk back (D1)"


def test_a_gradient_that_is_not_low_passes_without_its_share(tmp_path):
    bp = load(write_study(tmp_path / "s", {"bp": SEVERAL}))["bp"]
    assert bp.finding("D2").passes
    assert set(bp.finding("D2").intervals) == {"gradient"}


def test_a_rule_all_of_whose_runs_diverged_is_walked_back(tmp_path):
    dfa = load(write_study(tmp_path / "s", {"dfa": {2: {1: None, 2: None}}}))["dfa"]
    assert str(dfa.verdict) == "walk back (D1, D2)"
    assert (dfa.accuracy.n, dfa.diverged_seeds) == (0, [1, 2])
    assert (dfa.ladder[0].mean, dfa.ladder[0].lost) == (None, 2)


@pytest.mark.parametrize("how", ["failed", "waiting", "stopped", "only k = 0"])
def test_without_a_network_that_is_done_nothing_is_said(tmp_path, how):
    folder = write_study(tmp_path / "s", {"dfa": {0: {1: 0.3}}} if how == "only k = 0" else {})
    study = StudyFolder(folder)
    put_plan(study, [run_config("dfa", 2, 1)], 0.5)
    if how in ("failed", "stopped"):
        begun = started(study.runs, run_config("dfa", 2, 1), 1)
        if how == "failed":
            begun.fail("no luck", "", {})
    dfa = load(folder)["dfa"]
    assert (dfa.verdict.word, dfa.basis, dfa.networks) == ("not judged", "nothing", ())
    assert str(dfa.verdict).startswith("not judged: ")
    assert dfa.accuracy.n == 0


def test_controls(tmp_path):
    rungs = {
        "bp": SEVERAL,
        "bp[shallow]": {0: {1: 0.2, 2: 0.4}},
        "bp[wide_block]": {0: {1: 0.3}, 1: {1: 0.6}},
        "bp[random_targets]": {0: {1: 0.1}, 2: {1: 0.1}},
    }
    found = load(write_study(tmp_path / "s", rungs))
    shallow, wide, random = (found[f"bp[{c}]"] for c in ("shallow", "wide_block", "random_targets"))
    assert (shallow.verdict.word, shallow.basis) == ("no blocks", "nothing")
    assert (shallow.control, shallow.accuracy.n) == ("shallow", 2)
    assert shallow.accuracy.mean == pytest.approx(0.3)
    assert (wide.verdict.published.word, wide.frozen.mean) == ("trustworthy", 0.3)
    assert (random.verdict.word, random.frozen.n) == ("no alarm, depth untested", 0)


# Networks


def test_the_last_epoch_of_each_full_run_paired_with_its_frozen_one(tmp_path):
    rungs = {0: {1: 0.25, 2: 0.375}, 1: {1: 0.3}, 2: {1: 0.5, 2: 0.75, 3: 0.5}}
    readings = {"dfa": {"h_norm": [2.0, 3.0, 30.0], "g_norm": [1.0, 0.5, 0.25], "g_over_e": 0.125}}
    folder = write_study(tmp_path / "s", {"dfa": rungs, "bp": {2: {1: 0.9}}}, readings=readings)
    networks = load(folder)["dfa"].networks
    assert [(n.seed, n.accuracy, n.frozen, n.gain) for n in networks] == [
        (1, 0.5, 0.25, 0.25),
        (2, 0.75, 0.375, 0.375),
        (3, 0.5, None, None),
    ]
    for network in networks:
        assert network.run == run_config("dfa", 2, network.seed).identity
        read = {name: value for name, value in network.readings.items() if value is not None}
        gain = {} if network.gain is None else {"depth_gain": network.gain}
        assert read == {"growth": 10.0, "gradient": 0.25, "error_share": 0.125} | gain
        assert (network.report, network.diverged) == (None, False)
    frozen = [run_config("dfa", 0, seed).identity for seed in (1, 2)]
    assert [network.frozen_run for network in networks] == [*frozen, None]


def test_earlier_epochs_tell_when_a_diagnostic_first_fired_and_nothing_else(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": {2: {1: 0.5}}}, readings={"dfa": {"g_over_e": 1}})
    (path,) = folder.glob("runs/*/metrics.jsonl")
    first, *others = lines_in(path)
    first |= {"h_norm": [1.0, 99.0, 99.0], "g_norm": [7.0] * 3, "g_over_e": 7.0}
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)))
    (network,) = load(folder)["dfa"].networks
    assert (network.readings["growth"], network.readings["gradient"]) == (2.0, 0.3)
    assert network.first_fired == {"D1": 0, "D2": None}


# By the audit


def audit_runs(folder: Path, *seeds: int) -> None:
    """Audit the runs of dfa with these seeds: another verdict than training gives."""
    runs = {run.config.seed: run.identity for run in load(folder).runs if run.is_full}
    networks = [audited("dfa", seed, 0.6 + seed / 100, 0.3, growth=99.0) for seed in seeds]
    put_audit(folder, audit_of(*from_runs(networks, runs)))


def test_an_audit_has_the_last_word(tmp_path):
    rungs = {"dfa": USELESS, "fa": USELESS}
    folder = write_study(tmp_path / "s", rungs, readings={"fa": DEAD})
    audit_runs(folder, 1, 2)
    study = load(folder)
    dfa, entry = study["dfa"], study.audit.verdicts["dfa"]
    assert (dfa.basis, dfa.verdict, dfa.sensitivity) == ("audit", entry.verdict, entry.sensitivity)
    assert dfa.verdict.fired == ("D1",)
    assert (dfa.accuracy.mean, dfa.accuracy.n) == (pytest.approx(0.615), 2)
    assert [network.report for network in dfa.networks] == [n.report for n in study.audit.networks]
    assert (study["fa"].basis, study["fa"].verdict.word) == ("training", "walk back")


def test_a_newer_version_of_a_rule_does_not_get_the_audit_of_the_older_one(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS}, source="old.py")
    audit_runs(folder, 1, 2)
    study = StudyFolder(folder)
    newer = [run_config("dfa", k, seed, "new.py") for k in (0, 2) for seed in (1, 2)]
    put_plan(study, newer, None)
    for config in newer:
        finished(study.runs, config, 0.4)
    found = load(folder)
    assert (found["dfa"].basis, found["dfa@old.py"].basis) == ("training", "audit")
    assert found["dfa@old.py"].accuracy.mean == pytest.approx(0.615)
    assert {network.label for network in found["dfa@old.py"].networks} == {"dfa@old.py"}
    assert list(found.audit.verdicts) == ["dfa@old.py"]
    utility = found.audit.decision_utility.values()
    assert all(list(counts) == ["dfa@old.py"] for counts in utility)


def test_networks_trained_since_the_audit_are_counted(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS})
    audit_runs(folder, 1)
    assert load(folder)["dfa"].unread == 1
    audit_runs(folder, 1, 2)
    assert load(folder)["dfa"].unread == 0


def test_an_audited_network_leads_to_its_runs_where_they_are_there(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS})
    audit_runs(folder, 1)
    (network,) = load(folder)["dfa"].networks
    assert network.run == run_config("dfa", 2, 1).identity
    put_audit(folder, audit_of(audited("dfa", 1, 0.5, 0.25)))
    (network,) = load(folder)["dfa"].networks
    assert (network.run, network.gain) == (None, 0.25)


def test_an_audit_alone(tmp_path):
    fa = load(write_audit(tmp_path / "a", {"fa": {1: (0.5, 0.4)}}))["fa"]
    assert (fa.verdict.published.word, fa.basis, fa.ladder) == ("trustworthy", "audit", ())
    assert (fa.accuracy.mean, fa.frozen.mean) == (0.5, 0.4)


# The ladder


def test_intervals_of_the_ladder_are_students_t(tmp_path):
    accuracies = {1: 0.30, 2: 0.34, 3: 0.41}
    dfa = load(write_study(tmp_path / "s", {"dfa": {0: {1: 0.3}, 1: accuracies}}))["dfa"]
    zero, one = dfa.ladder
    values = list(accuracies.values())
    low, high = stats.t.interval(0.95, 2, statistics.fmean(values), stats.sem(values))
    assert (one.interval.low, one.interval.high) == (pytest.approx(low), pytest.approx(high))
    assert (one.mean, one.std) == (pytest.approx(0.35), pytest.approx(statistics.stdev(values)))
    assert (zero.mean, zero.std, zero.interval) == (0.3, None, None)


def test_rungs_are_over_finished_runs_and_count_those_that_were_lost(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": {2: {1: 0.5, 2: None, 3: 0.7}}})
    study = StudyFolder(folder)
    started(study.runs, run_config("dfa", 2, 4), 1).fail("no luck", "", {})
    started(study.runs, run_config("dfa", 2, 5), 1)
    (rung,) = load(folder)["dfa"].ladder
    assert (rung.k, rung.mean, rung.lost) == (2, pytest.approx(0.6), 2)
    assert rung.accuracies == {1: 0.5, 3: 0.7}
    assert (list(rung.runs), rung.diverged, rung.failed) == ([1, 3], {2: 1}, 1)
