"""Folders of studies with the accuracies that a test wants, made without training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.studies import CLIMB, ON_NOISE, make_audit, make_network
from results.written_studies import put_plan, write_study
from store.small_runs_on_disk import BASE, RECIPE, finished, run_config, started

from depthgauge.auditing.gauge_readings import NetworkReport
from depthgauge.config import Intervention, SharedConfig
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import Source
from depthgauge.store.study_folder import StudyFolder

Accuracies = Mapping[str, Mapping[int, Mapping[int, float | None]]]
"""By rule, k and seed; None for a run that diverged."""

BP = {0: {1: 0.30, 2: 0.30}, 1: {1: 0.4, 2: 0.4}, 2: {1: 0.60, 2: 0.64}}
GOOD = {0: {1: 0.3, 2: 0.3}, 1: {1: 0.4, 2: 0.4}, 2: {1: 0.6, 2: 0.62}}
BAD = {0: {1: 0.30, 2: 0.31}, 2: {1: 0.25, 2: None}}
SIX_EPOCHS = RECIPE.model_copy(update={"epochs": 6})
HEALTHY = {"h_norm": [1.0, 1.5, 2.0], "g_norm": [0.5, 0.25, 0.125], "g_over_e": 0.5}
DEAD = {"h_norm": [1.0, 900.0, 999.0], "g_norm": [1e-9, 2e-9, 3e-9], "g_over_e": 1e-9}


def write_climbing_study(folder: Path) -> Path:
    """Backpropagation both of whose blocks earn, with its swap twins, and a rule of one block."""
    one_block = {0: CLIMB[0], 1: CLIMB[1], 2: [0.53, 0.532, 0.531]}
    rules = {"bp": CLIMB, "fa": one_block}
    by_seed = {
        rule: {k: dict(enumerate(values, start=1)) for k, values in rungs.items()}
        for rule, rungs in rules.items()
    }
    write_study(folder, by_seed, readings=dict.fromkeys(rules, HEALTHY))
    on_noise = {"bp": ON_NOISE, "fa": {1: ON_NOISE[1]}}
    for rule, twins in on_noise.items():
        for k, values in twins.items():
            twin = Intervention(swapped=(BASE.net.blocks - k,))
            for seed, accuracy in enumerate(values, start=1):
                config = run_config(rule, k, seed).model_copy(update={"intervention": twin})
                finished(StudyFolder(folder).runs, config, accuracy or 0.0)
    return folder


def write_whole_study(
    folder: Path, bad: str = "dfa", reason: str = "no luck", **about: Any
) -> Path:
    """A rule that works, one that does not, an audit, a run that failed, one not begun."""
    rules = {"bp": GOOD, bad: BAD, f"{bad}[shallow]": {0: {1: 0.2}}}
    write_study(folder, rules, readings={"bp": HEALTHY, bad: DEAD}, **about)
    study = StudyFolder(folder)
    failed = run_config(bad, 1, 1)
    put_plan(study, [failed, run_config(bad, 1, 2)], 0.125)
    started(study.runs, failed, 1).fail(reason, "Traceback", {})
    fired = {"D1": None, "D2": 3}
    grown: dict[str, Any] = {"growth": 900.0, "gamma": (None, 0.25)}
    networks = [
        make_network(rule, seed, accuracy, rungs[0][seed], first_fired=fired, **read)
        for rule, rungs, read in (("bp", GOOD, {}), (bad, BAD, grown))
        for seed, accuracy in rungs[2].items()
    ]
    put_audit(folder, *networks, **{name: about[name] for name in ("commit",) if name in about})
    return folder


def put_audit(folder: Path, *networks: NetworkReport, **provenance: str) -> Audit:
    """The audit of these networks, which came from the study's own runs."""
    runs = _runs_by_place(folder)
    named = [
        replace(
            one,
            network=replace(
                one.network,
                source=Source(
                    run=runs.get((one.network.label, 2, one.network.seed)),
                    frozen_run=runs.get((one.network.label, 0, one.network.seed)),
                ),
            ),
        )
        for one in networks
    ]
    audit = make_audit(*named, config=BASE, provenance={"version": "1.0"} | provenance)
    save_audit(folder, audit)
    return audit


def save_audit(folder: Path, audit: Audit) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "audit.json").write_text(audit.model_dump_json())
    return folder


def write_audit(folder: Path, accuracies: Mapping[str, Mapping[int, tuple[float, float]]]) -> Path:
    """An audit of networks from elsewhere, with accuracy and frozen accuracy by rule and seed."""
    networks = [
        make_network(rule, seed, accuracy, frozen)
        for rule, seeds in accuracies.items()
        for seed, (accuracy, frozen) in seeds.items()
    ]
    audit = make_audit(
        *networks,
        config=SharedConfig(task=BASE.task, frozen_acc={"bp": 0.3}),
        bp_gain=None,
        provenance={"version": "1.0", "processor": "one"},
    )
    return save_audit(folder, audit)


def _runs_by_place(folder: Path) -> Mapping[tuple[str, int, int], str]:
    configs = {p.parent.name: json.loads(p.read_text()) for p in folder.glob("runs/*/config.json")}
    return {
        (config["rule"]["label"], config["k"], config["seed"]): name
        for name, config in configs.items()
    }
