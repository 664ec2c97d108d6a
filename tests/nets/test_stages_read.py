"""Networks whose blocks change the stream's shape are read like others."""

from __future__ import annotations

import torch
from nets.cut import table_networks as t
from nets.cut.stage_net import StageNet, image_batch, stage_net
from nets.cut.table_networks import make
from torch import Tensor

from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.reference_check import check_reference
from depthgauge.nets.stream_reader import StreamReader


def by_hand(net: StageNet, x: Tensor, y: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """The states and the gradients of each sample's own loss."""
    net.eval()
    states = [net.stem(x)]
    for block in net.blocks:
        states.append(block(states[-1]))
    chosen = net.readout(states[-1]).log_softmax(-1).gather(-1, y.unsqueeze(-1))
    return states, list(torch.autograd.grad(-chosen.sum(), states))


def test_states_and_gradients_of_stages():
    net, (x, y) = stage_net(), image_batch()
    states, gradients = by_hand(net, x, y)
    seen = StreamReader(net).see(x, y)
    torch.testing.assert_close(list(seen.states), [h.detach() for h in states])
    torch.testing.assert_close(list(seen.gradients), gradients)


def test_the_gradient_of_stages_is_checked_and_a_shift_at_a_change_of_shape_is_right():
    net, (x, y) = stage_net(), image_batch()
    reader = StreamReader(net)
    checked = check_reference(reader, x, len(x))
    assert checked.is_true
    assert checked.value is not None
    assert checked.value < 1e-7
    states, _ = by_hand(net, x, y)
    shift = torch.ones_like(states[2])
    h = states[2] + shift
    for block in net.blocks[2:]:
        h = block(h)
    reader.see(x, y)
    torch.testing.assert_close(reader.logits(x, shift=(2, shift)), net.readout(h))


def test_a_stream_that_is_not_the_first_tensor_is_found():
    row = make(t.mask_first, t.MaskFirst)
    x, y, net = row.inputs, row.labels, row.model
    reader = StreamReader(net)
    seen = reader.see(x, y)
    states = [net.embed(x)]
    for block in net.blocks:
        ones = torch.ones_like(states[-1])
        states.append(block(ones, other=ones, hidden=states[-1]))
    chosen = net.head(states[-1]).log_softmax(-1).gather(-1, y.unsqueeze(-1))
    gradients = torch.autograd.grad(-chosen.sum(), states)
    torch.testing.assert_close(list(seen.states), [h.detach() for h in states])
    torch.testing.assert_close(list(seen.gradients), list(gradients))
    skipped = net.head(net.blocks[2](ones, other=ones, hidden=states[1]))
    torch.testing.assert_close(reader.logits(x, skip=1), skipped)
    assert check_reference(reader, x, len(x)).is_true


def test_blocks_that_change_the_shape_are_not_skipped():
    net, (x, y) = stage_net(), image_batch()
    gauge = LesionGauge()
    gauge.see(StreamReader(net).see(x, y))
    reading = gauge.reading()
    assert [lost is None for lost in reading.per_layer] == [False, True, False, False]
    assert reading.value == max(lost for lost in reading.per_layer if lost is not None)


def test_the_whole_report_of_a_network_with_stages():
    net = stage_net().float()
    batches = [(x.float(), y) for x, y in [image_batch()] * 3]
    report = diagnose(net, batches, headline_acc=0.5, frozen_baseline_acc=0.4)
    assert report.verdict in ("walk back", "no alarm, depth untested")
    assert "n/a" in str(report)
    assert report.to_json()
