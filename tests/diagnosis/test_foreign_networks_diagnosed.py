"""Networks from elsewhere in the one call that users make, and unchanged by it."""

from __future__ import annotations

import json

import pytest
import torch
from gauges.foreign_readings import Make, by_hand
from nets.foreign_networks import FOREIGN, build, gpt2, post_norm_cnn
from nets.module_fields import fields

from depthgauge import diagnose

OFTEN = (gpt2, post_norm_cnn)


@pytest.mark.parametrize(
    "make",
    [make if make in OFTEN else pytest.param(make, marks=pytest.mark.slow) for make in FOREIGN],
)
def test_the_report_has_the_readings_by_hand_and_the_network_is_as_before(make: Make):
    network, expected = build(make), by_hand(make, torch.float32)
    before = fields(network.model)
    report = diagnose(
        network.model,
        iter(network.batches),
        blocks=network.blocks,
        layout=network.layout,
        credit=lambda batch: batch.unit_gradients,
    )
    assert fields(network.model) == before
    assert report.residual_norms == pytest.approx(expected["residual norms"], rel=1e-5)
    assert report.bp_grad_norms == pytest.approx(expected["gradients"], rel=1e-5)
    assert report.accuracy.value == expected["accuracy"]
    assert report.alignment.per_layer == pytest.approx([1.0] * len(report.residual_norms))
    assert report.verdict == "no alarm, depth untested"
    assert json.loads(report.to_json())["verdict"] == report.verdict
