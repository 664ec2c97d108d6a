"""What a reader of a report should be told besides the readings."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from depthgauge.diagnostics.depth_utility import DEPTH_UTILITY
from depthgauge.diagnostics.scale import SCALE
from depthgauge.gauges.depth import DepthReading
from depthgauge.gauges.reading import Reading
from depthgauge.gauges.scale import ScaleReading
from depthgauge.nets.batch_view import BatchView

FAR = 0.05


def on_pinned_norm(scale: ScaleReading) -> list[str]:
    """Say where D1 passes because it cannot do otherwise."""
    if not scale.pinned:
        return []
    return [
        "No block can change the norm of the stream, as with a LayerNorm or a bounded activation "
        f"after each: {SCALE.id} passes whatever the network has learned, and is no evidence here."
    ]


class LabelCheck:
    """Sees whether labels per token are the tokens themselves: then nobody has shifted them."""

    def __init__(self) -> None:
        self._same, self._samples = False, 0

    def see(self, batch: BatchView) -> None:
        """Look at the batch's inputs beside its labels."""
        self._samples += len(batch)
        tokens = [
            leaf
            for leaf in tree_leaves(batch.inputs)
            if isinstance(leaf, Tensor) and not leaf.is_floating_point()
        ]
        self._same = self._same or any(
            leaf.dim() > 1 and torch.equal(leaf, batch.labels) for leaf in tokens
        )

    def remarks(self, accuracy: Reading, depth: DepthReading) -> list[str]:
        """Sentences for the report."""
        found = []
        if self._same:
            found.append(
                "The labels are the inputs: if the network predicts the next token, shift them."
            )
        headline, measured = depth.accuracy, accuracy.value
        noise = 3 * math.sqrt(0.25 / max(self._samples, 1))
        if headline is not None and measured is not None and abs(headline - measured) > FAR + noise:
            found.append(
                f"The headline accuracy, {headline:.3f}, is far from the one measured here, "
                f"{measured:.3f}: are these the right inputs and labels?"
            )
        if depth.value is not None and depth.bp_gain is None:
            found.append(
                "Whether backpropagation gains from depth on this task was not said; "
                f"{DEPTH_UTILITY.id} is judged as if it does."
            )
        return found
