"""`audit.json`: what is written is read back, also what earlier versions wrote."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from auditing.audited_networks import audit_of, audited, report_of
from golden.facts import EMBEDDED, REPRODUCTION
from verdict.example_ladders import bp_depth

from depthgauge.results.audit import Audit

OF_THE_FIRST_VERSION = sorted(
    path
    for path in [*REPRODUCTION.rglob("audit.json"), EMBEDDED / "audit.json"]
    if json.loads(path.read_text())["schema_version"] == 1
)


def again(audit: Audit) -> Audit:
    return Audit.model_validate(json.loads(audit.model_dump_json()))


def make_audit(*growths: float) -> Audit:
    networks = [audited("dfa", n, 0.5, 0.25, growth=growth) for n, growth in enumerate(growths)]
    return audit_of(*networks, untrained={"1": report_of(0.2, None)})


@pytest.mark.parametrize("path", OF_THE_FIRST_VERSION, ids=lambda p: p.parent.name)
def test_an_audit_of_the_first_version_has_its_numbers_and_can_be_written_again(path: Path):
    old = json.loads(path.read_text())
    audit = Audit.model_validate(old)
    assert again(audit) == audit
    assert list(audit.verdicts) == list(old["verdicts"])
    for entry, before in zip(audit.verdicts.values(), old["verdicts"].values(), strict=True):
        assert (entry.in_words, list(entry.fired)) == (before["verdict_in_words"], before["fired"])
        assert entry.single_seed == before["single_seed"]
    for network, row in zip(audit.networks, old["summary"], strict=True):
        assert (network.label, network.seed) == (row["method"], row["seed"])
        assert (network.accuracy, network.frozen) == (row["acc"], row["frozen_acc"])
        assert network.report is None or network.report.residual_norms[-1] == row["h_L"]
        assert network.source.run is None or network.source.run in row["source"]["run"]


def test_the_convention_of_published_figures_had_another_name():
    old = json.loads((REPRODUCTION / "main-audit-d256-L4" / "audit.json").read_text())
    report = next(iter(old["reports"].values()))
    before = report["readings"]["alignment_record"]["convention"]
    reading = Audit.model_validate(old).networks[0].report.alignment_published
    assert before.startswith("record; ")
    assert reading.convention == before.replace("record", "published")


def test_what_is_not_finite_survives():
    audit = make_audit(math.inf, math.inf)
    (finding, *_) = again(audit).verdicts["dfa"].findings
    assert finding.intervals["growth"].center == math.inf
    assert again(audit).networks[0].report.scale.value == math.inf
    assert again(audit) == audit
    json.loads(audit.model_dump_json(), parse_constant=pytest.fail)


def test_what_was_not_finite_in_the_first_version_was_null():
    """A stream without bound was read; null does not mean that nothing was."""
    old = json.loads((EMBEDDED / "audit.json").read_text())
    label, seed = old["summary"][0]["method"], old["summary"][0]["seed"]
    report = old["reports"][f"{label}_s{seed}"]
    report["readings"]["scale"]["residual_norms"][-1] = None
    report["readings"]["reference"]["over_error"] = None
    for ends in old["verdicts"][label]["diagnostics"][0]["intervals"].values():
        ends.update(low=None, center=None, high=None)
    audit = Audit.model_validate(old)
    found = audit.networks[0].report
    assert (found.residual_norms[-1], found.reference.over_error) == (math.inf, math.inf)
    (interval,) = audit.verdicts[label].findings[0].intervals.values()
    assert (interval.low, interval.center, interval.high) == (math.inf,) * 3


@pytest.mark.parametrize(
    ("growths", "survives"),
    [((1.5, 1.5), True), ((1.5, 99.0), False), ((1.5, None), None), ((None, None), None)],
)
def test_whether_a_verdict_survives_other_settings(growths, survives):
    """Without a growth it diverged with one seed of four: inconclusive."""
    networks = []
    for setting, growth in enumerate(growths):
        for seed in (1, 2, 3, 4):
            accuracy = None if growth is None and seed == 4 else 0.6 + seed / 100
            one = audited(f"dfa[a={setting}]", seed, accuracy, 0.3, growth=growth or 1.5)
            networks.append(replace(one, network=replace(one.network, rule="dfa")))
    depths = {f"dfa[a={setting}]": bp_depth(4) for setting in range(len(growths))}
    (settings,) = audit_of(*networks, used_depths=depths).settings.values()
    assert list(settings.words) == ["dfa[a=0]", "dfa[a=1]"]
    assert settings.survives is survives
