"""What a check says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from depthgauge.checks.bench import Bench


class Remark(str):
    """A sentence that is worth saying, but nothing is wrong."""


@dataclass(frozen=True)
class Check:
    """What is checked, in words, and how: None, a remark, or a sentence on what is wrong."""

    what: str
    finds: Callable[[Bench], str | None]


@dataclass(frozen=True)
class Outcome:
    """A check that was made; `passed` is None where it could not be, because an earlier failed."""

    check: str
    passed: bool | None
    message: str = ""
