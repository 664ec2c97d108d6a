"""The public functions: each does the work of the command with the same name, on Python values.

    import depthgauge as dg

    study = dg.audit(rules=["bp", "dfa", MyRule], task=(x_train, y_train, x_test, y_test), seeds=3)
    study["my_rule"].verdict.word

The options are the fields of `StudyConfig`, which the command line fills too. The stages of a study
are in `study_pipeline.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from depthgauge.auditing.identity import IdentityResult, measure_identity
from depthgauge.auditing.load_trained import load_trained
from depthgauge.auditing.null import calibrate_null, reason_missing
from depthgauge.auditing.trained_network import first_samples
from depthgauge.errors import NotApplicableError, UserError
from depthgauge.gauges.credit import Convention
from depthgauge.gauges.null import NullReading
from depthgauge.published.compare import PublishedComparison
from depthgauge.published.experiments import TASK, find_experiment
from depthgauge.python_arguments import asked_for, checked_config, chosen_options
from depthgauge.report.page.study_page import write_study_page
from depthgauge.report.plot import Plot, plot_of
from depthgauge.report.result_files import write_comparison
from depthgauge.results.compare import compare_studies
from depthgauge.results.comparison import Comparison
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.scheduling.dry_run import StudyPlan
from depthgauge.scheduling.grid import load_task_of, net_of
from depthgauge.scheduling.resume import resume_study, retry_failed
from depthgauge.study_config import StudyConfig
from depthgauge.study_pipeline import (
    execution_of,
    load_prepared,
    need_blocks,
    plan_of,
    run_audit,
    run_checkpoint_audit,
    run_ladder,
    thresholds_of,
    with_both_ends,
)
from depthgauge.verdict.thresholds import Thresholds


def audit(config: StudyConfig | None = None, /, **options: Any) -> StudyResult:
    """Train every rule, read every diagnostic, and return the study with its verdicts.

    If an earlier call was stopped, the same call continues it and trains nothing twice. The
    verdicts are written to `audit.json` and `audit.md` in the study's folder.

    Args:
        config: the options of the study.
        options: fields of `StudyConfig` by name, which replace those of `config`. Rules may be
            classes or instances, and the task may be a `Task` or four arrays.
    """
    config, task = asked_for(config, options)
    thresholds = thresholds_of(config)
    if config.checkpoints is not None:
        return run_checkpoint_audit(config, task, thresholds)
    return run_audit(with_both_ends(config), task, thresholds)


def ladder(config: StudyConfig | None = None, /, **options: Any) -> StudyResult:
    """Train the last k blocks for every k, and return the study with its ladders.

    The arguments are those of `audit`. The ladders are written to `ladder.json` and `ladder.md` in
    the study's folder.
    """
    return run_ladder(*asked_for(config, options))


def plan(
    config: StudyConfig | None = None,
    /,
    *,
    kind: Literal["audit", "ladder"] = "audit",
    **options: Any,
) -> StudyPlan:
    """Return what `audit` or `ladder` would train, without training or writing anything.

    Args:
        config: the options of the study.
        kind: the function that would train: audit or ladder.
        options: as for `audit`.
    """
    if kind not in ("audit", "ladder"):
        raise UserError(f"kind={kind!r} is not possible; choose 'audit' or 'ladder'")
    config, task = asked_for(config, options)
    if kind == "ladder":
        return plan_of(config, task)
    thresholds_of(config)
    return plan_of(with_both_ends(config), task)


def resume(
    study: str | Path, config: StudyConfig | None = None, /, *, cohorts: Sequence[str] = ()
) -> StudyResult:
    """Train the remaining runs of a study, using only its folder, and return the study.

    Args:
        study: the study's folder.
        config: where to train: device, executor, address and save_every; the rest is ignored.
        cohorts: the names of cohorts in the plan; if any are given, only these are trained.
    """
    execution = execution_of(checked_config(config) or StudyConfig())
    return load_prepared(resume_study(Path(study), execution, cohorts))


def retry(study: str | Path, config: StudyConfig | None = None, /) -> StudyResult:
    """Train the failed runs of a study again, and return the study.

    Args:
        study: the study's folder.
        config: where to train: device, executor, address and save_every; the rest is ignored.
    """
    execution = execution_of(checked_config(config) or StudyConfig())
    return load_prepared(retry_failed(Path(study), execution))


@dataclass(frozen=True)
class Reproduction:
    """A published experiment that was repeated, and the comparison with its published figures."""

    study: StudyResult
    comparison: PublishedComparison | None
    """None if the study is not trained yet, because Slurm will train it."""


def reproduce(name: str, config: StudyConfig | None = None, /, **options: Any) -> Reproduction:
    """Repeat a published experiment: `memo-ladder`, `main-audit` or `thirty-epochs`.

    The options are those of `audit`, except `task`, `select`, `thresholds`, `strict`, `checkpoints`
    and `frozen_acc`, which the experiment fixes or does not use.
    """
    experiment = find_experiment(name)
    experiment.refuse_unused(chosen_options(checked_config(config)) | options)
    config, _ = asked_for(config, options | {"task": TASK})
    config = experiment.configure(config)
    experiment.check(net_of(config))
    if experiment.audits:
        study = run_audit(config, None, Thresholds(), as_published=True)
    else:
        study = run_ladder(config, None)
    if study.submitted is not None:
        return Reproduction(study, None)
    comparison = experiment.compare(study)
    write_comparison(study, comparison)
    return Reproduction(study, comparison)


def identity(
    config: StudyConfig | None = None, /, *, samples: int = 256, **options: Any
) -> IdentityResult:
    """Measure for every seed how close the untrained network's blocks are to the identity."""
    config, task = asked_for(config, options)
    need_blocks(config, "identity")
    return measure_identity(task or load_task_of(config), net_of(config), config.seeds, samples)


