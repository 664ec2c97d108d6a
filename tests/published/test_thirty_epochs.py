"""Thirty epochs, measured beside published."""

from __future__ import annotations

import pytest
from studies.thirty import make_document, make_report

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.studies.published import compare, published
from depthgauge.studies.published_thirty import check_thirty, compare_thirty

FIGURES = published()["thirty_epochs"]
DFA = "dfa[penalty=0.01]"


def rows(part: list[dict]) -> dict[str, dict]:
    return {row["what"]: row for row in part}


def test_the_published_network_is_allowed_and_others_are_refused():
    check_thirty(NetConfig(width=256, blocks=4))
    for net in (NetConfig(width=128, blocks=4), NetConfig(width=256, blocks=2)):
        with pytest.raises(UserError, match=r"30 epochs.*--width 256 --blocks 4"):
            check_thirty(net)


def test_accuracies_stand_beside_the_published_ones():
    reports = {
        "bp_s42": make_report(0.58),
        "bp_s7": make_report(0.59),
        "dfa_s42": make_report(0.30),
        f"{DFA}_s42": make_report(0.36),
        "credit_bridge[penalty=0.01]_s42": make_report(0.37),
        "credit_bridge_s42": make_report(0.2),
        "dfa[penalty=0.02]_s42": make_report(0.9),
    }
    found = rows(compare_thirty(make_document(reports))["accuracies"])
    assert list(found) == ["bp", "dfa", DFA, "credit_bridge[penalty=0.01]"]
    bp = compare("bp", [0.58, 0.59], FIGURES["bp"])
    assert found["bp"]["measured"] == pytest.approx(0.585)
    assert (found["bp"]["n"], found["bp"]["half_width"]) == (2, bp.half_width)
    assert found["bp"]["inside"] is True
    assert found[DFA]["published"] == FIGURES["penalised_lambda_0.01"]["dfa"][0]
    assert found["dfa"]["published"] == FIGURES["dfa"][0]


def test_alignment_and_perturbation_are_those_of_the_penalised_rules():
    reports = {
        "dfa_s42": make_report(0.3, 0.9, 0.9),
        f"{DFA}_s42": make_report(0.36, 0.15, 0.08),
        f"{DFA}_s7": make_report(0.36, 0.17, 0.10),
    }
    compared = compare_thirty(make_document(reports))
    (alignment,), (rho,) = compared["deep_alignment"], compared["deep_perturbation"]
    assert (alignment["what"], rho["what"]) == (DFA, DFA)
    assert alignment["measured"] == pytest.approx(0.16)
    assert alignment["published"] == FIGURES["deep_cos_lambda_0.01"]["dfa"][0]
    assert rho["measured"] == pytest.approx(0.09)
    assert rho["published"] == FIGURES["deep_rho_lambda_0.01"]["dfa"][0]


def test_what_was_not_measured_is_left_out():
    compared = compare_thirty(make_document({f"{DFA}_s42": make_report(None, None, 0.1)}))
    assert compared["accuracies"] == compared["deep_alignment"] == []
    assert len(compared["deep_perturbation"]) == 1


def test_an_audit_that_was_not_asked_for_the_records_readings_has_none_to_compare():
    report = make_report(0.36) | {"readings": {}}
    compared = compare_thirty(make_document({f"{DFA}_s42": report}))
    assert len(compared["accuracies"]) == 1
    assert compared["deep_alignment"] == compared["deep_perturbation"] == compared["one_seed"] == []


def test_what_was_published_for_one_seed_is_compared_with_that_seed():
    reports = {
        "state_bridge_s42": make_report(0.21),
        "state_bridge_s7": make_report(0.99),
        f"{DFA}_s42": make_report(0.36, 0.16),
    }
    bridge, layers, deep = compare_thirty(make_document(reports))["one_seed"]
    assert (bridge["measured"], bridge["published"]) == ([0.21], [FIGURES["state_bridge"]])
    null = published()["null_calibration"]
    assert layers["measured"] == reports[f"{DFA}_s42"]["readings"]["alignment_record"]["per_layer"]
    assert layers["published"] == null["training_B_layers_0_to_4"]
    assert (deep["measured"], deep["published"]) == ([0.16], [null["training_B_deep"]])
    assert compare_thirty(make_document({"bp_s42": make_report(0.5)}))["one_seed"] == []


def test_another_number_of_epochs_is_compared_without_intervals():
    compared = compare_thirty(make_document({"bp_s42": make_report(0.5)}, epochs=100))
    assert compared["unlike"] == ["epochs 100 instead of 30"]
    (bp,) = compared["accuracies"]
    assert bp["inside"] is bp["half_width"] is None
