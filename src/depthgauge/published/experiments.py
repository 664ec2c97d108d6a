"""The published experiments: which there are, and which of them a study repeats."""

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
        name: what `reproduce` calls it.
        title: what tables call it.
        summary: what it is, in a line.
        check: refuses a network of which nothing was published.
        compare: what a study measured beside what was published.
        audits: whether the networks are audited, with frozen baselines, and not the whole ladder.
        rules: that are trained by default; None for the usual ones.
        epochs: of training; None for the task's own.
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
        """Refuse what the experiment would not use: another task, and options of an audit alone."""
        for name, value in options.items():
            if name not in {"task", *AUDIT_ONLY}:
                continue
            usual = TASK if name == "task" else StudyConfig.model_fields[name].default
            if value is not None and value != usual:
                raise OptionError(
                    name,
                    f"{self.name} takes no {name}: it repeats what was published on {TASK}; "
                    f"leave {name} out, or use audit",
                )

    def configure(self, config: StudyConfig) -> StudyConfig:
        """Return the experiment, with what was chosen otherwise; refuse k where it is fixed."""
        if self.audits and config.k:
            raise OptionError(
                "k",
                f"{self.name} takes no --k: an audit trains k = 0 and all blocks; leave --k out, "
                f"or reproduce {memo_ladder.NAME}",
            )
        changes: dict[str, Any] = {"task": TASK}
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
            f"there is no published experiment {name!r}; there are: {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]


def comparisons_with_published(study: StudyResult) -> list[PublishedComparison]:
    """Return the study beside each published experiment that it repeats, as far as it does."""
    net = study.config.net
    if study.config.task.name != TASK or net is None:
        return []
    if net != NetConfig(width=net.width, blocks=net.blocks):
        return []
    found = [one.compare(study) for one in EXPERIMENTS.values() if _repeats(study, net, one)]
    return [comparison for comparison in found if not comparison.is_empty]


def _repeats(study: StudyResult, net: NetConfig, experiment: Experiment) -> bool:
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
