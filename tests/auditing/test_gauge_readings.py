"""The reports of trained networks: every gauge, credit and null."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from auditing.audited_networks import under_audit
from oracles.readings import lower_median
from scheduling.small_grids import NET, RECIPE, TASK, grid, study_of, train

from depthgauge.auditing.gauge_readings import SMALL, read_networks, read_untrained, reading_threads
from depthgauge.auditing.networks import networks_of_runs
from depthgauge.auditing.null import calibrate_null
from depthgauge.auditing.trained_network import TrainedNetwork, first_samples, load_run
from depthgauge.nets.registry import initial_net
from depthgauge.nets.user.net_config import user_net_config
from depthgauge.results.load import load
from depthgauge.training.threads import use_threads
from depthgauge.verdict.thresholds import Thresholds


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    planned = grid("bp", "dfa", ks=(0, 2), seeds=(1,))
    study = study_of(planned, tmp_path_factory.mktemp("study"))
    train(study, planned)
    rules = {choice.label: choice.build() for choice in planned.rules}
    return networks_of_runs(load(study.path).runs, TASK, rules, {})


@pytest.fixture(scope="module")
def read(networks):
    return read_networks(networks, TASK, Thresholds(), None, as_published=True)


def test_every_network_has_its_report(networks, read):
    assert [one.network for one in read] == networks
    for one in read:
        assert one.report.method_name == one.network.label
        assert one.report.source == one.network.source.model_dump(exclude_none=True)
        assert one.report.headline_acc == one.network.accuracy
        assert one.report.frozen_baseline_acc == one.network.frozen


def test_blocks_that_were_not_trained_lose_nothing_when_they_are_rewound(tmp_path):
    """What the seed draws is, bit for bit, what the run began with."""
    planned = grid("bp", ks=(0, 1, 2), seeds=(1,))
    study = study_of(planned, tmp_path)
    train(study, planned)
    for run in planned.runs():
        trained = load_run(study.run(run.config), TASK)
        initial = trained.initial(TASK)
        for place, (block, before) in enumerate(
            zip(trained.net.blocks, initial.blocks, strict=True)
        ):
            same = [
                torch.equal(*p) for p in zip(block.parameters(), before.parameters(), strict=True)
            ]
            assert all(same) == (place < NET.blocks - run.k)


def test_every_report_of_a_run_has_a_rewind(read):
    for one in read:
        report = one.report.rewind
        assert (len(report.per_layer), report.note) == (NET.blocks, "")
        assert report.measured_on == one.report.lesion.measured_on


def test_readings_are_those_of_the_last_epoch(read):
    """Training reads the same samples, all of them at once; here they come in ten batches."""
    for one in read:
        last = one.network.epochs[-1]
        assert last["epoch"] == RECIPE.epochs
        assert one.report.residual_norms == pytest.approx(last["h_norm"], rel=1e-5)
        assert one.report.bp_grad_norms == pytest.approx(last["g_norm"], rel=1e-5)
        assert one.report.reference.over_error == pytest.approx(last["g_over_e"], rel=1e-5)


def test_the_last_gradient_by_hand(read):
    report, trained = read[1].report, read[1].network.trained
    x, y = TASK.evaluation.x, TASK.evaluation.y
    norms = []
    for one, label in zip(x, y, strict=True):
        last = trained.net.trace(one[None]).states[-1].detach().requires_grad_()
        logits = trained.net.out_head(trained.net.out_ln(last))[0]
        (gradient,) = torch.autograd.grad(logits.logsumexp(0) - logits[label], last)
        norms.append(math.sqrt(float((gradient**2).sum())))
    assert report.bp_grad_norms[-1] == pytest.approx(lower_median(norms), rel=1e-5)


def test_credit_is_examined_where_the_rule_is_known(read):
    bp, dfa = (one.report for one in read)
    assert bp.alignment.per_layer == pytest.approx([1.0] * 3, abs=1e-5)
    assert bp.null is None
    assert all(abs(gamma) < 1 for gamma in dfa.alignment.per_layer)
    assert dfa.null.draws == 200
    observed = [layer.observed for layer in dfa.null.per_layer]
    assert observed == pytest.approx(dfa.alignment.per_layer, abs=1e-6)


def test_alignment_is_read_as_published_too(read):
    dfa = read[1]
    batch = first_samples(TASK, 2048)
    expected = calibrate_null(dfa.network.trained, batch, 2, "published")
    observed = [layer.observed for layer in expected.per_layer]
    assert dfa.report.alignment_published.per_layer == pytest.approx(observed, abs=1e-6)
    assert dfa.report.alignment_published.per_layer != dfa.report.alignment.per_layer


def test_the_null_is_the_one_of_the_null_study(read):
    trained = read[1].network.trained
    assert read[1].report.null == calibrate_null(trained, first_samples(TASK, 2048), 200)


def test_a_network_that_diverged_has_no_report():
    heard = []
    diverged = under_audit("broken", 1, None, 0.3)
    (one,) = read_networks([diverged], TASK, Thresholds(), None, heard.append)
    assert heard == ["broken, seed 1"]
    assert (one.report, one.first_fired) == (None, {})


def test_the_epoch_at_which_a_diagnostic_first_fires(networks, read):
    """A threshold that even the untrained network passes fires before training, at epoch 0."""
    assert read[0].first_fired == {"D1": None, "D2": None}
    quick = replace(networks[0], trained=replace(networks[0].trained, rule=None))
    thresholds = Thresholds(growth=0.1, gradient=9, error_share=9)
    (always,) = read_networks([quick], TASK, thresholds, None)
    assert always.first_fired == {"D1": 0, "D2": 0}
    assert always.report.verdict == "walk back"
    assert always.report.thresholds.growth == 0.1
    assert always.report.alignment is None


def test_a_rule_whose_own_code_raises_an_error_leaves_the_other_readings(networks, caplog):
    class Broken(type(networks[1].trained.rule)):
        def credit(self, context):
            raise ZeroDivisionError("the author divided by zero")

    dfa = networks[1]
    broken = replace(dfa, trained=replace(dfa.trained, rule=Broken()))
    (one,) = read_networks([broken], TASK, Thresholds(), None)
    assert (one.report.alignment, one.report.null) == (None, None)
    assert one.report.residual_norms
    assert "the author divided by zero" in caplog.text


@pytest.mark.parametrize(("bp_gain", "outcome"), [(0.0, "untested"), (0.3, "fires")])
def test_depth_is_judged_by_what_bp_gains_from_it(bp_gain, outcome):
    trained = TrainedNetwork(initial_net(NET, TASK, 1), None, None, "")
    dfa = under_audit("dfa", 1, 0.4, 0.4, trained=trained)
    (one,) = read_networks([dfa], TASK, Thresholds(), bp_gain)
    assert one.report.judgement.published.finding("D3").outcome == outcome


def test_d3_counts_the_noise_of_the_evaluation_samples():
    """On a few samples a true gain of two points may be measured as zero: that is no alarm."""
    trained = TrainedNetwork(initial_net(NET, TASK, 1), None, None, "")
    dfa = under_audit("dfa", 1, 0.4, 0.4, trained=trained)
    (one,) = read_networks([dfa], TASK, Thresholds(), 0.3)
    noise = math.sqrt(2 * 0.4 * 0.6 / len(TASK.evaluation))
    assert one.report.seed_readings["depth_gain_noise"] == pytest.approx(noise)
    assert one.report.judgement.finding("D3").straddles


def test_the_gradient_of_networks_trained_in_bf16_is_also_read_in_bf16():
    net = initial_net(NET, TASK, 1)
    for in_bf16, precisions in ((False, []), (True, ["bfloat16"])):
        trained = TrainedNetwork(net, None, None, "", in_bf16=in_bf16)
        network = under_audit("dfa", 1, 0.4, 0.4, trained=trained)
        (one,) = read_networks([network], TASK, Thresholds(), None)
        numerics = one.report.numerics
        assert list(numerics.of_native) == precisions
        assert numerics.value > 0.9999
        for cosines in numerics.of_native.values():
            assert all(0.9 < cosine < numerics.value for cosine in cosines), cosines


def test_untrained_networks_raise_no_alarm():
    reports = read_untrained(NET, TASK, [1, 2], Thresholds())
    assert list(reports) == ["1", "2"]
    assert {report.verdict for report in reports.values()} == {"no alarm, depth untested"}
    norms = [tuple(report.residual_norms) for report in reports.values()]
    assert norms[0] != norms[1]
    h_0 = initial_net(NET, TASK, 2).embed(TASK.evaluation.x).detach()
    lengths = h_0.double().square().sum(1).sqrt().tolist()
    assert norms[1][0] == pytest.approx(lower_median(lengths), rel=1e-5)


def test_only_large_networks_are_read_with_several_threads():
    small, large = torch.nn.Linear(SMALL // 100, 99), torch.nn.Linear(SMALL // 100, 100)
    with use_threads(8):
        assert (reading_threads(small), reading_threads(large)) == (1, 8)


SAMPLES_SECOND = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = nn.Linear(4, 4)

    def forward(self, h):
        return h + torch.tanh(self.turn(h)) + h.mean(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Linear(1, 4), nn.Linear(4, 5)
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        h = self.embed(x.unsqueeze(-1)).transpose(0, 1)
        for block in self.blocks:
            h = block(h)
        return self.head(h.mean(0))
"""


def test_an_untrained_network_whose_samples_come_second_is_read(tmp_path):
    path = tmp_path / "second.py"
    path.write_text(SAMPLES_SECOND, encoding="utf-8")
    net = user_net_config(f"{path}:Net", None, TASK)
    (report,) = read_untrained(net, TASK, [1], Thresholds()).values()
    assert len(report.scale.residual_norms) == 3
