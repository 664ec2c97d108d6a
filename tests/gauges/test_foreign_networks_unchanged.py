"""Networks from elsewhere are left as they were, field by field, whatever happens."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from gauges.foreign_readings import Make, disarrange, measured
from nets.foreign_networks import FOREIGN, Foreign, build, gpt2, post_norm_cnn
from nets.module_fields import fields
from torch import nn

from depthgauge.errors import UserError
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.nets.batch import split_batch

ALL = pytest.mark.parametrize("make", FOREIGN)


@ALL
def test_after_all_gauges(make: Make):
    network = build(make)
    before = fields(disarrange(network.model))
    measured(network)
    assert fields(network.model) == before


@ALL
def test_after_the_gauges_of_credit(make: Make):
    network = build(make)
    before = fields(disarrange(network.model))
    gauges = [
        gauge(lambda batch: batch.gradients)
        for gauge in (NudgingGauge, lambda credit: PerturbationGauge(credit, directions=4))
    ]
    measure(network.reader(), network.batches[:2], gauges)
    assert gauges[0].reading().value < 0
    assert gauges[1].reading().value == pytest.approx(1.0, abs=0.01)
    assert fields(network.model) == before


@ALL
def test_after_parameters_that_are_all_frozen(make: Make):
    network = build(make)
    network.model.requires_grad_(False)
    before = fields(network.model)
    measured(network)
    assert fields(network.model) == before


def with_bad_labels(network: Foreign) -> list[Any]:
    """The third batch has a label that no network has."""
    inputs, labels = split_batch(network.batches[2])
    return [*network.batches[:2], (inputs, torch.full_like(labels, 1000))]


@ALL
def test_after_labels_out_of_range_midway(make: Make):
    network = build(make)
    before = fields(disarrange(network.model))
    with pytest.raises(UserError, match="labels are from 1000 to 1000, but the network has"):
        measure(network.reader(), with_bad_labels(network), [ScaleGauge(), LesionGauge()])
    assert fields(network.model) == before


def test_after_an_error_of_the_network_itself():
    network = build(gpt2)
    before = fields(disarrange(network.model))
    ids = torch.full((2, 3), 1000)
    with pytest.raises(UserError, match="IndexError"):
        measure(network.reader(), [({"input_ids": ids}, ids)], [ScaleGauge()])
    assert fields(network.model) == before


def test_after_a_block_that_changes_the_shape_of_what_the_readout_takes():
    network = build(post_norm_cnn)
    network.model.stages[2] = nn.Sequential(nn.BatchNorm2d(5), nn.MaxPool2d(2))
    before = fields(disarrange(network.model))
    with pytest.raises(UserError, match="shapes cannot be multiplied"):
        measured(network)
    assert fields(network.model) == before
