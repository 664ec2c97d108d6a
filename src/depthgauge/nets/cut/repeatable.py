"""Find out whether a step of training depends on its state and seed alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.cut.trial import Trial


def check_repeatable(trial: Trial) -> None:
    """Refuse a network whose loss differs between two passes from the same state and seed."""
    first, second = (trial.loss(trial.run()).detach() for _ in range(2))
    if not torch.equal(first, second):
        raise UserError(
            "two forward passes from the same state and seed have different losses "
            f"({float(first):.6g} and {float(second):.6g}); let the network draw its random "
            "numbers from torch's global state, and keep its own state in buffers"
        )


def does_draw(trial: Trial) -> bool:
    """Return whether a forward pass draws random numbers from torch's global state."""
    torch.manual_seed(trial.seed)
    before = torch.get_rng_state()
    trial.run()
    return not torch.equal(before, torch.get_rng_state())


def find_unsaved_state(model: nn.Module, trial: Trial) -> str | None:
    """Return a sentence if a forward pass changes a buffer that a checkpoint cannot hold."""
    saved = model.state_dict().keys()
    unsaved = {name: value for name, value in model.named_buffers() if name not in saved}
    values, shapes = {name: value.clone() for name, value in unsaved.items()}, _shapes(model)
    trial.run()
    for name, value in unsaved.items():
        if not torch.equal(value, values[name]):
            return (
                f"the buffer {name} changes in training and is not saved (persistent=False); save "
                "what it holds"
            )
    for name, _ in _shapes(model).items() ^ shapes.items():
        return f"the buffer {name} changes its shape in training; keep its shape"
    return None


def _shapes(model: nn.Module) -> dict[str, torch.Size]:
    state = model.state_dict()
    return {name: value.shape for name, value in state.items() if isinstance(value, Tensor)}
