"""The protocol in one call: what is measured, what is judged, what is refused."""

from __future__ import annotations

import gc
import inspect
import weakref

import pytest
import torch
from diagnosis.examined_networks import BLOCKS, Uncopyable, shown
from gauges.small_networks import (
    make_net,
    random_credit,
    read,
    true_gradients,
)
from nets.foreign_networks import build, encoder_with_tokens_first
from nets.module_fields import fields
from torch import nn

from depthgauge import Thresholds, UserError, diagnose
from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.stream_reader import StreamReader

GAUGES = {
    "scale": ScaleGauge,
    "reference": ReferenceGauge,
    "numerics": NumericsGauge,
    "stability": StabilityGauge,
    "lesion": LesionGauge,
    "accuracy": AccuracyGauge,
}
OF_CREDIT = {
    "alignment": AlignmentGauge,
    "perturbation": PerturbationGauge,
    "nudging": NudgingGauge,
}
ORDER = [
    "model",
    "eval_batches",
    "headline_acc",
    "frozen_baseline_acc",
    "bp_depth_gain",
    "credit",
    "method_name",
    "notes",
    "blocks",
    "loss",
    "thresholds",
]


def test_the_order_of_the_arguments_is_the_published_one():
    parameters = inspect.signature(diagnose).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == ORDER


def test_everything_can_be_given_by_position():
    thresholds = Thresholds(growth=7)
    report = diagnose(
        make_net(),
        shown(1),
        0.6,
        0.5,
        0.3,
        true_gradients,
        "mine",
        "a note",
        "blocks",
        CrossEntropy(),
        thresholds,
    )
    assert (report.headline_acc, report.frozen_baseline_acc) == (0.6, 0.5)
    assert (report.depth.bp_gain, report.alignment.value) == (0.3, pytest.approx(1))
    assert (report.method_name, report.notes) == ("mine", "a note")
    assert report.thresholds is thresholds


@pytest.fixture(scope="module")
def plain():
    return diagnose(make_net(), shown())


@pytest.fixture(scope="module")
def examined():
    return diagnose(make_net(), shown(2, 3), credit=random_credit)


@pytest.mark.parametrize("name", GAUGES)
def test_a_reading_is_what_its_gauge_reads_alone(plain, name):
    assert getattr(plain, name) == read(make_net(), shown(), GAUGES[name]())


@pytest.mark.parametrize("name", OF_CREDIT)
def test_a_reading_of_credit_is_what_its_gauge_reads_alone(examined, name):
    assert getattr(examined, name) == read(make_net(), shown(2, 3), OF_CREDIT[name](random_credit))


@pytest.mark.parametrize("name", OF_CREDIT)
def test_without_credit_there_is_nothing_to_examine(plain, name):
    assert getattr(plain, name) is None


@pytest.mark.parametrize("name", OF_CREDIT)
def test_the_records_convention_reaches_the_gauges_of_credit(name):
    report = diagnose(make_net(), shown(1, 3), credit=random_credit, convention="published")
    gauge = OF_CREDIT[name](random_credit, "published")
    assert getattr(report, name) == read(make_net(), shown(1, 3), gauge)
    assert getattr(report, name).convention.startswith("published")


def test_layout_and_path_reach_the_gauges():
    network = build(encoder_with_tokens_first)
    report = diagnose(network.model, network.batches, blocks=network.blocks, layout=network.layout)
    for name, gauge in GAUGES.items():
        assert getattr(report, name) == read(network.reader(), network.batches, gauge())


def test_the_loss_reaches_the_gauges():
    loss = nn.CrossEntropyLoss(label_smoothing=0.3)
    report = diagnose(make_net(), shown(), loss=loss)
    assert report.reference == read(StreamReader(make_net(), loss=loss), shown(), ReferenceGauge())
    assert report.reference != diagnose(make_net(), shown()).reference


def test_a_loss_with_class_weights_in_the_networks_precision():
    loss = nn.CrossEntropyLoss(weight=torch.full((4,), 2.0), reduction="sum")
    weighted = diagnose(make_net(), shown(1), loss=loss).bp_grad_norms
    plain = diagnose(make_net(), shown(1)).bp_grad_norms
    assert weighted == pytest.approx([2 * norm for norm in plain], rel=1e-5)


def test_what_blocks_return_can_be_said():
    net = make_net(residual_add=False)
    report = diagnose(net, shown(1), returns="stream")
    assert report.residual_norms == diagnose(net, shown(1)).residual_norms
    assert report.residual_norms != diagnose(net, shown(1), returns="branch").residual_norms


def test_batches_are_taken_one_at_a_time_and_none_is_kept():
    inputs, states = [], []

    def alive(references):
        gc.collect()
        return len({id(kept) for reference in references if (kept := reference()) is not None})

    def batches():
        for x, y in ((x.clone(), y) for x, y in shown(4)):
            assert alive(inputs) <= 1
            assert alive(states) <= BLOCKS + 1
            inputs.append(weakref.ref(x))
            yield x, y

    def credit(batch):
        states.extend(weakref.ref(state) for state in batch.states)
        return batch.gradients

    report = diagnose(make_net(), batches(), credit=credit)
    assert report.scale.measured_on == "32 samples in 4 batches"
    assert len(inputs) == 4
    assert len(states) >= 4 * (BLOCKS + 1)
    assert alive(inputs) == alive(states) == 0


def test_a_generator_gives_the_same_report_as_a_list():
    from_generator = diagnose(make_net(), (batch for batch in shown()), 0.6, 0.5)
    assert from_generator.to_dict() == diagnose(make_net(), shown(), 0.6, 0.5).to_dict()


def disarranged(net: nn.Module) -> nn.Module:
    """Half of it in train mode, a gradient here, a frozen parameter there."""
    net.train()
    net.blocks[1].eval()
    net.embed.weight.grad = torch.ones_like(net.embed.weight)
    net.out_head.bias.requires_grad_(False)
    return net


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_network_is_left_as_it_was(dtype):
    net = disarranged(make_net(dtype=dtype))
    before = fields(net)
    diagnose(net, shown(2), 0.6, 0.5, credit=true_gradients)
    assert fields(net) == before


def test_the_network_is_left_as_it_was_after_an_error():
    net = disarranged(make_net())
    before = fields(net)
    with pytest.raises(UserError, match="labels are from 9 to 9"):
        diagnose(net, [*shown(1), (torch.zeros(2, 6), torch.full((2,), 9))])
    assert fields(net) == before


def test_alignment_needs_no_copy_of_the_network_and_the_others_say_that_they_do():
    net = Uncopyable(make_net())
    report = diagnose(net, shown(1), credit=true_gradients, returns="branch")
    assert report.alignment.value == pytest.approx(1)
    for reading in (report.numerics, report.perturbation, report.nudging):
        assert reading.value is None
        assert "there is only one lock" in reading.note
