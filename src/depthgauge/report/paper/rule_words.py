"""What tables and template say of a rule alike."""

from __future__ import annotations

from collections.abc import Collection

from depthgauge.diagnostics.depth_utility import GAIN
from depthgauge.diagnostics.intervals import Interval, interval
from depthgauge.diagnostics.registry import verdict_diagnostics
from depthgauge.number_format import MISSING, percent_spread, points, with_bounds
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def level(thresholds: Thresholds) -> str:
    """The level of one diagnostic's interval, in per cent."""
    return f"{100 * (1 - thresholds.error_rate_of_each):.3g} %"


def frozen(view: RuleResult) -> str:
    """The frozen baseline; over how many seeds, where those are not the accuracy's."""
    n = view.frozen.n
    return percent_spread(view.frozen) + (f" (n = {n})" if n and n != view.accuracy.n else "")


def gain(view: RuleResult, thresholds: Thresholds) -> str:
    """What training the blocks gains, in points, with its interval over seeds."""
    return with_bounds(GAIN, gain_interval(view, thresholds), points)


def gain_interval(view: RuleResult, thresholds: Thresholds) -> Interval | None:
    """The interval of the gain over the frozen baseline; None where no seed has both."""
    gains = list(view.values["gain"].values())
    return interval(gains, thresholds.error_rate_of_each) if gains else None


def findings(view: RuleResult) -> list[str]:
    """Of each diagnostic that counts."""
    found = {finding.id: finding.outcome for finding in view.findings}
    return [found.get(one.id, MISSING) for one in verdict_diagnostics()]


def basis_words(views: Collection[RuleResult]) -> str:
    """What the verdicts rest on."""
    audited = [view.label for view in views if view.basis == "audit"]
    recorded = [view.label for view in views if view.basis == "training"]
    if not recorded:
        return "Verdicts by the audit." if audited else "No rule could be judged."
    by_record = "the norms that training wrote down after its last epoch, without an audit"
    which = f" of {', '.join(recorded)}" if audited else ""
    return f"Verdicts{which} by {by_record}."


def task_words(study: StudyResult) -> str:
    """The task and its part that accuracies are of."""
    task = study.config.task
    return f"{task.name}, {task.evaluated_on} accuracy in %"


def accuracy_words(study: StudyResult) -> str:
    """What accuracies and gains in a table are."""
    several = any(view.accuracy.n > 1 for view in study.rules.values())
    spreads = "mean ± sample standard deviation over n seeds" if several else "of one seed"
    found = [gain_interval(view, study.thresholds) for view in study.rules.values()]
    gains = [gained.n for gained in found if gained is not None]
    with_interval = any(n > 1 for n in gains)
    ends = f", with its {level(study.thresholds)} interval" if with_interval else ""
    gained = f"; gain in points {pairing_words(study)}{ends}" if any(gains) else ""
    return f"{task_words(study)}, {spreads}{gained}"


def pairing_words(study: StudyResult) -> str:
    """What the gain is a difference of."""
    if study.config.frozen_acc:
        return "over the frozen accuracy given for each rule, not paired by seed"
    return "over the frozen blocks of the same rule, paired by seed"
