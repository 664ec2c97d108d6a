"""Rules that learn inside a cohort: each run's feedback is its own, and so is its noise."""

from __future__ import annotations

import pytest
import torch
from rules.learning_rules import (
    Counting,
    Learning,
    Noisy,
    OneByOneCreditBridge,
    OneByOneStateBridge,
    Undeclared,
)
from torch import Tensor
from training.small_runs import (
    Run,
    Setting,
    make_cohort,
    relative_difference,
    snapshot,
    train_cohort,
)

from depthgauge.config import Recipe
from depthgauge.rules.choice import choose_rule
from depthgauge.training.stacked_mlp.cohort import Cohort

SETTING = Setting(recipe=Recipe(epochs=2, batch_size=24, learning_rate=5e-3, dtype="float64"))
STEPS_PER_EPOCH = 3
STATE, CREDIT = "state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2,warm_up=0.4]"
OTHER = {
    STATE: "state_bridge[hidden=8,rate=0.01]",
    CREDIT: CREDIT.replace("warm_up=0.4", "ema=0.5"),
}
APART = {STATE: OneByOneStateBridge, CREDIT: OneByOneCreditBridge}


def mixed(rule: str) -> list[Run]:
    """Other seeds, k and options; runs of one set of options do not lie side by side."""
    return [Run(rule, 42, 3), Run(OTHER[rule], 7, 3), Run(rule, 7, 1), Run(OTHER[rule], 42, 0)]


def trained(runs: list[Run], setting: Setting = SETTING) -> Cohort:
    return train_cohort(make_cohort(runs, setting), setting)


def copied(cohort: Cohort) -> list[dict[str, Tensor]]:
    return [{name: t.clone() for name, t in own.items()} for own in cohort.feedback]


