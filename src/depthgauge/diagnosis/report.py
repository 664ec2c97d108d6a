"""What `diagnose` returns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import Self

from depthgauge.config import SCHEMA_VERSION
from depthgauge.diagnosis.text import diagnosis_text
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.readings import seed_readings
from depthgauge.gauges.network_readings import NetworkReadings
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.json_values import plain
from depthgauge.verdict.judge import Verdict
from depthgauge.verdict.sensitivity import StableRange
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True, kw_only=True)
class Report(NetworkReadings):
    """Every reading of one network, and the verdict they come to.

    `str()` is a page for an appendix; `to_dict()` and `to_json()` have everything.
    """

    method_name: str
    notes: str
    judgement: Verdict
    thresholds: Thresholds
    sensitivity: list[StableRange]
    remarks: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The verdict's word; `judgement` says why."""
        return self.judgement.word

    @property
    def residual_norms(self) -> list[float]:
        """Medians of ‖h_l‖, l = 0 … L."""
        return list(self.scale.residual_norms)

    @property
    def bp_grad_norms(self) -> list[float]:
        """Medians of ‖g_l‖, l = 0 … L, of each sample's own loss."""
        return [norm or 0.0 for norm in self.reference.per_layer]

    @property
    def bp_grad_norms_n128(self) -> list[float]:
        """The same for the mean loss of a batch of 128, as gradient norms are mostly published."""
        return list(self.reference.per_layer_n128)

    @property
    def cross_batch_stability(self) -> float | None:
        """D2s; None where there were too few batches."""
        return self.stability.value

    @property
    def frozen_baseline_acc(self) -> float | None:
        """Accuracy with the blocks frozen at initialisation, where it was given."""
        return self.depth.frozen

    @property
    def headline_acc(self) -> float | None:
        """The accuracy that D3 uses: the one given, or the one measured."""
        return self.depth.accuracy

    @property
    def seed_readings(self) -> dict[str, float | None]:
        """What a verdict over several seeds needs of this network, by name."""
        return seed_readings(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; what is not finite by its name."""
        document: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "method_name": self.method_name,
                "notes": self.notes,
                "verdict": self.verdict,
                "verdict_in_words": str(self.judgement),
                "fired": self.judgement.fired,
                "single_seed": self.judgement.single_seed,
                "headline_acc": self.headline_acc,
                "frozen_baseline_acc": self.frozen_baseline_acc,
                "residual_norms": self.residual_norms,
                "bp_grad_norms": self.bp_grad_norms,
                "bp_grad_norms_n128": self.bp_grad_norms_n128,
                "cross_batch_stability": self.cross_batch_stability,
                "findings": self.judgement.findings,
                "besides": self.judgement.besides,
                "readings": self.readings,
                "thresholds": dict(self.thresholds),
                "sensitivity": self.sensitivity,
                "remarks": self.remarks,
                "source": self.source,
            }
        )
        return document

    @property
    def readings(self) -> dict[str, Reading | NullReading]:
        """Every reading that was taken, by name."""
        found = {name: getattr(self, name) for name in _reading_types()}
        return {name: reading for name, reading in found.items() if reading is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the report that `to_dict` wrote; also one of an earlier version."""
        types = _reading_types()
        stored = _lifted(document)
        taken = {
            name: TypeAdapter(types[name]).validate_python(reading)
            for name, reading in stored["readings"].items()
        }
        return cls(
            method_name=stored["method_name"],
            notes=stored["notes"],
            judgement=Verdict(
                stored["verdict"],
                FINDINGS.validate_python(stored["findings"]),
                seeds=1,
                besides=FINDINGS.validate_python(stored["besides"]),
            ),
            thresholds=Thresholds(**stored["thresholds"]),
            sensitivity=TypeAdapter(list[StableRange]).validate_python(stored["sensitivity"]),
            remarks=tuple(stored["remarks"]),
            source=dict(stored["source"]),
            **taken,
        )

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON document."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return diagnosis_text(self)


NUMERICALLY_WRONG = re.compile(r"numerically wrong in (\d+) of (\d+) seeds")
"""How the first version told it: in the sentence alone."""

FINDINGS = TypeAdapter(tuple[Finding, ...])


@cache
def _reading_types() -> dict[str, Any]:
    """Return the type of each reading that a report may have, by its name."""
    hints = get_type_hints(Report)
    types = {field.name: hints[field.name] for field in fields(Report)}
    return {name: hint for name, hint in types.items() if "Reading" in str(hint)}


def _lifted(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in today's form: earlier versions wrote null for what is not finite."""
    readings = {
        name.replace("_record", "_published"): _lifted_reading(reading)
        for name, reading in document["readings"].items()
    }
    scale, reference = readings["scale"], readings["reference"]
    scale["residual_norms"] = [_unbounded(norm) for norm in scale["residual_norms"]]
    for name in ("over_error", "error"):
        reference[name] = reference[name] if reference[name] is not None else math.inf
    findings = document.get("findings", document.get("diagnostics", ()))
    lifted = {
        "readings": readings,
        "findings": [lifted_finding(finding) for finding in findings],
        "besides": [lifted_finding(finding) for finding in document.get("besides", ())],
    }
    return dict(document) | lifted


def _lifted_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The published convention was called the record's."""
    how = str(reading["convention"])
    return dict(reading) | {"convention": re.sub(r"^record\b", "published", how)}


def lifted_finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finding in today's form: id and outcome had other names in earlier versions."""
    new = dict(finding)
    for before, after in (("name", "id"), ("finding", "outcome")):
        if before in new:
            new[after] = new.pop(before)
    told = NUMERICALLY_WRONG.search(new["sentence"])
    if told and not new.get("facts"):
        new["facts"] = {"numerically_wrong": int(told[1]), "seeds": int(told[2])}
    return new | {
        "intervals": {name: _lifted_interval(ends) for name, ends in new["intervals"].items()}
    }


def _lifted_interval(ends: Mapping[str, Any]) -> dict[str, Any]:
    """A lost center is that of readings without bound; an end alone may be lost on both sides."""
    low = ends["low"]
    if low is None:
        low = math.inf if ends["center"] is None else -math.inf
    high, center = _unbounded(ends["high"]), _unbounded(ends["center"])
    return dict(ends) | {"low": low, "center": center, "high": high}


def _unbounded(value: Any) -> Any:
    return math.inf if value is None else value
