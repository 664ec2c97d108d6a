"""The cohort against an independent implementation: a plain PyTorch loop, one network at a time."""

from __future__ import annotations

import pytest
import torch
from oracles.plain_loop import PlainRun, draw_feedback
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import CosineAnnealingLR
from training.small_runs import (
    BLOCKS,
    WIDTH,
    Run,
    Setting,
    correct,
    ladder,
    make_cohort,
    relative_difference,
    train_cohort,
    train_plain,
    worst_difference,
)

from depthgauge.config import NetConfig, Recipe
from depthgauge.tasks.base import Split, Task

RULES = ("bp", "fa", "dfa")
TOLERANCE = 1e-8
SHORT = Recipe(epochs=3, batch_size=16, learning_rate=5e-3, weight_decay=0.05, dtype="float64")


def assert_agrees_with_plain_loop(runs: list[Run], setting: Setting) -> None:
    cohort = train_cohort(make_cohort(runs, setting), setting)
    for number, run in enumerate(runs):
        assert worst_difference(cohort, number, train_plain(run, setting)) < TOLERANCE, run


@pytest.mark.parametrize("rule", RULES)
def test_every_k_and_seed_of_one_cohort_ends_where_the_plain_loop_ends(rule):
    assert_agrees_with_plain_loop(ladder(rule), Setting())


@pytest.mark.parametrize("rule", RULES)
def test_the_comparison_is_of_networks_that_have_moved(rule):
    setting, runs = Setting(), ladder(rule)
    untrained = make_cohort(runs, setting)
    trained = train_cohort(make_cohort(runs, setting), setting)
    for number, run in enumerate(runs):
        before, after = untrained.net.state_of_run(number), trained.net.state_of_run(number)
        for name, start in before.items():
            frozen = name.startswith("blocks.") and int(name.split(".")[1]) < BLOCKS - run.k
            moved = bool((after[name] - start).abs().max() > 0.01)
            assert moved != frozen, (run, name)


@pytest.mark.parametrize("rule", ["fa", "dfa"])
@pytest.mark.parametrize("options", ["normalise=batch", "normalise=none", "epsilon=0.05"])
def test_normalisation_options(rule, options):
    label = f"{rule}[{options}]"
    assert_agrees_with_plain_loop(
        [Run(label, 42, 3), Run(label, 7, 2), Run(label, 42, 1)], Setting(recipe=SHORT)
    )


@pytest.mark.parametrize("rule", ["fa", "dfa"])
def test_different_options_in_one_cohort(rule):
    runs = [
        Run(f"{rule}[normalise=batch]", 42, 3),
        Run(rule, 7, 3),
        Run(f"{rule}[normalise=none,epsilon=0]", 42, 2),
        Run(f"{rule}[normalise=batch]", 7, 1),
        Run(rule, 42, 0),
    ]
    assert_agrees_with_plain_loop(runs, Setting(recipe=SHORT))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "options",
    [
        {"residual_add": False},
        {"terminal_norm": False},
        {"residual_add": False, "terminal_norm": False, "w2_std": 0.3},
        {"w2_std": 0.0},
    ],
    ids=str,
)
def test_options_of_the_net(rule, options):
    setting = Setting(net=NetConfig(width=WIDTH, blocks=2, **options), recipe=SHORT)
    runs = [Run(rule, 42, 2), Run(rule, 7, 1), Run(rule, 42, 0)]
    assert_agrees_with_plain_loop(runs, setting)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("terminal_norm", [True, False])
def test_a_shallow_net_without_blocks(rule, terminal_norm):
    net = NetConfig(width=WIDTH, blocks=0, terminal_norm=terminal_norm)
    runs = [Run(rule, 42, 0), Run(rule, 7, 0)]
    assert_agrees_with_plain_loop(runs, Setting(net=net, recipe=SHORT))


@pytest.mark.parametrize("seed", [0, 2**40])
def test_extreme_seeds(seed):
    setting = Setting(recipe=SHORT.model_copy(update={"epochs": 1}))
    assert_agrees_with_plain_loop([Run("dfa", seed, 1)], setting)


@pytest.mark.parametrize("batch_size", [1, 72, 1000])
def test_extreme_batch_sizes(batch_size):
    recipe = SHORT.model_copy(update={"epochs": 1, "batch_size": batch_size})
    assert_agrees_with_plain_loop([Run("fa", 42, 3), Run("fa", 7, 1)], Setting(recipe=recipe))


# What the comparison above is able to see: each of these plain loops has one mistake in it.


class CreditDividedByTheBatchTwice(PlainRun):
    def applied(self, credit):
        return super().applied(credit) / len(credit)


class CreditOfTheWrongSign(PlainRun):
    def applied(self, credit):
        return -super().applied(credit)


class EpsilonInsideTheRoot(PlainRun):
    def applied(self, credit):
        return credit / (credit.pow(2).mean(dim=1, keepdim=True) + self.epsilon).sqrt()