def assert_same(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert relative_difference(tensor, theirs[name]) < 1e-8, name


# Together and alone


@pytest.mark.parametrize("rule", [STATE, CREDIT])
def test_each_run_learns_what_it_would_learn_alone(rule):
    runs = mixed(rule)
    together = trained(runs)
    for number, run in enumerate(runs):
        alone = trained([run])
        assert_same(together.feedback[number], alone.feedback[0])
        assert_same(together.net.state_of_run(number), alone.net.state_of_run(0))


@pytest.mark.parametrize("rule", [STATE, CREDIT])
def test_everything_that_is_trained_moves(rule):
    cohort = make_cohort(mixed(rule), SETTING)
    before = copied(cohort)
    train_cohort(cohort, SETTING)
    for was, now in zip(before, cohort.feedback, strict=True):
        still = {name for name, tensor in now.items() if torch.equal(tensor, was[name])}
        assert still == ({"B"} if rule == CREDIT else set())
        (steps,) = (tensor for name, tensor in now.items() if name.startswith("steps."))
        assert steps.item() == 2 * STEPS_PER_EPOCH


@pytest.mark.parametrize("rule", [STATE, CREDIT])
def test_a_rule_that_is_not_lifted_learns_the_same(rule):
    lifted_runs = mixed(rule)
    apart_runs = [
        Run(APART[rule](choose_rule(run.rule).options), run.seed, run.k) for run in lifted_runs
    ]
    lifted, one_by_one = trained(lifted_runs), trained(apart_runs)
    for number in range(len(lifted_runs)):
        assert_same(one_by_one.feedback[number], lifted.feedback[number])
        assert_same(one_by_one.net.state_of_run(number), lifted.net.state_of_run(number))


@pytest.mark.parametrize("batched", [True, False])
def test_the_credit_of_a_batch_comes_before_what_is_learned_from_it(batched):
    rule = type("Either", (Counting,), {"batched": batched})()
    cohort = make_cohort([Run(rule, 1, 3), Run(rule, 2, 2)], SETTING)
    seen = []

    def after(cohort: Cohort, step: int) -> None:
        assert [own["count"].item() for own in cohort.feedback] == [step, step]
        seen.append(cohort.optimizer.gradients["blocks.2.fc2.bias"].abs().max().item())

    train_cohort(cohort, SETTING, after_step=after)
    assert seen[0] == 0
    assert min(seen[1:]) > 0
    assert all(torch.equal(own["never"], torch.ones(2).double()) for own in cohort.feedback)


# Noise


def noise_of(runs: list[Run], setting: Setting = SETTING) -> list[list[Tensor]]:
    """What every run was given, batch by batch."""
    given: list[list[Tensor]] = [[] for _ in runs]

    def after(cohort: Cohort, step: int) -> None:
        for number, own in enumerate(cohort.feedback):
            given[number].append(own["seen"].clone())

    train_cohort(make_cohort(runs, setting), setting, after_step=after)
    return given


def test_noise_depends_on_the_seed_and_the_batch_alone():
    other = Noisy()
    together = noise_of(
        [Run(Noisy(), 42, 3), Run(other, 7, 2), Run(Noisy(), 7, 2), Run(other, 42, 0)]
    )
    (alone,) = noise_of([Run(Noisy(), 42, 1)])
    for ours in (together[0], together[3]):
        assert [t.tolist() for t in ours] == [t.tolist() for t in alone]
    assert [t.tolist() for t in together[1]] == [t.tolist() for t in together[2]]


def test_noise_is_other_for_every_seed_batch_and_epoch():
    given = noise_of([Run(Noisy(), seed, 1) for seed in (1, 2, 3)])
    numbers = {tuple(noise.tolist()) for own in given for noise in own}
    assert len(numbers) == 3 * 2 * STEPS_PER_EPOCH


def test_the_noise_of_an_epoch_does_not_depend_on_the_epochs_before():
    (whole,) = noise_of([Run(Noisy(), 5, 1)])
    cohort, late = make_cohort([Run(Noisy(), 5, 1)], SETTING), []
    train_cohort(
        cohort,
        SETTING,
        after_step=lambda cohort, _: late.append(cohort.feedback[0]["seen"].tolist()),
        first_epoch=1,
        epochs=1,
    )
    assert late == [noise.tolist() for noise in whole[STEPS_PER_EPOCH:]]


def test_noise_is_standard_normal():
    class Much(Noisy):
        numbers = 4000

    noise = torch.cat(noise_of([Run(Much(), 1, 1)])[0])
    assert noise.mean().item() == pytest.approx(0, abs=0.03)
    assert noise.std().item() == pytest.approx(1, abs=0.03)
    assert noise.pow(4).mean().item() == pytest.approx(3, abs=0.25)


def test_noise_has_the_cohorts_precision_and_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    for dtype in ("float32", "float64"):
        recipe = SETTING.recipe.model_copy(update={"dtype": dtype})
        setting = Setting(recipe=recipe)
        assert noise_of([Run(Noisy(), 1, 1)], setting)[0][0].dtype == setting.dtype
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("batched", [True, False])
def test_noise_must_be_asked_for(batched):
    rule = type("Either", (Undeclared,), {"batched": batched})()
    with pytest.raises(LookupError, match="noise_shape"):
        trained([Run(rule, 1, 1)])


# What cannot be learned

DOUBLE = torch.float64


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize(
    ("learned", "words"),
    [
        ({"cuont": torch.zeros((), dtype=DOUBLE)}, "'cuont'"),
        ({"count": torch.zeros(1, dtype=DOUBLE)}, r"'count'.*\(1,\)"),
        ({"never": torch.zeros(3, dtype=DOUBLE)}, r"'never'.*\(3,\).*'never': '\(2,\)"),
        ({"never": torch.zeros(2, 1, dtype=DOUBLE)}, r"'never'.*\(2, 1\)"),
        ({"count": torch.zeros((), dtype=torch.float32)}, "'count'"),
        ({"never": torch.zeros(2, dtype=torch.int64)}, "'never'"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_was_not_in_the_feedback_cannot_be_learned(learned, words, batched):
    rule = type("Wrong", (Learning,), {"learned": learned, "batched": batched})()
    cohort = make_cohort([Run(rule, 1, 3), Run(rule, 2, 1)], SETTING)
    with pytest.raises(ValueError, match=f"`learn` of the rule learning returned {words}"):
        train_cohort(cohort, SETTING)


def test_a_rule_need_not_learn_everything():
    class Careful(Learning):
        learned = {"never": torch.full((2,), 5.0, dtype=DOUBLE)}  # noqa: RUF012

    cohort = trained([Run(Careful(), 1, 3), Run(Careful(), 2, 1)])
    for own in cohort.feedback:
        assert own["never"].tolist() == [5.0, 5.0]
        assert own["count"].item() == 0


def test_one_runs_breakdown_is_not_anothers():
    def poison(cohort: Cohort, step: int) -> None:
        if step == 2:
            for parameter in cohort.net.state_of_run(1).values():
                parameter.fill_(torch.nan)

    runs = mixed(CREDIT)
    healthy = trained(runs)
    cohort = train_cohort(make_cohort(runs, SETTING), SETTING, after_step=poison)
    for number in (0, 2, 3):
        for name, tensor in cohort.feedback[number].items():
            assert torch.equal(tensor, healthy.feedback[number][name]), (number, name)
        expected = healthy.net.state_of_run(number)
        for name, parameter in snapshot(cohort, number).items():
            assert torch.equal(parameter, expected[name]), (number, name)
    assert not cohort.feedback[1]["V.0.weight"].isfinite().any()
