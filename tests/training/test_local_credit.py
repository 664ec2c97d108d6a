"""Local credit, checked by algebra: what must be equal whatever the implementation."""

from __future__ import annotations

import pytest
import torch
from rules.example_rules import (
    GradientByHand,
    OneByOneDFA,
    OneByOneFA,
    Peeking,
    Recording,
    SevenTimes,
    TrueGradient,
)
from torch import Tensor
from training.small_runs import (
    BLOCKS,
    WIDTH,
    Run,
    Setting,
    ladder,
    make_cohort,
    relative_difference,
    run_config,
    train_cohort,
)

from depthgauge.config import NetConfig
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.of_runs import value_and_error_of_runs
from depthgauge.nets.layout import Layout
from depthgauge.rules.contract import RuleOptions
from depthgauge.rules.normalisation import normalise
from depthgauge.training.batches import Batches
from depthgauge.training.local.runs import LocalRuns
from depthgauge.training.stacked_mlp.cohort import Cohort
from depthgauge.training.trainee import Trainee

NETS = {
    "plain": NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.2),
    "no skip": NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.2, residual_add=False),
    "no last norm": NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.2, terminal_norm=False),
    "no blocks": NetConfig(width=WIDTH, blocks=0),
}


def in_dtype(setting: Setting, dtype: str) -> Setting:
    return Setting(setting.task, setting.net, setting.recipe.model_copy(update={"dtype": dtype}))


def one_step(cohort: Cohort, setting: Setting) -> Cohort:
    batches = Batches(setting.task, cohort.seeds, setting.recipe.batch_size, cohort.dtype)
    cohort.start_epoch(0)
    cohort.step(next(batches.epoch(0)), 0.0)
    return cohort


def gradients_of_first_run(trainee: Trainee) -> dict[str, Tensor]:
    if isinstance(trainee, Cohort):
        return {n: trainee.net.of_run(n, g, 0) for n, g in trainee.optimizer.gradients.items()}
    return {name: p.grad for name, p in trainee.runs[0].net.named_parameters()}


def assert_same_parameters(one: Cohort, other: Cohort, tolerance: float) -> None:
    for run in range(one.net.num_runs):
        theirs = other.net.state_of_run(run)
        for name, ours in one.net.state_of_run(run).items():
            assert relative_difference(ours, theirs[name]) <= tolerance, (run, name)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("net", NETS)
def test_the_true_gradient_as_local_credit_gives_the_gradients_of_backpropagation(
    net, dtype, tolerance
):
    setting = in_dtype(Setting(net=NETS[net]), dtype)
    blocks = setting.net.blocks
    local = one_step(make_cohort(ladder(TrueGradient(), (42, 7), blocks), setting), setting)
    bp = one_step(make_cohort(ladder("bp", (42, 7), blocks), setting), setting)
    assert not local.end_to_end
    assert bp.end_to_end
    assert local.optimizer.gradients.keys() == bp.optimizer.gradients.keys()
    for name, expected in bp.optimizer.gradients.items():
        assert expected.abs().max() > 0
        assert relative_difference(local.optimizer.gradients[name], expected) < tolerance, name


@pytest.mark.parametrize("engine", [Cohort, LocalRuns])
def test_credit_is_applied_as_a_rule_returns_it(engine):
    """A user whose credit has a size of its own would train another rule than the one written."""
    setting = Setting(net=NETS["plain"])
    times, bp = (
        one_step(engine([run_config(run, setting)], [run.build_rule()], setting.task), setting)
        for run in (Run(SevenTimes(), 42, BLOCKS), Run("bp", 42, BLOCKS))
    )
    expected = gradients_of_first_run(bp)
    for name, own in gradients_of_first_run(times).items():
        size = 1.0 if name.startswith("out_") else 7.0
        assert relative_difference(own, size * expected[name]) < 1e-12, name


def test_the_true_gradient_as_local_credit_trains_as_backpropagation_does():
    setting = Setting()
    local = train_cohort(make_cohort(ladder(TrueGradient()), setting), setting)
    bp = train_cohort(make_cohort(ladder("bp"), setting), setting)
    assert_same_parameters(local, bp, 1e-8)


def test_the_normalised_gradient_does_not_train_as_backpropagation_does():
    setting, normalised_rule = Setting(), TrueGradient(RuleOptions(normalise="sample"))
    local = train_cohort(make_cohort([Run(normalised_rule, 42, BLOCKS)], setting), setting)
    bp = train_cohort(make_cohort([Run("bp", 42, BLOCKS)], setting), setting)
    with pytest.raises(AssertionError):
        assert_same_parameters(local, bp, 1e-3)


@pytest.mark.parametrize("terminal_norm", [True, False])
def test_the_functions_a_rule_is_offered_are_those_of_the_run(terminal_norm):
    net = NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.2, terminal_norm=terminal_norm)
    setting = Setting(net=net)
    by_hand = train_cohort(make_cohort(ladder(GradientByHand()), setting), setting)
    given = train_cohort(make_cohort(ladder(TrueGradient()), setting), setting)
    assert_same_parameters(by_hand, given, 1e-8)


