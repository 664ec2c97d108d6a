"""The example of docs/tasks/arrays.md writes files that are tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from depthgauge.tasks.arrays import load_arrays

PAGE = Path(__file__).parents[2] / "docs" / "tasks" / "arrays.md"


def test_the_example_writes_three_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    monkeypatch.chdir(tmp_path)
    exec(code[1], {})
    images, tokens, regression = (
        load_arrays(f"{name}.npz") for name in ("images", "tokens", "regression")
    )
    assert images.shape.image_for("vit") == (3, 16, 16)
    assert (tokens.symbols, tokens.shape.per_position) == (20, True)
    assert (regression.is_regression, regression.num_classes) == (True, 2)
