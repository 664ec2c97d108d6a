"""What was published of the same experiment, beside what a study measured."""

from __future__ import annotations

from typing import Any

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.published import compare_ladder, published, published_ladder
from depthgauge.studies.published_audit import check_published, compare_audit
from depthgauge.studies.published_thirty import check_thirty, compare_thirty

PUBLISHED_TASK = "cifar10"


def ladder_counterpart(study: Gathered) -> dict[str, Any] | None:
    """Every rung beside its published figure; None where no such ladder was published."""
    if not _same_network(study):
        return None
    net = study.base["net"]
    try:
        published_ladder(net["width"], net["blocks"])
    except UserError:
        return None
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for run in study.runs:
        if run.done:
            rungs = results.setdefault(run.method, {}).setdefault(str(run.config.k), {})
            rungs[str(run.config.seed)] = {"final_acc": run.accuracy}
    compared = compare_ladder({"config": study.base, "results": results})
    return compared if compared["rungs"] else None


def audit_counterpart(study: Gathered) -> dict[str, Any] | None:
    """The audit beside the published main audit; None where there is none."""
    if study.audit is None or _is_thirty(study) or not _published(study, check_published):
        return None
    return compare_audit(study.audit)


def thirty_counterpart(study: Gathered) -> dict[str, Any] | None:
    """The audit beside the published runs of thirty epochs; None where there are none."""
    if study.audit is None or not _is_thirty(study) or not _published(study, check_thirty):
        return None
    return compare_thirty(study.audit)


def _is_thirty(study: Gathered) -> bool:
    epochs = study.base.get("recipe", {}).get("epochs")
    return bool(epochs == published()["thirty_epochs"]["config"]["epochs"])


def _same_network(study: Gathered) -> bool:
    """The published task on the published kind of network."""
    task, net = study.base.get("task", {}), study.base.get("net")
    if task.get("name") != PUBLISHED_TASK or net is None:
        return False
    config = NetConfig(**net)
    return config == NetConfig(width=config.width, blocks=config.blocks)


def _published(study: Gathered, check: Any) -> bool:
    if not _same_network(study):
        return False
    try:
        check(NetConfig(**study.base["net"]))
    except UserError:
        return False
    return True