class NormedOverTheBatch(PlainRun):
    def applied(self, credit):
        return credit / (credit.pow(2).mean().sqrt() + self.epsilon)


class LossSummedOverSamples(PlainRun):
    def local_loss(self, output, credit):
        return (output * credit).sum()


class FirstBlocksTrained(PlainRun):
    def which_blocks(self, num_blocks, k):
        return range(k)


class EmbeddingUsesTheLastMatrix(PlainRun):
    def credit(self, states, y):
        blocks, _ = super().credit(states, y)
        return blocks, blocks[-1]


class CreditOneBlockTooEarly(PlainRun):
    def credit(self, states, y):
        blocks, embed = super().credit(states, y)
        return [embed, *blocks[:-1]], embed


class FeedbackDrawnFirst(PlainRun):
    def __init__(self, rule, seed, **settings):
        super().__init__(rule, seed, **settings)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            shape = settings["width"], settings["classes"], settings["num_blocks"]
            self.feedback = [matrix.double() for matrix in draw_feedback(rule, *shape)]


class ChainOnNormalisedCredit(PlainRun):
    def fa_credit(self, states, y):
        blocks, embed = super().fa_credit(states, y)
        for index in range(len(blocks) - 1, 0, -1):
            blocks[index - 1] = self.applied(blocks[index]) @ self.feedback[index].T
        return blocks, embed


class GradientOfTheSummedLoss(PlainRun):
    def fa_credit(self, states, y):
        blocks, embed = super().fa_credit(states, y)
        return [block * len(y) for block in blocks], embed * len(y)


class FeedbackTransposed(PlainRun):
    def __init__(self, rule, seed, **settings):
        super().__init__(rule, seed, **settings)
        self.feedback = [matrix.T for matrix in self.feedback]


class RateSteppedEveryBatch(PlainRun):
    def step(self, x, y):
        super().step(x, y)
        for scheduler in self.schedulers:
            scheduler.step()


class RateFallsOneEpochLate(PlainRun):
    def __init__(self, rule, seed, *, epochs, **settings):
        super().__init__(rule, seed, epochs=epochs, **settings)
        self.schedulers = [CosineAnnealingLR(o, T_max=epochs + 1) for o in self.optimizers]


@pytest.mark.parametrize(
    ("rule", "mistaken"),
    [
        ("dfa", CreditDividedByTheBatchTwice),
        ("fa", CreditDividedByTheBatchTwice),
        ("dfa", CreditOfTheWrongSign),
        ("fa", EpsilonInsideTheRoot),
        ("dfa", NormedOverTheBatch),
        ("dfa", LossSummedOverSamples),
        ("dfa", FirstBlocksTrained),
        ("dfa", EmbeddingUsesTheLastMatrix),
        ("fa", EmbeddingUsesTheLastMatrix),
        ("dfa", CreditOneBlockTooEarly),
        ("fa", CreditOneBlockTooEarly),
        ("dfa", FeedbackDrawnFirst),
        ("fa", FeedbackDrawnFirst),
        ("fa", ChainOnNormalisedCredit),
        ("fa", GradientOfTheSummedLoss),
        ("fa", FeedbackTransposed),
        ("bp", RateSteppedEveryBatch),
        ("bp", RateFallsOneEpochLate),
    ],
)
def test_a_wrong_plain_loop_is_noticed(rule, mistaken):
    setting, run = Setting(recipe=SHORT), Run(rule, 42, 2)
    cohort = train_cohort(make_cohort([run], setting), setting)
    found = worst_difference(cohort, 0, train_plain(run, setting, mistaken))
    assert found > 100 * TOLERANCE


def test_relative_difference_is_relative_to_the_largest_element():
    ours, theirs = torch.tensor([1.0, 200.0]), torch.tensor([2.0, 200.0])
    assert relative_difference(ours, theirs) == pytest.approx(0.005)


@pytest.fixture(scope="module")
def digits() -> Setting:
    """Handwritten digits, float32, five epochs."""
    data = load_digits()
    x = torch.tensor(data.data, dtype=torch.float32).div(8).sub(1)
    y = torch.tensor(data.target, dtype=torch.int64)
    task = Task("digits", Split(x[:1400], y[:1400]), Split(x[1400:], y[1400:]), 10)
    return Setting(
        task, NetConfig(width=32, blocks=2), Recipe(epochs=5, batch_size=64, learning_rate=5e-3)
    )


@pytest.mark.parametrize("rule", RULES)
def test_float32_accuracy_on_digits(rule, digits):
    runs = [Run(rule, 42, 2), Run(rule, 42, 0)]
    found = correct(train_cohort(make_cohort(runs, digits), digits), digits)
    held = digits.task.evaluation
    for number, run in enumerate(runs):
        expected = train_plain(run, digits).correct(held.x, held.y)
        assert expected > 0.5 * len(held)
        assert abs(found[number] - expected) <= 4
