"""What is trained where nothing else is asked for."""

from __future__ import annotations

DEFAULT_RULES = ["bp", "fa", "dfa"]
DEFAULT_SEEDS = [42, 123, 456]
