"""The report on one network, which `diagnose` returns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import JsonValue, TypeAdapter
from typing_extensions import Self

from depthgauge.config import SCHEMA_VERSION
from depthgauge.diagnosis.report_text import diagnosis_text
from depthgauge.diagnosis.report_version_1 import lift_finding, lift_reading
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
    """The readings of one network, and the verdict on it.

    `str()` gives a page for an appendix. `to_dict()` and `to_json()` give all its content.
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
        """Return the verdict's word; `judgement` has the reasons."""
        return self.judgement.word

    @property
    def published_verdict(self) -> str:
        """Return the word that the published protocol gives; this protocol needs no ladder."""
        return self.judgement.published.word

    @property
    def residual_norms(self) -> list[float]:
        """Return the medians over samples of ‖h_l‖, l = 0 … L.

        h_0 is the state of the stream after the embedding, and h_L the state after the last block.
        """
        return list(self.scale.residual_norms)

    @property
    def bp_grad_norms(self) -> list[float]:
        """Return the medians over samples of ‖g_l‖, l = 0 … L.

        g_l is the gradient of a sample's own loss with respect to the state h_l of the stream.
        """
        return [norm or 0.0 for norm in self.reference.per_layer]

    @property
    def bp_grad_norms_n128(self) -> list[float]:
        """Return `bp_grad_norms` for the mean loss of a batch of 128, as in most papers."""
        return list(self.reference.per_layer_n128)

    @property
    def cross_batch_stability(self) -> float | None:
        """Return the stability D2s: the mean cosine between the gradients of two batches.

        Return None with fewer than 8 batches.
        """
        return self.stability.value

    @property
    def frozen_baseline_acc(self) -> float | None:
        """Return the accuracy with blocks frozen at initialisation; None if it was not given."""
        return self.depth.frozen

    @property
    def headline_acc(self) -> float | None:
        """Return the accuracy that D3 uses: the given one, or else the measured one."""
        return self.depth.accuracy

    @property
    def seed_readings(self) -> dict[str, float | None]:
        """Return the readings of the diagnostics by name, for a verdict over several seeds."""
        return seed_readings(self)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return everything as a JSON object; infinity and NaN become texts."""
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
        """Return the readings that were taken, by name."""
        readings = {name: getattr(self, name) for name in _reading_adapters()}
        return {name: reading for name, reading in readings.items() if reading is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the report that `to_dict` wrote as a document.

        The document may be from an earlier version of the package.
        """
        adapters = _reading_adapters()
        stored = {
            name.replace("_record", "_published"): reading
            for name, reading in document["readings"].items()
        }
        taken = {
            name: adapters[name].validate_python(lift_reading(reading))
            for name, reading in stored.items()
        }
        findings = document.get("findings", document.get("diagnostics", ()))
        return cls(
            method_name=document["method_name"],
            notes=document["notes"],
            judgement=Verdict(
                document["verdict"],
                tuple(lift_finding(finding) for finding in findings),
                seeds=1,
                besides=tuple(lift_finding(finding) for finding in document.get("besides", ())),
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


@cache
def _reading_adapters() -> dict[str, TypeAdapter[Any]]:
    """Return a validator for each reading that a report may have, by the reading's name."""
    hints = get_type_hints(Report)
    types = {field.name: hints[field.name] for field in fields(Report)}
    return {name: TypeAdapter(hint) for name, hint in types.items() if "Reading" in str(hint)}
