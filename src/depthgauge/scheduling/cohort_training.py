"""Train one cohort, which is a group of runs that are trained together.

Training continues from the cohort's last checkpoint, if there is one. The results are written into
the study's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from depthgauge.config import Engine
from depthgauge.errors import UserError, storing
from depthgauge.gauges.cohort_readings import CHUNK
from depthgauge.rules.choice import RuleChoice, choose_rule
from depthgauge.store.network_sources import remember_sources
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.provenance import Cost, environment
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.result_file import pack_answers
from depthgauge.store.run_folder import load_newest
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.engines import make_trainee
from depthgauge.training.loop import train_cohort
from depthgauge.training.readings import EVERY_EPOCH


@dataclass(frozen=True)
class Conditions:
    """Where and how a worker trains cohorts, and when it must stop.

    Attributes:
        device: the device of the networks.
        save_every: seconds between checkpoints.
        command: the user's command, for the provenance.
        on_step: is called with the number of finished epochs and the number of finished steps.
        stop: returns True once training should save and stop.
        may_write: is called before each write; training stops if it returns False.
        engine: cohort trains many runs as one, plain trains them one by one.
    """

    device: str
    save_every: float
    command: str
    on_step: Callable[[int, int], None] = lambda epoch, steps: None
    stop: Callable[[], bool] = lambda: False
    may_write: Callable[[], bool] = lambda: True
    engine: Engine = "cohort"


def train_runs(
    study: StudyFolder,
    cohort: CohortPlan,
    positions: Sequence[int],
    task: Task,
    conditions: Conditions,
) -> None:
    """Train the runs at these positions of a cohort to their end, and write their results."""
    cost, provenance = Cost(), environment()
    if task.checksum != cohort.task.checksum:
        raise UserError(
            f"the data of the task {task.name} changed after the study was planned; restore the "
            "data, or choose another --out"
        )
    configs = [cohort.configs[position] for position in positions]
    remember_sources(study.path, cohort.net, cohort.net_typed)
    chosen = check_rules(cohort)
    rules = [chosen[cohort.runs[position][0]].build() for position in positions]
    folders = [study.run(config) for config in configs]
    recorder = StoreRecorder(folders, conditions.may_write)
    with storing():
        start = [load_newest(folders)]
        position = start[0][0].position if start[0] else None
        for folder in folders:
            folder.create()
            folder.rewind(position)
        steps = study.plan_files.read().steps_of(cohort)
    done = position[0] * steps + position[1] if position else 0

    def on_step(more: int) -> None:
        nonlocal done
        done += more
        conditions.on_step(done // steps, done)

    networks = make_trainee(configs, rules, task, conditions.device, engine=conditions.engine)
    train_cohort(
        networks,
        task,
        recorder,
        observers=EVERY_EPOCH,
        start=start.pop(),  # no reference is kept here, so that its memory can be freed
        save_every=conditions.save_every,
        on_step=on_step,
        stop=conditions.stop,
    )
    provenance |= {
        "device": conditions.device,
        "engine": conditions.engine,
        "command": conditions.command,
        "study": study.path.resolve().name,
        "cohort": cohort.identities,
        "resumed_from": position,
        **cost.measure(),
    }
    split = evaluation_inputs(task, networks.dtype, networks.device)
    scores = networks.sample_scores(split, CHUNK).cpu()
    recorder.finish(provenance, [pack_answers(own) for own in scores])


def check_rules(cohort: CohortPlan) -> list[RuleChoice]:
    """Return the rules of a cohort; refuse a rule whose file changed after planning."""
    choices = []
    for rule in cohort.rules:
        choice, planned = choose_rule(rule.typed), rule.config
        options = choice.options.model_dump(mode="json")
        if (choice.source, options) != (planned.source, planned.options):
            raise UserError(
                f"the file of rule {choice.text} changed after planning; run the original command "
                "again to train it as a new rule"
            )
        choices.append(choice)
    return choices
