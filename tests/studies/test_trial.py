"""A cohort that is tried takes the steps that training takes."""

from __future__ import annotations

import weakref

import torch
from studies.small_grids import STEPS_PER_EPOCH, TASK, grid

from depthgauge.config import Engine
from depthgauge.studies.trial import PROGRESS, Trial
from depthgauge.training.batches import Batches
from depthgauge.training.engines import ENGINES


def trial_and_twin(engine: Engine = "cohort"):
    runs = sorted(grid("dfa").runs(), key=lambda run: -run.k)
    configs, rules = [run.config for run in runs], [run.choice.build() for run in runs]
    return Trial(configs, rules, TASK, engine=engine), ENGINES[engine](configs, rules, TASK)


def test_steps_are_those_of_training_over_the_end_of_an_epoch():
    trial, twin = trial_and_twin()
    batches = Batches(TASK, twin.seeds, 36, twin.dtype)
    twin.start_epoch(0)
    assert trial.epoch_steps == STEPS_PER_EPOCH
    for batch in [*batches.epoch(0), *batches.epoch(1)]:
        twin.step(batch, PROGRESS)
        assert trial.step() > 0
    for name, own in trial.cohort.net.parameters.items():
        assert torch.equal(own, twin.net.parameters[name])


def test_the_reference_engine_can_be_tried_too():
    trial, _ = trial_and_twin("plain")
    assert trial.step() > 0
    assert trial.read(10) > 0


def test_its_memory_is_free_as_soon_as_it_is_gone():
    trial, _ = trial_and_twin()
    trial.step()
    trial.read()
    cohort = weakref.ref(trial.cohort)
    del trial
    assert cohort() is None
