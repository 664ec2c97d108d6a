"""The traps of section 10 of the protocol: each test fails when its trap is put back."""

from __future__ import annotations

import itertools
import json

import pytest
import torch
from gauges.small_networks import (
    flat,
    make_batches,
    make_net,
    random,
    read,
    stream_times,
    true_gradients,
    turned_gradients,
)
from oracles import gauges as oracle
from store.small_runs_on_disk import BASE, finished, run_config
from torch import nn
from torch.nn.functional import cosine_similarity
from training import small_runs

from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.null import calibrate_one
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.results.load import load
from depthgauge.results.spread import Spread
from depthgauge.rules.credit_function import rule_credit
from depthgauge.rules.dfa import DFA
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import train_cohort


def test_1_norms_are_taken_along_the_features():
    """`t.norm(-1)` is one L₋₁ norm of everything."""
    net, batches = make_net(), make_batches(33)
    samples = flat(oracle.SlowNet(net).samples(batches))
    streams = read(net, batches, ScaleGauge()).residual_norms
    gradients = read(net, batches, ReferenceGauge()).per_layer
    assert streams == pytest.approx(oracle.residual_norms(samples), rel=1e-4)
    assert gradients == pytest.approx(oracle.gradient_norms(samples), rel=1e-4)


def test_2_no_norm_is_clamped_in_a_cosine():
    """`F.cosine_similarity` divides by at least 1e-8: at 1e-10 it would say 0.01."""
    net = make_net()
    with torch.no_grad():
        net.out_head.weight.mul_(1e-10)
    reading = read(net, make_batches(32), AlignmentGauge(true_gradients))
    assert reading.per_layer == pytest.approx([1.0] * 4, abs=1e-6)
    assert cosine_similarity(torch.tensor([1e-10]), torch.tensor([1e-10]), dim=0) < 0.1


def test_3_float16_gradients_that_underflow_are_measured_in_float32():
    net = stream_times(make_net(width=16), 3e3)
    with torch.no_grad():
        net.out_head.weight.mul_(1e-4)
    net, batches = net.half(), make_batches(64)
    states = [net.embed(batches[0][0].half())]
    for block in net.blocks:
        states.append(states[-1] + block(states[-1]))
    loss = nn.functional.cross_entropy(net.readout(states[-1]), batches[0][1])
    (gradient,) = torch.autograd.grad(loss, states[-1])
    assert not gradient.any(), "in float16 nothing is left of it"
    expected = oracle.gradient_norms(flat(oracle.SlowNet(net).samples(batches)))
    report = diagnose(net, batches)
    assert report.bp_grad_norms == pytest.approx(expected, rel=1e-3, abs=0)
    assert any("float16" in remark and "float32" in remark for remark in report.remarks)


def test_4_the_feedback_comes_back_with_the_checkpoint(tmp_path):
    """Fresh feedback would give another Γ: what is not saved cannot be had back."""
    setting, run = small_runs.Setting(), small_runs.Run("dfa", 7, 3)
    cohort = small_runs.make_cohort([run], setting)
    folder = RunFolder(tmp_path, small_runs.run_config(run, setting))
    folder.create()
    train_cohort(cohort, setting.task, StoreRecorder([folder]), observers=())

    def gamma(parameters, feedback):
        net = ResidualMLP(
            setting.task.input_dim, setting.net.width, setting.task.num_classes, setting.net.blocks
        ).to(setting.dtype)
        net.load_state_dict(parameters)
        held = setting.task.evaluation
        credit = rule_credit(DFA(), feedback)
        return read(net, [(held.x, held.y)], AlignmentGauge(credit)).per_layer

    state = folder.load((setting.recipe.epochs, 0))
    assert state is not None
    trained = cohort.net.state_of_run(0), cohort.feedback[0]
    assert torch.equal(state.feedback["B"], cohort.feedback[0]["B"])
    assert gamma(state.parameters, state.feedback) == gamma(*trained)
    fresh = {"B": random(*state.feedback["B"].shape, dtype=setting.dtype)}
    assert gamma(state.parameters, fresh) != pytest.approx(gamma(*trained), abs=1e-3)


@pytest.mark.parametrize("aligned", [0, 3])
def test_5_no_mean_over_layers_hides_that_one_of_them_alone_is_aligned(aligned):
    """Only the embedding, as with DFA; only the last block, as with FA."""

    def credit(batch):
        credit = turned_gradients(batch)
        credit[aligned] = batch.gradients[aligned]
        return credit

    reading = read(make_net(), make_batches(32), AlignmentGauge(credit))
    expected = [float(layer == aligned) for layer in range(4)]
    assert reading.per_layer == pytest.approx(expected, abs=1e-9)
    assert reading.value == pytest.approx(oracle.mean(expected[1:]), abs=1e-9)
    assert reading.over_all == pytest.approx(0.25, abs=1e-9)


def test_6_standard_deviations_are_those_of_a_sample():
    """Of 0.1, 0.2, 0.3 it is 0.1; of a population it would be 0.082."""
    values = [0.1, 0.2, 0.3]
    assert Spread.of(values).std == pytest.approx(0.1)
    assert calibrate_one(0.5, torch.tensor(values).double()).spread == pytest.approx(0.1)


def test_7_every_number_has_a_run_behind_it(tmp_path):
    study = StudyFolder(tmp_path)
    study.open(BASE, "cpu", None, 1)
    grid = itertools.product(("bp", "dfa"), (0, 2), (1, 2))
    configs = [run_config(rule, k, seed) for rule, k, seed in grid]
    for number, config in enumerate(configs):
        finished(study.runs, config, accuracy=0.1 * number)
    rungs = [rung for rule in load(tmp_path).rules.values() for rung in rule.ladder]
    for rung in rungs:
        for seed, accuracy in rung.accuracies.items():
            result = json.loads((study.runs / rung.runs[seed] / "result.json").read_text())
            assert accuracy == result["final_acc"]
    assert sum(rung.spread.n for rung in rungs) == len(configs)


def test_8_gradients_do_not_shrink_with_the_batch():
    """Those of a batch's mean loss would be 40 times as small at 1,280 as at 32."""
    net, ((x, y),) = make_net(), make_batches(1280)
    by_size = {
        size: read(net, list(zip(x.split(size), y.split(size), strict=True)), ReferenceGauge())
        for size in (32, 1280)
    }
    assert by_size[32].per_layer == pytest.approx(by_size[1280].per_layer, rel=1e-5, abs=0)
    for reading in by_size.values():
        assert reading.per_layer_n128 == tuple(norm / 128 for norm in reading.per_layer)
