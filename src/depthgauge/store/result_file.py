"""Make and check the content of `result.json`; a run is done once this file exists."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import TypeAdapter, ValidationError
from typing_extensions import NotRequired, TypedDict

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.store.provenance import Provenance


class RightAnswers(TypedDict):
    """The score of each evaluation sample, in order.

    If a sample is right or wrong, the score is one bit. With several labels for each sample, or
    with real targets, it is a number.
    """

    samples: int
    bits: NotRequired[str]
    """The bits, packed by `numpy.packbits`, in base64."""
    numbers: NotRequired[str]
    """The numbers as float32, little-endian, in base64."""


def pack_answers(right: ArrayLike) -> RightAnswers:
    """Pack a flag or a number for each sample into `RightAnswers`, the form in `result.json`."""
    scores = np.asarray(right)
    if scores.dtype == bool:
        return {"samples": len(scores), "bits": _in_base64(np.packbits(scores))}
    return {"samples": len(scores), "numbers": _in_base64(scores.astype("<f4"))}


def _in_base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def unpack_answers(stored: RightAnswers) -> NDArray[Any]:
    """Return the score of each sample: a flag, True if the answer is right, or a number.

    Raises:
        ValueError: the number of scores does not fit the number of samples.
    """
    samples = stored["samples"]
    if "numbers" in stored:
        numbers = np.frombuffer(base64.b64decode(stored["numbers"], validate=True), dtype="<f4")
        if len(numbers) != samples:
            raise ValueError(f"`right` has {len(numbers)} numbers for {samples} samples")
        return numbers.astype(np.float64)
    bits = base64.b64decode(stored.get("bits", ""), validate=True)
    packed = np.frombuffer(bits, dtype=np.uint8)
    if len(packed) != -(-samples // 8):
        raise ValueError(f"`right` has {8 * len(packed)} bits, which do not fit {samples} samples")
    return np.unpackbits(packed, count=samples).astype(bool)


def result_of(
    config: RunConfig,
    metrics: Sequence[EpochMetrics],
    provenance: Provenance,
    right: RightAnswers | None = None,
) -> ResultFile:
    """Return the result of a run; refuse metrics in which an epoch is missing."""
    if [line["epoch"] for line in metrics] != list(range(config.recipe.epochs + 1)):
        raise UserError(
            f"epochs are missing in the metrics of the run {config.identity}; remove the run's "
            "folder, and run the command again to train the run again"
        )
    diverged = next((line["epoch"] for line in metrics if line["diverged"]), None)
    result: ResultFile = {
        "schema_version": SCHEMA_VERSION,
        "identity": config.identity,
        "status": "finished" if diverged is None else "diverged",
        "final_acc": metrics[-1]["accuracy"] if diverged is None else None,
        "diverged_epoch": diverged,
        "final": metrics[-1],
        "provenance": provenance,
    }
    return result if right is None else {**result, "right": right}


def has_diverged(content: bytes) -> bool:
    """Return whether the content of a `result.json` says that the run diverged."""
    try:
        return _RESULT.validate_json(content)["status"] == "diverged"
    except ValidationError:
        return False


def find_fault(result: Any, identity: str) -> str | None:
    """Return what is wrong with the content of a run's `result.json`; None if nothing is wrong.

    The text is the rest of a sentence that begins with the file's name.
    """
    version = result.get("schema_version") if isinstance(result, dict) else None
    if version not in (None, SCHEMA_VERSION):
        return f"has the schema version {version}; this version knows {SCHEMA_VERSION}"
    try:
        content = _RESULT.validate_python(result)
        is_valid = content["identity"] == identity
        if "right" in content:
            unpack_answers(content["right"])
    except (ValidationError, ValueError):
        is_valid = False
    return None if is_valid else "is incomplete, or is the result of another run"


class _Ended(TypedDict):
    schema_version: Literal[1]
    identity: str
    status: Literal["finished", "diverged"]
    final_acc: float | None
    diverged_epoch: int | None


class ResultFile(_Ended):
    """The content of a `result.json`."""

    final: EpochMetrics
    """The metrics of the last epoch."""
    provenance: Provenance
    right: NotRequired[RightAnswers]
    """Missing in results of earlier versions."""


class _Final(TypedDict):
    h_norm: list[float | None]
    g_norm: list[float | None]


class _Provenance(TypedDict):
    commit: str | None


class _Needed(_Ended):
    """The fields that every result must have."""

    final: _Final
    provenance: _Provenance
    right: NotRequired[RightAnswers]


_RESULT = TypeAdapter(_Needed)
