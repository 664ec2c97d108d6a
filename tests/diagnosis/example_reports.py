"""Reports of usual and of strange networks, made once."""

from __future__ import annotations

import dataclasses
from functools import cache

import torch
from diagnosis.examined_networks import BLOCKS, Uncopyable, faint, overflowing, shown
from gauges.small_networks import make_net, random_credit
from torch import nn

from depthgauge import Report, diagnose
from depthgauge.gauges.null import NullReading, calibrate


def calibration() -> NullReading:
    """An alignment of 0.3 at every layer, against twenty fresh feedbacks from −0.02 to 0."""
    fresh = torch.linspace(-0.02, 0, 20).unsqueeze(1).expand(20, BLOCKS + 1)
    return calibrate(torch.full((BLOCKS + 1,), 0.3), fresh, "sample", "8 samples")


@cache
def full_report() -> Report:
    """Everything that a report can hold."""
    report = diagnose(
        make_net(),
        shown(8, 2),
        0.61,
        0.5,
        0.3,
        credit=random_credit,
        method_name="mine",
        notes="of the √ of it",
    )
    return dataclasses.replace(report, null=calibration(), source={"run": "runs/1"})


def _dead() -> Report:
    net = make_net()
    nn.init.zeros_(net.out_head.weight)
    return diagnose(net, shown())


STRANGE = {
    "overflow": lambda: diagnose(overflowing(1), shown(8, 1), 0.6, 0.5, credit=random_credit),
    "infinite stream": lambda: diagnose(overflowing(BLOCKS - 1), shown(1)),
    "zero gradient": _dead,
    "few batches": lambda: diagnose(make_net(), shown(3)),
    "half precision": lambda: diagnose(faint(torch.float16), shown()),
    "no copy": lambda: diagnose(Uncopyable(make_net().half()), shown(), returns="branch"),
}


@cache
def strange(kind: str) -> Report:
    return STRANGE[kind]()
