"""Which evaluation samples a network names rightly: one bit for each, as text for a JSON file."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import TypedDict


class RightAnswers(TypedDict):
    """One bit for each evaluation sample, in order: 1 where the network names it rightly."""

    samples: int
    bits: str
    """`numpy.packbits` in base64."""


def pack(right: ArrayLike) -> RightAnswers:
    """Return the bits as they stand in a `result.json`."""
    flags = np.asarray(right, dtype=bool)
    text = base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")
    return {"samples": len(flags), "bits": text}


def unpack(stored: RightAnswers) -> NDArray[np.bool_]:
    """Return a flag for each sample.

    Raises:
        ValueError: the bits are not as many as the samples.
    """
    packed = np.frombuffer(base64.b64decode(stored["bits"], validate=True), dtype=np.uint8)
    if len(packed) != -(-stored["samples"] // 8):
        raise ValueError(f"{8 * len(packed)} bits for {stored['samples']} samples")
    return np.unpackbits(packed, count=stored["samples"]).astype(bool)
