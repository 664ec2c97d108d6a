"""The networks that an audit reads, with the facts of their training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from depthgauge.auditing.trained_network import TrainedNetwork, load_run
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.results.audit_parts import ShallowRule, Source
from depthgauge.results.floors import shallow_of
from depthgauge.results.run import RunResult
from depthgauge.rules.access import Access, access_of
from depthgauge.rules.contract import Rule
from depthgauge.store.done_runs import DoneRun
from depthgauge.store.run_folder import RunFolder
from depthgauge.tasks.base import Task


@dataclass(frozen=True)
class NetworkUnderAudit:
    """One network that an audit reads.

    Attributes:
        label: the label of its rule in tables.
        seed: the seed of its run.
        trained: the network; None if training diverged.
        accuracy: the accuracy on the whole evaluation split.
        frozen: the accuracy of the same rule and seed with frozen blocks; None if it is not known,
            or if the targets were random.
        source: the runs or the file that the network comes from.
        epochs: the metrics of each epoch; empty for a network from a user's file.
        rule: the rule's name, without options; None for a network from a user's file.
        control: the control under which the network was trained; None without a control.
        access: what the rule may see of the network; None if the rule is not known.
    """

    label: str
    seed: int
    trained: TrainedNetwork | None
    accuracy: float | None
    frozen: float | None
    source: Source
    epochs: Sequence[EpochMetrics] = field(default=())
    rule: str | None = None
    control: str | None = None
    access: Access | None = None


def networks_of_runs(
    runs: Sequence[RunResult],
    task: Task,
    rules: Mapping[str, Rule],
    done: Mapping[str, DoneRun],
) -> list[NetworkUnderAudit]:
    """Return the network of every finished or diverged run that trains all blocks.

    `rules` has the rule of each label. `done` has the runs that were read before, by id; the
    checkpoints of these runs are not read again. Networks without blocks are left out: see
    `shallow_rules`.
    """
    frozen = {(run.label, run.config.seed): run for run in runs if run.config.k == 0}
    return [
        _network(
            run,
            frozen.get((run.label, run.config.seed)),
            None if run.state == "diverged" else _trained(run, task, rules, done),
            access_of(rules[run.config.rule.label]),
        )
        for run in runs
        if run.is_full and run.is_done
    ]


def _trained(
    run: RunResult, task: Task, rules: Mapping[str, Rule], done: Mapping[str, DoneRun]
) -> TrainedNetwork:
    """Load the network of a finished run: from `done` if the run is there, else from its files."""
    before, folder = done.get(run.identity), RunFolder(run.folder.parent, run.config)
    rule, state = rules[run.config.rule.label], before.network if before else None
    return load_run(folder, task, rule, state)


def _network(
    run: RunResult, frozen: RunResult | None, trained: TrainedNetwork | None, access: Access
) -> NetworkUnderAudit:
    config = run.config
    learns = config.recipe.targets == "true"
    return NetworkUnderAudit(
        label=run.label,
        seed=config.seed,
        trained=trained,
        accuracy=run.accuracy,
        frozen=frozen.accuracy if frozen and learns else None,
        source=Source(
            run=run.identity,
            frozen_run=frozen.identity if frozen else None,
            commit=run.provenance.get("commit"),
            diverged_epoch=run.diverged_epoch,
        ),
        epochs=run.epochs,
        rule=config.rule.name,
        control=run.control,
        access=access,
    )


def shallow_rules(runs: Sequence[RunResult]) -> dict[str, ShallowRule]:
    """Return, by the label of the rule, the accuracies and runs of networks without blocks."""
    by_label: dict[str, list[RunResult]] = {}
    for run in runs:
        if run.config.net.blocks == 0 and run.is_done:
            by_label.setdefault(run.label, []).append(run)
    return {label: shallow_of(own) for label, own in by_label.items()}
