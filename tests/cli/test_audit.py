"""`depthgauge audit`, from the runs to the verdicts."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise

import pytest
from cli.audits import find_run, network_of, read, run_audit, run_files
from cli.commands import SMALL, assert_bad_input, run

from depthgauge.results.load import load
from depthgauge.rules.access import Access
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

NETWORKS = [("bp", 1), ("bp", 2), ("dfa", 1), ("dfa", 2)]
UNTESTED = "no alarm, depth untested"


def without_provenance(document):
    return {name: part for name, part in document.items() if name != "provenance"}


# A study that `ladder` has trained


def test_standard_output_is_exactly_one_json_document(audited):
    assert audited.done.err == ""
    assert audited.done.out.startswith("{")
    assert audited.done.out.endswith("}\n")
    json.loads(audited.done.out, parse_constant=pytest.fail)
    assert audited.document == read(audited.folder / "audit.json")


def test_after_a_ladder_nothing_is_trained_again(audited):
    assert run_files(audited.folder) == audited.runs_before


def test_what_is_in_the_document(audited):
    document = audited.document
    assert [(one["label"], one["seed"]) for one in document["networks"]] == NETWORKS
    assert list(document["verdicts"]) == ["bp", "dfa"]
    assert document["thresholds"]["growth"] == 50
    assert document["config"]["net"]["blocks"] == 2
    assert document["provenance"]["command"].startswith("depthgauge")


def test_what_each_rule_sees_and_that_nobody_tuned_it_is_said_in_every_report(audited):
    """A reviewer who has only one of the files must find it there."""
    dfa = audited.document["verdicts"]["dfa"]["access"]
    assert dfa == {"needs": ["error"], "copies_weights": False}
    study = load(audited.folder)
    assert study["dfa"].access == Access(("error",))
    assert str(study["bp"].access).endswith("as backpropagation does")
    study.report(audited.folder.parent / "page.html")
    page = (audited.folder.parent / "page.html").read_text()
    assert "It sees the error; transports no weights." in page
    for text in (page, (audited.folder / "audit.md").read_text()):
        assert "dfa sees the error; transports no weights" in text
        assert "were not tuned for bp, dfa" in text


def test_every_number_leads_to_its_run(audited):
    for network in audited.document["networks"]:
        for name, k, accuracy in (("run", 2, "accuracy"), ("frozen_run", 0, "frozen")):
            folder = audited.folder / "runs" / network["source"][name]
            assert folder == find_run(audited.folder, network["label"], network["seed"], k)
            assert network[accuracy] == read(folder / "result.json")["final_acc"]


def test_readings_are_those_of_the_runs_last_epoch(audited):
    for network in audited.document["networks"]:
        folder = audited.folder / "runs" / network["source"]["run"]
        last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
        report = network["report"]
        assert report["residual_norms"] == pytest.approx(last["h_norm"], rel=1e-5)
        assert report["bp_grad_norms"] == pytest.approx(last["g_norm"], rel=1e-5)
        over_error = report["readings"]["reference"]["over_error"]
        assert over_error == pytest.approx(last["g_over_e"], rel=1e-5)


def test_the_verdict_over_seeds_is_that_of_judge(audited):
    document = audited.document
    networks = document["networks"]
    gains = [one["accuracy"] - one["frozen"] for one in networks if one["label"] == "bp"]
    bp_gain = sum(gains) / len(gains)
    assert document["bp_gain"] == pytest.approx(bp_gain)
    for label, entry in document["verdicts"].items():
        readings = []
        for network in (network for network in networks if network["label"] == label):
            report = network["report"]
            norms = report["residual_norms"]
            readings.append(
                {
                    "growth": max(after / before for before, after in pairwise(norms)),
                    "gradient": report["bp_grad_norms"][-1],
                    "error_share": report["readings"]["reference"]["over_error"],
                    "numerics": report["readings"]["numerics"]["value"],
                    "depth_gain": network["accuracy"] - network["frozen"],
                }
            )
        verdict = judge(readings, Thresholds(), bp_gain)
        assert entry["word"] == verdict.word
        assert entry["fired"] == list(verdict.fired)
        assert entry["single_seed"] is False


def test_decision_utility_has_seven_ways_of_reporting(audited):
    table = audited.document["decision_utility"]
    assert len(table) == 7
    for counts in table.values():
        assert list(counts) == ["bp", "dfa"]
        assert all(0 <= walked <= of <= 2 for walked, of in counts.values())
    assert all(of == 2 for _, of in table["accuracy"].values())


def test_the_control_raises_no_alarm(audited):
    controls = audited.document["untrained"]
    assert list(controls) == ["1", "2"]
    assert {control["verdict"] for control in controls.values()} == {UNTESTED}


def test_credit_is_examined_for_every_rule(audited):
    for network in audited.document["networks"]:
        readings = network["report"]["readings"]
        assert len(readings["alignment"]["per_layer"]) == 3
        assert readings["perturbation"]["value"] is not None
        assert ("null" in readings) == (network["label"] == "dfa")


def test_strict_is_content_where_nothing_is_walked_back(audited):
    """After one epoch bp gains nothing from depth, so that D3 does not apply."""
    assert {entry["word"] for entry in audited.document["verdicts"].values()} == {UNTESTED}
    assert audited.done.status == 0


def test_the_tables_are_written_beside_it(audited):
    text = (audited.folder / "audit.md").read_text()
    assert "| rule | seed | accuracy | frozen | ‖h\\_L‖ |" in text
    assert "| rule | used depth | verdict | n | accuracy | frozen |" in text
    assert text.count("\n| dfa | ") >= 4
    assert "| rule | accuracy | Γ | Γ + D1 |" in text
    assert "- Verdict on 2 untrained networks, as a control: no alarm, depth untested." in text


# A study of its own


def test_all_blocks_and_none_are_trained_for_every_rule(own_rules):
    assert len(list(own_rules.folder.glob("runs/*/result.json"))) == 4
    for method in ("mine", "exploding"):
        for k in (0, 2):
            find_run(own_rules.folder, method, 1, k)
    assert network_of(own_rules.document, "mine")["frozen"] is not None


def test_one_that_diverged_is_shown_and_the_others_finish(own_rules):
    document = own_rules.document
    mine, exploding = (network_of(document, label) for label in ("mine", "exploding"))
    assert own_rules.done.status == 1
    assert mine["report"] is not None
    assert exploding["report"] is None
    assert document["verdicts"]["exploding"]["word"] == "walk back"
    assert exploding["source"]["diverged_epoch"] == 1
    assert document["decision_utility"]["accuracy"]["exploding"] == [1, 1]


def test_a_single_seed_is_said(own_rules):
    entry = own_rules.document["verdicts"]["mine"]
    assert entry["single_seed"] is True
    assert "single seed" in entry["in_words"]


def test_without_bp_what_depth_is_worth_is_not_known(own_rules):
    assert own_rules.document["bp_gain"] is None
    assert "bp was not audited" in (own_rules.folder / "audit.md").read_text()


def test_running_it_again_trains_nothing_and_says_the_same(own_rules, tmp_path):
    folder = shutil.copytree(own_rules.folder, tmp_path / "study")
    before, rules = run_files(folder), own_rules.folder.parent / "my_rules.py"
    again = run_audit(folder, "--json", "--strict", rules=(f"{rules}:Mine", f"{rules}:Exploding"))
    assert run_files(folder) == before
    assert again.status == 1
    assert without_provenance(again.document) == without_provenance(own_rules.document)


# For eyes


def test_people_get_tables_words_and_where_everything_is(study):
    asked = ("--thresholds", "growth=0.5", "--strict", "--verbose")
    done = run_audit(study, *asked, rules=("dfa",))
    assert (done.status, done.err) == (3, "")
    for part in ("‖h_L‖", "fresh feedbacks", "Decision utility", "walk back (D1", "single seed"):
        assert part in done.out
    for name in ("audit.json", "audit.md"):
        assert str(study / name) in done.out.splitlines()
    document = read(study / "audit.json")
    assert document["thresholds"]["growth"] == 0.5
    assert "D1" in document["verdicts"]["dfa"]["fired"]
    assert document["networks"][0]["first_fired"]["D1"] == 0


def test_a_dry_run_shows_the_runs_and_trains_nothing(trained, tmp_path):
    arguments = ("audit", *SMALL, "--rules", "dfa", "--seeds", 1, 3, "--dry-run", "--json")
    plan = run(*arguments, "--out", trained).document
    shown = {(entry["k"], entry["seed"]): entry["state"] for entry in plan["runs"]}
    assert shown == {
        **dict.fromkeys([(2, 1), (1, 1), (0, 1)], "finished"),
        **dict.fromkeys([(2, 3), (1, 3), (0, 3)], "waiting"),
    }
    assert run(*arguments).document["out"].startswith("runs/digits-d8-L2-")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "ks"),
    [((3,), {0, 3}), ((1,), {0, 1, 3}), ((0, 2), {0, 2, 3}), (("all",), {0, 1, 2, 3})],
)
def test_no_blocks_and_all_blocks_are_always_trained_and_the_rungs_that_are_asked_for(given, ks):
    assert planned_rungs("--depth", 3, "--k", *given) == sorted(ks)


@pytest.mark.parametrize(
    ("depth", "ks"),
    [(1, [0, 1]), (8, [*range(9)]), (9, [0, 1, 2, 4, 8, 9]), (16, [0, 1, 2, 4, 8, 16])],
)
def test_used_depth_takes_the_whole_ladder_and_of_a_deep_network_some_rungs(depth, ks):
    assert planned_rungs("--depth", depth) == ks


def planned_rungs(*options: object) -> list[int]:
    """K of each run that an audit of one rule and one seed would train."""
    shared = ("--task", "digits", "--width", 8, "--rules", "dfa", "--seeds", 1, "--no-floors")
    plan = run("audit", *shared, *options, "--dry-run", "--json").document
    return sorted(entry["k"] for entry in plan["runs"])


def test_more_blocks_than_there_are_cannot_be_trained():
    assert_bad_input(run("audit", *SMALL, "--rules", "dfa", "--k", 3, "--dry-run"), "3", "k")


def test_its_page_is_written_and_named(audited):
    text = (audited.folder / "report.html").read_text(encoding="utf-8")
    for method, entry in audited.document["verdicts"].items():
        assert method in text
        assert entry["word"] in text


def test_the_defaults_are_three_rules_and_three_seeds():
    plan = run("audit", "--dry-run", "--json").document
    assert plan["config"]["task"]["name"] == "teacher"
    assert {entry["label"] for entry in plan["runs"]} == {"bp", "fa", "dfa", "bp[shallow]"}
    assert {entry["seed"] for entry in plan["runs"]} == {42, 123, 456}
    assert {entry["k"] for entry in plan["runs"]} == {0, 1, 2, 3, 4}
    assert len(plan["runs"]) == 45 + 3  # the floor: one run for each seed
