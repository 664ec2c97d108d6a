"""Sentences about runs that failed with an error."""

from __future__ import annotations

from depthgauge.results.study import StudyResult


def failure_sentences(study: StudyResult) -> list[str]:
    """Return a sentence for each error: the first run, the number of other runs, and the error."""
    reasons: dict[str, list[str]] = {}
    for run in study.runs:
        if run.reason is not None:
            name = f"{run.label} k={run.config.rung} seed={run.config.seed}"
            reasons.setdefault(run.reason, []).append(name)
    return [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} failed: {reason}"
        for reason, names in reasons.items()
    ]
