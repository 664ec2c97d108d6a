"""A stopwatch that times functions and methods from outside."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Stopwatch:
    """Adds up the `seconds` spent in timed functions, by name.

    A function that another timed function calls has the name `outer/inner`.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._running: list[str] = []

    def timed(self, name: str, function: Callable[..., T]) -> Callable[..., T]:
        """Return the same function, timed under a name."""

        def timed(*args: Any, **kwargs: Any) -> T:
            self._running.append(name)
            path, began = "/".join(self._running), time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[path] += time.perf_counter() - began
                self._running.pop()

        return timed

    def watch(self, owner: object, method: str, name: str) -> None:
        """Replace a method of one object by its timed form."""
        setattr(owner, method, self.timed(name, getattr(owner, method)))
