"""What `diagnose` refuses, each with one sentence."""

from __future__ import annotations

import math

import pytest
import torch
from diagnosis.examined_networks import BLOCKS, shown
from gauges.small_networks import make_batches, make_net

from depthgauge import UserError, diagnose


def refusal(*arguments, **options) -> str:
    """The one sentence with which `diagnose` refuses."""
    with pytest.raises(UserError) as caught:
        diagnose(*arguments, **options)
    told = str(caught.value)
    assert "\n" not in told
    return told


def test_accuracies_that_are_not_shares_are_refused():
    for name in ["headline_acc", "frozen_baseline_acc"]:
        for value in [61.5, 1.01, -0.1, math.nan, math.inf]:
            told = refusal(make_net(), shown(1), **{name: value})
            assert "a share from 0 to 1" in told
            assert repr(value) in told


def test_a_gain_of_backpropagation_that_is_no_difference_of_shares_is_refused():
    for value in [15.0, math.nan]:
        assert repr(value) in refusal(make_net(), shown(1), 0.6, 0.5, bp_depth_gain=value)


def test_no_batches_are_refused():
    for batches in [[], (), iter(())]:
        assert "no batches" in refusal(make_net(), batches)


def test_one_pair_in_place_of_a_list_of_pairs_is_refused():
    assert "a pair (inputs, labels)" in refusal(make_net(), shown(1)[0])


def test_an_empty_batch_is_refused():
    assert "a batch is empty" in refusal(make_net(), make_batches(4, 0))


def test_weights_that_are_not_finite_are_refused_by_name():
    for value in [math.nan, math.inf]:
        net = make_net()
        with torch.no_grad():
            net.blocks[1].fc2.weight[2, 3] = value
        assert "blocks.1.fc2.weight" in refusal(net, shown(1))


def test_a_path_that_matches_nothing_is_refused():
    assert "'transformer.h'" in refusal(make_net(), shown(1), blocks="transformer.h")


def test_credit_of_the_wrong_shape_is_refused():
    told = refusal(make_net(), shown(1), credit=lambda batch: batch.gradients[1:])
    assert f"{BLOCKS + 1} tensors" in told
