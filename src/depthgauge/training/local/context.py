"""Offer a rule what it needs of a recorded forward pass."""

from __future__ import annotations

from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.losses.contract import Loss
from depthgauge.nets.cut.recording import Recording
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Need, Rule


def collect_needs(
    rule: Rule,
    net: nn.Module,
    recording: Recording,
    loss: Tensor,
    labels: Tensor,
    *,
    own_loss: Loss,
) -> dict[Need, object]:
    """Return the tensors and functions that the rule's `needs` list."""
    needed: dict[Need, object] = {}
    if "error" in rule.needs:
        needed["error"] = own_loss.error(recording.output.detach(), labels)
    if "gradient" in rule.needs:
        needed["gradient"] = [
            torch_zeros_if_none(gradient, state) * len(labels)
            for gradient, state in zip(recording.gradients(loss), recording.states, strict=True)
        ]
    functions = rule.needs & {"readout", "blocks"}
    if functions and not isinstance(net, ResidualMLP):
        raise UserError(f"the rule {rule.name} needs the {sorted(functions)[0]} of the network")
    if "readout" in functions:
        needed["readout"] = net.readout
    if "blocks" in functions:
        needed["blocks"] = list(net.blocks)  # type: ignore[arg-type]
    return needed


def torch_zeros_if_none(gradient: Tensor | None, state: Tensor) -> Tensor:
    """Return the gradient, or zeros where the stream has none."""
    return state.new_zeros(state.shape) if gradient is None else gradient
