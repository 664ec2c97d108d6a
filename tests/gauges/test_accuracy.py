"""Accuracy on what the other gauges see."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import cases, flat, make_batches, make_net, read
from hypothesis import given, settings

from depthgauge.gauges.accuracy import AccuracyGauge, count_correct
from depthgauge.nets.stream_reader import StreamReader


@settings(max_examples=20)
@given(cases())
def test_against_a_loop_over_samples(case):
    samples = flat(case.slow.samples(case.batches))
    right = [int(sample.logits.argmax()) == sample.label for sample in samples]
    assert read(case.net, case.batches, AccuracyGauge()).value == sum(right) / len(right)


def test_labels_that_do_not_count_are_not_counted():
    logits = torch.tensor([[[2.0, 1.0], [1.0, 2.0], [1.0, 2.0]]])
    assert count_correct(logits, torch.tensor([[0, 0, -100]])) == (1, 2)


def test_there_is_none_where_labels_are_not_class_numbers():
    net = StreamReader(make_net(), loss=lambda logits, labels: (logits - labels).square().sum(1))
    reading = read(net, [(make_batches(4)[0][0], torch.zeros(4, 4))], AccuracyGauge())
    assert reading.value is None
    assert reading.note == "n/a: the labels are not class numbers"


@pytest.mark.parametrize("right", [0, 3, 4])
def test_counts_by_hand(right):
    net = make_net()
    x = make_batches(4)[0][0]
    answers = net(x).argmax(1)
    labels = torch.where(torch.arange(4) < right, answers, (answers + 1) % 4)
    assert read(net, [(x, labels)], AccuracyGauge()).value == right / 4
