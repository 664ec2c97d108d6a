"""A backward pass that is not the derivative of the forward pass, diagnosed and watched."""

from __future__ import annotations

import copy
import json
import logging

import pytest
import torch
from gauges.small_networks import random_credit
from nets.module_fields import fields
from nets.own_backward import (
    CLASSES,
    DEPTH,
    FALSE,
    WIDTH,
    FeedbackLinear,
    Net,
    batches,
    make,
    straight_through,
    wrapped,
)
from torch import Tensor, nn

from depthgauge import Report, UserError, diagnose, watch

NEEDS_REFERENCE = ("reference", "numerics", "stability")
OF_CREDIT = ("alignment", "perturbation", "nudging")
EVERYWHERE = set(range(DEPTH))


def plain_and_false(kind: str) -> tuple[Net, Net, list[tuple[Tensor, Tensor]]]:
    own, plain = FALSE[kind]
    false, honest = make(own, plain, EVERYWHERE), make(plain, plain, set())
    return false, honest, batches("convolution" in kind)


def blank(net: Net) -> Net:
    """The twin that a user makes: its weights are its own until it is given the network's."""
    twin = copy.deepcopy(net)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.normal_()
    return twin


@pytest.mark.parametrize("kind", FALSE)
def test_the_false_gradient_is_never_reported(kind):
    net, _, shown = plain_and_false(kind)
    report = diagnose(net, shown, 0.9, 0.5, 0.3, credit=random_credit)
    for name in (*NEEDS_REFERENCE, *OF_CREDIT):
        reading = getattr(report, name)
        assert reading.value is None
        assert not any(reading.per_layer)
        assert reading.note == "n/a: autograd's gradient is not the true one in blocks 0 to 2"
    assert report.bp_grad_norms == report.bp_grad_norms_n128 == []
    assert (report.seed_readings["gradient"], report.seed_readings["error_share"]) == (None, None)
    assert report.judgement.findings[1].untested
    assert report.verdict == "no alarm, depth untested"


@pytest.mark.parametrize("kind", FALSE)
def test_a_plain_twin_is_read_in_its_place(kind):
    net, honest, shown = plain_and_false(kind)
    expected = diagnose(honest, shown, 0.9, 0.5, 0.3)
    twin = blank(honest)
    before = fields(net), fields(twin)
    report = diagnose(net, shown, 0.9, 0.5, 0.3, plain=twin)
    assert (fields(net), fields(twin)) == before
    assert list(report.reference_check.faults) == [f"block {index}" for index in range(DEPTH)]
    assert report.plain_check.is_true
    for name in ("scale", "lesion", "accuracy", *NEEDS_REFERENCE):
        found, wanted = getattr(report, name), getattr(expected, name)
        assert found.value == pytest.approx(wanted.value, rel=1e-4)
        assert found.per_layer == pytest.approx(wanted.per_layer, rel=1e-4)
    assert report.published_verdict == expected.published_verdict == "trustworthy"
    assert any(
        remark.endswith("All readings are those of the plain twin.") for remark in report.remarks
    )


def test_the_false_gradient_would_have_been_far_off():
    """What was reported before: so the readings of the twin are not those of the network."""
    net, honest, shown = plain_and_false("linear, random feedback")
    norms = []
    for one in (net, honest):
        x, y = shown[0]
        h = one.embed(x).detach().requires_grad_()
        state = h
        for block in one.blocks:
            state = block(state)
        loss = nn.functional.cross_entropy(one.head(one.norm(state)), y, reduction="sum")
        norms.append(float(torch.autograd.grad(loss, h)[0].norm(dim=1).median()))
    report = diagnose(net, shown[:1], plain=blank(honest))
    assert report.bp_grad_norms[0] == pytest.approx(norms[1], rel=1e-4)
    assert abs(norms[0] / norms[1] - 1) > 0.05


def test_the_report_names_the_blocks_and_what_to_do():
    report = diagnose(make(FeedbackLinear, nn.Linear, {1}), batches(images=False))
    (remark,) = report.remarks
    assert remark.startswith("Block 1 defines its own backward pass (")
    assert "pass plain=, a twin with the same parameter names" in remark
    page = str(report)
    assert remark in page.splitlines()
    assert "D2  untested" in page
    assert "‖g_l‖" not in page


def test_what_can_be_read_still_walks_back():
    report = diagnose(make(FeedbackLinear, nn.Linear, {1}), batches(images=False), 0.5, 0.5)
    assert (report.verdict, report.judgement.fired) == ("walk back", ("D3",))


def test_a_straight_through_estimator_is_told_that_no_twin_helps():
    report = diagnose(wrapped(straight_through, 2), batches(images=False))
    (remark,) = report.remarks
    assert remark.startswith("Block 2 computes a step function")
    assert "there is no true gradient" in remark
    assert "plain=" not in remark
    assert report.reference.value is None


