"""Each rule as a reader wants it: judged by its audit, or by what training wrote down."""

from __future__ import annotations

import json
import statistics
from itertools import pairwise
from pathlib import Path

import pytest
from scipy import stats
from store.small_runs_on_disk import finished, run_config, started
from studies.audited_networks import audited
from studies.compared_studies import BP, put_plan, write_audit, write_study
from studies.metrics_lines import lines_in

from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.audit_document import audit_document
from depthgauge.studies.gathered import gather
from depthgauge.studies.read_networks import audit_as_called
from depthgauge.studies.rule_views import RuleView, rule_views
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

HEALTHY = {"h_norm": [1.0, 1.5, 2.0], "g_norm": [0.5, 0.5, 0.5], "g_over_e": 0.5}
DEAD = {"h_norm": [1.0, 900.0, 999.0], "g_norm": [1e-9] * 3, "g_over_e": 1e-9}
USELESS = {0: {1: 0.30, 2: 0.31}, 2: {1: 0.30, 2: 0.30}}
SEVERAL = {0: dict.fromkeys(range(5), 0.3), 2: {s: 0.6 + s / 100 for s in range(5)}}


def views(folder: Path) -> dict[str, RuleView]:
    return {view.method: view for view in rule_views(gather(folder))}


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


# By the training record


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
    expected = judge(read_by_hand(folder, rule), Thresholds(), gain)
    view = views(folder)[rule]
    assert (view.verdict, view.in_words) == (expected.word, str(expected))
    assert (view.fired, view.single_seed) == (expected.fired, expected.single_seed)
    assert view.diagnostics == tuple(d.to_dict() for d in expected.findings)
    assert view.basis == "training record"


def test_the_words_that_these_give(tmp_path):
    rules = {"bp": SEVERAL, "dfa": USELESS, "fa": {2: {1: 0.6}}}
    readings = {"bp": HEALTHY, "dfa": DEAD, "fa": HEALTHY}
    found = views(write_study(tmp_path / "s", rules, readings=readings))
    assert {rule: view.verdict for rule, view in found.items()} == {
        "bp": "trustworthy",
        "dfa": "walk back",
        "fa": "no alarm, depth untested",
    }
    assert found["fa"].single_seed


def test_depth_does_not_count_where_backpropagation_gains_nothing(tmp_path):
    rules = {"bp": USELESS, "dfa": USELESS}
    found = views(write_study(tmp_path / "s", rules, readings=dict.fromkeys(rules, HEALTHY)))
    assert [view.verdict for view in found.values()] == ["no alarm, depth untested"] * 2


def test_what_backpropagation_gains_is_that_of_its_most_accurate_setting(tmp_path):
    """Of the better setting, not of the larger gain, and never of a control."""
    better = {0: {1: 0.90}, 2: {1: 0.91}}
    rules = {"bp[a=1]": SEVERAL, "bp[a=2]": better, "dfa": USELESS}
    rules["bp[wide_block]"] = {0: {1: 0.1}, 1: {1: 0.99}}
    readings = dict.fromkeys(rules, HEALTHY) | {"bp[wide_block]": {"g_over_e": 0.5}}
    found = views(write_study(tmp_path / "s", rules, readings=readings))
    assert found["dfa"].verdict == "no alarm, depth untested"
    assert found["dfa"].diagnostics[2]["finding"] == "untested"


def test_a_low_gradient_whose_share_was_not_recorded_is_not_judged(tmp_path):
    old = {name: value for name, value in DEAD.items() if name != "g_over_e"}
    calm = old | {"h_norm": [1.0, 1.0, 1.0]}
    rules = {"bp": SEVERAL, "dfa": SEVERAL, "fa": SEVERAL}
    readings = {"bp": HEALTHY, "dfa": calm, "fa": old}
    found = views(write_study(tmp_path / "s", rules, readings=readings))
    assert (found["dfa"].verdict, found["dfa"].fired) == ("not judged", ())
    assert found["dfa"].diagnostics[1]["finding"] == "untested"
    assert (found["fa"].verdict, found["fa"].fired) == ("walk back", ("D1",))
    assert not found["dfa"].single_seed


