"""Everything that a command can do, as a function that takes and returns values.

    import depthgauge as dg

    study = dg.audit(rules=["bp", "dfa", MyRule], task=(x_train, y_train, x_test, y_test), seeds=3)
    study["my_rule"].verdict.word

Options are the fields of `StudyConfig`; a command line becomes the same object.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from depthgauge.auditing.audit_study import audit_checkpoints, audit_study
from depthgauge.auditing.identity import IdentityResult, measure_identity
from depthgauge.auditing.load_trained import load_trained
from depthgauge.auditing.null import calibrate_null, reason_missing
from depthgauge.auditing.selection import candidates, chosen_settings, selection_grid
from depthgauge.auditing.trained import first_samples
from depthgauge.errors import NotApplicableError, OptionError, UserError
from depthgauge.gauges.credit import Convention
from depthgauge.gauges.null import NullReading
from depthgauge.handed_over import config_from
from depthgauge.published.compare import PublishedComparison
from depthgauge.published.experiments import find_experiment
from depthgauge.report.documents import write_audit, write_comparison, write_ladder
from depthgauge.report.failures import failure_sentences
from depthgauge.report.page.study_page import write_study_page
from depthgauge.report.plot import Plot, plot_of
from depthgauge.report.progress import show_progress
from depthgauge.results.audit import Selection
from depthgauge.results.comparison import Comparison, compare_studies
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.scheduling.dry_run import StudyPlan, plan_study
from depthgauge.scheduling.execution import Execution, train
from depthgauge.scheduling.grid import (
    build_grid,
    folder_of,
    given_rules,
    load_task_of,
    net_of,
)
from depthgauge.scheduling.plan import Grid
from depthgauge.scheduling.resume import resume_study, retry_failed
from depthgauge.scheduling.variations import at_all_settings
from depthgauge.store.files import make_folder
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task
from depthgauge.verdict.thresholds import Thresholds, thresholds_from

SELECTION = "selection"
"""Folder inside a study's, of the runs by which its settings were chosen."""


def audit(config: StudyConfig | None = None, /, **options: Any) -> StudyResult:
    """Train every rule, read every diagnostic, and return the study with its verdicts.

    The same call continues where an earlier one stopped, and trains nothing twice. The study's
    folder gets `audit.json` and `audit.md`.

    Args:
        config: what is asked for, or instead of it
        options: the fields of `StudyConfig` by name; rules may be classes or instances, the task
            a `Task` or four arrays.
    """
    config, task = _asked_for(config, options)
    thresholds = _thresholds(config)
    if config.checkpoints is not None:
        return _audit_checkpoints(config, thresholds)
    return _audit(_with_both_ends(config), task, thresholds)


def ladder(config: StudyConfig | None = None, /, **options: Any) -> StudyResult:
    """Train the last k blocks for every k, and return the study with its ladders.

    Takes what `audit` takes. The study's folder gets `ladder.json`, `ladder.md` and figures.
    """
    config, task = _asked_for(config, options)
    grid, folder = _grid_and_folder(config, task)
    study = _train(grid, folder, config)
    if study.submitted is None:
        write_ladder(study)
    return study


def plan(
    config: StudyConfig | None = None, kind: Literal["audit", "ladder"] = "audit", /, **options: Any
) -> StudyPlan:
    """Return what `audit` or `ladder` would train: every run with its state, and how."""
    config, task = _asked_for(config, options)
    if kind == "audit":
        _thresholds(config)
        config = _with_both_ends(config)
    judged = config.changed(validation=0) if config.select else config
    grid, folder = _grid_and_folder(judged, task)
    if config.select:
        grid, folder = selection_grid(config, given_rules(config), grid), folder / SELECTION
    return plan_study(grid, folder, Execution(judged, _say, show_progress))


def resume(
    study: str | Path, config: StudyConfig | None = None, /, *, cohorts: Sequence[str] = ()
) -> StudyResult:
    """Train what is left of a study, from its folder alone; only these cohorts if some are named.

    Of the `config` only device, executor, address and save_every matter.
    """
    resume_study(Path(study), Execution(config or StudyConfig(), _say, show_progress), cohorts)
    return load(study)


def retry(study: str | Path, config: StudyConfig | None = None, /) -> StudyResult:
    """Train the runs of a study that failed once more."""
    retry_failed(Path(study), Execution(config or StudyConfig(), _say, show_progress))
    return load(study)


@dataclass(frozen=True)
class Reproduction:
    """A published experiment as it was repeated, and its figures beside the published ones."""

    study: StudyResult
    comparison: PublishedComparison | None
    """None while a cluster is training."""


def reproduce(name: str, config: StudyConfig | None = None, /, **options: Any) -> Reproduction:
    """Repeat a published experiment: `memo-ladder`, `main-audit` or `thirty-epochs`."""
    experiment = find_experiment(name)
    config, _ = _asked_for(config, options)
    config = experiment.configure(config)
    experiment.check(net_of(config))
    if experiment.audits:
        study = _audit(config, None, Thresholds(), as_published=True)
    else:
        study = ladder(config)
    if study.submitted is not None:
        return Reproduction(study, None)
    comparison = experiment.compare(study)
    write_comparison(study, comparison)
    return Reproduction(study, comparison)


