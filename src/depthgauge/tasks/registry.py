"""Find a task by its name, or make a task from a user's file; load data only when needed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from depthgauge.errors import UserError, one_line
from depthgauge.registry import TASKS, load

if TYPE_CHECKING:
    from depthgauge.tasks.base import Task


@dataclass(frozen=True)
class TaskEntry:
    """A task that users can name.

    Attributes:
        summary: one line about the task.
        load: loads the task with its data.
        epochs, width: defaults of a study on this task, chosen for its size.
    """

    summary: str
    load: Callable[[], Task]
    epochs: int = 30
    width: int = 64


def load_task(name: str, validation: int = 0) -> Task:
    """Load a task; `name` may also be a path that ends in `.npz`, or `file.py:function`.

    If `validation` is above 0, this number of training samples becomes the evaluation split. The
    test set is then left out.
    """
    if validation < 0:
        raise UserError(
            f"--validation {validation} is negative; "
            "give a number of training samples to hold out, or 0 to use the test set"
        )
    task = find_task(name).load()
    if not validation:
        return task
    held_out: Task = load("depthgauge.tasks.base:hold_out_validation")(task, validation)
    return held_out


def find_task(name: str) -> TaskEntry:
    """Return the entry of a named task, or make an entry for a user's arrays or function."""
    if name.endswith(".npz"):
        return TaskEntry(
            f"the arrays in {name}", lambda: load("depthgauge.tasks.arrays:load_arrays")(name)
        )
    return TASKS.find(name)[0]


def validate_task(candidate: object, reference: str) -> TaskEntry:
    """Return the entry for a user's object, or refuse the object.

    `reference` is the user's text for the object; error messages begin with this text.
    """
    if isinstance(candidate, TaskEntry):
        return candidate
    if not inspect.isfunction(candidate):
        raise UserError(
            f"{reference} is not a task: it must be a function without arguments that returns a "
            "depthgauge.Task or four arrays (x_train, y_train, x_test, y_test)"
        )
    summary = (inspect.getdoc(candidate) or f"what {reference} returns").splitlines()[0]
    return TaskEntry(summary, lambda: _call_function(candidate, reference))


def _call_function(function: Callable[[], object], reference: str) -> Task:
    """Call a user's function and return its task; make a task if the result is four arrays."""
    try:
        task: Any = function()
    except Exception as error:
        raise UserError(
            f"{reference} cannot make its task: {one_line(error)}; correct the function"
        ) from error
    if isinstance(task, tuple | list):
        try:
            task = load("depthgauge.tasks.arrays:task_from_arrays")(task, function.__name__)
        except UserError as error:
            raise UserError(f"{reference}: {error}") from error
    if not isinstance(task, load("depthgauge.tasks.base:Task")):
        raise UserError(
            f"{reference} returns {type(task).__name__}; it must return a depthgauge.Task or four "
            "arrays (x_train, y_train, x_test, y_test)"
        )
    made: Task = task
    return made


def _load(where: str) -> Task:
    """Import a task's loader (and with it torch) and call the loader."""
    task: Task = load(where)()
    return task


TEACHER = TaskEntry(
    "random points labelled by a random deep network; embedded, needs depth, the default",
    partial(_load, "depthgauge.tasks.teacher:load_teacher"),
    epochs=20,
)
DIGITS = TaskEntry(
    "1,797 handwritten digits of 8×8 pixels; bundled, easy",
    partial(_load, "depthgauge.tasks.digits:load_digits"),
)
POINTERS = TaskEntry(
    "tokens: follow 1 to 4 pointers in a table; embedded, needs depth, for --net gpt",
    partial(_load, "depthgauge.tasks.pointers:load_pointers"),
    epochs=10,
)
CIFAR10 = TaskEntry(
    "60,000 colour photographs of 32×32 pixels, 10 classes",
    partial(_load, "depthgauge.tasks.cifar:load_cifar10"),
    epochs=100,
    width=256,
)
CIFAR100 = TaskEntry(
    "60,000 colour photographs of 32×32 pixels, 100 classes",
    partial(_load, "depthgauge.tasks.cifar:load_cifar100"),
    epochs=100,
    width=256,
)
SHAKESPEARE = TaskEntry(
    "the characters of Shakespeare's plays: predict the next one; for --net gpt",
    partial(_load, "depthgauge.tasks.shakespeare:load_shakespeare"),
    epochs=10,
)
