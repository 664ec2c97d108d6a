"""What the readings come to: depth, thresholds, and networks that overflow."""

from __future__ import annotations

import pytest
import torch
from diagnosis.examined_networks import LARGEST, overflowing, shown
from gauges.small_networks import make_net, stream_times
from nets.stacks import batch as stack_batch
from nets.stacks import stack

from depthgauge import Thresholds, diagnose


@pytest.mark.parametrize(
    ("accuracy", "frozen", "word", "fired"),
    [
        (0.61, 0.50, "trustworthy", ()),
        (0.51, 0.50, "walk back", ("D3",)),
        (0.50, 0.61, "walk back", ("D3",)),
        (0.36, 0.34, "trustworthy", ()),
        (0.61, None, "no alarm, depth untested", ()),
    ],
)
def test_depth_is_judged_by_the_accuracies_that_are_given(accuracy, frozen, word, fired):
    report = diagnose(make_net(), shown(1), accuracy, frozen)
    assert (report.published_verdict, report.judgement.fired) == (word, fired)
    assert report.verdict == ("walk back" if fired else "no alarm, depth untested")
    assert report.depth.value == (None if frozen is None else pytest.approx(accuracy - frozen))


@pytest.mark.parametrize("better", [0.03, 0.01])
def test_without_a_headline_the_measured_accuracy_is_used(better):
    net, batches = make_net(), shown()
    with torch.no_grad():
        right = sum(int((net(x).argmax(1) == y).sum()) for x, y in batches)
    accuracy = right / sum(len(y) for _, y in batches)
    report = diagnose(net, batches, frozen_baseline_acc=accuracy - better)
    assert report.accuracy.value == report.headline_acc == accuracy
    assert report.depth.value == pytest.approx(better)
    assert ("D3" in report.judgement.published.fired) == (better < 0.02)
    assert "D3" in report.judgement.unclear


def test_a_given_headline_is_used_and_the_measured_accuracy_is_kept_beside_it():
    report = diagnose(make_net(), shown(), headline_acc=0.9, frozen_baseline_acc=0.5)
    assert report.headline_acc == 0.9
    assert report.accuracy.value == diagnose(make_net(), shown()).accuracy.value != 0.9


@pytest.mark.parametrize(("accuracy", "bp_gain"), [(0.50, 0.019), (0.90, 0.0), (0.90, -0.1)])
def test_depth_is_not_judged_where_backpropagation_gains_nothing(accuracy, bp_gain):
    report = diagnose(make_net(), shown(1), accuracy, 0.5, bp_gain)
    assert report.verdict == "no alarm, depth untested"
    assert "not applicable" in str(report)
    assert report.depth.value == pytest.approx(accuracy - 0.5)


@pytest.mark.parametrize("bp_gain", [0.02, 0.3])
def test_depth_is_judged_where_backpropagation_gains(bp_gain):
    assert diagnose(make_net(), shown(1), 0.5, 0.5, bp_gain).judgement.fired == ("D3",)


@pytest.mark.parametrize(
    ("moved", "fired"),
    [
        ({"growth": 1.01}, ("D1",)),
        ({"gradient": 100.0, "error_share": 100.0}, ("D2",)),
        ({"gradient": 100.0}, ()),
        ({"error_share": 100.0}, ()),
        ({"numerics": 1.5}, ("D2",)),
        ({"depth_gain": 0.2}, ("D3",)),
    ],
)
def test_thresholds_decide_and_are_kept(moved, fired):
    report = diagnose(make_net(), shown(1), 0.6, 0.5, thresholds=Thresholds(**moved))
    assert report.judgement.fired == fired
    assert report.published_verdict == ("walk back" if fired else "trustworthy")
    kept = report.to_dict()["thresholds"]
    assert {name: kept[name] for name in moved} == moved
    used = {stable.threshold: stable.used for stable in report.sensitivity}
    assert all(used[name] == value for name, value in moved.items() if name in used)


def test_without_thresholds_the_protocols_are_used():
    assert diagnose(make_net(), shown(1)).thresholds == Thresholds()


@pytest.mark.parametrize("bp_gain", [None, 0.3])
def test_a_stream_blown_up_before_the_last_norm_is_walked_back_whatever_the_accuracy(bp_gain):
    report = diagnose(stream_times(make_net(), 1e6), shown(1), 0.99, 0.5, bp_gain)
    assert (report.verdict, report.judgement.fired) == ("walk back", ("D2",))


@pytest.mark.parametrize(("block", "part"), [(0, "fc1"), (1, "fc2"), (2, "ln")])
def test_a_forward_pass_that_overflows_is_walked_back(block, part):
    report = diagnose(overflowing(block, part), shown(), 0.9, 0.5, 0.3)
    assert (report.verdict, report.judgement.fired) == ("walk back", ("D1", "D2"))


@pytest.mark.parametrize(
    ("depth", "block", "returns"),
    [(2, 0, "stream"), (2, 1, "branch"), (3, 0, "branch"), (3, 1, "stream"), (3, 2, "branch")],
)
def test_a_network_from_elsewhere_that_overflows_is_walked_back(depth, block, returns):
    net = stack(returns, depth, dtype=torch.float32)
    with torch.no_grad():
        net.layers[block].fc2.weight.sign_().mul_(LARGEST)
    report = diagnose(net, [stack_batch(dtype=torch.float32)], blocks="layers")
    assert (report.verdict, report.judgement.fired) == ("walk back", ("D1", "D2"))


@pytest.mark.parametrize("returns", ["stream", "branch"])
def test_a_network_from_elsewhere_whose_every_block_drowns_the_stream_is_walked_back(returns):
    net = stack(returns, dtype=torch.float32)
    with torch.no_grad():
        for index, block in enumerate(net.layers):
            block.fc2.weight *= 1e10 ** (index + 1)
    report = diagnose(net, [stack_batch(dtype=torch.float32)], blocks="layers")
    assert (report.verdict, report.judgement.fired) == ("walk back", ("D1", "D2"))
