"""The comparison with the published main audit, rule by rule."""

from __future__ import annotations

from published.audited_studies import LAYERS, audited_study, network

from depthgauge.published.figures import published
from depthgauge.published.main_audit import compare_main_audit

FIGURES = published().main_audit
DISPLACEMENT = "ep[credit=displacement]"


def compared(*labels: str):
    return compare_main_audit(audited_study(*(network(x, 0.4, 0.16) for x in labels), epochs=100))


def test_the_published_equilibrium_propagation_is_the_displacement_form():
    found = compared("ep", DISPLACEMENT)
    (accuracy,) = found.figures["accuracies"]
    assert (accuracy.what, accuracy.published) == (DISPLACEMENT, FIGURES.rules["ep"].accuracy.mean)
    readings = {one.what: one.published for one in found.one_seed}
    assert readings[f"{DISPLACEMENT}: stability"] == (FIGURES.stability["ep"],)
    assert not any(what.startswith("ep:") for what in readings)
    assert [one.published for one in found.verdicts] == [None, FIGURES.rules["ep"].verdict]


def test_each_reading_is_compared_with_the_same_published_reading():
    study = audited_study(network("dfa", 0.4, 0.16), epochs=100)
    (report,) = (one.report for one in study.audit.networks)
    found = {one.what: one for one in compare_main_audit(study).one_seed}
    scale = FIGURES.scale["dfa"]
    norms = found["dfa: ‖h_L‖"]
    assert (norms.measured, norms.published) == ((report.residual_norms[-1],), (scale.h_L,))
    gradients = found["dfa: ‖g_l‖ for N = 128"]
    assert gradients.measured == tuple(report.bp_grad_norms_n128)
    assert gradients.published == scale.g
    gamma = found["dfa: Γ, as published, l = 0 … L"]
    assert gamma.measured == LAYERS
    assert gamma.published == FIGURES.rules["dfa"].gamma_layers_0_to_4


def test_a_rule_that_was_never_published_has_no_published_verdict():
    found = compared("sdfa")
    assert found.figures["accuracies"] == []
    (verdict,) = found.verdicts
    assert (verdict.what, verdict.published) == ("sdfa", None)
