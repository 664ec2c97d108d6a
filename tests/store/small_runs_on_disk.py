"""Run folders with something in them, made without training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, SharedConfig, TaskConfig
from depthgauge.store.run_folder import RunFolder
from depthgauge.training.trainee import Position, RunState

TASK = TaskConfig(name="tiny", checksum="0" * 64)
NET = NetConfig(width=3, blocks=2)
RECIPE = Recipe(epochs=3)
BASE = SharedConfig(task=TASK, net=NET, recipe=RECIPE)


def run_config(rule: str = "dfa", k: int = 2, seed: int = 42, source: str = "") -> RunConfig:
    return RunConfig(
        task=TASK,
        net=NET,
        rule=RuleConfig(name=rule, label=rule, source=source),
        recipe=RECIPE,
        k=k,
        seed=seed,
    )


def metrics_line(
    epoch: int,
    accuracy: float = 0.5,
    *,
    diverged: bool = False,
    blocks: int = NET.blocks,
    **more: Any,
) -> dict[str, Any]:
    line = {
        "epoch": epoch,
        "train_loss": None if epoch == 0 else 2.0 / epoch,
        "accuracy": accuracy,
        "h_norm": [float(layer) for layer in range(1, blocks + 2)],
        "g_norm": [layer / 10 for layer in range(1, blocks + 2)],
        "diverged": diverged,
    }
    return line | more


def state(epoch: int, seed: int = 0, step: int = 0) -> RunState:
    """Random tensors of several shapes and both float types, some bits awkward.

    Inside an epoch there is also a loss so far, and noise that has been drawn.
    """
    generator = torch.Generator().manual_seed(1000 * seed + 100 * step + epoch)
    awkward = torch.tensor([-0.0, float("nan"), float("inf"), 1e-45, 3e38])
    parameters = {
        "embed.weight": torch.randn(3, 4, generator=generator),
        "blocks.0.fc1.weight": torch.randn(4, 3, generator=generator).T,
        "out_head.bias": awkward,
    }
    moments = {
        f"{moment}.embed.weight": torch.rand(3, 4, generator=generator).double()
        for moment in ("exp_avg", "exp_avg_sq")
    }
    feedback = {"B": torch.randn(2, 3, 5, generator=generator)}
    noise = torch.randint(256, (24,), generator=generator, dtype=torch.uint8) if step else None
    return RunState(epoch, parameters, feedback, moments, step, step / 7, noise)


def started(runs: Path, config: RunConfig, *positions: int | Position) -> RunFolder:
    """A folder that has trained and saved `positions` (or epochs), one after the other."""
    folder = RunFolder(runs, config)
    folder.create()
    recorded = 0
    for position in positions:
        epoch, step = (position, 0) if isinstance(position, int) else position
        for number in range(recorded, epoch + 1):
            folder.metrics.append(metrics_line(number))
        recorded = max(recorded, epoch + 1)
        folder.save(state(epoch, config.seed, step))
    return folder


def finished(
    runs: Path, config: RunConfig, accuracy: float, diverged_in: int | None = None, **more: Any
) -> RunFolder:
    """A folder with a result, as far as the store is concerned; `more` is in every line."""
    folder = RunFolder(runs, config)
    folder.create()
    for epoch in range(config.recipe.epochs + 1):
        diverged = diverged_in is not None and epoch >= diverged_in
        about = {"diverged": diverged, "blocks": config.net.blocks}
        folder.metrics.append(metrics_line(epoch, accuracy, **about | more))
    folder.finish({"commit": "abc"})
    return folder


def done_with_network(runs: Path, config: RunConfig) -> RunFolder:
    """A folder with a result and the checkpoint of its last epoch."""
    folder = started(runs, config, *range(config.recipe.epochs + 1))
    folder.finish({"commit": "abc"})
    return folder


def saved_states(folder: RunFolder) -> dict[Position, RunState | None]:
    """Every checkpoint that is there, by position."""
    return {position: folder.load(position) for position in folder.saved()}


def bits(tensor: Tensor) -> tuple[torch.dtype, tuple[int, ...], bytes]:
    """All there is to a tensor: equal only where every bit is."""
    return tensor.dtype, tuple(tensor.shape), tensor.contiguous().numpy().tobytes()


def state_bits(found: RunState | None) -> dict[str, Any]:
    """All there is to a state."""
    assert found is not None
    parts = {part: getattr(found, part) for part in ("parameters", "feedback", "moments")}
    noise = None if found.noise is None else bits(found.noise)
    return {"position": found.position, "loss": found.loss.hex(), "noise": noise} | {
        part: {name: bits(tensor) for name, tensor in tensors.items()}
        for part, tensors in parts.items()
    }


def checkpoint_bits(path: Path) -> dict[str, Any]:
    """All there is to a checkpoint; the order of things in the file does not count."""
    with safe_open(path, framework="pt") as handle:
        tensors = {name: bits(handle.get_tensor(name)) for name in handle.keys()}  # noqa: SIM118
        return {"metadata": handle.metadata(), "tensors": tensors}


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below `folder`: when it was written, and its bytes."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
