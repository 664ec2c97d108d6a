"""Whatever stands in a study, an exported table says the same to the last bit."""

from __future__ import annotations

import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from cli.commands import run
from cli.exported_tables import MEASURED, READ
from scheduling.small_grids import grid, plan, study_of
from store.small_runs_on_disk import metrics_line, run_config

from depthgauge.config import RuleConfig
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder

ODD = RuleConfig(
    name="odd", label="odd[text='a, \"b\"']", options={"text": 'λ, "quoted",\nand a new line'}
)
AWKWARD = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1e16, 1e-7, 123456789012345680.0, 1.0]


def any_floats(count: int) -> list[float]:
    """Of every magnitude: their bits are drawn."""
    draw = random.Random(1)
    bits = (struct.pack("<Q", draw.getrandbits(64)) for _ in range(count))
    return [value for (value,) in map(struct.Struct("<d").unpack, bits) if math.isfinite(value)]


@pytest.fixture
def odd(tmp_path: Path) -> StudyFolder:
    """One run planned, and one with an awkward name and awkward numbers, or none."""
    study = study_of(grid(), tmp_path / "odd")
    plan(study, grid("dfa[normalise=batch,epsilon=0.5]", ks=(2,), seeds=(1,)))
    folder = RunFolder(study.runs, run_config().model_copy(update={"rule": ODD}))
    folder.create()
    for epoch, value in enumerate([*AWKWARD, *any_floats(300)]):
        missing = {"train_loss": None, "g_norm": [value, None, -value]}
        folder.metrics.append(metrics_line(epoch, value, diverged=epoch % 2 == 0) | missing)
    return study


def exactly(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Floats to the last bit, and the sign of zero."""
    return [
        {name: v.hex() if isinstance(v, float) else v for name, v in row.items()} for row in rows
    ]


@pytest.mark.parametrize("kind", list(READ))
def test_numbers_are_exact_and_texts_intact(odd, kind):
    assert run("export", odd.path, "--format", kind).status == 0
    planned, *rows = READ[kind](odd.path / f"runs.{kind}")
    (folder,) = odd.all_runs()
    lines = folder.metrics.lines()
    assert len(lines) == len(rows) > 300
    for row in rows:
        assert (row["run"], row["rule"], row["label"]) == (folder.config.identity, "odd", ODD.label)
        assert json.loads(row["options"]) == ODD.options
    for name in ("accuracy", "train_loss", "diverged"):
        assert exactly([{name: row[name]} for row in rows]) == exactly(
            [{name: line[name]} for line in lines]
        )
    for layer in range(3):
        assert exactly([{"g": row[f"g_norm_{layer}"]} for row in rows]) == exactly(
            [{"g": line["g_norm"][layer]} for line in lines]
        )
    assert planned["label"] == "dfa[normalise=batch,epsilon=0.5]"
    assert {planned[name] for name in MEASURED} == {None}


def test_of_odd_studies_too_both_formats_say_the_same(odd):
    for kind in READ:
        assert run("export", odd.path, "--format", kind).status == 0
    rows, same = (read(odd.path / f"runs.{kind}") for kind, read in READ.items())
    assert exactly(rows) == exactly(same)
    assert list(rows[0]) == list(same[0])
    assert list(rows[0])[:3] == ["run", "label", "k"]


def test_lines_end_as_on_any_system_and_what_is_missing_is_empty(odd):
    run("export", odd.path)
    content = (odd.path / "runs.csv").read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert b"null" not in content
    assert b",," in content
