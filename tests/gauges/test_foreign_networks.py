"""Networks from elsewhere are read as by hand, whatever surrounds them."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
import torch
from gauges.foreign_readings import Make, by_hand, measured, readings
from nets.foreign_networks import DEPTH, FOREIGN, build, gpt2, numbers, post_norm_cnn
from torch import Tensor, nn

from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.nets.batch import call_network, split_batch
from depthgauge.nets.layout import Layout
from depthgauge.nets.stream_reader import StreamReader

ALL = pytest.mark.parametrize("make", FOREIGN)
AMBIENT = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}
ANYWHERE = pytest.mark.parametrize("ambient", AMBIENT.values(), ids=AMBIENT)


@pytest.mark.parametrize(("dtype", "rel"), [(torch.float32, 1e-5), (torch.float64, 1e-9)])
@ALL
def test_every_gauge_agrees_with_a_reading_by_hand(make: Make, dtype: torch.dtype, rel: float):
    found, expected = readings(make, dtype), by_hand(make, dtype)
    near = {"rel": rel, "abs": 0.0}
    scale, reference = found["scale"], found["reference"]
    assert scale.residual_norms == pytest.approx(expected["residual norms"], **near)
    assert scale.per_layer == pytest.approx(expected["growth"], **near)
    assert scale.value == pytest.approx(max(expected["growth"]), **near)
    assert reference.per_layer == pytest.approx(expected["gradients"], **near)
    assert reference.value == pytest.approx(expected["gradients"][-1], **near)
    assert reference.over_error == pytest.approx(expected["over error"], **near)
    assert reference.error == pytest.approx(expected["error"], **near)
    assert found["stability"].value == pytest.approx(expected["stability"], rel=rel, abs=rel)
    assert found["accuracy"].value == expected["accuracy"]
    assert found["lesion"].per_layer == pytest.approx(expected["lesion"], abs=1e-12)


@ALL
def test_there_is_accuracy_to_lose_and_the_blocks_differ(make: Make):
    lesion, accuracy = readings(make)["lesion"], readings(make)["accuracy"]
    assert 0.3 < accuracy.value < 0.9
    assert len(lesion.per_layer) >= DEPTH
    assert len(set(lesion.per_layer)) > 1
    assert lesion.value > 0


@ALL
def test_the_gradient_in_float32_is_right_and_in_float64_there_is_nothing_to_compare(make: Make):
    single, double = readings(make)["numerics"], readings(make, torch.float64)["numerics"]
    assert single.value == pytest.approx(1.0, abs=1e-6)
    assert len(single.per_layer) == len(readings(make)["lesion"].per_layer) + 1
    assert double.value is None
    assert "float64 itself" in double.note


@pytest.mark.parametrize(
    ("make", "ambient"), list(zip(FOREIGN, cycle(AMBIENT.values()), strict=False))
)
def test_what_the_caller_is_inside_of_does_not_matter(make: Make, ambient: Any):
    network, expected = build(make), readings(make)
    with ambient():
        assert measured(network) == expected


@ANYWHERE
@pytest.mark.parametrize("make", [gpt2, post_norm_cnn])
def test_nor_does_it_matter_where_the_batches_were_made(make: Make, ambient: Any):
    network, expected = build(make), readings(make)
    with ambient():
        batches = [
            {name: value.clone() for name, value in batch.items()}
            if isinstance(batch, dict)
            else tuple(value.clone() for value in batch)
            for batch in network.batches
        ]
        assert measured(replace(network, batches=batches)) == expected


@ALL
def test_frozen_parameters_do_not_matter(make: Make):
    network = build(make)
    network.model.requires_grad_(False)
    found = {name: reading.value for name, reading in measured(network).items()}
    expected = {name: reading.value for name, reading in readings(make).items()}
    assert found == pytest.approx(expected, rel=1e-6)


@ALL
def test_networks_are_measured_in_eval_mode_whatever_mode_they_are_in(make: Make):
    training, evaluated = build(make), build(make)
    inputs, _ = split_batch(training.batches[0])
    assert not torch.equal(
        call_network(training.model, inputs), call_network(training.model, inputs)
    )
    evaluated.model.eval()
    assert measured(evaluated) == readings(make)


@pytest.mark.parametrize("token", [0, 2, -1])
def test_one_token_can_be_read_alone(token: int):
    network = replace(build(gpt2, torch.float64), layout=Layout(token=token))
    inputs, _ = split_batch(network.batches[0])
    gauge = ScaleGauge()
    measure(network.reader(), network.batches[:1], [gauge])
    model = network.model.eval()
    start = network.parts(model).start(inputs)[:, token].detach()
    norms = sorted(start.norm(dim=-1).tolist())
    assert gauge.reading().residual_norms[0] == pytest.approx(norms[2], rel=1e-9)


class Regression(nn.Module):
    def __init__(self, targets: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        self.head = nn.Linear(3, targets)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(x))


def squares(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.view(targets.shape) - targets).square()


@pytest.mark.parametrize(
    ("targets", "loss"), [(numbers(6, 2), nn.functional.mse_loss), (torch.zeros(6), squares)]
)
def test_a_regression_has_a_scale_but_no_accuracy(targets: Tensor, loss: Any):
    net = StreamReader(Regression(targets[0].numel()), loss=loss)
    scale, accuracy, lesion = ScaleGauge(), AccuracyGauge(), LesionGauge()
    measure(net, [(numbers(6, 3), targets)], [scale, accuracy, lesion])
    assert scale.reading().value > 0
    assert accuracy.reading().value is None
    assert lesion.reading().value is None
    assert "not class numbers" in accuracy.reading().note
