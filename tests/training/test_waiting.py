"""Inside an epoch, neither a GPU nor its host waits for the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
from training.devices import CUDA, needs_cuda
from training.no_waiting import WaitsError, no_waiting
from training.small_images import image_task
from training.small_runs import Run, Setting, ladder, make_batches, make_cohort

from depthgauge.config import Recipe
from depthgauge.training.loop import Epoch

RULES = ["bp", "fa", "dfa", "sdfa", "drtp", "ep", "noise"]
RULES += ["state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2,warm_up=0.5]"]

RECIPE = Recipe(epochs=1, batch_size=28)
PENALISED = RECIPE.model_copy(update={"penalty": 0.1})
RANDOM = RECIPE.model_copy(update={"targets": "random"})


@pytest.fixture(params=["cpu", "meta", CUDA])
def device(request: pytest.FixtureRequest) -> str:
    """A GPU, or a device that stands in for it."""
    return str(request.param)


SETTINGS = {
    "as published": Setting(recipe=RECIPE),
    "penalised": Setting(recipe=PENALISED),
    "random targets": Setting(recipe=RANDOM),
    "images": Setting(recipe=RECIPE, task=image_task(72)),
}


def train(runs: list[Run], setting: Setting, device: str, *, fed: bool = False) -> None:
    """An epoch, of which all but the first step may not wait; nor, if `fed`, may its batches.

    With the first batch comes what was drawn for the whole epoch.
    """
    cohort = make_cohort(runs, setting, device)
    batches = make_batches(cohort, setting)
    epoch, feed = Epoch(cohort, 0), batches.epoch(0)
    epoch.train(next(feed), len(batches))
    rest = feed if fed else list(feed)
    with no_waiting(device):
        for batch in rest:
            epoch.train(batch, len(batches))
    assert epoch.step == len(batches) == 3


# What is refused


def refused(device: str) -> AbstractContextManager[object]:
    """By torch on a GPU; by us elsewhere, or since `meta` has nothing to give."""
    if device == "cuda":
        return pytest.raises(RuntimeError, match="synchronizing")
    return pytest.raises((WaitsError, NotImplementedError))


REFUSED: dict[str, Callable[[torch.Tensor], object]] = {
    "a number": lambda x: x[0].item(),
    "a number as Python's": lambda x: float(x[0]),
    "a condition": lambda x: 1 if x[0] > 0 else 2,
    "numbers to index with": lambda x: x[: x.argmax()],
    "places": lambda x: x.nonzero(),
    "what a mask chooses": lambda x: x[x > 0],
    "writing where a mask says": lambda x: x.__setitem__(x == 0, x + 1),
    "whether two are equal": lambda x: torch.equal(x, x + 1),
    "whether two are close": lambda x: torch.allclose(x, x + 1),
    "a largest one, Python's way": max,
}


def test_reading_is_refused(device):
    for read in REFUSED.values():
        x = torch.zeros(4, device=device)
        with no_waiting(device), refused(device):
            read(x)


PARTLY = {
    ("cpu", "meta"): [torch.Tensor.unique, torch.linalg.inv],
    ("meta", "cuda"): [torch.Tensor.tolist, torch.Tensor.cpu, lambda x: torch.zeros(2, 2).copy_(x)],
    ("cpu", "cuda"): [lambda x: torch.tensor([1.0], device=x.device), lambda x: x[[0, 1]]],
}
"""What shows on some devices; of a GPU, torch promises to see a part."""


@pytest.mark.parametrize(
    ("device", "read"),
    [
        pytest.param(device, read, marks=needs_cuda if device == "cuda" else ())
        for devices, reads in PARTLY.items()
        for device in devices
        for read in reads
    ],
)
def test_what_only_some_devices_show_is_refused_there(device, read):
    x = torch.eye(2, device=device)
    with no_waiting(device), refused(device):
        read(x)


@pytest.mark.parametrize("device", ["meta", CUDA])
def test_a_copy_from_the_host_is_refused_unless_it_is_waited_for_by_nobody(device):
    x, here = torch.zeros(4, device=device), torch.ones(4, pin_memory=device == "cuda")
    with no_waiting(device):
        here.to(device, non_blocking=True)
        x.copy_(here, non_blocking=True)
        with refused(device):
            torch.ones(4).to(device)
        with refused(device):
            x.copy_(torch.ones(4))


def test_what_a_device_does_alone_is_allowed(device):
    x, places = torch.zeros(4, device=device), torch.arange(2, device=device)
    with no_waiting(device):
        y = (2 * x + torch.full_like(x, 3.0))[places]
        torch.where(y > 0, y, 1.0).sum().isfinite()
        x[places] = y


# What training does


@pytest.mark.parametrize("rule", RULES)
def test_a_step_does_not_wait(device, rule):
    train(ladder(rule), SETTINGS["as published"], device)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("rule", ["bp", "dfa"])
def test_nor_does_it_in_any_setting(device, rule, name):
    train(ladder(rule), SETTINGS[name], device)


@pytest.mark.parametrize("device", ["cpu", "meta", CUDA], indirect=True)
def test_nor_with_two_sets_of_options_in_a_cohort(device):
    runs = [*ladder("dfa"), *ladder("dfa[normalise=batch]")]
    train(sorted(runs, key=lambda run: -run.k), SETTINGS["penalised"], device)


@pytest.mark.parametrize("device", ["cpu", "meta", CUDA], indirect=True)
@pytest.mark.parametrize("name", SETTINGS)
def test_nor_do_the_batches(device, name):
    train(ladder("bp"), SETTINGS[name], device, fed=True)
