"""The contract: every built-in rule keeps it, and each way of breaking it has its own sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from checks import broken_rules

from depthgauge.checks.check_rule import STAGES, check_rule
from depthgauge.checks.checked_rule import CheckedRule
from depthgauge.checks.outcome import Outcome
from depthgauge.checks.training_checks import trains
from depthgauge.registry import RULES
from depthgauge.rules.choice import RuleChoice, choose_rule

FOLDER = Path(__file__).parent
FEEDBACK = "feedback is a dict of finite tensors"
SAVED = "feedback can be saved with a checkpoint"
SAME_KIND = "feedback has the same names and shapes for every seed"
GENERATOR = "feedback is drawn from the generator alone"
WEIGHTS = "feedback is not made from weights, or `copies_weights` says so"
NEEDS = "the rule runs, and uses nothing that `needs` does not declare"
SHAPE = "credit is one (samples, d) tensor for each block and the embedding"
PRECISION = "credit has the precision of the states"
FINITE = "credit is finite"
IN_PLACE = "no tensor of the context is changed in place"
LEARN = "learn returns tensors that the feedback has"
CHANCE = "credit and learn draw no random numbers of their own"
RESTORED = "feedback that was saved and restored gives the same credit"
LIFTED = "many runs at once get the same credit as one run at a time"
FRESH = "many feedbacks at once give the same credit as one at a time"
PROJECTED = "the credit is a projection of what `projected` returns"
OTHER_RUNS = "a run's credit does not depend on other runs"
GOES_ON = "a run that is stopped and resumed gets the same credit"
TRAINS = "a few steps of training stay finite, blocks frozen and trained"
PENALTY = "training stays finite with a penalty on the branches"
CONTROLS = "the rule works on the networks of the controls"

BROKEN = {
    "NoFeedback": (FEEDBACK, "returned NoneType; return a dict"),
    "NumberInFeedback": (FEEDBACK, "feedback['rate'] is float, not a tensor"),
    "NumberAsKey": (FEEDBACK, "the key 0 of the feedback is not a string"),
    "InfiniteFeedback": (FEEDBACK, "feedback['B'] has infinite or NaN values"),
    "SharedMemory": (SAVED, "'B' and 'average' share memory; add .clone()"),
    "ShapeBySeed": (SAME_KIND, "'extra': ((23,)"),
    "UnseededFeedback": (GENERATOR, "`feedback` depends on the global random state"),
    "ReseededFeedback": (GENERATOR, "`feedback` reseeds the global random numbers of torch"),
    "MirrorsTheReadout": (FEEDBACK, "only a rule with `copies_weights = True` may do; set it"),
    "Peeks": (NEEDS, "context.gradient, which is not declared; write needs = frozenset({'error', "),
    "PeeksQuietly": (NEEDS, "it uses context.gradient, which is not declared"),
    "PeeksWhenItLearns": (NEEDS, "it uses context.readout, which is not declared"),
    "NoiseWithoutShape": (NEEDS, "define noise_shape(self, states)"),
    "Raises": (NEEDS, "raises ZeroDivisionError: the author divided by zero (line "),
    "Autograd": (NEEDS, "autograd is off while a rule computes credit, so use torch.func.grad"),
    "WrongShape": (SHAPE, "has the shape (5, 4); give it the shape of context.states[0], (samples"),
    "OneForEachState": (SHAPE, "there are 3 blocks, but `credit` returned 4 block credits"),
    "PlainList": (SHAPE, "`credit` returned list; return Credit(blocks="),
    "WrongPrecision": (PRECISION, "the states are torch.float64, but the credit of block 0 is"),
    "FailsInDouble": (PRECISION, "with a network in torch.float64 the rule raises RuntimeError"),
    "NotFinite": (FINITE, "the credit of block 0 is not finite (progress 0.0, torch.float32)"),
    "InPlace": (IN_PLACE, "`credit` changed context.states[1] in place"),
    "FeedbackInPlace": (IN_PLACE, "`learn` changed context.feedback['B'] in place"),
    "LearnsOtherShape": (LEARN, "'B', of the shape (8, 4); the feedback has the shape (3, 8, 4)"),
    "LearnsUnknown": (LEARN, "'average', which the feedback does not have"),
    "LearnsOtherPrecision": (LEARN, "'B', in torch.float32; the feedback is in torch.float64"),
    "LearnsInfinity": (LEARN, "'B', which is not finite after one batch"),
    "Unseeded": (CHANCE, "the credit of block 0 differs by up to"),
    "UnseededNumpy": (CHANCE, "its randomness is not seeded; take noise from context.noise"),
    "UnseededLearning": (CHANCE, "the learned 'B' differs by up to"),
    "CountsInTheClass": (CHANCE, "returns another result for the same input the second time"),
    "KeepsItsMatrices": (RESTORED, "raises AttributeError: 'KeepsItsMatrices' object has no"),
    "KeepsItsMatricesInTheClass": (RESTORED, "the rule needs something that is not in the"),
    "NotLiftable": (LIFTED, "vmap over runs does not work: RuntimeError: vmap: "),
    "OtherwiseWhenLifted": (LIFTED, "vmap over runs gives another result: "),
    "WritesIntoZeros": (FRESH, "vmap over fresh feedback does not work: "),
    "WrongProjection": (PROJECTED, "says that the credit is s·B_lᵀ, but the credit of block 0"),
    "ProjectionWithoutMatrices": (PROJECTED, "there is no feedback['B']"),
    "DependsOnOtherRuns": (OTHER_RUNS, "run 1 gets other credit among 3 runs than alone"),
    "CountsBatches": (GOES_ON, "keeps something between batches that is not in the feedback"),
    "KeepsATensor": (GOES_ON, "after a restart the credit of block 0 differs"),
    "Explodes": (TRAINS, "after 3 steps of training in float32"),
}
REMARKED = {
    "SaysThatItMirrors": (WEIGHTS, "`copies_weights` is set, but the feedback does not depend"),
    "DeclaresTooMuch": (NEEDS, "`needs` lists blocks, gradient, which was not used here"),
    "NeedsABlock": (CONTROLS, "the control shallow (no blocks"),
}


def choice_of(name: str) -> RuleChoice:
    return choose_rule(f"{FOLDER / 'broken_rules.py'}:{name}")


def outcomes_of(name: str) -> list[Outcome]:
    return check_rule(choice_of(name))


@pytest.mark.parametrize("rule", RULES.built_in)
def test_a_built_in_rule_keeps_the_contract(rule):
    narrow = f"{rule}[hidden=16]" if "bridge" in rule else rule
    outcomes = check_rule(choose_rule(narrow))
    assert [outcome for outcome in outcomes if not outcome.passed or outcome.message] == []
    assert len(outcomes) == sum(map(len, STAGES))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_caught_by_its_own_check_with_its_own_sentence(name):
    check, words = BROKEN[name]
    outcomes = outcomes_of(name)
    caught = next(outcome for outcome in outcomes if not outcome.passed)
    assert caught.passed is False
    assert caught.check == check
    assert words in caught.message
    assert "\n" not in caught.message


def test_there_is_a_broken_rule_for_every_check_that_can_fail():
    checks = {check.what for stage in STAGES for check in stage}
    assert {check for check, _ in BROKEN.values()} == checks - {WEIGHTS, PENALTY, CONTROLS}
    written = {name for name, value in vars(broken_rules).items() if isinstance(value, type)}
    assert written - {"Direct", "Rule", "Credit"} == {*BROKEN, *REMARKED, "AskedOneByOne"}


def test_what_comes_after_a_failure_is_not_checked():
    outcomes = outcomes_of("WrongShape")
    first = next(i for i, outcome in enumerate(outcomes) if not outcome.passed)
    assert {outcome.passed for outcome in outcomes[first + 1 :]} == {None}
    assert len(outcomes) == sum(map(len, STAGES))


@pytest.mark.parametrize("name", REMARKED)
def test_a_remark_is_no_failure(name):
    check, words = REMARKED[name]
    outcomes = outcomes_of(name)
    assert all(outcome.passed for outcome in outcomes)
    (remark,) = [outcome for outcome in outcomes if outcome.message]
    assert remark.check == check
    assert words in remark.message


def test_a_rule_that_cannot_be_lifted_may_say_so():
    outcomes = outcomes_of("AskedOneByOne")
    assert all(outcome.passed for outcome in outcomes)
    assert [outcome.message for outcome in outcomes if outcome.message] == [
        "batched = False: credit is computed one run at a time, which is slower"
    ]


def test_a_penalty_that_breaks_training_is_found():
    checked = CheckedRule(choice_of("Direct"))
    assert trains(checked) is None
    assert trains(checked, penalty=1e40) is not None


def test_the_options_in_brackets_are_what_is_checked():
    outcomes = check_rule(choose_rule("ep[credit=displacement,steps=1,no_skip,penalty=0.1]"))
    assert all(outcome.passed for outcome in outcomes)


def test_a_check_leaves_the_global_random_numbers_and_autograd_alone():
    before = torch.get_rng_state()
    outcomes_of("ReseededFeedback")
    outcomes_of("Unseeded")
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.is_grad_enabled()
