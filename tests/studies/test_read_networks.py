"""What was read off networks with all their blocks trained, by an audit and by training."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest
from store.small_runs_on_disk import run_config
from studies.audited_networks import audited
from studies.compared_studies import write_study
from studies.metrics_lines import lines_in

from depthgauge.diagnostics.readings import diverged_readings
from depthgauge.store.files import finite
from depthgauge.studies.audit_document import audit_document
from depthgauge.studies.gathered import gather
from depthgauge.studies.read_networks import audited_networks, recorded_networks
from depthgauge.verdict.thresholds import Thresholds

LADDER = {0: {1: 0.25, 2: 0.375}, 1: {1: 0.3}, 2: {1: 0.5, 2: 0.75, 3: 0.5}}


def identity(rule: str, k: int, seed: int) -> str:
    return run_config(rule, k, seed).identity


# By the training record


def test_the_last_epoch_of_each_full_run_paired_with_its_frozen_one(tmp_path):
    readings = {"dfa": {"h_norm": [2.0, 3.0, 30.0], "g_norm": [1.0, 0.5, 0.25], "g_over_e": 0.125}}
    folder = write_study(
        tmp_path / "study", {"dfa": LADDER, "bp": {2: {1: 0.9}}}, readings=readings
    )
    networks = recorded_networks(gather(folder), "dfa")
    assert [(n.method, n.seed, n.accuracy, n.frozen) for n in networks] == [
        ("dfa", 1, 0.5, 0.25),
        ("dfa", 2, 0.75, 0.375),
        ("dfa", 3, 0.5, None),
    ]
    assert [n.gain for n in networks] == [0.25, 0.375, None]
    for network in networks:
        assert network.run == identity("dfa", 2, network.seed)
        last = lines_in(folder / "runs" / network.run / "metrics.jsonl")[-1]
        assert network.growth == max(b / a for a, b in pairwise(last["h_norm"])) == 10.0
        assert network.gradient == last["g_norm"][-1] == 0.25
        assert network.error_share == last["g_over_e"] == 0.125
        assert (network.stability, network.report, network.diverged) == (None, None, False)
        assert network.seed_readings == {
            "growth": 10.0,
            "gradient": 0.25,
            "error_share": 0.125,
            "stability": None,
            "depth_gain": network.gain,
        }
    assert [n.frozen_run for n in networks] == [identity("dfa", 0, 1), identity("dfa", 0, 2), None]


def test_earlier_epochs_do_not_count(tmp_path):
    folder = write_study(
        tmp_path / "study", {"dfa": {2: {1: 0.5}}}, readings={"dfa": {"g_over_e": 1}}
    )
    (path,) = folder.glob("runs/*/metrics.jsonl")
    first, *others = lines_in(path)
    first |= {"h_norm": [1.0, 99.0, 99.0], "g_norm": [7.0] * 3, "g_over_e": 7.0}
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)))
    (network,) = recorded_networks(gather(folder), "dfa")
    assert (network.growth, network.gradient, network.error_share) == (2.0, 0.3, 1)
    assert network.first_fired == {"D1": 0, "D2": None}


def test_older_runs_have_no_share_of_the_error(tmp_path):
    folder = write_study(tmp_path / "study", {"dfa": {2: {1: 0.5}}})
    (network,) = recorded_networks(gather(folder), "dfa")
    assert (network.gradient, network.error_share) == (0.3, None)
    assert network.first_fired == {"D1": None}


def test_the_epoch_at_which_it_first_fired(tmp_path):
    blown = {"dfa": {"h_norm": [1.0, 99.0, 99.0], "g_norm": [1e-9] * 3, "g_over_e": 1e-9}}
    folder = write_study(tmp_path / "study", {"dfa": {2: {1: 0.5}}}, readings=blown)
    (network,) = recorded_networks(gather(folder), "dfa")
    assert network.first_fired == {"D1": 0, "D2": 0}


def test_a_run_that_diverged_has_grown_without_bound(tmp_path):
    folder = write_study(tmp_path / "study", {"dfa": {0: {1: 0.25}, 2: {1: None}}})
    (network,) = recorded_networks(gather(folder), "dfa")
    assert network.diverged
    assert (network.growth, network.gradient, network.accuracy, network.gain) == (None,) * 4
    assert network.seed_readings == diverged_readings()
    assert network.first_fired["D1"] == 1


def test_without_true_labels_there_is_no_gain_from_depth(tmp_path):
    rungs = {"bp[random_targets]": {0: {1: 0.1}, 2: {1: 0.1}}}
    (network,) = recorded_networks(
        gather(write_study(tmp_path / "study", rungs)), "bp[random_targets]"
    )
    assert (network.accuracy, network.frozen, network.gain) == (0.1, None, None)


def test_a_wide_block_is_all_there_is_to_train_and_no_blocks_are_none(tmp_path):
    rules = {"bp[wide_block]": {0: {1: 0.1}, 1: {1: 0.3}}, "bp[shallow]": {0: {1: 0.2}}}
    study = gather(write_study(tmp_path / "study", rules))
    (network,) = recorded_networks(study, "bp[wide_block]")
    assert network.gain == pytest.approx(0.2)
    assert recorded_networks(study, "bp[shallow]") == ()


# By the audit


def audit(*networks):
    return audit_document(networks, {"chance": 0.1}, Thresholds(), {}, {})


def test_what_an_audit_read(tmp_path):
    study = gather(write_study(tmp_path / "study", {"dfa": LADDER}))
    source = {
        "run": f"runs/{identity('dfa', 2, 1)}",
        "frozen_run": f"runs/{identity('dfa', 0, 1)}",
    }
    one = audited("dfa", 1, 0.5, 0.25, growth=3.0, gradient=0.5, stability=0.75)
    one = replace(one, subject=replace(one.subject, source=source))
    other = audited("bp", 1, 0.5, 0.25)
    document = audit(one, other)
    (network,) = audited_networks(study, document, "dfa")
    assert (network.run, network.frozen_run) == (identity("dfa", 2, 1), identity("dfa", 0, 1))
    assert (network.accuracy, network.frozen, network.gain) == (0.5, 0.25, 0.25)
    assert (network.growth, network.stability, network.error_share) == (3.0, 0.75, 0.5)
    assert network.gradient == document["reports"]["dfa_s1"]["bp_grad_norms"][-1]
    assert network.report == document["reports"]["dfa_s1"]
    assert network.first_fired == {"D1": None, "D2": 3}
    assert not network.diverged


def test_a_run_that_is_not_there_leads_nowhere(tmp_path):
    """An audit that was copied without its runs, say."""
    study = gather(write_study(tmp_path / "study", {"dfa": LADDER}))
    (network,) = audited_networks(study, audit(audited("dfa", 1, 0.5, 0.25)), "dfa")
    assert (network.run, network.frozen_run) == (None, None)


def test_an_audited_run_that_diverged(tmp_path):
    study = gather(write_study(tmp_path / "study", {"dfa": LADDER}))
    (network,) = audited_networks(study, audit(audited("dfa", 1, None, 0.25)), "dfa")
    assert network.diverged
    assert (network.growth, network.gradient, network.stability, network.report) == (None,) * 4
    assert network.seed_readings == diverged_readings()


@pytest.mark.parametrize("growth", [math.inf, 2.0], ids=["infinite", "of what is finite"])
def test_an_audited_stream_without_bound_was_read(tmp_path, growth):
    """`audit.json` has null for what is not finite; that is not the same as nothing."""
    study = gather(write_study(tmp_path / "study", {"dfa": LADDER}))
    document = finite(audit(audited("dfa", 1, 0.5, 0.25, growth=growth)))
    document["summary"][0]["g_L"] = None
    document["reports"]["dfa_s1"]["residual_norms"][-1] = None
    (network,) = audited_networks(study, document, "dfa")
    assert (network.growth, network.gradient) == (math.inf, 0.0)
    assert network.seed_readings["depth_gain"] == 0.25


def test_an_audited_stream_that_is_zero_does_not_grow(tmp_path):
    study = gather(write_study(tmp_path / "study", {"dfa": LADDER}))
    document = audit(audited("dfa", 1, 0.5, 0.25))
    document["summary"][0]["growth"] = None
    (network,) = audited_networks(study, document, "dfa")
    assert network.growth == 0.0


def test_growth_that_an_older_audit_did_not_write_down_was_not_read(tmp_path):
    study = gather(write_study(tmp_path / "study", {"dfa": LADDER}))
    document = audit(audited("dfa", 1, 0.5, 0.25))
    del document["summary"][0]["growth"]
    (network,) = audited_networks(study, document, "dfa")
    assert network.growth is None
