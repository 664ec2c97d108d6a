"""D2n: tiny gradients are told from wrong ones."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_batches, make_net, read, stream_times
from oracles import gauges as oracle
from oracles.readings import lower_median

from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader


def with_offset(offset: float) -> ResidualMLP:
    """All features of the stream share an offset that LayerNorm removes, if it still can."""
    net = make_net(width=16)
    with torch.no_grad():
        net.embed.bias.add_(offset)
    return net


def with_faint_gradient(dtype: torch.dtype, stream: float, head: float) -> StreamReader:
    net = stream_times(make_net(width=16), stream)
    with torch.no_grad():
        net.out_head.weight.mul_(head)
    return StreamReader(net.to(dtype))


def of_native(native: StreamReader):
    """In a precision of its own, and measured in float32."""
    reading = read(native.in_precision(torch.float32), make_batches(64), NumericsGauge(native))
    ((name, cosines),) = reading.of_native.items()
    return reading, name, cosines


def test_a_gradient_that_is_only_tiny_or_large_is_right():
    for w2_std in [0.01, 0.3, 2.0]:
        for scale in [1e-6, 1.0, 1e6, 1e15]:
            reading = read(
                stream_times(make_net(w2_std=w2_std), scale), make_batches(64), NumericsGauge()
            )
            assert reading.value > 0.9999
            assert reading.value == min(reading.per_layer)
            assert len(reading.per_layer) == 4


def test_against_float32_and_float64_gradients_by_hand():
    net, ((x, y),) = with_offset(1e7), make_batches(21)
    reading = read(net, [(x, y)], NumericsGauge())
    (samples,) = oracle.SlowNet(net).samples([(x, y)])
    measured = StreamReader(net).see(x, y).gradients
    for layer, found in enumerate(reading.per_layer):
        cosines = [
            oracle.cosine(measured[layer][number], sample.gradients[layer])
            for number, sample in enumerate(samples)
        ]
        assert found == pytest.approx(lower_median(cosines), rel=1e-6)


def test_it_falls_where_an_offset_leaves_no_digits_for_the_differences():
    """From 3e7 on float32 rounds some samples' streams to a constant: no gradient is left."""
    for offset in [1e7, 3e7, 1e8]:
        value = read(with_offset(offset), make_batches(64), NumericsGauge()).value
        assert value is not None
        assert value < 0.99


def test_an_offset_that_leaves_enough_digits_does_no_harm():
    assert read(with_offset(1e3), make_batches(64), NumericsGauge()).value > 0.9999


def test_a_sample_without_a_loss_of_its_own_does_not_hide_the_others():
    x, y = make_batches(64)[0]
    y[5] = -100
    value = read(make_net(), [(x, y)], NumericsGauge()).value
    assert value is not None
    assert value > 0.9999


@pytest.mark.parametrize(("stream", "head"), [(3e3, 1e-3), (3e3, 1e-4)])
def test_float16_loses_what_float32_and_bfloat16_keep(stream, head):
    """About 1e-7 and 1e-8: below the least float16 there is, partly and wholly."""
    reading, name, cosines = of_native(with_faint_gradient(torch.float16, stream, head))
    assert name == "float16"
    assert None not in cosines
    assert min(cosines) < 0.99
    assert reading.value > 0.9999
    _, name, cosines = of_native(with_faint_gradient(torch.bfloat16, stream, head))
    assert name == "bfloat16"
    assert min(cosines) > 0.999


def test_half_precision_is_enough_for_gradients_of_ordinary_size():
    for dtype in [torch.float16, torch.bfloat16]:
        _, _, cosines = of_native(StreamReader(make_net(width=16).to(dtype)))
        assert min(cosines) > 0.999


def test_bfloat16_has_too_few_digits_for_a_large_offset():
    _, _, cosines = of_native(StreamReader(with_offset(100.0).bfloat16()))
    assert None not in cosines
    assert min(cosines) < 0.99


def test_a_network_in_float64_is_not_compared_with_itself():
    net, batches = make_net(dtype=torch.float64), make_batches(8, dtype=torch.float64)
    reading = read(net, batches, NumericsGauge())
    assert (reading.value, reading.per_layer) == (None, ())
    assert "float64" in reading.note


def test_a_gradient_that_really_is_zero_has_no_direction():
    net = make_net()
    with torch.no_grad():
        net.out_head.weight.zero_()
    reading = read(net, make_batches(8), NumericsGauge())
    assert reading.value is None
    assert "exactly zero" in reading.note


def test_only_the_first_batch_is_measured_twice():
    assert read(make_net(), make_batches(5, 7), NumericsGauge()).measured_on == (
        "5 samples in 1 batch"
    )


class OnlyInFloat32(ResidualMLP):
    def forward(self, x):
        if x.dtype != torch.float32:
            raise RuntimeError("this network insists on float32")
        return super().forward(x)


def test_a_network_that_cannot_be_run_in_float64_is_not_measured_and_it_is_said():
    with torch.random.fork_rng(devices=[]):
        net = OnlyInFloat32(6, 8, 4, 2)
    reading = read(net, make_batches(8), NumericsGauge())
    assert reading.value is None
    assert "insists on float32" in reading.note