def null(
    network: str | Path,
    *,
    draws: int = 1000,
    samples: int = 2048,
    task: str | None = None,
    rule: str | None = None,
    validation: int = 0,
    convention: Convention = "depthgauge",
    on_draws: Callable[[int], None] = lambda draws: None,
) -> NullReading:
    """Compare the alignment of a network's training feedback with that of fresh feedback.

    Args:
        network: a run's folder, or a file with `state_dict` and `Bs`.
        draws: the number of times that fresh feedback is drawn.
        samples: the number of evaluation samples.
        task: the name of the task; not needed for a run's folder, which names its task.
        rule: the name of the rule, if the network's file does not name it.
        validation: the number of training samples that were held out, if the accuracy of the run
            was measured on held-out samples.
        convention: how credit is paired with gradients: as in depthgauge, or as in the published
            figures.
        on_draws: is called now and then with the number of draws so far.

    Raises:
        NotApplicableError: the network has no feedback that could be drawn afresh; the message
            says why.
    """
    trained, used = load_trained(Path(network), task, rule, validation)
    if (reason := reason_missing(trained)) is not None:
        raise NotApplicableError(reason)
    return calibrate_null(
        trained, first_samples(used, samples), draws, convention, on_draws=on_draws
    )


def compare(studies: Sequence[StudyResult | str | Path], to: str | None = None) -> Comparison:
    """Compare each rule across studies, and all rules of a study with the reference rule `to`.

    Differences are paired by seed. Without `to`, the reference rule is backpropagation.
    """
    return compare_studies([_study(study) for study in studies], to)


def report(study: StudyResult | str | Path, path: str | Path | None = None) -> Path:
    """Write a study as one HTML page (by default `report.html` in its folder); return the path."""
    return write_study_page(_study(study), None if path is None else Path(path))


def plot(study: StudyResult | str | Path, name: str = "ladder") -> Plot:
    """Draw the figure `name` of a study: ladder, audit, layers, training or null."""
    return plot_of(_study(study), name)


def _study(study: StudyResult | str | Path) -> StudyResult:
    return study if isinstance(study, StudyResult) else load(study)


Function = TypeVar("Function", bound=Callable[..., Any])


def _show_options(function: Function) -> Function:
    """Put the options of a study into the function's signature, for `help` and editors."""
    own = list(inspect.signature(function).parameters.values())
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
        for name, field in StudyConfig.model_fields.items()
    ]
    function.__signature__ = inspect.Signature([*own[:-1], *options])  # type: ignore[attr-defined]
    return function


for _function in (audit, ladder, plan, reproduce, identity):
    _show_options(_function)
