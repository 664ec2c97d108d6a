"""The tasks by name, each loaded only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from depthgauge.errors import UserError
from depthgauge.tasks.base import Task, hold_out_validation


@dataclass(frozen=True)
class TaskEntry:
    """A task that can be named: one line about it, how to load it, and what fits its size."""

    summary: str
    load: Callable[[], Task]
    epochs: int = 30
    width: int = 64


def load_task(name: str, validation: int = 0) -> Task:
    """The task called `name`, or the one in the file `name` if that ends in `.npz`.

    With `validation` > 0 it is judged on that many training samples, and its test set is left out.
    """
    if validation < 0:
        raise UserError(
            f"--validation {validation} is negative; "
            "give a number of training samples to hold out, or 0 to use the test set"
        )
    task = find_task(name).load()
    return hold_out_validation(task, validation) if validation else task


def find_task(name: str) -> TaskEntry:
    """The entry of a named task, or one made for the user's own arrays."""
    if name in TASKS:
        return TASKS[name]
    if name.endswith(".npz"):
        return TaskEntry(f"the arrays in {name}", lambda: _arrays(name))
    raise UserError(
        f"there is no task {name!r}; choose {', '.join(TASKS)}, or a path that ends in .npz"
    )


def _arrays(path: str) -> Task:
    from depthgauge.tasks.arrays import load_arrays

    return load_arrays(path)


def _teacher() -> Task:
    from depthgauge.tasks.teacher import load_teacher

    return load_teacher()


def _digits() -> Task:
    from depthgauge.tasks.digits import load_digits

    return load_digits()


def _cifar10() -> Task:
    from depthgauge.tasks.cifar import load_cifar10

    return load_cifar10()


def _cifar100() -> Task:
    from depthgauge.tasks.cifar import load_cifar100

    return load_cifar100()


TASKS: dict[str, TaskEntry] = {
    "teacher": TaskEntry(
        "random points labelled by a random deep network; embedded, needs depth, the default",
        _teacher,
        epochs=20,
    ),
    "digits": TaskEntry("1,797 handwritten digits of 8×8 pixels; bundled, easy", _digits),
    "cifar10": TaskEntry(
        "60,000 colour photographs of 32×32 pixels, 10 classes", _cifar10, epochs=100, width=256
    ),
    "cifar100": TaskEntry(
        "60,000 colour photographs of 32×32 pixels, 100 classes", _cifar100, epochs=100, width=256
    ),
}
