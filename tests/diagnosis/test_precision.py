"""Half precision is measured in float32, or the report says why not."""

from __future__ import annotations

import copy

import pytest
import torch
from diagnosis.examined_networks import BLOCKS, Uncopyable, faint, shown
from gauges.small_networks import make_net, read, stream_times
from nets.module_fields import fields

from depthgauge import diagnose
from depthgauge.diagnosis.precision import in_float32
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.rules.bp import BP
from depthgauge.rules.credit_function import rule_credit
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

HALF = {"float16": torch.float16, "bfloat16": torch.bfloat16}
EACH_HALF = pytest.mark.parametrize("name", HALF)


@EACH_HALF
def test_half_precision_is_measured_on_a_float32_copy_and_the_report_says_so(name):
    net = make_net(dtype=HALF[name])
    report, expected = diagnose(net, shown()), diagnose(copy.deepcopy(net).float(), shown())
    for reading in ("scale", "reference", "stability", "lesion", "accuracy", "depth"):
        assert getattr(report, reading) == getattr(expected, reading), reading
    assert report.numerics.per_layer == expected.numerics.per_layer
    assert report.judgement == expected.judgement
    assert len(report.remarks) == 1
    for text in (report.remarks[0], str(report), report.to_dict()["remarks"][0]):
        assert f"The network is in {name}; it was measured on a float32 copy." in text


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_other_precisions_are_measured_as_they_are(dtype):
    net = StreamReader(make_net(dtype=dtype))
    assert in_float32(net) == (net, ())
    report = diagnose(make_net(dtype=dtype), shown(1))
    assert report.remarks == ()
    assert report.numerics.of_native == {}


def test_one_half_precise_part_is_enough_for_a_copy():
    net = StreamReader(make_net())
    net.model.out_head.half()
    reopened, remarks = in_float32(StreamReader(net.model))
    assert {p.dtype for p in reopened.model.parameters()} == {torch.float32}
    assert net.model.out_head.weight.dtype == torch.float16
    assert "float16" in remarks[0]


def test_gradients_that_underflow_in_float16_are_read_as_in_float32():
    net = faint(torch.float16)
    alone = read(StreamReader(net), shown(), ReferenceGauge())
    assert alone.per_layer == (0.0,) * (BLOCKS + 1)
    report, expected = diagnose(net, shown()), diagnose(faint(torch.float16).float(), shown())
    assert report.reference == expected.reference
    assert all(1e-12 < norm < 1e-9 for norm in report.bp_grad_norms)
    assert report.numerics.value == pytest.approx(1, abs=1e-4)


def test_the_native_precision_is_compared_with_float64_too():
    cosines = {
        name: diagnose(make_net(dtype=dtype), shown(1)).numerics.of_native
        for name, dtype in HALF.items()
    }
    assert [list(of_native) for of_native in cosines.values()] == [["float16"], ["bfloat16"]]
    fine, coarse = cosines["float16"]["float16"], cosines["bfloat16"]["bfloat16"]
    assert len(fine) == len(coarse) == BLOCKS + 1
    for f, c in zip(fine, coarse, strict=True):
        assert 0.9 < c < f < 1


def test_a_gradient_that_underflows_natively_has_lost_everything_there():
    report = diagnose(faint(torch.float16), shown())
    assert report.numerics.of_native == {"float16": (0.0,) * (BLOCKS + 1)}
    line = next(line for line in str(report).splitlines() if line.startswith("  in float16"))
    assert line.split()[2:] == ["0"] * (BLOCKS + 1)


def test_a_stream_that_overflows_in_float16_alone_is_read_in_float32():
    report = diagnose(stream_times(make_net(), 6e4).half(), shown())
    assert all(6e4 < norm < 1e6 for norm in report.residual_norms)
    assert report.numerics.of_native == {"float16": (0.0,) * (BLOCKS + 1)}
    assert report.numerics.value == pytest.approx(1, abs=1e-4)
    assert "D1" not in report.judgement.fired


@EACH_HALF
def test_without_a_copy_it_is_measured_as_it_is_and_the_report_says_why(name):
    net = Uncopyable(make_net(dtype=HALF[name]), "there is only\n  one lock")
    report = diagnose(net, shown(), returns="branch")
    remark = (
        f"The network was measured in {name}, because a float32 copy of it fails "
        "(TypeError: there is only one lock); small gradients may have underflowed."
    )
    assert report.remarks == (remark,)
    assert remark in str(report).splitlines()
    alone = read(StreamReader(make_net(dtype=HALF[name])), shown(), ReferenceGauge())
    assert report.reference == alone
    assert report.numerics.value is None
    assert report.numerics.convention.startswith(f"{name} against float64")


@EACH_HALF
def test_the_half_precise_network_itself_is_left_as_it_was(name):
    net = make_net(dtype=HALF[name]).train()
    before = fields(net)
    diagnose(net, shown(2))
    assert fields(net) == before


@EACH_HALF
@pytest.mark.parametrize("rule", [BP(), DFA(), FA()], ids=lambda rule: rule.name)
def test_a_rules_credit_is_examined_on_the_float32_copy(name, rule):
    net = make_net(dtype=HALF[name])
    feedback = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(0))
    report = diagnose(net, shown(1, 3), credit=rule_credit(rule, feedback))
    whole = copy.deepcopy(net).float()
    expected = diagnose(whole, shown(1, 3), credit=rule_credit(rule, feedback))
    assert report.alignment == expected.alignment
