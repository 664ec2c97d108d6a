"""The public functions, which do the work of the commands, with Python values.

    import depthgauge as dg

    study = dg.audit(rules=["bp", "dfa", MyRule], task=(x_train, y_train, x_test, y_test), seeds=3)
    study["my_rule"].verdict.word

The options of a study are the fields of `StudyConfig`; the options of a command fill the same
fields. The stages of a study are in `study_pipeline.py`.
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
from depthgauge.checks.network.answer import NetCheck
from depthgauge.checks.network.batch import (
    batch_of_shape,
    batch_of_task,
    guessed_batch,
    own_batch,
)
from depthgauge.checks.network.build import Network, build_model
from depthgauge.checks.network.check_network import check_network
from depthgauge.errors import NotApplicableError, UserError
from depthgauge.gauges.credit import Convention
from depthgauge.gauges.null import NullReading
from depthgauge.losses.function_loss import AnyLoss
from depthgauge.nets.cut.probe import Returns
from depthgauge.nets.find_blocks import Blocks
from depthgauge.published.compare import PublishedComparison
from depthgauge.published.experiments import TASK, find_experiment
from depthgauge.python_arguments import asked_for, checked_config, chosen_options, own_task
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
from depthgauge.tasks.registry import load_task
from depthgauge.verdict.thresholds import Thresholds


def audit(config: StudyConfig | None = None, /, **options: Any) -> StudyResult:
    """Train every rule, read every diagnostic, and return the study with its verdicts.

    If an earlier call was stopped, the same call continues it and trains nothing twice. The
    verdicts are written to `audit.json` and `audit.md` in the study's folder.

    Args:
        config: the options of the study.
        options: fields of `StudyConfig`, by name; they replace the same fields of `config`. Rules
            may be classes or instances, and the task may be a `Task` or four arrays.
    """
    config, task = asked_for(config, options)
    thresholds = thresholds_of(config)
    if config.checkpoints is not None:
        return run_checkpoint_audit(config, task, thresholds)
    return run_audit(with_both_ends(config), task, thresholds)


def ladder(config: StudyConfig | None = None, /, **options: Any) -> StudyResult:
    """Train the last k blocks for every k, and return the study with its ladders.

    A rule's ladder is its accuracy for each number k of trained blocks. The function takes the
    same arguments as `audit`. The ladders are written to `ladder.json` and `ladder.md` in the
    study's folder.
    """
    return run_ladder(*asked_for(config, options))


def plan(
    config: StudyConfig | None = None,
    /,
    *,
    kind: Literal["audit", "ladder"] = "audit",
    **options: Any,
) -> StudyPlan:
    """Return the runs that `audit` or `ladder` would train; train and write nothing.

    Args:
        config: the options of the study.
        kind: the function whose runs are returned: "audit" or "ladder".
        options: fields of `StudyConfig`, by name; they replace the same fields of `config`.
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
    """Train the remaining runs of a study, and return the study.

    The plan of the runs is read from the study's folder.

    Args:
        study: the study's folder.
        config: where to train and how often to save. Only the fields device, executor, address
            and save_every are used.
        cohorts: the names of the cohorts to train; by default all cohorts in the plan. A cohort is
            a group of runs that are trained together.
    """
    execution = execution_of(checked_config(config) or StudyConfig())
    return load_prepared(resume_study(Path(study), execution, cohorts))


def retry(study: str | Path, config: StudyConfig | None = None, /) -> StudyResult:
    """Train the failed runs of a study again, and return the study.

    Args:
        study: the study's folder.
        config: where to train and how often to save. Only the fields device, executor, address
            and save_every are used.
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

    The function takes the options of `audit`, except `task`, `select`, `thresholds`, `strict`,
    `checkpoints` and `frozen_acc`. The experiment fixes these options or does not use them.
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
    """For every seed, measure how close the blocks of the untrained network are to the identity."""
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
    """Compare the alignment of training feedback with the alignment of fresh random feedback.

    Alignment is the cosine between the credit that a rule gives and the true gradient.

    Args:
        network: a run's folder, or a file with the weights `state_dict` and the feedback matrices
            `Bs`.
        draws: the number of times that fresh feedback is drawn.
        samples: the number of evaluation samples on which alignment is measured.
        task: the name of the task; needed for a file, since a run's folder names its task.
        rule: the name of the rule, if `network` does not name it.
        validation: the number of held-out training samples, if the accuracy of the run was
            measured on them; 0 if it was measured on test samples.
        convention: the gradient with which credit is compared: "depthgauge" takes the gradient
            that the credit estimates, "published" the gradient that the published figures take.
        on_draws: is called after each group of draws, with the number of draws in the group.

    Raises:
        NotApplicableError: no fresh feedback can be drawn for the network; the message says why.
    """
    trained, used = load_trained(Path(network), task, rule, validation)
    if (reason := reason_missing(trained)) is not None:
        raise NotApplicableError(reason)
    return calibrate_null(
        trained, first_samples(used, samples), draws, convention, on_draws=on_draws
    )


def check_net(
    net: Network,
    *,
    blocks: Blocks = None,
    task: Any = None,
    batch: Any = None,
    shape: Sequence[int] | None = None,
    words: int | None = None,
    loss: AnyLoss | None = None,
    returns: Returns = "auto",
) -> NetCheck:
    """Say what depthgauge sees of a network, and what it can do with the network.

    The network runs on a few samples, in seconds, and is left as it was. If no samples are given,
    they are guessed from the network's first layers.

    Args:
        net: a module, a function that builds it, `file.py:function`, or the name of a network of
            the package (which needs a task).
        blocks: the path to the blocks, or the modules. Without it, the attribute `blocks`, or else
            the largest list of modules with which the network can be trained.
        task: the task whose samples are taken: a name, a path, a `Task` or four arrays.
        batch: instead, samples of your own: a pair (inputs, labels), or a mapping with `labels`.
        shape: instead, the shape of one sample, which is drawn at random.
        words: with `shape`: samples are tokens, whole numbers below this one.
        loss: the loss that trains the network; by default that of the task, or the cross-entropy,
            or the squared error if the labels are not class numbers.
        returns: what the last block returns, if this cannot be told: "stream", or "branch" for a
            branch that the network adds to the stream.
    """
    if sum(given is not None for given in (task, batch, shape)) > 1:
        raise UserError("task, batch and shape all give samples; give one of them")
    if words is not None and shape is None:
        raise UserError("words is the number of tokens in samples of a shape; give the shape too")
    own = own_task(task) or (None if task is None else load_task(str(task)))
    model = build_model(net, own)
    if own is not None:
        samples = batch_of_task(model, own)
        loss = own.loss if loss is None else loss
    elif batch is not None:
        samples = own_batch(batch)
    elif shape is not None:
        samples = batch_of_shape(model, tuple(shape), words)
    else:
        samples = guessed_batch(model)
    return check_network(model, samples, blocks=blocks, loss=loss, returns=returns)


def compare(studies: Sequence[StudyResult | str | Path], to: str | None = None) -> Comparison:
    """Compare each rule across studies, and all rules of a study with the reference rule `to`.

    Differences are paired by seed. Without `to`, the reference rule is backpropagation.
    """
    return compare_studies([_study(study) for study in studies], to)


def report(study: StudyResult | str | Path, path: str | Path | None = None) -> Path:
    """Write a study as one HTML page, and return the path of the page.

    Without `path`, the page is `report.html` in the study's folder.
    """
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
