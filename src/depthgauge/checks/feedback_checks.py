"""Checks of what a rule keeps."""

from __future__ import annotations

import torch
from safetensors.torch import save
from torch import Tensor

from depthgauge.checks.bench import RUNS, SEEDS, Bench
from depthgauge.checks.outcome import Check, Remark
from depthgauge.checks.randomness import depends_on_chance


def _drawn(bench: Bench, run: int = 0) -> dict[str, Tensor]:
    return bench.fresh().feedback(bench.nets[run], torch.Generator().manual_seed(SEEDS[run]))


def named_tensors(bench: Bench) -> str | None:
    """A dict with texts as keys and finite tensors as values."""
    kept: object = _drawn(bench)
    if not isinstance(kept, dict):
        return f"`feedback` returned {type(kept).__name__}; return a dict of tensors, {{}} for none"
    for name, tensor in kept.items():
        if not isinstance(name, str):
            return f"the key {name!r} of the feedback is no text; use names such as 'B'"
        if not isinstance(tensor, Tensor):
            return (
                f"feedback[{name!r}] is {type(tensor).__name__}, not a tensor; numbers go into "
                "torch.tensor(…), networks into their weights"
            )
        if not bool(tensor.isfinite().all()):
            return f"feedback[{name!r}] has values that are not finite"
    return None


def can_be_saved(bench: Bench) -> str | None:
    """Written as checkpoints are: every tensor with memory of its own."""
    kept = _drawn(bench)
    try:
        save({name: tensor.contiguous() for name, tensor in kept.items()})
    except Exception as error:
        memory = {name: tensor.untyped_storage().data_ptr() for name, tensor in kept.items()}
        shared = [name for name in memory if list(memory.values()).count(memory[name]) > 1]
        if shared:
            return f"{' and '.join(map(repr, shared))} share memory; add .clone() to all but one"
        return f"the feedback cannot be written to a checkpoint: {error}"
    return None


def same_for_every_run(bench: Bench) -> str | None:
    """Runs are stacked, so names, shapes and types must not depend on the seed."""
    kinds = [
        {name: (tuple(t.shape), t.dtype) for name, t in _drawn(bench, run).items()} for run in RUNS
    ]
    if kinds[1:] != kinds[:-1]:
        return (
            f"two seeds have feedback of different kinds, {kinds[0]} and "
            f"{next(kind for kind in kinds if kind != kinds[0])}; names, shapes and dtypes must "
            "follow from the network's shape and the options alone"
        )
    return None


def from_the_generator(bench: Bench) -> str | None:
    """The same generator, the same feedback, whatever the global random state is."""
    found = depends_on_chance(lambda: _drawn(bench))
    if found is not None:
        return (
            f"`feedback` {found}; draw everything from `generator`, as in "
            "torch.randn(…, generator=generator)"
        )
    return None


def leaves_the_network(bench: Bench) -> str | None:
    """The network that `feedback` is shown is the one that will be trained."""
    bench = Bench(bench.choice)
    net = bench.nets[0]
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    _drawn(bench)
    changed = [name for name, tensor in net.state_dict().items() if not tensor.equal(before[name])]
    if changed:
        return f"`feedback` changed the network's {', '.join(changed)}; read it, do not change it"
    return None


def not_from_weights(bench: Bench) -> str | None:
    """Feedback that copies weights carries them backwards, and audits say so."""
    first, other = (
        bench.fresh().feedback(net, torch.Generator().manual_seed(SEEDS[0]))
        for net in bench.nets[:2]
    )
    copied = [name for name, tensor in first.items() if not tensor.equal(other[name])]
    declared = bench.choice.rule_class.copies_weights
    if copied and not declared:
        return (
            f"feedback[{copied[0]!r}] depends on the network's weights; set `copies_weights = "
            "True`, so that audits say that this rule transports weights, or draw it from "
            "`generator` alone"
        )
    if declared and not copied:
        return Remark("`copies_weights` is set, but the feedback does not depend on the weights")
    return None


KIND = Check("feedback is a dict of finite tensors", named_tensors)
CHECKS = [
    Check("feedback can be saved with a checkpoint", can_be_saved),
    Check("feedback has the same names and shapes for every seed", same_for_every_run),
    Check("feedback is drawn from the generator alone", from_the_generator),
    Check("feedback leaves the network as it is", leaves_the_network),
]
WEIGHTS = Check("feedback is not made from weights, or `copies_weights` says so", not_from_weights)
