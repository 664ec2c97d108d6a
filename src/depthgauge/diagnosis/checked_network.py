"""The network that gauges read, after a check of its gradient.

Gauges read the given network or its plain twin. A plain twin is a module that computes the same as
the network, with an ordinary backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from depthgauge.diagnosis.precision import in_float32
from depthgauge.errors import UserError
from depthgauge.gauges.reference_check import ReferenceCheckReading, check_reference
from depthgauge.nets.batch import split_batch
from depthgauge.nets.plain_twin import make_plain_twin
from depthgauge.nets.stream_reader import StreamReader

SAME_ANSWER = 1e-3
"""The largest allowed difference between the logits of the twin and of the network, as a share."""

REMEDY = "pass plain=, a twin with the same parameter names and an ordinary backward pass"


@dataclass(frozen=True)
class CheckedNetwork:
    """A network ready to be read, and whether its gradient is true.

    Attributes:
        net: the network to read. A network in half precision is converted to float32. If
            autograd's gradient is not the true gradient, the network gives no gradients.
        native: the same network in its own precision.
        reference_check: the check of the given network's gradient.
        plain_check: the check of the plain twin's gradient, if a twin was given.
        remarks: sentences for the report, about precision and gradient.
    """

    net: StreamReader
    native: StreamReader
    reference_check: ReferenceCheckReading
    plain_check: ReferenceCheckReading | None
    remarks: tuple[str, ...]

    @property
    def used_check(self) -> ReferenceCheckReading:
        """Return the check of the network that is read."""
        return self.plain_check or self.reference_check


def check_network(native: StreamReader, plain: nn.Module | None, batch: Any) -> CheckedNetwork:
    """Check the gradient on a batch; return the network to read, which is `plain` if given."""
    inputs, labels = split_batch(batch)
    net, remarks = in_float32(native)
    check = check_reference(net, inputs, len(labels))
    plain_check = None
    if plain is not None:
        given, native = net, make_plain_twin(native, plain)
        net, remarks = in_float32(native)
        _check_answers(given, net, inputs)
        plain_check = check_reference(net, inputs, len(labels))
    if not (plain_check or check).is_true:
        net = net.without_gradients()
    remarks += tuple(_remarks(check, plain_check))
    return CheckedNetwork(net, native, check, plain_check, remarks)


def _check_answers(given: StreamReader, twin: StreamReader, inputs: Any) -> None:
    """Refuse a twin whose logits differ from those of the given network."""
    expected, found = (net.logits(inputs).double().nan_to_num() for net in (given, twin))
    is_alike = found.shape == expected.shape
    if not is_alike or float((found - expected).norm()) > SAME_ANSWER * float(expected.norm()):
        raise UserError(
            "the module given as plain= answers differently than the network; give a module that "
            "gives the same answers as the network if both have the same weights"
        )


def _remarks(check: ReferenceCheckReading, plain: ReferenceCheckReading | None) -> list[str]:
    """Return sentences: what is wrong with the gradient, what was read instead, and what to do."""
    if check.is_true and (plain is None or plain.is_true):
        return []
    if plain is None:
        has_twin = "steps" not in check.faults.values()
        remedy = f" To get them, {REMEDY}." if has_twin else ""
        return [
            f"{_sentence(check.complaint)} Readings that need the true gradient are n/a.{remedy}"
        ]
    if plain.is_true:
        return [f"{_sentence(check.complaint)} All readings are those of the plain twin."]
    return [
        f"{_sentence(plain.complaint)} This concerns the module given as plain=. Readings that "
        "need the true gradient are n/a."
    ]


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."
