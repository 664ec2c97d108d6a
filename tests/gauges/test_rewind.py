"""Rewind: the accuracy lost with each block at its initial weights, one sample at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from gauges.foreign_readings import disarrange
from gauges.small_networks import cases, make_batches, make_net, read
from hypothesis import given, settings
from nets.foreign_networks import FOREIGN, Foreign, build, gpt2, post_norm_cnn
from nets.module_fields import fields
from oracles import gauges as oracle
from torch import nn

from depthgauge import diagnose
from depthgauge.errors import UserError
from depthgauge.gauges.measure import measure
from depthgauge.gauges.rewind import RewindGauge
from depthgauge.nets.batch import call_network, split_batch
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.initial_weights import InitialWeights
from depthgauge.nets.stream_reader import StreamReader

ALL = pytest.mark.parametrize("make", FOREIGN)


def rewind(net: nn.Module, initial: Any, batches: Any) -> Any:
    reader = net if isinstance(net, StreamReader) else StreamReader(net)
    return read(reader, batches, RewindGauge(InitialWeights(initial, reader)))


def moved(model: nn.Module, scale: float = 0.5) -> nn.Module:
    """A copy with every parameter and every buffer of numbers somewhere else, as after training."""
    other, generator = copy.deepcopy(model), torch.Generator().manual_seed(8)
    with torch.no_grad():
        for tensor in [*other.parameters(), *other.buffers()]:
            if tensor.is_floating_point():
                noise = torch.rand(tensor.shape, generator=generator).to(tensor)
                tensor.mul_(1 + scale * noise).add_(scale * noise)
    return other


def by_hand(network: Foreign, initial: nn.Module) -> list[float]:
    """The share of labels lost by copies of the network that have one block of the initial one."""

    def right(block: int | None) -> tuple[int, int]:
        other = copy.deepcopy(network.model).eval()
        if block is not None:
            own, old = (find_blocks(model, network.blocks)[block] for model in (other, initial))
            own.load_state_dict(old.state_dict())
        named = counted = 0
        for batch in network.batches:
            inputs, labels = split_batch(batch)
            with torch.no_grad():
                named += int((call_network(other, inputs).argmax(-1) == labels).sum())
            counted += int((labels != -100).sum())
        return named, counted

    whole, counted = right(None)
    blocks = range(len(find_blocks(network.model, network.blocks)))
    return [(whole - right(block)[0]) / counted for block in blocks]


@settings(max_examples=30)
@given(cases(largest=12))
def test_exactly_what_a_loop_over_samples_counts(case):
    initial = moved(case.net, 2.0)
    expected = oracle.rewind(case.net, initial, case.batches)
    for given_as in (initial, initial.state_dict()):
        reading = rewind(case.net, given_as, case.batches)
        assert list(reading.per_layer) == expected
        assert reading.value == max(expected)


def test_only_a_block_that_was_trained_is_missed():
    net, batches = make_net(), make_batches(200)
    initial = copy.deepcopy(net)
    with torch.no_grad():
        net.blocks[1].fc2.weight.mul_(20)
    labelled = [(x, net(x).argmax(1)) for x, _ in batches]
    reading = rewind(net, initial, labelled)
    assert reading.per_layer[0] == reading.per_layer[2] == 0.0
    assert reading.value == reading.per_layer[1] > 0.2


@ALL
def test_networks_from_elsewhere_are_read_as_with_the_block_put_back_by_hand(
    make: Callable[[], Foreign],
):
    """Buffers go back too: a convolutional block has running means."""
    network = build(make)
    initial = moved(network.model)
    reading = rewind(network.reader(), initial, network.batches)
    expected = by_hand(network, initial)
    assert list(reading.per_layer) == expected
    assert any(expected)


@ALL
def test_the_network_and_the_initial_one_are_left_as_they_were(make: Callable[[], Foreign]):
    network = build(make)
    initial = moved(network.model)
    places = [tensor.data_ptr() for tensor in network.model.parameters()]
    before = fields(disarrange(network.model)), fields(initial)
    rewind(network.reader(), initial, network.batches)
    assert (fields(network.model), fields(initial)) == before
    assert [tensor.data_ptr() for tensor in network.model.parameters()] == places


def test_also_after_an_error_with_a_block_rewound():
    network = build(gpt2)
    initial, before = moved(network.model), fields(network.model)
    weights = InitialWeights(initial, network.reader())
    with pytest.raises(ZeroDivisionError), weights.in_block(network.reader(), 0):
        raise ZeroDivisionError
    assert fields(network.model) == before


@pytest.mark.parametrize("ambient", [torch.inference_mode, torch.no_grad])
def test_what_the_caller_is_inside_of_does_not_matter(ambient: Any):
    network = build(post_norm_cnn)
    initial, before = moved(network.model), fields(network.model)
    expected = rewind(network.reader(), initial, network.batches)
    with ambient():
        inside = moved(network.model)
        assert rewind(network.reader(), inside, network.batches) == expected
    assert fields(network.model) == before
    assert not any(parameter.is_inference() for parameter in network.model.parameters())


def test_names_that_compiling_or_spreading_gave_do_not_matter():
    net, batches = make_net(), make_batches(50)
    initial = moved(net)
    expected = rewind(net, initial, batches)
    state = initial.state_dict()
    spread = {f"module._orig_mod.{name}": value for name, value in state.items()}
    assert rewind(net, spread, batches) == expected


def test_half_precision_is_read_on_its_copy():
    net, batches = make_net(), make_batches(100)
    initial = moved(net, 2.0)
    half = copy.deepcopy(net).bfloat16()
    report = diagnose(half, batches, initial=copy.deepcopy(initial).bfloat16())
    rounded = copy.deepcopy(half).float()
    expected = rewind(rounded, copy.deepcopy(initial).bfloat16().float(), batches)
    assert report.rewind.per_layer == expected.per_layer


def test_without_initial_weights_there_is_a_reason():
    report = diagnose(make_net(), make_batches(4))
    assert (report.rewind.value, report.rewind.per_layer) == (None, ())
    assert report.rewind.note == "n/a: the initial weights are not at hand"


def test_there_is_none_where_labels_are_not_class_numbers():
    net = StreamReader(make_net(), loss=lambda logits, labels: (logits - labels).square().sum(1))
    gauge = RewindGauge(InitialWeights(make_net(seed=1), net))
    measure(net, [(make_batches(4)[0][0], torch.zeros(4, 4))], [gauge])
    assert gauge.reading().note == "n/a: the labels are not class numbers"


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        (lambda net: net.state_dict(), "are the same tensor in memory"),
        (lambda net: make_net(width=9), "the initial blocks.0.ln.weight has the shape (9,)"),
        (lambda net: make_net(blocks=2), "the initial weights have no blocks.2.ln.weight"),
        (lambda net: {}, "the initial weights have no blocks.0.ln.weight"),
    ],
)
def test_wrong_initial_weights_are_refused_before_anything_is_read(initial: Any, sentence: str):
    net = make_net()
    with pytest.raises(UserError) as caught:
        diagnose(net, iter([]), initial=initial(net))
    assert sentence in str(caught.value)