def identity(
    config: StudyConfig | None = None, /, *, samples: int = 256, **options: Any
) -> IdentityResult:
    """Read how close untrained networks are to the identity, over seeds."""
    config, task = _asked_for(config, options)
    _need_blocks(config, "identity")
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
    """Compare the alignment of a network's training feedback with that of fresh draws.

    Args:
        network: a run's folder, or a file with `state_dict` and `Bs`.
        draws: how many fresh feedbacks.
        samples: how many evaluation samples.
        task: the task; a run knows its own.
        rule: the rule, where it cannot be seen.
        validation: training samples that were held out, where the run was judged on those.
        convention: of the pairing of credit and gradient: ours, or the published one.
        on_draws: hears how many more draws are done.

    Raises:
        NotApplicableError: there is nothing that could be drawn afresh; the sentence says why.
    """
    trained, used = load_trained(Path(network), task, rule, validation)
    if (reason := reason_missing(trained)) is not None:
        raise NotApplicableError(reason)
    return calibrate_null(trained, first_samples(used, samples), draws, convention, on_draws)


def compare(studies: Sequence[StudyResult | str | Path], to: str | None = None) -> Comparison:
    """Put studies side by side, with differences paired by seed; each rule against `to` (bp)."""
    return compare_studies([_study(study) for study in studies], to)


def report(study: StudyResult | str | Path, path: str | Path | None = None) -> Path:
    """Write a study as one HTML page, and return where it is (`report.html` in its folder)."""
    return write_study_page(_study(study), None if path is None else Path(path))


def plot(study: StudyResult | str | Path, name: str = "ladder") -> Plot:
    """Draw a figure of a study: ladder, audit, layers, training or null."""
    return plot_of(_study(study), name)


def _study(study: StudyResult | str | Path) -> StudyResult:
    return study if isinstance(study, StudyResult) else load(study)


def _asked_for(
    config: StudyConfig | None, options: dict[str, Any]
) -> tuple[StudyConfig, Task | None]:
    """Return the study that was asked for, and its task where it was handed over."""
    if config is not None and not options:
        return config, None
    own = {name: getattr(config, name) for name in config.model_fields_set} if config else {}
    return config_from(own | options)


def _thresholds(config: StudyConfig) -> Thresholds:
    try:
        return thresholds_from(config.thresholds)
    except UserError as error:
        raise OptionError("thresholds", str(error)) from error


def _need_blocks(config: StudyConfig, command: str) -> None:
    if not config.depth:
        raise OptionError("depth", f"--depth 0: {command} needs at least one block")


def _with_both_ends(config: StudyConfig) -> StudyConfig:
    """Return the study with the frozen and the full rung, which an audit always trains."""
    _need_blocks(config, "audit")
    return config.changed(k=list(dict.fromkeys([0, config.depth, *config.k])))


def _grid_and_folder(config: StudyConfig, task: Task | None) -> tuple[Grid, Path]:
    used = task or load_task_of(config)
    return build_grid(config, used), folder_of(config, used)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _train(
    grid: Grid,
    folder: Path,
    config: StudyConfig,
    *,
    networks: bool = False,
    thresholds: Thresholds | None = None,
) -> StudyResult:
    """Train what is left of a grid, and load its study."""
    execution = Execution(config, _say, show_progress)
    submitted = train(grid, folder, execution, networks=networks, thresholds=thresholds)
    return replace(load(folder), submitted=submitted)


def _audit(
    config: StudyConfig,
    task: Task | None,
    thresholds: Thresholds,
    *,
    as_published: bool = False,
) -> StudyResult:
    """Choose settings where that was asked for; train, read, conclude, write."""
    judged = config.changed(validation=0) if config.select else config
    used, selection = task or load_task_of(judged), dict[str, Selection]()
    folder, rules = folder_of(judged, used), given_rules(config)
    failures: list[str] = []
    if config.select:
        tried = selection_grid(config, rules, build_grid(judged, used, rules))
        samples = len(tried.task.evaluation)
        study = _train(tried, folder / SELECTION, config.changed(validation=samples))
        if study.submitted is not None:
            return study
        failures = failure_sentences(study)
        found = candidates(study, tried)
        selection, rules = chosen_settings(found, rules, config.variations, samples)
    else:
        rules = at_all_settings(rules, config.variations)
    grid = build_grid(judged, used, rules)
    study = _train(grid, folder, judged, networks=True, thresholds=thresholds)
    if study.submitted is not None:
        return study
    study = audit_study(
        study, grid, thresholds, show_progress, selection, as_published=as_published
    )
    write_audit(study)
    return replace(study, problems=(*failures, *study.problems))


def _audit_checkpoints(config: StudyConfig, thresholds: Thresholds) -> StudyResult:
    for option in ("vary", "controls", "select"):
        if getattr(config, option):
            raise UserError(f"--{option} is for training; with --checkpoints nothing is trained")
    if config.out is not None:
        make_folder(Path(config.out))
    study, missing = audit_checkpoints(config, load_task_of(config), thresholds, show_progress)
    for path in missing:
        _say(f"depthgauge: skipped, not there: {path}")
    if config.out is not None:
        write_audit(study)
    return study


Function = TypeVar("Function", bound=Callable[..., Any])


def _show_options(function: Function) -> Function:
    """Let `help` and editors show the options of a study as the function's own."""
    own = list(inspect.signature(function).parameters.values())
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
        for name, field in StudyConfig.model_fields.items()
    ]
    function.__signature__ = inspect.Signature([*own[:-1], *options])  # type: ignore[attr-defined]
    return function


for _function in (audit, ladder, reproduce, identity):
    _show_options(_function)
