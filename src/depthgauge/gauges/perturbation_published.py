"""Measure ρ as the literature does, to compare with published figures."""

from __future__ import annotations

from torch import Tensor

from depthgauge.gauges.credit import checked_credit, pair_with_gradients
from depthgauge.gauges.perturbation import Losses, PerturbationGauge
from depthgauge.nets.batch_view import BatchView
from depthgauge.rules.credit_function import CreditFunction


class PublishedPerturbation(PerturbationGauge):
    """The perturbation correlation ρ, measured as in the literature.

    Every sample's stream is shifted by ε = 1e-3. Block l's credit is compared at the block's input.
    Losses have the network's own precision: a float32 loss near 2 changes in steps of 2e-7. If
    shifts change the loss by less than one step, ρ is pulled towards 0.

    Args:
        credit: the credit as the rule forms it, before normalisation.
    """

    def __init__(self, credit: CreditFunction) -> None:
        super().__init__(credit, "published")

    def _losses_of(self, batch: BatchView) -> Losses:
        net, labels = batch.net, batch.labels.to(batch.net.device)

        def losses(shift: tuple[int, Tensor] | None) -> Tensor:
            if shift is not None:
                shift = shift[0], shift[1].to(net.dtype)
            own: Tensor = net.loss.value(net.logits(batch.inputs, shift=shift), labels)
            return own.double()

        return losses

    def _credit_at_boundaries(self, batch: BatchView) -> list[Tensor]:
        return pair_with_gradients(checked_credit(self._credit, batch), "published")

    def _method(self) -> str:
        return "ε = 1e-3, credit not normalised, at each block's input, loss not in float64"
