"""Exported tables, read as others would read them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

MEASURED = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")


def read_csv(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return [
            {
                name: None if text == "" else text if _is_text(name) else json.loads(text.lower())
                for name, text in row.items()
            }
            for row in csv.DictReader(handle)
        ]


def _is_text(name: str) -> bool:
    return name in (
        "run",
        "task",
        "evaluated_on",
        "rule",
        "label",
        "options",
        "source",
        "state",
    ) or (name in ("net", "dtype", "targets"))


def read_parquet(path: Path) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


READ = {"csv": read_csv, "parquet": read_parquet}
