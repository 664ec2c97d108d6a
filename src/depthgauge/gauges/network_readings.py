"""All readings of one network."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.gauges.alignment import AlignmentReading
from depthgauge.gauges.depth import DepthReading
from depthgauge.gauges.nudging import NudgingReading
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.numerics import NumericsReading
from depthgauge.gauges.reading import Reading
from depthgauge.gauges.reference import ReferenceReading
from depthgauge.gauges.reference_check import ReferenceCheckReading
from depthgauge.gauges.scale import ScaleReading


@dataclass(frozen=True, kw_only=True)
class NetworkReadings:
    """The readings of all gauges for one network.

    Readings of credit are None if no credit was given. A plain twin has the network's weights and
    an ordinary backward pass. If a twin was given, `reference_check` is the check of the network
    itself; `plain_check` is the check of the twin, and all other readings are of the twin too.
    Readings written by earlier versions have no reference check and no rewind.
    """

    scale: ScaleReading
    reference: ReferenceReading
    numerics: NumericsReading
    stability: Reading
    depth: DepthReading
    lesion: Reading
    accuracy: Reading
    rewind: Reading | None = None
    alignment: AlignmentReading | None = None
    alignment_published: AlignmentReading | None = None
    perturbation: Reading | None = None
    perturbation_published: Reading | None = None
    nudging: NudgingReading | None = None
    reference_check: ReferenceCheckReading | None = None
    plain_check: ReferenceCheckReading | None = None
    null: NullReading | None = None
