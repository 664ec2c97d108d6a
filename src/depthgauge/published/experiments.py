"""The published experiments, and the comparison of a study with the experiments that it repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from depthgauge.config import NetConfig
from depthgauge.errors import OptionError, UserError
from depthgauge.published import main_audit, memo_ladder, thirty_epochs
from depthgauge.published.compare import PublishedComparison
from depthgauge.published.figures import published
from depthgauge.results.study import StudyResult
from depthgauge.study_config import AUDIT_ONLY, StudyConfig

TASK = "cifar10"


@dataclass(frozen=True)
class Experiment:
    """A published experiment.

    Attributes:
        name: its name for `reproduce`.
        title: its name in tables.
        summary: its line in the help of `reproduce`.
        check: refuses a network for which nothing was published.
        compare: compares a study with the published figures.
        audits: True for an audit with frozen baselines, False for a whole ladder.
        rules: the rules that it trains by default; None for the default rules of `audit`.
        epochs: the number of epochs of training; None for the task's default.
    """

    name: str
    title: str
    summary: str
    check: Callable[[NetConfig], None]
    compare: Callable[[StudyResult], PublishedComparison]
    audits: bool = False
    rules: tuple[str, ...] | None = None
    epochs: int | None = None

    def refuse_unused(self, options: Mapping[str, Any]) -> None:
        """Refuse another task, and options that only `audit` uses."""
        for name, value in options.items():
            if name not in {"task", *AUDIT_ONLY}:
                continue
            usual = TASK if name == "task" else StudyConfig.model_fields[name].default
            if value is not None and value != usual:
                raise OptionError(
                    name,
                    f"{self.name} takes no {name}, because it repeats an experiment on {TASK}; "
                    f"leave {name} out, or use audit",
                )

    def configure(self, config: StudyConfig) -> StudyConfig:
        """Return `config` with the experiment's options; options that the user set are kept."""
        if self.audits and config.k:
            raise OptionError(
                "k",
                f"{self.name} takes no --k, because it trains k = 0 and all blocks; leave --k "
                f"out, or reproduce {memo_ladder.NAME}",
            )
        changes: dict[str, object] = {"task": TASK}
        if "twins" not in config.model_fields_set:
            changes["twins"] = False
        if self.rules is not None and "rules" not in config.model_fields_set:
            changes["rules"] = list(self.rules)
        if self.epochs is not None and config.epochs is None:
            changes["epochs"] = self.epochs
        if "floors" not in config.model_fields_set:
            changes["floors"] = False
        if self.audits:
            changes["k"] = [0, config.depth]
        return config.changed(**changes)


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            memo_ladder.NAME,
            "The ladder",
            "the published ladders on CIFAR-10: --width 256 --depth 4, --width 512 --depth 2",
            memo_ladder.check_ladder,
            memo_ladder.compare_ladder,
        ),
        Experiment(
            main_audit.NAME,
            "The main audit",
            "the published audit on CIFAR-10: --width 256 --depth 4",
            main_audit.check_main_audit,
            main_audit.compare_main_audit,
            audits=True,
        ),
        Experiment(
            thirty_epochs.NAME,
            "Thirty epochs",
            "the published runs of thirty epochs on CIFAR-10, plain and with a penalty of 0.01",
            thirty_epochs.check_thirty_epochs,
            thirty_epochs.compare_thirty_epochs,
            audits=True,
            rules=tuple(thirty_epochs.RULES),
            epochs=30,
        ),
    )
}


def find_experiment(name: str) -> Experiment:
    """Return a published experiment by its name."""
    if name not in EXPERIMENTS:
        raise UserError(
            f"there is no published experiment {name!r}; use one of {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]


def comparisons_with_published(study: StudyResult) -> list[PublishedComparison]:
    """Compare a study with each published experiment that it repeats, at least in part."""
    net = study.config.net
    if study.config.task.name != TASK or net is None:
        return []
    if net != NetConfig(width=net.width, blocks=net.blocks):
        return []
    repeated = [entry for entry in EXPERIMENTS.values() if _repeats(study, net, entry)]
    comparisons = [experiment.compare(study) for experiment in repeated]
    return [comparison for comparison in comparisons if not comparison.is_empty]


def _repeats(study: StudyResult, net: NetConfig, experiment: Experiment) -> bool:
    """Return whether a study repeats an experiment: the same command on the same network.

    An audit of thirty epochs repeats the experiment of thirty epochs, not the main audit.
    """
    if experiment.audits:
        is_thirty = study.config.recipe is not None and (
            study.config.recipe.epochs == published().thirty_epochs.config.epochs
        )
        if study.audit is None or is_thirty != (experiment.name == thirty_epochs.NAME):
            return False
    elif not study.runs:
        return False
    try:
        experiment.check(net)
    except UserError:
        return False
    return True
