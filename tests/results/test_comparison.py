"""Several studies side by side: every number against the files it comes from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from results.written_studies import SIX_EPOCHS, change_json, compared, write_audit, write_study
from scipy import stats
from store.small_runs_on_disk import TASK, finished, run_config

from depthgauge.errors import UserError
from depthgauge.results.load import load

BP = {
    0: {1: 0.30, 2: 0.31, 3: 0.29},
    1: {1: 0.45, 2: 0.47, 3: 0.44},
    2: {1: 0.60, 2: 0.62, 3: 0.59},
}
DFA = {0: {1: 0.28, 2: 0.27, 3: 0.26}, 2: {1: 0.25, 2: 0.29, 3: 0.20}}
LONGER = {
    0: {2: 0.33, 3: 0.30, 4: 0.31},
    1: {2: 0.50, 3: 0.45, 4: 0.49},
    2: {2: 0.66, 3: 0.64, 4: 0.65},
}


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Look, do not touch."""
    return write_study(tmp_path_factory.mktemp("one") / "short", {"bp": BP, "dfa": DFA})


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """Look, do not touch."""
    folder = tmp_path_factory.mktemp("two") / "long"
    return write_study(folder, {"bp": LONGER, "fa": DFA}, recipe=SIX_EPOCHS)


@pytest.fixture(scope="module")
def without_bp(tmp_path_factory):
    """Look, do not touch."""
    return write_study(tmp_path_factory.mktemp("three") / "without", {"dfa": DFA, "fa": DFA})


def final_accuracies(study: Path, rule: str, k: int) -> dict[int, float]:
    """The slow way: open every run."""
    found = {}
    for path in study.glob("runs/*/config.json"):
        config = json.loads(path.read_text())
        if (config["rule"]["label"], config["k"]) == (rule, k):
            result = json.loads(path.with_name("result.json").read_text())
            found[config["seed"]] = result["final_acc"]
    return found


def by_scipy(first: dict[int, float], other: dict[int, float]) -> tuple[int, float, float, float]:
    """n, mean difference and its 95 % interval."""
    seeds = sorted(set(first) & set(other))
    a, b = ([values[seed] for seed in seeds] for values in (first, other))
    between = stats.ttest_rel(b, a).confidence_interval(0.95)
    return len(seeds), float(np.mean(b) - np.mean(a)), between.low, between.high


def gains(study: Path, rule: str) -> dict[int, float]:
    full, frozen = (final_accuracies(study, rule, k) for k in (2, 0))
    return {seed: full[seed] - frozen[seed] for seed in full}


def numbers(differences) -> dict[str, tuple[int, float, float, float]]:
    return {d["of"]: (d["n"], d["mean"], d["low"], d["high"]) for d in differences}


def test_a_rule_of_two_studies_against_a_paired_t_test_on_its_files(short, longer):
    (pair,) = compared(short, longer).to_dict()["same_rules"]
    assert (pair["label"], pair["first"], pair["other"]) == ("bp", "short", "long")
    found = numbers(pair["differences"])
    assert list(found) == ["accuracy", "frozen", "gain", "k = 0", "k = 1", "k = 2"]
    rungs = [
        by_scipy(final_accuracies(short, "bp", k), final_accuracies(longer, "bp", k))
        for k in (0, 1, 2)
    ]
    assert found["k = 0"] == found["frozen"] == pytest.approx(rungs[0])
    assert found["k = 1"] == pytest.approx(rungs[1])
    assert found["k = 2"] == found["accuracy"] == pytest.approx(rungs[2])
    assert found["gain"] == pytest.approx(by_scipy(gains(short, "bp"), gains(longer, "bp")))


def test_the_first_study_that_has_a_rule_is_the_one_the_others_are_compared_with(
    short, longer, without_bp
):
    pairs = compared(short, without_bp, longer).same_rules
    assert sorted((p.label, p.first, p.other) for p in pairs) == [
        ("bp", "short", "long"),
        ("dfa", "short", "without"),
        ("fa", "without", "long"),
    ]


