"""Build a ResidualMLP from a state dict alone; the shapes of its tensors give the sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.user.network import load_weights

LINEARS = 2


def build_residual_mlp(state_dict: Mapping[str, Tensor], name: str) -> ResidualMLP:
    """Build the network to which a state dict belongs; error messages call the dict `name`.

    The parts must be called embed, blocks, out_ln and out_head. Names inside a block do not
    matter. The part of a block whose weight is a vector is the LayerNorm; the two other parts, in
    their order, are the Linears.
    """
    try:
        width, input_dim = state_dict["embed.weight"].shape
        classes, _ = state_dict["out_head.weight"].shape
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{name} is not a ResidualMLP, whose parts are embed, blocks, out_ln and out_head; for "
            "another network give --net to `depthgauge diagnose` or `audit --checkpoints`"
        ) from error
    blocks = {int(m[1]) for key in state_dict if (m := re.match(r"blocks\.(\d+)\.", key))}
    inside = [_block(state_dict, index, name) for index in range(len(blocks))]
    net = ResidualMLP(
        input_dim,
        width,
        classes,
        len(blocks),
        terminal_norm="out_ln.weight" in state_dict,
        hidden=len(inside[0]["fc1.weight"]) if inside else None,
    )
    net.to(state_dict["embed.weight"].dtype)
    outside = {key: t for key, t in state_dict.items() if not key.startswith("blocks.")}
    renamed = {
        f"blocks.{index}.{key}": t for index, block in enumerate(inside) for key, t in block.items()
    }
    load_weights(net, outside | renamed, name)
    return net


def _block(state_dict: Mapping[str, Tensor], index: int, name: str) -> dict[str, Tensor]:
    prefix = f"blocks.{index}."
    parts: dict[str, dict[str, Tensor]] = {}
    for key, tensor in state_dict.items():
        if key.startswith(prefix):
            part, _, kind = key.removeprefix(prefix).rpartition(".")
            parts.setdefault(part, {})[kind] = tensor
    norms = [p for p in parts.values() if "weight" in p and p["weight"].dim() == 1]
    linears = [p for p in parts.values() if "weight" in p and p["weight"].dim() == LINEARS]
    if len(norms) != 1 or len(linears) != LINEARS or len(parts) != 1 + LINEARS:
        raise UserError(
            f"block {index} of {name} is not LayerNorm, Linear, GELU, Linear; its parts are "
            f"{', '.join(parts) or 'no parameters'}"
        )
    named = {"ln": norms[0], "fc1": linears[0], "fc2": linears[1]}
    return {f"{part}.{kind}": t for part, own in named.items() for kind, t in own.items()}