def test_that_it_rests_on_one_seed_is_known_of_what_is_not_judged_too(tmp_path):
    calm = {"h_norm": [1.0, 1.0, 1.0], "g_norm": DEAD["g_norm"]}
    one_seed = {k: {1: accuracies[1]} for k, accuracies in SEVERAL.items()}
    found = views(write_study(tmp_path / "s", {"dfa": one_seed}, readings={"dfa": calm}))
    assert (found["dfa"].verdict, found["dfa"].single_seed) == ("not judged", True)


def test_a_gradient_that_is_not_low_passes_without_its_share(tmp_path):
    found = views(write_study(tmp_path / "s", {"bp": SEVERAL}))
    assert found["bp"].verdict == "trustworthy"
    assert set(found["bp"].diagnostics[1]["intervals"]) == {"gradient"}


def test_a_rule_all_of_whose_runs_diverged_is_walked_back(tmp_path):
    view = views(write_study(tmp_path / "s", {"dfa": {2: {1: None, 2: None}}}))["dfa"]
    assert (view.verdict, view.fired) == ("walk back", ("D1", "D2"))
    assert view.accuracy == {"mean": None, "std": None, "n": 0}
    assert (view.ladder[0].mean, view.ladder[0].lost) == (None, 2)


@pytest.mark.parametrize("how", ["failed", "not begun", "stopped", "only k = 0"])
def test_without_a_network_that_is_done_nothing_is_said(tmp_path, how):
    folder = write_study(tmp_path / "s", {"dfa": {0: {1: 0.3}}} if how == "only k = 0" else {})
    study = StudyFolder(folder)
    put_plan(study, [run_config("dfa", 2, 1)], 0.5)
    if how in ("failed", "stopped"):
        begun = started(study.runs, run_config("dfa", 2, 1), 1)
        if how == "failed":
            begun.fail("no luck", "", {})
    view = views(folder)["dfa"]
    assert (view.verdict, view.basis, view.networks) == ("not judged", "nothing", ())
    assert view.in_words.startswith("not judged: ")
    assert view.accuracy["n"] == 0


def test_controls(tmp_path):
    rules = {
        "bp": SEVERAL,
        "bp[shallow]": {0: {1: 0.2, 2: 0.4}},
        "bp[wide_block]": {0: {1: 0.3}, 1: {1: 0.6}},
        "bp[random_targets]": {0: {1: 0.1}, 2: {1: 0.1}},
    }
    found = views(write_study(tmp_path / "s", rules))
    shallow, wide, random = (found[f"bp[{c}]"] for c in ("shallow", "wide_block", "random_targets"))
    assert (shallow.verdict, shallow.basis, shallow.control) == ("no blocks", "nothing", "shallow")
    assert shallow.accuracy == {"mean": pytest.approx(0.3), "std": pytest.approx(0.02**0.5), "n": 2}
    assert (wide.verdict, wide.frozen["mean"]) == ("trustworthy", 0.3)
    assert (random.verdict, random.frozen["n"]) == ("no alarm, depth untested", 0)


# By the audit


def test_an_audit_has_the_last_word(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS, "fa": USELESS}, readings={"fa": DEAD})
    networks = [audited("dfa", seed, 0.6 + seed / 100, 0.3, growth=99.0) for seed in (1, 2)]
    document = audit_document(networks, {"chance": 0.1}, Thresholds(), {}, {})
    (folder / "audit.json").write_text(json.dumps(document))
    found = views(folder)
    entry = document["verdicts"]["dfa"]
    assert (found["dfa"].basis, found["dfa"].verdict) == ("audit", entry["verdict"])
    assert (found["dfa"].in_words, list(found["dfa"].fired)) == (
        entry["verdict_in_words"],
        entry["fired"],
    )
    assert list(found["dfa"].diagnostics) == entry["diagnostics"]
    assert found["dfa"].accuracy == {
        "mean": pytest.approx(0.615),
        "std": pytest.approx(0.00005**0.5),
        "n": 2,
    }
    assert (found["fa"].basis, found["fa"].verdict) == ("training record", "walk back")


