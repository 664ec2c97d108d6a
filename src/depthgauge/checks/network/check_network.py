"""Check one network: what depthgauge sees of it, and what depthgauge can do with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from depthgauge.checks.network.answer import BlockList, NetCheck
from depthgauge.checks.network.batch import Batch
from depthgauge.checks.network.block_lists import find_block_lists, find_repeated
from depthgauge.checks.network.words import (
    describe_inputs,
    describe_stream,
    modules_that_follow,
)
from depthgauge.errors import UserError
from depthgauge.gauges.reference_check import check_reference
from depthgauge.losses.function_loss import AnyLoss, as_loss
from depthgauge.nets.batch import call_network
from depthgauge.nets.cut.probe import Probe, Returns, probe
from depthgauge.nets.find_blocks import Blocks, find_blocks
from depthgauge.nets.layout import Layout
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.registry import RULES

MOST = 5
"""The most lists of modules that are tried as blocks."""


def check_network(
    model: nn.Module,
    batch: Batch,
    *,
    blocks: Blocks = None,
    loss: AnyLoss | None = None,
    returns: Returns = "auto",
) -> NetCheck:
    """Say what depthgauge sees of a network, and what it can do with the network.

    The network runs on one batch, in seconds, and is left as it was.

    Args:
        model: the network.
        batch: at least two samples.
        blocks: the path to the blocks, or the modules. Without it, `model.blocks`, or else the
            largest list of modules that can be trained.
        loss: the loss that trains the network; by default the cross-entropy, or the squared error
            if labels are not class numbers.
        returns: what blocks return, if this cannot be told: "stream" or "branch".
    """
    return _Check(model, batch, loss, returns).run(blocks)


class _Check:
    def __init__(
        self, model: nn.Module, batch: Batch, loss: AnyLoss | None, returns: Returns
    ) -> None:
        self.model, self.batch, self.returns = model, batch, returns
        usual = "squared_error" if batch.labels.is_floating_point() else "cross_entropy"
        self.loss = as_loss(usual if loss is None else loss)

    def _losses(self, output: Tensor, labels: Tensor) -> Tensor:
        self.loss.check(output.shape, labels)
        return self.loss.value(output, labels)

    def run(self, blocks: Blocks) -> NetCheck:
        """Check the network with these blocks, or with the best list of modules in it."""
        if blocks is not None or hasattr(self.model, "blocks"):
            chosen = find_blocks(self.model, blocks)
            path = "blocks" if blocks is None else blocks if isinstance(blocks, str) else None
            return self._describe(chosen, path, self._probe(chosen), ())
        tried = self._try_block_lists()
        lists = [BlockList(path, len(own), _kinds(own), seen.training) for path, own, seen in tried]
        usable = tuple(candidate for candidate in lists if candidate.refusal is None)
        for path, own, seen in tried:
            if seen.training is None:
                return self._describe(own, path, seen, usable)
        return self._without_blocks(tuple(lists))

    def _try_block_lists(self) -> list[tuple[str, list[nn.Module], Probe]]:
        """Probe the lists of modules in the network, except lists inside blocks that were found."""
        tried: list[tuple[str, list[nn.Module], Probe]] = []
        inside: set[nn.Module] = set()
        for path in find_block_lists(self.model):
            own = find_blocks(self.model, path)
            if inside.issuperset(own):
                continue
            seen = self._probe(own)
            tried.append((path, own, seen))
            if seen.training is None:
                inside |= {module for block in own for module in block.modules()}
            if len(tried) == MOST:
                break
        if not inside and (found := find_repeated(self.model, self._run_once)):
            own = find_blocks(self.model, found)
            tried.append((found, own, self._probe(own)))
        return tried

    def _run_once(self) -> None:
        call_network(self.model, self.batch.inputs)

    def _probe(self, blocks: Sequence[nn.Module]) -> Probe:
        inputs, labels = self.batch.inputs, self.batch.labels
        return probe(self.model, blocks, inputs, labels, self._losses, returns=self.returns)

    def _without_blocks(self, candidates: tuple[BlockList, ...]) -> NetCheck:
        """Answer for a network in which no list of blocks was found."""
        children = [name for name, _ in self.model.named_children()]
        tried = (
            "none of the lists of modules in it can be its blocks"
            if candidates
            else ("it has no list of modules that could be its blocks")
        )
        reason = f"{tried}; give the modules that run one after the other: --blocks NAME,NAME,…"
        notes = (f"the modules in it: {', '.join(children)}",) if children else ()
        return self._answer(
            notes=notes,
            candidates=candidates,
            trained=reason,
            ladder_tested=reason,
            diagnosed=reason,
            resumed=reason,
        )

    def _describe(
        self,
        blocks: Sequence[nn.Module],
        path: str | None,
        seen: Probe,
        candidates: tuple[BlockList, ...],
    ) -> NetCheck:
        names = {module: name for name, module in self.model.named_modules()}
        layout = _layout(seen, len(self.batch.labels))
        diagnosed, remarks = self._diagnose(blocks, layout)
        if layout.sample_axis:
            remarks = (
                "the samples are on axis 1 of the stream; give `layout=Layout(sample_axis=1)`",
                *remarks,
            )
        return self._answer(
            output=seen.output[1:],
            blocks=tuple(names[block] for block in blocks),
            kinds=_kinds(blocks),
            path=path,
            stream=describe_stream(seen, layout),
            below=modules_that_follow(self.model, blocks, seen.owners, "below the blocks"),
            readout=modules_that_follow(self.model, blocks, seen.owners, "loss"),
            notes=(*seen.notes, *remarks),
            candidates=candidates,
            trained=seen.training,
            ladder_tested=seen.ladder,
            diagnosed=diagnosed,
            resumed=seen.resume,
            rules=self._rules(seen, layout),
        )

    def _answer(self, **known: Any) -> NetCheck:
        return NetCheck(
            network=type(self.model).__name__,
            parameters=sum(p.numel() for p in self.model.parameters()),
            inputs=describe_inputs(self.batch.inputs, self.batch.source),
            **known,
        )

    def _diagnose(
        self, blocks: Sequence[nn.Module], layout: Layout
    ) -> tuple[str | None, tuple[str, ...]]:
        """Return why the network cannot be diagnosed, and what its gradient is not."""
        returns = "auto" if self.returns == "auto" else self.returns
        try:
            reader = StreamReader(
                self.model, list(blocks), loss=self.loss, layout=layout, returns=returns
            )
            reader.see(self.batch.inputs, self.batch.labels)
            checked = check_reference(reader, self.batch.inputs, len(self.batch.labels))
        except UserError as error:
            return str(error), ()
        if checked.is_true:
            return None, ()
        remark = f"{checked.complaint}; readings that need the true gradient are n/a"
        return None, (f"{remark} (`diagnose` can read them from a plain twin)",)

    def _rules(self, seen: Probe, layout: Layout) -> dict[str, str | None]:
        """Return for each rule why it cannot train the network; empty if no rule can."""
        if seen.training is not None or seen.passage is None:
            return {}
        axis = layout.sample_axis
        labels = self.batch.labels
        net = NetShape(
            tuple((*shape[:axis], *shape[axis + 1 :]) for shape in seen.shapes),
            seen.output[1:],
            None if labels.is_floating_point() else seen.output[-1],
            layout,
            residual=False,
            refusals=seen.refusals,
        )
        return {name: RULES.find(name)[0]().why_not(net) for name in RULES.names}


def _kinds(blocks: Sequence[nn.Module]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(type(block).__name__ for block in blocks))


def _layout(seen: Probe, samples: int) -> Layout:
    """Return the layout of the stream: samples are on its first axis, or else on its second."""
    first = seen.shapes[0] if seen.shapes else ()
    second = len(first) > 2 and first[0] != samples == first[1]  # noqa: PLR2004
    return Layout(sample_axis=1 if second else 0)
