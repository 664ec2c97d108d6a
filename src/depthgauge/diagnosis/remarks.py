"""Remarks of a report: what its reader must know to understand the readings."""

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
"""Headline and measured accuracy may differ by this, plus noise; beyond it, a remark says so."""


def pinned_norm_remarks(scale: ScaleReading) -> list[str]:
    """Return a remark if no block can change the norm of the stream.

    The diagnostic of scale (D1) then always passes, so it is no evidence.
    """
    if not scale.pinned:
        return []
    return [
        "No block can change the norm of the stream, as with a LayerNorm or a bounded activation "
        f"after each block: {SCALE.id} passes whatever the network has learned, and is no evidence "
        "here."
    ]


class LabelCheck:
    """Detects labels that equal the input tokens: the user probably forgot to shift the labels."""

    def __init__(self) -> None:
        self._same, self._samples = False, 0

    def see(self, batch: BatchView) -> None:
        """Compare the inputs of a batch with its labels."""
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
        """Return sentences about the labels, the accuracies and the gain of backpropagation."""
        sentences = []
        if self._same:
            sentences.append(
                "The labels equal the inputs: if the network predicts the next token, shift the "
                "labels."
            )
        headline, measured = depth.accuracy, accuracy.value
        noise = 3 * math.sqrt(0.25 / max(self._samples, 1))
        if headline is not None and measured is not None and abs(headline - measured) > FAR + noise:
            sentences.append(
                f"The headline accuracy, {headline:.3f}, is far from the one measured here, "
                f"{measured:.3f}: check the inputs and labels."
            )
        if depth.value is not None and depth.bp_gain is None:
            sentences.append(
                "The gain of backpropagation from depth on this task was not given; "
                f"{DEPTH_UTILITY.id} assumes that backpropagation gains."
            )
        return sentences
