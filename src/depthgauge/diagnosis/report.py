"""What `diagnose` returns."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any

from depthgauge.config import SCHEMA_VERSION
from depthgauge.diagnosis.text import diagnosis_text
from depthgauge.diagnostics.readings import seed_readings
from depthgauge.gauges.network_readings import NetworkReadings
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.store.files import finite
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
        """Everything, as plain values; what is not finite becomes None."""
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "method_name": self.method_name,
            "notes": self.notes,
            "verdict": self.verdict,
            "verdict_in_words": str(self.judgement),
            "fired": list(self.judgement.fired),
            "single_seed": self.judgement.single_seed,
            "headline_acc": self.headline_acc,
            "frozen_baseline_acc": self.frozen_baseline_acc,
            "residual_norms": self.residual_norms,
            "bp_grad_norms": self.bp_grad_norms,
            "bp_grad_norms_n128": self.bp_grad_norms_n128,
            "cross_batch_stability": self.cross_batch_stability,
            "diagnostics": [finding.to_dict() for finding in self.judgement.findings],
            "besides": [finding.to_dict() for finding in self.judgement.besides],
            "readings": {
                field.name: asdict(value)
                for field in fields(self)
                if is_dataclass(value := getattr(self, field.name))
                and isinstance(value, Reading | NullReading)
            },
            "thresholds": dict(self.thresholds),
            "sensitivity": [asdict(stable) for stable in self.sensitivity],
            "remarks": list(self.remarks),
            "source": self.source,
        }
        plain: dict[str, Any] = finite(document)
        return plain

    def to_json(self) -> str:
        """`to_dict()` as a JSON document."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return diagnosis_text(self)
