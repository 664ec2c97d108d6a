"""What `diagnose` returns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import JsonValue, TypeAdapter
from typing_extensions import Self

from depthgauge.config import SCHEMA_VERSION
from depthgauge.diagnosis.report_text import diagnosis_text
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import Interval
from depthgauge.diagnostics.readings import seed_readings
from depthgauge.gauges.network_readings import NetworkReadings
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.json_values import plain_object
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
    source: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The verdict's word; `judgement` says why."""
        return self.judgement.word

    @property
    def published_verdict(self) -> str:
        """The word by the published protocol, which asks for no ladder."""
        return self.judgement.published.word

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

    def to_dict(self) -> dict[str, JsonValue]:
        """Everything, as plain values; what is not finite by its name."""
        return plain_object(
            {
                "schema_version": SCHEMA_VERSION,
                "method_name": self.method_name,
                "notes": self.notes,
                "verdict": self.verdict,
                "verdict_in_words": str(self.judgement),
                "published_verdict": self.published_verdict,
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

    @property
    def readings(self) -> dict[str, Reading | NullReading]:
        """Every reading that was taken, by name."""
        found = {name: getattr(self, name) for name in _reading_adapters()}
        return {name: reading for name, reading in found.items() if reading is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the report that `to_dict` wrote; also one of an earlier version."""
        adapters = _reading_adapters()
        now = {name.replace("_record", "_published"): name for name in document["readings"]}
        taken = {
            name: adapters[name].validate_python(_lifted_reading(document["readings"][stored]))
            for name, stored in now.items()
        }
        findings = document.get("findings", document.get("diagnostics", ()))
        return cls(
            method_name=document["method_name"],
            notes=document["notes"],
            judgement=Verdict(
                document["verdict"],
                tuple(lift_finding(finding) for finding in findings),
                seeds=1,
                besides=tuple(lift_finding(one) for one in document.get("besides", ())),
            ),
            thresholds=Thresholds(**document["thresholds"]),
            sensitivity=TypeAdapter(list[StableRange]).validate_python(document["sensitivity"]),
            remarks=tuple(document["remarks"]),
            source=dict(document["source"]),
            **taken,
        )

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON document."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return diagnosis_text(self)


NUMERICALLY_WRONG = re.compile(r"numerically wrong in (\d+) of (\d+) seeds")
"""How the first version told it: in the sentence alone."""

FINDING = TypeAdapter(Finding)

UNBOUNDED = ("over_error", "error")
"""Values that were null where they are infinite, in the reading of the reference."""


@cache
def _reading_adapters() -> dict[str, TypeAdapter[Any]]:
    """Return what validates each reading that a report may have, by its name."""
    hints = get_type_hints(Report)
    types = {field.name: hints[field.name] for field in fields(Report)}
    return {name: TypeAdapter(hint) for name, hint in types.items() if "Reading" in str(hint)}


def _lifted_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reading in today's form.

    Earlier versions wrote null for what is not finite, and called the published convention the
    record's.
    """
    lifted = dict(reading)
    lifted["convention"] = re.sub(r"^record\b", "published", str(reading["convention"]))
    if "residual_norms" in lifted:
        lifted["residual_norms"] = [_unbounded(norm) for norm in lifted["residual_norms"]]
    lifted |= {name: _unbounded(lifted[name]) for name in UNBOUNDED if name in lifted}
    return lifted


def lift_finding(finding: Mapping[str, Any]) -> Finding:
    """Return a finding; its id and outcome had other names in earlier versions."""
    new = dict(finding)
    for before, after in (("name", "id"), ("finding", "outcome")):
        if before in new:
            new[after] = new.pop(before)
    told = NUMERICALLY_WRONG.search(new["sentence"])
    if told and not new.get("facts"):
        new["facts"] = {"numerically_wrong": int(told[1]), "seeds": int(told[2])}
    new["intervals"] = {name: _lifted_interval(ends) for name, ends in new["intervals"].items()}
    return FINDING.validate_python(new)


def _lifted_interval(ends: Mapping[str, Any]) -> Interval:
    """A lost center is that of readings without bound; an end alone may be lost on both sides."""
    low = ends["low"]
    if low is None:
        low = math.inf if ends["center"] is None else -math.inf
    high, center = _unbounded(ends["high"]), _unbounded(ends["center"])
    return Interval(float(low), float(center), float(high), ends["n"])


def _unbounded(value: Any) -> Any:
    return math.inf if value is None else value
