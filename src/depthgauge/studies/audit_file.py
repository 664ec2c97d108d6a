"""`audit.json`, read: what must be in it for a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from depthgauge.diagnostics.finding import Outcome
from depthgauge.errors import UserError
from depthgauge.store.files import read_json
from depthgauge.verdict.judge import Word
from depthgauge.verdict.thresholds import Thresholds


class _Config(BaseModel):
    chance: float
    bp_depth_gain: float | None


class _Reading(BaseModel):
    measured_on: str


class _Readings(BaseModel):
    """Those that every network has."""

    scale: _Reading
    reference: _Reading
    numerics: _Reading
    stability: _Reading


class _Report(BaseModel):
    readings: _Readings
    residual_norms: list[float | None]


class _Row(BaseModel):
    method: str
    seed: int
    acc: float | None
    frozen_acc: float | None
    g_L: float | None  # noqa: N815
    stability: float | None
    first_fired: dict[str, int | None] | None
    source: dict[str, Any]


class _Diagnostic(BaseModel):
    name: str
    finding: Outcome
    intervals: dict[str, dict[str, float | None]]
    sentence: str


class _Verdict(BaseModel):
    verdict: Word
    verdict_in_words: str
    single_seed: bool
    fired: list[str]
    diagnostics: list[_Diagnostic]
    sensitivity: list[dict[str, Any]]


class _AuditFile(BaseModel):
    """What must be in an audit."""

    schema_version: Literal[1]
    config: _Config
    thresholds: dict[str, float]
    provenance: dict[str, Any]
    reports: dict[str, _Report]
    summary: list[_Row]
    verdicts: dict[str, _Verdict]
    decision_utility: dict[str, dict[str, list[int]]]
    controls: dict[str, dict[str, Any]]


def read_audit(path: Path) -> dict[str, Any] | None:
    """The audit of a study, None where there is none; one that is not whole is refused."""
    if not path.is_file():
        return None
    audit = read_json(path)
    try:
        _AuditFile.model_validate(audit)
        Thresholds(**audit["thresholds"])
    except (ValidationError, UserError) as error:
        raise UserError(
            f"{path} is not an audit of this version; nothing was changed: audit the study again"
        ) from error
    return dict(audit)