@pytest.mark.parametrize(("rule", "apart"), [("dfa", OneByOneDFA), ("fa", OneByOneFA)])
def test_a_rule_that_is_not_lifted_gives_the_same(rule, apart):
    setting = Setting()
    lifted = train_cohort(make_cohort(ladder(rule), setting), setting)
    one_by_one = train_cohort(make_cohort(ladder(apart()), setting), setting)
    assert_same_parameters(one_by_one, lifted, 1e-10)


def test_a_rule_that_is_not_lifted_may_have_different_options_in_one_cohort():
    setting, batch = Setting(), RuleOptions(normalise="batch")
    lifted_runs = [Run("dfa", 42, 3), Run("dfa[normalise=batch]", 7, 2), Run("dfa", 7, 0)]
    apart_runs = [
        Run(OneByOneDFA(), 42, 3),
        Run(OneByOneDFA(batch), 7, 2),
        Run(OneByOneDFA(), 7, 0),
    ]
    lifted = train_cohort(make_cohort(lifted_runs, setting), setting)
    one_by_one = train_cohort(make_cohort(apart_runs, setting), setting)
    assert_same_parameters(one_by_one, lifted, 1e-10)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("wanted", ["error", "readout", "blocks", "gradient"])
def test_a_rule_cannot_use_what_it_does_not_declare(wanted, batched):
    others = frozenset({"error", "readout", "blocks", "gradient"} - {wanted})
    attributes = {"wanted": wanted, "needs": others, "batched": batched}
    dishonest = type("Dishonest", (Peeking,), attributes)()
    honest = type("Honest", (Peeking,), attributes | {"needs": others | {wanted}})()
    setting = Setting()
    with pytest.raises(LookupError, match=f"'{wanted}'.*needs"):
        one_step(make_cohort([Run(dishonest, 42, 1)], setting), setting)
    one_step(make_cohort([Run(honest, 42, 1)], setting), setting)


def test_a_rule_is_told_how_far_training_is():
    setting, rule = Setting(), Recording()
    train_cohort(make_cohort([Run(rule, 42, 1)], setting), setting)
    assert sorted(set(rule.progress)) == pytest.approx([epoch / 6 for epoch in range(6)])


@pytest.mark.parametrize("places", [(), (3,), (3, 2)])
def test_normalised_credit_has_unit_rms_over_all_axes_of_a_sample_or_of_the_batch(places):
    generator, sizes = torch.Generator().manual_seed(1), torch.logspace(-3, 3, 8).double()
    credit = torch.randn(8, *places, 16, dtype=torch.float64, generator=generator)
    credit = credit * sizes.view(8, *[1] * (credit.dim() - 1))
    by_sample = normalise(credit, "sample", 0.0)
    assert torch.allclose(by_sample.square().flatten(1).mean(1), torch.ones_like(sizes))
    assert torch.allclose(
        normalise(credit.permute(*reversed(range(credit.dim()))), "sample", 0.0, Layout(-1, 0)),
        by_sample.permute(*reversed(range(credit.dim()))),
    )
    by_batch = normalise(credit, "batch", 0.0)
    assert float(by_batch.square().mean()) == pytest.approx(1)
    scale = by_batch / credit
    assert torch.allclose(scale, scale.flatten()[0].expand_as(scale))
    assert normalise(credit, "none", 1.0) is credit


def test_epsilon_is_added_to_the_rms():
    credit = torch.full((2, 4), 3.0)
    assert torch.allclose(normalise(credit, "sample", 1.0), torch.full((2, 4), 0.75))
    assert torch.allclose(normalise(credit, "batch", 3.0), torch.full((2, 4), 0.5))
    assert torch.equal(normalise(torch.zeros(2, 4), "sample", 1e-6), torch.zeros(2, 4))


def test_normalising_leaves_the_raw_credit_as_it_was():
    credit = torch.arange(8.0).view(2, 4)
    before = credit.clone()
    normalise(credit, "sample", 1e-6)
    assert torch.equal(credit, before)


def test_cross_entropy_and_error_are_those_of_autograd():
    generator = torch.Generator().manual_seed(3)
    logits = 5 * torch.randn(2, 6, 4, dtype=torch.float64, generator=generator)
    labels = torch.randint(4, (2, 6), generator=generator)
    loss, error = value_and_error_of_runs(CrossEntropy(), logits, labels)
    leaf = logits.clone().requires_grad_(True)
    expected = torch.nn.functional.cross_entropy(
        leaf.flatten(0, 1), labels.flatten(), reduction="none"
    )
    expected.sum().backward()
    assert torch.allclose(loss.flatten(), expected.detach(), rtol=1e-12)
    assert torch.allclose(error, leaf.grad, rtol=1e-12, atol=1e-15)


def test_a_step_returns_the_mean_loss_before_the_update():
    setting, runs = Setting(), ladder("dfa")
    cohort = make_cohort(runs, setting)
    batch = next(Batches(setting.task, cohort.seeds, 16, cohort.dtype).epoch(0))
    trace = cohort.net.forward(batch.inputs)
    labels = torch.stack([batch.labels[cohort.seeds.index(run.seed)] for run in runs])
    expected = [
        torch.nn.functional.cross_entropy(logits, y)
        for logits, y in zip(trace.logits, labels, strict=True)
    ]
    cohort.optimizer.start_epoch(0)
    assert torch.allclose(cohort.step(batch, 0.0), torch.stack(expected), rtol=1e-12)
