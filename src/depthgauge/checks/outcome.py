"""A check of a rule, and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from depthgauge.checks.checked_rule import CheckedRule


class Remark(str):
    """A sentence that names no fault of a rule, but something that its users should know."""


@dataclass(frozen=True)
class Check:
    """A check of a rule.

    Attributes:
        what: what is checked, in words.
        find_fault: returns a sentence about what is wrong, a remark, or None.
    """

    what: str
    find_fault: Callable[[CheckedRule], str | None]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check; `passed` is None if an earlier fault prevented the check."""

    check: str
    passed: bool | None
    message: str = ""
