"""ρ as it was published, so that published figures can be compared like with like."""

from __future__ import annotations

from torch import Tensor

from depthgauge.gauges.credit import CreditFunction, credit_of, paired
from depthgauge.gauges.perturbation import Losses, PerturbationGauge
from depthgauge.nets.batch_view import BatchView


class PublishedPerturbation(PerturbationGauge):
    """ρ with the published ε and pairing, and the changes of the loss in the network's precision.

    In float32 a loss near 2 has steps of 2e-7; where a shift changes it by less than that, ρ is
    pulled towards 0. To be given the credit as the rule forms it, before it is normalised.
    """

    def __init__(self, credit: CreditFunction) -> None:
        super().__init__(credit, "published")

    def _losses_of(self, batch: BatchView) -> Losses:
        net, labels = batch.net, batch.labels.to(batch.net.device)

        def losses(shift: tuple[int, Tensor] | None) -> Tensor:
            if shift is not None:
                shift = shift[0], shift[1].to(net.dtype)
            each: Tensor = net.loss(net.logits(batch.inputs, shift=shift), labels)
            return each.double()

        return losses

    def _credit_at_boundaries(self, batch: BatchView) -> list[Tensor]:
        return paired(credit_of(self._credit, batch), "published")

    def _how(self) -> str:
        return "ε = 1e-3, credit not normalised, at each block's input, loss not in float64"
