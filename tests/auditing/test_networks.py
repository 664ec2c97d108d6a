"""The networks of a study that an audit reads."""

from __future__ import annotations

import pytest
from rules.example_rules import TrueGradient
from scheduling.small_grids import TASK, grid, study_of, train

from depthgauge.auditing.checkpoints import accuracy_of
from depthgauge.auditing.networks import networks_of_runs, shallow_rules
from depthgauge.results.load import load
from depthgauge.rules.contract import Credit
from depthgauge.rules.dfa import DFA


class Exploding(DFA):
    """Diverges at the first step, where a block is trained."""

    name = "exploding"

    def credit(self, context):
        credit = super().credit(context)
        return Credit(blocks=[b * float("nan") for b in credit.blocks], embed=credit.embed)


PLANNED = grid("bp", Exploding, TrueGradient, "bp[shallow]", ks=(0, 2), seeds=(1, 2))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Train a study that is finished except for seed 2 of the third rule."""
    made = study_of(PLANNED, tmp_path_factory.mktemp("study"))
    train(made, PLANNED)
    for folder in made.all_runs():
        if (folder.config.rule.name, folder.config.seed) == ("true_gradient", 2):
            folder.result_path.unlink()
    return load(made.path)


@pytest.fixture(scope="module")
def networks(study):
    rules = {choice.label: choice.build() for choice in PLANNED.rules}
    found = networks_of_runs(study.runs, TASK, rules, {})
    return {(network.label, network.seed): network for network in found}


def test_every_run_that_is_done_with_all_blocks_trained(networks):
    assert list(networks) == [
        *(("bp", 1), ("bp", 2), ("exploding", 1), ("exploding", 2)),
        ("true_gradient", 1),
    ]


def test_numbers_and_sources_are_those_of_the_runs(study, networks):
    runs = {run.identity: run for run in study.runs}
    for (label, seed), network in networks.items():
        full, frozen = runs[network.source.run], runs[network.source.frozen_run]
        assert (full.config.k, frozen.config.k) == (2, 0)
        assert {(run.label, run.config.seed) for run in (full, frozen)} == {(label, seed)}
        assert (network.accuracy, network.frozen) == (full.accuracy, frozen.accuracy)
        assert network.epochs == full.epochs
        assert network.source.diverged_epoch == full.diverged_epoch


def test_a_run_that_diverged_has_no_network_and_no_accuracy(networks):
    diverged = networks["exploding", 1]
    assert (diverged.trained, diverged.accuracy) == (None, None)
    assert diverged.frozen is not None
    assert diverged.source.diverged_epoch == 1


def test_a_rule_from_elsewhere_is_the_one_that_was_given(networks):
    assert isinstance(networks["true_gradient", 1].trained.rule, TrueGradient)


def test_accuracy_of_a_network_is_what_its_run_says(networks):
    for network in (networks["bp", 1], networks["true_gradient", 1]):
        assert accuracy_of(network.trained, TASK) == pytest.approx(network.accuracy)


def test_networks_without_blocks_are_kept_apart(study):
    runs = [run for run in study.runs if run.label == "bp[shallow]"]
    (shallow,) = shallow_rules(study.runs).values()
    assert shallow.accuracies == {run.config.seed: run.accuracy for run in runs}
    assert shallow.runs == {run.config.seed: run.identity for run in runs}
    assert len(runs) == shallow.accuracy.n == 2
