"""Studies on disk for pages, made without training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from store.small_runs_on_disk import BASE, run_config, started
from studies.audited_networks import audited
from studies.compared_studies import put_plan, write_study

from depthgauge.report.page import render, study_page
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.audit import Audited
from depthgauge.studies.audit_document import audit_document
from depthgauge.verdict.thresholds import Thresholds

HEALTHY = {"h_norm": [1.0, 1.5, 2.0], "g_norm": [0.5, 0.25, 0.125], "g_over_e": 0.5}
DEAD = {"h_norm": [1.0, 900.0, 999.0], "g_norm": [1e-9, 2e-9, 3e-9], "g_over_e": 1e-9}
GOOD = {0: {1: 0.3, 2: 0.3}, 1: {1: 0.4, 2: 0.4}, 2: {1: 0.6, 2: 0.62}}
BAD = {0: {1: 0.30, 2: 0.31}, 2: {1: 0.25, 2: None}}


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
    networks = [
        audited(rule, seed, accuracy, rungs[0][seed], **read)
        for rule, rungs, read in (("bp", GOOD, {}), (bad, BAD, {"growth": 900.0, "gamma": 0.25}))
        for seed, accuracy in rungs[2].items()
    ]
    put_audit(folder, networks, **{name: about[name] for name in ("commit",) if name in about})
    return folder


def put_audit(folder: Path, networks: list[Audited], **provenance: str) -> dict[str, Any]:
    """The audit of these networks, which came from the study's own runs."""
    runs = _runs_by_place(folder)
    named = [
        replace(
            one,
            subject=replace(
                one.subject,
                source={
                    "run": runs.get((one.subject.method, 2, one.subject.seed)),
                    "frozen_run": runs.get((one.subject.method, 0, one.subject.seed)),
                },
            ),
        )
        for one in networks
    ]
    config = BASE | {"chance": 0.125}
    document = audit_document(named, config, Thresholds(), {}, {"version": "1.0"} | provenance)
    (folder / "audit.json").write_text(json.dumps(document))
    return document


def _runs_by_place(folder: Path) -> Mapping[tuple[str, int, int], str]:
    configs = {p.parent.name: json.loads(p.read_text()) for p in folder.glob("runs/*/config.json")}
    return {
        (config["rule"]["label"], config["k"], config["seed"]): f"runs/{name}"
        for name, config in configs.items()
    }


def light(monkeypatch: Any) -> None:
    """Pages without the chart library and the figures: the rest of the page takes a moment."""
    monkeypatch.setattr(render, "get_plotlyjs", lambda: "/* charts */")
    monkeypatch.setattr(study_page, "figures_of", lambda *_: {"ladder": None})
    monkeypatch.setattr(study_page, "one_pdf", lambda figures: b"%PDF")
