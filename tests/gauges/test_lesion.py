"""Lesion: the accuracy lost without each block, counted one sample at a time."""

from __future__ import annotations

import torch
from gauges.small_networks import cases, make_batches, make_net, read
from hypothesis import given, settings
from oracles import gauges as oracle

from depthgauge.gauges.lesion import LesionGauge
from depthgauge.nets.stream_reader import StreamReader


@settings(max_examples=30)
@given(cases(largest=12))
def test_exactly_what_a_loop_over_samples_counts(case):
    reading = read(case.net, case.batches, LesionGauge())
    expected = oracle.lesion(case.slow, case.batches)
    assert list(reading.per_layer) == expected
    assert reading.value == max(expected)


def test_a_skipped_block_hands_its_input_on():
    for residual_add in [True, False]:
        net = make_net(dtype=torch.float64, residual_add=residual_add)
        batches = make_batches(100, dtype=torch.float64)
        expected = oracle.lesion(oracle.SlowNet(net), batches)
        assert any(expected)
        assert list(read(net, batches, LesionGauge()).per_layer) == expected


def test_only_a_block_that_does_something_is_missed():
    net = make_net(w2_std=0.0, blocks=3)
    with torch.no_grad():
        for block in net.blocks:
            block.fc2.bias.zero_()
        net.blocks[1].fc2.weight.copy_(20 * torch.eye(8))
    x = make_batches(200)[0][0]
    reading = read(net, [(x, net(x).argmax(1))], LesionGauge())
    assert reading.per_layer[0] == reading.per_layer[2] == 0.0
    assert reading.value == reading.per_layer[1] > 0.2


def test_a_block_can_do_harm():
    net = make_net(w2_std=0.0, blocks=2)
    x = make_batches(200)[0][0]
    with torch.no_grad():
        net.blocks[0].fc2.bias.zero_()
        net.blocks[1].fc2.bias.zero_()
        labels = net(x).argmax(1)
        net.blocks[1].fc2.weight.copy_(20 * torch.eye(8))
    assert read(net, [(x, labels)], LesionGauge()).per_layer[1] < -0.2


def test_there_is_none_where_labels_are_not_class_numbers():
    net = StreamReader(make_net(), loss=lambda logits, labels: (logits - labels).square().sum(1))
    reading = read(net, [(make_batches(4)[0][0], torch.zeros(4, 4))], LesionGauge())
    assert (reading.value, reading.per_layer) == (None, ())
    assert reading.note == "n/a: the labels are not class numbers"
