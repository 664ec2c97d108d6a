"""Turn arguments that are passed in Python into a `StudyConfig`.

A rule may be a name, a class or an instance. A network may be a name, or a function or class that
makes it. A task may be a name, a `Task` or four arrays. Arrays
and classes from a notebook are saved in the study's folder, where every worker finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from torch import nn

from depthgauge.errors import OptionError, UserError
from depthgauge.losses.contract import Loss
from depthgauge.nets.user.sources import remember_source
from depthgauge.registry import LOSSES, NETS, RULES, file_of
from depthgauge.rules.choice import with_options
from depthgauge.rules.contract import Rule
from depthgauge.scheduling.grid import folder_of
from depthgauge.store.relative_paths import SOURCES, TASKS
from depthgauge.study_config import StudyConfig, study_config
from depthgauge.tasks.arrays import save_task, task_from_arrays
from depthgauge.tasks.base import Task, hold_out_validation
from depthgauge.tasks.registry import load_task

FOUR = 4


def asked_for(
    config: StudyConfig | None, options: Mapping[str, Any]
) -> tuple[StudyConfig, Task | None]:
    """Return the configuration that `config` and `options` give together, and the task.

    The task is None unless the caller passed it as a `Task` or as arrays.
    """
    config = checked_config(config)
    if config is not None and not options:
        return config, None
    return config_from(chosen_options(config) | dict(options))


def chosen_options(config: StudyConfig | None) -> dict[str, Any]:
    """Return the options that the caller has set, without the options that kept their defaults."""
    return {name: getattr(config, name) for name in config.model_fields_set} if config else {}


def checked_config(config: Any) -> StudyConfig | None:
    """Return `config` if it is a StudyConfig or None; refuse anything else."""
    if config is None or isinstance(config, StudyConfig):
        return config
    raise UserError(
        f"the first argument {config!r} is no StudyConfig; give options by name, as in "
        "rules=['bp', 'dfa']"
    )


def config_from(options: Mapping[str, Any]) -> tuple[StudyConfig, Task | None]:
    """Return the configuration that these options describe, and the task.

    The task is None unless the caller passed it as a `Task` or as arrays.
    """
    given = {name: value for name, value in options.items() if value is not None}
    passed = own_task(given.get("task"))
    rules = _listed(given.get("rules"))
    plain = {name: value for name, value in given.items() if name not in ("rules", "task")}
    if passed is None and "task" in given:
        plain["task"] = str(given["task"])
    plain |= {name: str(plain[name]) for name in ("out", "checkpoints") if name in plain}
    if "loss" in plain:
        plain["loss"] = reference_of_loss(plain["loss"])
    own_net = _own_net(plain)
    if own_net is not None:
        return _with_saved_net(plain, rules, passed, own_net)
    if passed is not None and "checkpoints" in plain:
        config = study_config(plain if rules is None else plain | {"rules": rules})
        return config, _held_out(passed, config)
    if passed is None and all(isinstance(rule, str) for rule in rules or ()):
        return study_config(plain if rules is None else plain | {"rules": rules}), None
    return _with_saved(plain, rules, passed)


def _own_net(plain: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Return the function or class that was passed as `net`; None for a text or no network."""
    net = plain.get("net")
    if net is None or isinstance(net, str):
        return None
    if isinstance(net, nn.Module) or not callable(net) or not hasattr(net, "__qualname__"):
        raise OptionError(
            "net",
            f"net is {type(net).__name__}; give a function or class that returns a new network, "
            "because every seed starts from weights of its own",
        )
    made: Callable[..., Any] = net
    return made


def _with_saved_net(
    plain: dict[str, Any],
    rules: Sequence[Any] | None,
    own_task: Task | None,
    own_net: Callable[..., Any],
) -> tuple[StudyConfig, Task | None]:
    """Return the configuration with a text for the user's network.

    The source of a function from a notebook is saved in the study's folder, whose name depends on
    the network; so it is first saved elsewhere.
    """
    with TemporaryDirectory() as place:
        draft = NETS.reference(own_net, Path(place))
        if file_of(draft) is None or not Path(draft).is_relative_to(place):
            return _with_saved(plain | {"net": draft}, rules, own_task)
        config, task = _with_saved(plain | {"net": draft}, rules, own_task)
        saved = NETS.reference(own_net, Path(str(config.out)) / SOURCES)
        remember_source(saved)
        return config.changed(net=saved), task


def _listed(rules: Any) -> list[Any] | None:
    """Return the rules as a list, also if there is only one; None if no rules were given."""
    if rules is None:
        return None
    is_one = isinstance(rules, str | type | Rule) or not isinstance(rules, Iterable)
    return [rules] if is_one else list(rules)


def own_task(given: Any) -> Task | None:
    """Return the task that was passed as a `Task` or as arrays; None for a name or no task."""
    if given is None or isinstance(given, str | Path):
        return None
    if isinstance(given, Task):
        return given
    if isinstance(given, Mapping):
        names = ("x_train", "y_train", "x_test", "y_test")
        missing = [name for name in names if name not in given]
        if missing:
            raise OptionError(
                "task", f"the task has no {missing[0]}; give the arrays {', '.join(names)}"
            )
        given = [given[name] for name in names]
    if isinstance(given, Sequence) and len(given) == FOUR:
        return task_from_arrays(given)
    raise OptionError(
        "task",
        f"task is {type(given).__name__}; give a name, a path, a Task, or the four arrays "
        "(x_train, y_train, x_test, y_test)",
    )


def _with_saved(
    plain: Mapping[str, Any], rules: Sequence[Any] | None, own_task: Task | None
) -> tuple[StudyConfig, Task | None]:
    """Save rules and task in the study's folder; return a configuration that names the files."""
    draft = study_config(plain)
    named = f"{own_task.name}.npz" if own_task else draft.task
    sized = draft.changed(task=named)
    task = own_task or load_task(draft.task)
    used = _held_out(task, draft)
    folder = folder_of(sized, used).resolve()
    changes: dict[str, Any] = {"out": str(folder)}
    if rules is not None:
        changes["rules"] = [reference_of(rule, folder / SOURCES) for rule in rules]
    if own_task is not None:
        changes["task"] = str(save_task(own_task, folder / TASKS))
    return draft.changed(**changes), used


def _held_out(task: Task, config: StudyConfig) -> Task:
    return hold_out_validation(task, config.validation) if config.validation else task


def reference_of_loss(loss: Any) -> str:
    """Return the text that names a loss.

    The source of a class from a notebook is saved in a new folder; the study copies it from there.
    """
    if isinstance(loss, str):
        return loss
    kind = loss if isinstance(loss, type) else type(loss)
    if not issubclass(kind, Loss):
        raise OptionError("loss", f"{loss!r} is no loss; give a name, file.py:Class, or a class")
    return LOSSES.reference(kind, Path(mkdtemp(prefix="depthgauge-loss-")))


def reference_of(rule: Any, sources: Path) -> str:
    """Return the text that names a rule; save the class in `sources` if a notebook defines it."""
    if isinstance(rule, str):
        return rule
    if isinstance(rule, type) and issubclass(rule, Rule):
        return RULES.reference(rule, sources)
    if isinstance(rule, Rule):
        usual, own = dict(type(rule).Options()), dict(rule.options)
        chosen = [f"{name}={value}" for name, value in own.items() if value != usual[name]]
        return with_options(RULES.reference(type(rule), sources), *chosen)
    raise OptionError(
        "rules", f"{rule!r} is no rule; give a name, file.py:Class, a Rule class or an instance"
    )
