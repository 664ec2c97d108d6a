"""The comparison with the published runs of thirty epochs."""

from __future__ import annotations

import pytest
from published.audited_studies import LAYERS, audited_study, network

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.published.compare import compare_figure
from depthgauge.published.figures import published
from depthgauge.published.thirty_epochs import check_thirty_epochs, compare_thirty_epochs

FIGURES = published().thirty_epochs
DFA = "dfa[penalty=0.01]"
BRIDGE = "credit_bridge[penalty=0.01]"


def compared(*networks, epochs: int = 30):
    return compare_thirty_epochs(audited_study(*networks, epochs=epochs))


def test_the_published_network_is_allowed_and_others_are_refused():
    check_thirty_epochs(NetConfig(width=256, blocks=4))
    for net in (NetConfig(width=128, blocks=4), NetConfig(width=256, blocks=2)):
        with pytest.raises(UserError, match=r"30 epochs.*--width 256"):
            check_thirty_epochs(net)


def test_accuracies_are_compared_with_the_published_ones():
    found = compared(
        network("bp", 0.58),
        network("bp", 0.59, seed=7),
        *(network(x, 0.3) for x in ("dfa", DFA, BRIDGE, "credit_bridge", "dfa[penalty=0.02]")),
    ).figures["accuracies"]
    assert [one.what for one in found] == ["bp", "dfa", DFA, BRIDGE]
    assert found[0] == compare_figure("bp", [0.58, 0.59], FIGURES.bp)
    assert found[0].inside is True
    assert found[1].published == FIGURES.dfa.mean
    assert found[2].published == FIGURES.penalised["dfa"].mean


def test_alignment_and_perturbation_are_those_of_the_penalised_rules():
    plain = network("dfa", 0.3, 0.9, 0.9)
    penalised = network(DFA, 0.36, 0.15, 0.08), network(DFA, 0.36, 0.17, 0.10, seed=7)
    figures = compared(plain, *penalised).figures
    (alignment,), (rho,) = figures["deep_alignment"], figures["deep_perturbation"]
    assert (alignment.what, rho.what) == (DFA, DFA)
    assert alignment.measured == pytest.approx(0.16)
    assert alignment.published == FIGURES.deep_cos["dfa"].mean
    assert rho.measured == pytest.approx(0.09)
    assert rho.published == FIGURES.deep_rho["dfa"].mean


def test_an_audit_that_was_not_asked_for_the_published_readings_has_none_to_compare():
    found = compared(network(DFA, 0.36))
    assert {part: len(figures) for part, figures in found.figures.items()} == {
        "accuracies": 1,
        "deep_alignment": 0,
        "deep_perturbation": 0,
    }
    assert found.one_seed == []


def test_what_was_published_for_one_seed_is_compared_with_that_seed():
    bridges = network("state_bridge", 0.21), network("state_bridge", 0.99, seed=7)
    bridge, layers, deep = compared(*bridges, network(DFA, 0.36, 0.16)).one_seed
    assert (bridge.measured, bridge.published) == ((0.21,), (FIGURES.state_bridge,))
    null = published().null_calibration
    assert (layers.measured, layers.published) == (LAYERS, null.layers)
    assert (deep.measured, deep.published) == ((0.16,), (null.deep,))
    assert compared(network("bp", 0.5)).one_seed == []


def test_another_number_of_epochs_is_compared_without_intervals():
    found = compared(network("bp", 0.5), epochs=100)
    assert found.unlike == ("epochs 100 instead of 30",)
    (bp,) = found.figures["accuracies"]
    assert bp.inside is bp.half_width is None
