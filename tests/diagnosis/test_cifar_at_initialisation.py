"""The protocol's own figures for networks that have not been trained."""

from __future__ import annotations

import pytest

from depthgauge.auditing.gauge_readings import read_untrained
from depthgauge.config import NetConfig
from depthgauge.verdict.thresholds import Thresholds


@pytest.mark.cifar
def test_untrained_networks_raise_no_alarm_and_have_the_published_norms(cifar10):
    net = NetConfig(width=256, blocks=4)
    reports = read_untrained(net, cifar10, [42, 123, 456], Thresholds())
    assert {report.verdict for report in reports.values()} == {"no alarm, depth untested"}
    for report in reports.values():
        assert report.residual_norms[-1] == pytest.approx(8.9, abs=0.1)
        assert report.bp_grad_norms_n128[-1] == pytest.approx(8e-3, rel=0.1)