def write_audit_of(folder, seeds):
    """Of the runs of dfa that are there with these seeds."""
    runs = {r.config.seed: r.identity for r in gather(folder).runs if r.is_full}
    networks = [audited("dfa", seed, 0.6 + seed / 100, 0.3, growth=99.0) for seed in seeds]
    document = audit_document(networks, {"chance": 0.1}, Thresholds(), {}, {})
    for row in document["summary"]:
        row["source"] = {"run": f"runs/{runs[row['seed']]}"}
    (folder / "audit.json").write_text(json.dumps(document))


def test_a_newer_version_of_a_rule_does_not_get_the_audit_of_the_older_one(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS}, source="old.py")
    write_audit_of(folder, (1, 2))
    study = StudyFolder(folder)
    newer = [run_config("dfa", k, seed, "new.py") for k in (0, 2) for seed in (1, 2)]
    put_plan(study, newer, None)
    for config in newer:
        finished(study.runs, config, 0.4)
    found = views(folder)
    assert found["dfa"].basis == "training record"
    assert found["dfa@old.py"].basis == "audit"
    assert found["dfa@old.py"].accuracy["mean"] == pytest.approx(0.615)
    assert {network.method for network in found["dfa@old.py"].networks} == {"dfa@old.py"}
    audit = audit_as_called(gather(folder))
    assert list(audit["verdicts"]) == ["dfa@old.py"]
    assert all(list(counts) == ["dfa@old.py"] for counts in audit["decision_utility"].values())


def test_networks_trained_since_the_audit_are_counted(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS})
    write_audit_of(folder, (1,))
    assert views(folder)["dfa"].unread == len(gather(folder).seeds) - 1
    write_audit_of(folder, gather(folder).seeds)
    assert views(folder)["dfa"].unread == 0


def test_an_audit_alone(tmp_path):
    folder = write_audit(tmp_path / "a", {"fa": {1: (0.5, 0.4)}})
    view = views(folder)["fa"]
    assert (view.verdict, view.basis, view.ladder) == ("trustworthy", "audit", ())
    assert (view.accuracy["mean"], view.frozen["mean"]) == (0.5, 0.4)


# The ladder


def test_intervals_of_the_ladder_are_students_t(tmp_path):
    accuracies = {1: 0.30, 2: 0.34, 3: 0.41}
    view = views(write_study(tmp_path / "s", {"dfa": {0: {1: 0.3}, 1: accuracies}}))["dfa"]
    zero, one = view.ladder
    values = list(accuracies.values())
    low, high = stats.t.interval(0.95, 2, statistics.fmean(values), stats.sem(values))
    assert one.interval is not None
    assert (one.interval.low, one.interval.high) == (pytest.approx(low), pytest.approx(high))
    assert (one.mean, one.std) == (pytest.approx(0.35), pytest.approx(statistics.stdev(values)))
    assert (zero.mean, zero.std, zero.interval) == (0.3, None, None)


def test_rungs_are_over_finished_runs_and_count_those_that_were_lost(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": {2: {1: 0.5, 2: None, 3: 0.7}}})
    study = StudyFolder(folder)
    started(study.runs, run_config("dfa", 2, 4), 1).fail("no luck", "", {})
    started(study.runs, run_config("dfa", 2, 5), 1)
    (rung,) = views(folder)["dfa"].ladder
    assert (rung.k, rung.mean, rung.lost) == (2, pytest.approx(0.6), 2)
    assert [run.config.seed for run in rung.runs] == [1, 3]


def test_the_rules_of_a_study_in_its_order(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": USELESS, "bp": BP})
    put_plan(StudyFolder(folder), [run_config("fa", 2, 1)], 0.5)
    assert next(iter(views(folder))) == "fa"
    assert set(views(folder)) == {"fa", "dfa", "bp"}
