"""D1 says when a network pins its own norm, and never of one whose stream can grow."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from gauges.small_networks import make_batches, make_net
from nets.foreign_networks import FOREIGN, build, roughen
from torch import Tensor, nn

from depthgauge import Report, diagnose, judge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.scale import ScaleGauge, ScaleReading
from depthgauge.nets.stream_reader import StreamReader

D, C, L = 12, 5, 4

Step = Callable[["Block", Tensor], Tensor]


class Block(nn.Module):
    """One linear layer after the other, a norm, a gate that starts at zero; `step` uses them."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(D, D), nn.Linear(D, D), nn.LayerNorm(D)
        self.gate, self.step = nn.Parameter(torch.zeros(())), step

    def branch(self, h: Tensor) -> Tensor:
        return self.b(self.a(h).relu())

    def forward(self, h: Tensor) -> Tensor:
        return self.step(self, h)


class Net(nn.Module):
    def __init__(self, *blocks: nn.Module) -> None:
        super().__init__()
        self.embed, self.blocks, self.head = (
            nn.Linear(D, D),
            nn.Sequential(*blocks),
            nn.Linear(D, C),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.embed(x)).flatten(1, -2).mean(1))


def encoder(norm_first: bool) -> Net:
    """The same each time: of random ones with such gains, one in 60 is not seen as pinned."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(D, 2, 2 * D, batch_first=True, norm_first=norm_first)
        return Net(*[copy.deepcopy(layer) for _ in range(L)])


def root_mean_square_one(z: Tensor) -> Tensor:
    return z / z.square().mean(-1, keepdim=True).sqrt()


PINNED: dict[str, Step] = {
    "norm after the sum": lambda one, h: one.norm(h + one.branch(h)),
    "a norm of one's own": lambda one, h: root_mean_square_one(h + one.branch(h)),
    "norm without a skip": lambda one, h: one.norm(one.branch(h)),
    "bounded": lambda one, h: one.a(h).softmax(-1),
}
FREE: dict[str, Step] = {
    "norm before": lambda one, h: h + one.branch(one.norm(h)),
    "norm before, no skip": lambda one, h: one.branch(one.norm(h)),
    "a gate at zero": lambda one, h: h + one.gate * one.branch(one.norm(h)),
    "exploded": lambda one, h: h + 1e6 * one.branch(one.norm(h)),
    "bounded branch": lambda one, h: h + one.a(h).tanh(),
    "normalised branch": lambda one, h: h + one.norm(one.branch(h)),
    "no norm": lambda one, h: one.a(h).relu(),
    "no output": lambda one, h: one.gate * one.branch(one.norm(h)),
}


def read(net: nn.Module) -> ScaleReading:
    gauge, generator = ScaleGauge(), torch.Generator().manual_seed(1)
    measure(
        StreamReader(net, "blocks"),
        [(torch.randn(16, 3, D, generator=generator), torch.arange(16) % C)],
        [gauge],
    )
    return gauge.reading()


def made(step: Step) -> Net:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Net(*[Block(step) for _ in range(L)])


@pytest.mark.parametrize("step", PINNED.values(), ids=PINNED)
def test_a_network_that_pins_its_norm_is_told_so(step: Step):
    reading = read(made(step))
    assert reading.pinned
    assert (
        reading.note == "the network pins its own norm after every block, so growth could not show"
    )


@pytest.mark.parametrize("step", FREE.values(), ids=FREE)
def test_a_network_whose_stream_can_grow_is_not_accused(step: Step):
    reading = read(made(step))
    assert not reading.pinned
    assert "pins" not in reading.note


@pytest.mark.parametrize("make", FOREIGN)
def test_nor_are_the_networks_from_elsewhere(make):
    network, gauge = build(make), ScaleGauge()
    measure(network.reader(), network.batches[:2], [gauge])
    assert not gauge.reading().pinned


@pytest.mark.parametrize("residual_add", [True, False])
@pytest.mark.parametrize("times", [1, 1e6])
def test_nor_is_the_reference_network_whatever_its_blocks_do(residual_add: bool, times: float):
    net = make_net(residual_add=residual_add)
    with torch.no_grad():
        net.blocks[0].fc2.weight.mul_(times)
    assert not diagnose(net, make_batches(8)).scale.pinned


@pytest.mark.parametrize("norm_first", [True, False])
def test_transformers_before_and_after_training(norm_first: bool):
    """Gains and biases of a trained norm differ by feature, some by a lot: it is still pinned."""
    net = encoder(norm_first)
    assert read(net).pinned is not norm_first
    roughen(net)
    with torch.no_grad():
        for block in net.blocks:
            block.norm2.weight[0], block.norm2.bias[1] = 20, 5
    assert read(net).pinned is not norm_first


def test_one_block_without_a_norm_is_enough_to_grow():
    net = made(PINNED["norm after the sum"])
    net.blocks[2].step = FREE["norm before"]
    assert not read(net).pinned


def test_the_network_stays_as_it_was():
    net = encoder(norm_first=False).train()
    before = copy.deepcopy(net.state_dict())
    assert read(net).pinned
    assert net.training
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    assert not any(block._forward_hooks or block._forward_pre_hooks for block in net.blocks)


def report_of(net: nn.Module) -> Report:
    generator = torch.Generator().manual_seed(1)
    return diagnose(net, [(torch.randn(16, 3, D, generator=generator), torch.arange(16) % C)])


def test_the_finding_the_remarks_and_the_page_say_so_and_the_outcome_stays():
    report = report_of(made(PINNED["norm after the sum"]))
    (finding,) = [one for one in report.judgement.findings if one.id == "D1"]
    assert finding.passes
    assert finding.sentence.endswith(
        "; the network pins its own norm after every block, so growth could not show"
    )
    assert finding.facts == {"norm_pinned": 1, "seeds": 1}
    assert any("D1 passes whatever the network has learned" in remark for remark in report.remarks)
    assert "pins its own norm" in str(report)
    again = Report.from_dict(report.to_dict())
    assert again.scale == report.scale
    assert again.judgement.findings == report.judgement.findings


def test_of_several_seeds_it_says_how_many():
    pinned, free = (report_of(made(steps)) for steps in (PINNED["bounded"], FREE["norm before"]))
    verdict = judge([pinned.seed_readings, free.seed_readings, free.seed_readings])
    (finding,) = [one for one in verdict.findings if one.id == "D1"]
    assert "pins its own norm after every block in 1 of 3 seeds" in finding.sentence
    assert "pins" not in judge([free.seed_readings]).findings[0].sentence


def test_reports_of_earlier_versions_do_not_know():
    document = report_of(made(FREE["norm before"])).to_dict()
    del document["readings"]["scale"]["pinned"]
    assert not Report.from_dict(document).scale.pinned
