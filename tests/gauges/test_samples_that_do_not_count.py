"""Samples without a label have no loss: they must not look like a dead gradient."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_batches, make_net

from depthgauge import diagnose
from depthgauge.errors import UserError
from depthgauge.gauges.measure import measure
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.nets.stream_reader import StreamReader


def read(net, x, y, gauge):
    batches = zip(torch.split(x, 16), torch.split(y, 16), strict=True)
    measure(StreamReader(net), batches, [gauge])
    return gauge.reading()


@pytest.fixture
def samples():
    ((x, y),) = make_batches(160)
    return x, y


@pytest.mark.parametrize("gauge", [ReferenceGauge, StabilityGauge])
def test_the_others_are_read_as_if_these_were_not_there(samples, gauge):
    x, y = samples
    net, masked = make_net().double(), y.clone()
    for batch in range(10):
        masked[16 * batch : 16 * batch + 9] = -100
    kept = masked != -100
    alone = gauge()
    parts = zip(torch.split(x, 16), torch.split(y, 16), torch.split(kept, 16), strict=True)
    measure(StreamReader(net), [(a[here], b[here]) for a, b, here in parts], [alone])
    found = read(net, x, masked, gauge())
    assert found.value == pytest.approx(alone.reading().value, rel=1e-9)
    assert found.per_layer == pytest.approx(alone.reading().per_layer, rel=1e-9)


def test_d2_does_not_fire_for_them(samples):
    x, y = samples
    y[:120] = -100
    assert diagnose(make_net(), [(x, y)]).verdict == "no alarm, depth untested"


def test_where_no_sample_counts_there_is_nothing_to_read(samples):
    x, y = samples
    with pytest.raises(UserError, match="no sample has a loss"):
        read(make_net(), x, torch.full_like(y, -100), ReferenceGauge())


def test_the_share_of_the_error_survives_errors_whose_squares_underflow(samples):
    x, _ = samples
    net = make_net().double()
    with torch.no_grad():
        best = net(x.double()).topk(2).values
        factor = 500 / (best[:, 0] - best[:, 1]).median()
        net.out_head.weight.mul_(factor)
        net.out_head.bias.mul_(factor)
        y = net(x.double()).argmax(-1)
    reading = read(net, x, y, ReferenceGauge())
    assert reading.error < 1e-170
    assert reading.over_error > 1
