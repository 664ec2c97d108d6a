"""Parts of captions: how the accuracies, gains and verdicts in a table were obtained."""

from __future__ import annotations

from collections.abc import Collection

from depthgauge.diagnostics.intervals import Interval, interval
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds

LOST = "lost: diverged or failed"


def level(thresholds: Thresholds) -> str:
    """Return the confidence level of one diagnostic's interval, in per cent."""
    return f"{100 * (1 - thresholds.error_rate_of_each):.3g} %"


def gain_interval(rule: RuleResult, thresholds: Thresholds) -> Interval | None:
    """Return the interval of the gain over frozen blocks; None if no seed has a gain."""
    gains = list(rule.values["gain"].values())
    return interval(gains, thresholds.error_rate_of_each) if gains else None


def task_words(study: StudyResult) -> str:
    """Return the task, and the split of its samples on which accuracies are measured."""
    task = study.config.task
    return f"{task.name}, {task.evaluated_on} accuracy in %"


def accuracy_words(study: StudyResult) -> str:
    """Return how accuracies and gains were obtained: task, spread, pairing and interval."""
    several = any(rule.accuracy.n > 1 for rule in study.rules.values())
    spreads = "mean ± sample standard deviation over n seeds" if several else "of one seed"
    intervals = [gain_interval(rule, study.thresholds) for rule in study.rules.values()]
    gains = [gain.n for gain in intervals if gain is not None]
    ends = f", with its {level(study.thresholds)} interval" if any(n > 1 for n in gains) else ""
    gained = f"; gain in points {pairing_words(study)}{ends}" if gains else ""
    return f"{task_words(study)}, {spreads}{gained}"


def pairing_words(study: StudyResult) -> str:
    """Say which frozen accuracy is subtracted to compute a gain, and whether seeds are paired."""
    if study.config.frozen_acc:
        return "over the frozen accuracy given for each rule, not paired by seed"
    return "over the frozen blocks of the same rule, paired by seed"


def basis_words(rules: Collection[RuleResult]) -> str:
    """Return what the verdicts rest on: the audit, or the metrics of training."""
    audited = [rule.label for rule in rules if rule.basis == "audit"]
    trained = [rule.label for rule in rules if rule.basis == "training"]
    if not trained:
        return "Verdicts by the audit." if audited else "No rule could be judged."
    which = f" of {', '.join(trained)}" if audited else ""
    return f"Verdicts{which} by the norms after the last epoch of training, without an audit."