def test_the_same_runs_are_told_from_others(short, longer, tmp_path):
    copy = shutil.copytree(short, tmp_path / "copy")
    pairs = compared(short, copy, longer).to_dict()["same_rules"]
    again, others = (pair for pair in pairs if pair["label"] == "bp")
    assert again["same_runs"]
    assert again["differ_in"] == []
    assert again["agreement"] == {"common": 9, "same_accuracy": 9, "same_epochs": 9}
    assert not others["same_runs"]
    assert others["differ_in"] == [{"name": "recipe.epochs", "first": 3, "other": 6}]


def test_a_rule_is_compared_with_backpropagation_of_its_own_study(short, longer):
    document = compared(short, longer).to_dict()
    assert document["to"] == "bp"
    (dfa, fa) = document["against"]
    for row, folder, rule in ((dfa, short, "dfa"), (fa, longer, "fa")):
        assert (row["study"], row["label"]) == (folder.name, rule)
        assert (row["reference"], row["reference_study"]) == ("bp", folder.name)
        found = numbers(row["differences"])
        assert list(found) == ["accuracy", "frozen", "gain", "k = 0", "k = 2"]
        reference, own = (final_accuracies(folder, name, 2) for name in ("bp", rule))
        assert found["accuracy"] == pytest.approx(by_scipy(reference, own))
        assert found["gain"] == pytest.approx(by_scipy(gains(folder, "bp"), gains(folder, rule)))


def test_without_it_with_that_of_the_first_study_with_the_same_base(
    short, longer, without_bp, tmp_path
):
    later = write_study(tmp_path / "later", {"bp": DFA})
    document = compared(longer, without_bp, short, later).to_dict()
    rows = [row for row in document["against"] if row["study"] == "without"]
    assert {row["label"] for row in rows} == {"dfa", "fa"}
    for row in rows:
        assert row["reference_study"] == "short"
        own = final_accuracies(without_bp, row["label"], 2)
        expected = by_scipy(final_accuracies(short, "bp", 2), own)
        assert numbers(row["differences"])["accuracy"] == pytest.approx(expected)


def test_what_is_not_comparable_is_said_and_not_computed(short, tmp_path):
    elsewhere = TASK.model_copy(update={"name": "other task"})
    alone = write_study(tmp_path / "alone", {"fa": DFA}, recipe=SIX_EPOCHS, task=elsewhere)
    row = compared(short, alone).to_dict()["against"][1]
    assert (row["label"], row["reference"], row["differences"]) == ("fa", None, [])
    assert row["not_comparable_with"] == "short"
    assert [(d["name"], d["first"], d["other"]) for d in row["differ_in"]] == [
        ("recipe.epochs", 3, 6),
        ("task.name", "tiny", "other task"),
    ]


def test_another_rule_to_compare_with(short, longer):
    found = compared(short, longer, to="dfa")
    assert found.to == "dfa"
    own, *others = found.against
    assert (own.label, own.reference_study) == ("bp", "short")
    assert [(one.study, one.reference) for one in others] == [("long", None), ("long", None)]


def test_a_rule_that_no_study_has(short, longer):
    with pytest.raises(UserError, match="no study has the rule ep") as refusal:
        compared(short, longer, to="ep")
    assert all(
        rule in str(refusal.value).partition("--to takes")[2] for rule in ("bp", "dfa", "fa")
    )


def test_no_study_has_backpropagation(without_bp, tmp_path):
    copy = shutil.copytree(without_bp, tmp_path / "copy")
    assert compared(without_bp, copy).against == ()


def test_rungs_of_networks_with_other_depths_are_not_compared_with_a_reference(short, tmp_path):
    study = write_study(tmp_path / "study", {})
    shallow = run_config("dfa[shallow]", 0, 1)
    net = shallow.net.model_copy(update={"blocks": 0})
    finished(study / "runs", shallow.model_copy(update={"net": net}), 0.22)
    row = compared(short, study).against[1]
    assert (row.label, row.reference_study) == ("dfa[shallow]", "short")
    assert [d.of for d in row.differences] == ["accuracy"]
    assert row.differences[0].mean == pytest.approx(0.22 - 0.60)


