"""The network that is read: one whose gradient was checked, or the plain twin of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from depthgauge.diagnosis.precision import in_float32
from depthgauge.errors import UserError
from depthgauge.gauges.reference_check import ReferenceCheckReading, check_reference
from depthgauge.nets.batch import split_batch
from depthgauge.nets.plain_twin import plain_twin
from depthgauge.nets.stream_reader import StreamReader

SAME_ANSWER = 1e-3
"""How far the twin's logits may be off, as a share of their norm."""

REMEDY = "pass plain=, a twin with the same parameter names and an ordinary backward pass"


@dataclass(frozen=True)
class CheckedNetwork:
    """A network in the precision in which it is read, and whether its gradient is true.

    Attributes:
        net: what is read; `see` takes no gradients of it where they are not true.
        native: the same in its own precision.
        reference_check: of the network that was given.
        plain_check: of the plain twin, where one was given.
        remarks: for the report.
    """

    net: StreamReader
    native: StreamReader
    reference_check: ReferenceCheckReading
    plain_check: ReferenceCheckReading | None
    remarks: tuple[str, ...]

    @property
    def used_check(self) -> ReferenceCheckReading:
        """That of the network that is read."""
        return self.plain_check or self.reference_check


def check_network(native: StreamReader, plain: nn.Module | None, batch: Any) -> CheckedNetwork:
    """Check the gradient on the first samples of a batch; a plain twin is read in its place."""
    inputs, labels = split_batch(batch)
    net, remarks = in_float32(native)
    check = check_reference(net, inputs, len(labels))
    plain_check = None
    if plain is not None:
        given, native = net, plain_twin(native, plain)
        net, remarks = in_float32(native)
        _check_answers(given, net, inputs)
        plain_check = check_reference(net, inputs, len(labels))
    if not (plain_check or check).is_true:
        net = net.without_gradients()
    return CheckedNetwork(net, native, check, plain_check, (*remarks, *_told(check, plain_check)))


def _check_answers(given: StreamReader, twin: StreamReader, inputs: Any) -> None:
    expected, found = (one.logits(inputs).double().nan_to_num() for one in (given, twin))
    same = found.shape == expected.shape
    if not same or float((found - expected).norm()) > SAME_ANSWER * float(expected.norm()):
        raise UserError(
            "the module given as plain= does not answer what the network answers; it must compute "
            "the same from the same weights"
        )


def _told(check: ReferenceCheckReading, plain: ReferenceCheckReading | None) -> list[str]:
    """Say what is wrong, what was read instead, and what to do."""
    if check.is_true and (plain is None or plain.is_true):
        return []
    if plain is None:
        has_twin = "steps" not in check.faults.values()
        remedy = f" {REMEDY[0].upper()}{REMEDY[1:]}: then they are read off it." if has_twin else ""
        return [
            f"{_sentence(check.complaint)} Readings that need the true gradient are n/a.{remedy}"
        ]
    if plain.is_true:
        return [f"{_sentence(check.complaint)} Everything was read off the plain twin."]
    return [
        f"{_sentence(plain.complaint)} This is so in the module given as plain=, so readings that "
        "need the true gradient are n/a."
    ]


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."
