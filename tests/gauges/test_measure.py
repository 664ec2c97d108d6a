"""Batches are shown to gauges one at a time, and not kept."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from gauges.small_networks import make_batches, make_net, true_gradients

from depthgauge.errors import UserError
from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.nets.stream_reader import StreamReader


def every_gauge():
    return [
        ScaleGauge(),
        ReferenceGauge(),
        NumericsGauge(),
        StabilityGauge(),
        LesionGauge(),
        AccuracyGauge(),
        AlignmentGauge(true_gradients),
        PerturbationGauge(true_gradients, directions=2),
        NudgingGauge(true_gradients),
    ]


class Spy:
    """Remembers what it was shown without keeping it alive."""

    def __init__(self):
        self.sizes, self.states = [], []

    def see(self, batch):
        self.sizes.append(len(batch))
        self.states.append([weakref.ref(state) for state in batch.states])

    def alive(self) -> list[int]:
        """How many states of each batch are still there."""
        gc.collect()
        return [sum(state() is not None for state in batch) for batch in self.states]

    def reading(self):
        raise NotImplementedError


def test_every_gauge_sees_every_batch_in_order():
    spies = [Spy(), Spy()]
    measure(StreamReader(make_net()), make_batches(3, 5, 2), spies)
    assert [spy.sizes for spy in spies] == [[3, 5, 2], [3, 5, 2]]


def test_no_gauge_keeps_a_batch():
    spy = Spy()
    measure(StreamReader(make_net()), make_batches(*[4] * 8), [*every_gauge(), spy])
    assert spy.alive() == [0] * 8


def test_batches_may_come_from_a_generator_one_at_a_time():
    spy, alive = Spy(), []

    def batches():
        for batch in make_batches(4, 4, 4):
            alive.append(spy.alive())
            yield batch

    measure(StreamReader(make_net()), batches(), [spy])
    assert alive == [[], [4], [0, 4]], "the newest alone"
    assert spy.sizes == [4, 4, 4]


def test_a_mapping_with_labels_is_a_batch_too():
    spy = Spy()
    x, y = make_batches(4)[0]
    measure(StreamReader(make_net()), [{"x": x, "labels": y}], [spy])
    assert spy.sizes == [4]


def test_no_batches_are_refused_in_a_sentence():
    with pytest.raises(UserError, match="no batches to measure on"):
        measure(StreamReader(make_net()), [], every_gauge())


def test_measuring_changes_nothing():
    net = make_net().train()
    net.embed.weight.requires_grad_(False)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    wanted = [parameter.requires_grad for parameter in net.parameters()]
    random_state = torch.get_rng_state()
    batches = make_batches(*[4] * 8)
    inputs = [x.clone() for x, _ in batches]
    measure(StreamReader(net), batches, every_gauge())
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert [parameter.requires_grad for parameter in net.parameters()] == wanted
    assert all(parameter.grad is None for parameter in net.parameters())
    assert all(module.training for module in net.modules())
    hooks = [(module._forward_hooks, module._forward_pre_hooks) for module in net.modules()]
    assert hooks == [({}, {})] * len(hooks)
    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(torch.equal(x, old) for (x, _), old in zip(batches, inputs, strict=True))