def test_a_run_that_diverged_takes_no_part_and_is_named(short, tmp_path):
    lost = {0: DFA[0], 2: DFA[2] | {3: None}}
    other = write_study(tmp_path / "other", {"dfa": lost})
    document = compared(short, other).to_dict()
    (pair,) = document["same_rules"]
    assert list(pair["differences"][0]["by_seed"]) == ["1", "2"]
    (row,) = (rule for rule in document["rules"] if rule["study"] == "other")
    assert row["accuracy"]["n"] == 2
    assert row["diverged_seeds"] == [3]


def test_every_rule_of_every_study_with_its_spread(short, longer):
    rows = compared(short, longer).to_dict()["rules"]
    rules = {(row["study"], row["label"]): row for row in rows}
    assert len(rules) == len(rows)
    assert set(rules) == {("short", "bp"), ("short", "dfa"), ("long", "bp"), ("long", "fa")}
    accuracies = list(final_accuracies(short, "dfa", 2).values())
    found = rules["short", "dfa"]
    assert found["accuracy"]["mean"] == pytest.approx(np.mean(accuracies))
    assert found["accuracy"]["std"] == pytest.approx(np.std(accuracies, ddof=1))
    assert found["gain"]["mean"] == pytest.approx(np.mean(list(gains(short, "dfa").values())))
    assert found["basis"] == "training"
    assert found["used_depth"] == str(load(short)["dfa"].used_depth) != ""
    assert found["values"]["frozen"] == {"1": 0.28, "2": 0.27, "3": 0.26}


def test_where_results_come_from_each_value_once(short, tmp_path):
    here = {"version": "1.0", "processor": "one", "device": "cpu", "gpu": None}
    other = write_study(tmp_path / "other", {"dfa": DFA}, **here)
    *_, last = sorted(other.glob("runs/*/result.json"))
    change_json(last, provenance=here | {"version": "1.1", "commit": "abc"})
    origin = compared(short, other).to_dict()["studies"][1]["provenance"]
    assert origin["version"] == ["1.0", "1.1"]
    assert (origin["commit"], origin["processor"], origin["device"]) == (["abc"], ["one"], ["cpu"])
    assert origin["gpu"] == []


def test_the_document_is_json_and_has_a_version(short, longer):
    document = compared(short, longer).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema_version"] == 1
    assert document["confidence"] == pytest.approx(0.95)
    first = document["studies"][0]
    assert (first["name"], first["path"]) == ("short", str(short))
    assert (first["seeds"], first["runs"], first["complete"]) == ([1, 2, 3], {"finished": 15}, True)


def test_networks_from_elsewhere_are_compared_as_far_as_they_are_known(short, tmp_path):
    seeds = {1: (0.5, 0.3), 2: (0.6, 0.3)}
    audit = write_audit(tmp_path / "audit", {"bp": seeds, "fa": seeds})
    document = compared(short, audit).to_dict()
    (pair,) = document["same_rules"]
    assert pair["not_known"] == ["net", "recipe", "rule"]
    assert not pair["same_runs"]
    found = numbers(pair["differences"])
    assert list(found) == ["accuracy", "frozen", "gain"]
    assert found["accuracy"] == pytest.approx(by_scipy(BP[2], {1: 0.5, 2: 0.6}))
    assert [rule["used_depth"] for rule in document["rules"] if rule["study"] == "audit"] == [
        "",
        "",
    ]
    fa = document["against"][-1]
    assert (fa["label"], fa["reference_study"]) == ("fa", "audit")
    assert document["studies"][1]["provenance"]["processor"] == ["one"]


def test_a_network_that_is_not_known_is_not_comparable(short, tmp_path):
    audit = write_audit(tmp_path / "audit", {"fa": {1: (0.5, 0.3)}})
    row = compared(short, audit).to_dict()["against"][-1]
    assert (row["reference"], row["not_known"]) == (None, ["net", "recipe"])
