"""One row for each network with all blocks trained."""

from __future__ import annotations

import math

from report.studies import (
    audited_study,
    make_audit,
    make_line,
    make_network,
    make_pairs,
    make_run,
    make_study,
    trained_study,
)
from report.table_rows import columns

from depthgauge.report.tables.networks import network_table
from depthgauge.results.study import StudyResult

READ = ("accuracy", "‖h_L‖", "growth (D1)", "‖g_L‖ (D2)", "stability (D2s)", "gain, points (D3)")
BAD = {"growth": 700.0, "gradient": 5.12e-7, "stability": 0.4567}


def rows_of(study: StudyResult) -> list[dict[str, str]]:
    return columns(network_table(study))


def read(row: dict[str, str]) -> list[str]:
    return [row[title] for title in (*READ, "fires")]


def test_by_the_metrics_of_training():
    rows = rows_of(trained_study())
    labels = [(row["rule"], row["seed"]) for row in rows]
    assert labels == [(rule, seed) for rule in ("bp", "dfa") for seed in "123"]
    assert read(rows[0]) == ["70.0", "2.00", "2", "0.1", "–", "+40.0", "none"]
    assert read(rows[3]) == ["26.0", "700", "700", "0.1", "–", "−4.0", "D1, D3"]


def test_by_the_audit():
    bad = make_network("dfa", 42, 0.3049, 0.349, norms=(1.0, 1.0, 4.12e8), **BAD)
    (row,) = rows_of(make_study(audit=make_audit(bad)))
    expected = ["30.5", "4.12×10⁸", "700", "5.12×10⁻⁷", "0.457", "−4.4", "D1, D2, D3"]
    assert (row["seed"], row["frozen"], read(row)) == ("42", "34.9", expected)


def test_the_epoch_at_which_a_diagnostic_first_fired():
    watched = [{}, {"D1": None, "D2": 1}, {"D1": 3}]
    networks = [make_network(seed=seed, first_fired=f) for seed, f in enumerate(watched)]
    rows = rows_of(make_study(audit=make_audit(*networks)))
    found = [(row["D1 first fired"], row["D2 first fired"]) for row in rows]
    assert found == [("n/a", "n/a"), ("never", "epoch 1"), ("epoch 3", "n/a")]


def test_what_is_not_known_is_a_dash():
    networks = [make_network("dfa", 1, 0.5, None, stability=None), make_network("dfa", 2, None)]
    unknown, diverged = rows_of(make_study(audit=make_audit(*networks)))
    titles = ("stability (D2s)", "frozen", "gain, points (D3)", "fires")
    assert [unknown[title] for title in titles] == ["–", "–", "–", "none"]
    assert read(diverged) == ["diverged", *"–––––", "diverged"]


def test_each_reading_leads_to_its_run():
    study = trained_study()
    runs = {run.identity: run.config for run in study.runs}
    for row in network_table(study).rows:
        seed, accuracy, frozen = row[1], row[2], row[3]
        assert (runs[accuracy.run].k, runs[frozen.run].k) == (2, 0)
        assert {runs[cell.run].seed for cell in row[2:]} == {int(seed.text)}


def test_networks_from_elsewhere_lead_nowhere():
    table = network_table(audited_study(alone=True))
    assert {cell.run for row in table.rows for cell in row} == {None}


def test_depth_is_not_held_against_a_rule_where_backpropagation_gains_nothing_either():
    rows = rows_of(make_study(*make_pairs("bp", [0.001]), *make_pairs("dfa", [-0.05])))
    assert [row["fires"] for row in rows] == ["none"] * 2


def test_a_low_gradient_alone_does_not_fire():
    lines = [make_line(2, gradient=1e-9, growth=growth) for growth in (1.0, math.inf)]
    calm, grown = ({name: line[name] for name in line if name != "g_over_e"} for line in lines)
    assert rows_of(make_study(make_run(lines=[calm])))[0]["fires"] == "none"
    assert rows_of(make_study(make_run(lines=[grown])))[0]["fires"] == "D1"