def test_a_network_that_detaches_its_stream_is_read_as_far_as_it_can_be():
    net = wrapped(Tensor.detach, 1)
    report = diagnose(net, batches(images=False))
    honest = diagnose(make(nn.Linear, nn.Linear, set()), batches(images=False))
    assert report.reference_check.faults == {"block 1": "no gradient"}
    assert report.scale == honest.scale
    assert report.lesion == honest.lesion
    assert report.bp_grad_norms == []
    twin = diagnose(net, batches(images=False), plain=wrapped(lambda h: h, 1))
    assert twin.reference == honest.reference


def test_a_plain_twin_that_is_not_plain_is_named_too():
    net = make(FeedbackLinear, nn.Linear, {0})
    report = diagnose(net, batches(images=False), plain=make(FeedbackLinear, nn.Linear, {0}))
    assert list(report.plain_check.faults) == ["block 0"]
    assert report.reference.value is None
    assert "This concerns the module given as plain=" in report.remarks[0]


def test_an_honest_network_needs_no_twin_and_is_not_harmed_by_one():
    honest = make(nn.Linear, nn.Linear, set())
    alone, with_twin = (
        diagnose(honest, batches(images=False), plain=plain) for plain in (None, blank(honest))
    )
    assert alone.reference_check.is_true
    assert alone.plain_check is None
    assert with_twin.remarks == alone.remarks == ()
    assert with_twin.reference == alone.reference


def refusal(plain: nn.Module, net: nn.Module | None = None) -> str:
    net = net or make(FeedbackLinear, nn.Linear, EVERYWHERE)
    with pytest.raises(UserError) as caught:
        diagnose(net, batches(images=False), plain=plain)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_twins_that_are_none_are_refused():
    more, fewer, other = (make(nn.Linear, nn.Linear, set()) for _ in range(3))
    more.head2 = nn.Linear(2, 2)
    assert "has head2.weight, which the network does not have" in refusal(more)
    del fewer.blocks[2]
    assert "no block 'blocks.2'" in refusal(fewer)
    other.norm = nn.Identity()
    assert "answers differently than the network" in refusal(other)
    narrow = make(nn.Linear, nn.Linear, set())
    narrow.head = nn.Linear(WIDTH, CLASSES + 1)
    assert "do not fit the module given as plain=" in refusal(narrow)


def test_networks_that_were_refused_for_another_reason_still_are():
    net = make(nn.Linear, nn.Linear, set())
    net.side = nn.ModuleList([nn.Linear(WIDTH, WIDTH)])
    with pytest.raises(UserError, match="did not run in the forward pass"):
        diagnose(net, batches(images=False), blocks="side")


def test_a_report_of_a_false_gradient_is_read_back():
    for plain in (None, make(nn.Linear, nn.Linear, set())):
        net = make(FeedbackLinear, nn.Linear, {1})
        report = diagnose(net, batches(images=False), credit=random_credit, plain=plain)
        document = json.loads(report.to_json(), parse_constant=pytest.fail)
        loaded = Report.from_dict(document)
        assert loaded.reference_check == report.reference_check
        assert loaded.plain_check == report.plain_check
        assert loaded.seed_readings == report.seed_readings
        assert loaded.to_json() == report.to_json()


def test_a_report_of_an_earlier_version_has_no_check():
    report = diagnose(make(nn.Linear, nn.Linear, set()), batches(images=False))
    document = report.to_dict()
    del document["readings"]["reference_check"]
    loaded = Report.from_dict(document)
    assert loaded.reference_check is None
    assert loaded.seed_readings == report.seed_readings


def test_watch_reads_no_false_gradient_and_says_so_once(caplog):
    watching = watch(make(FeedbackLinear, nn.Linear, {1}), log_dir=None)
    with caplog.at_level(logging.WARNING, "depthgauge"):
        for x, y in batches(images=False)[:3]:
            watched = watching(x, y)
            assert watched.bp_grad_norms == ()
            assert len(watched.residual_norms) == DEPTH + 1
    assert [record.getMessage()[:38] for record in caplog.records] == [
        "watch reads no gradients: block 1 defi"
    ]
    assert watching.first_fired == {"D1": None}


def test_watch_checks_a_head_of_zeros_again_once_there_is_a_gradient():
    net = make(FeedbackLinear, nn.Linear, {1})
    head = copy.deepcopy(net.head)
    nn.init.zeros_(net.head.weight)
    watching, (x, y) = watch(net, log_dir=None), batches(images=False)[0]
    watching(x, y)
    assert watching.reference_check.is_vacuous
    net.head.load_state_dict(head.state_dict())
    watching(x, y)
    assert list(watching.reference_check.faults) == ["block 1"]
    assert watching.history[-1].bp_grad_norms == ()
