"""What was read after every epoch, packed and unpacked again."""

from __future__ import annotations

import base64
import json
import math
import struct
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
from results.written_studies import put_plan, write_study
from store.small_runs_on_disk import metrics_line, run_config, started

from depthgauge.report.page.series import packed_series
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.store.study_folder import StudyFolder


def unpacked(study: StudyResult) -> dict[str, list[list[float]]]:
    """The rows of each run by its identity, slowly."""
    packed = json.loads(json.dumps(packed_series(study.runs)))
    raw = base64.b64decode(packed["values"])
    numbers = [struct.unpack("<f", raw[at : at + 4])[0] for at in range(0, len(raw), 4)]
    found, columns = {}, len(packed["scalars"])
    for index, run in enumerate(study.runs):
        width = columns + 2 * packed["layers"][index]
        start, epochs = packed["start"][index], packed["epochs"][index]
        found[run.identity] = [
            numbers[start + epoch * width : start + (epoch + 1) * width] for epoch in range(epochs)
        ]
    assert sum(len(row) for rows in found.values() for row in rows) == len(numbers)
    return found


def expected(line: dict, layers: int) -> list[float]:
    """A line of metrics as a row; growth without bound and no gradient where it diverged."""
    h, g = (line.get(name) or [None] * layers for name in ("h_norm", "g_norm"))
    growth = max((b / a for a, b in pairwise(h)), default=0.0) if None not in h else math.inf
    gradient, share = g[-1] or 0.0, line.get("g_over_e", math.nan)
    if "g_over_e" in line:
        share = share or 0.0
    if line["diverged"]:
        growth, gradient, share = math.inf, 0.0, 0.0
    row = [line["accuracy"], line["train_loss"], growth, gradient, share, *h, *g]
    return [math.nan if value is None else value for value in row]


def check(folder: Path) -> None:
    study = load(folder)
    for run in study.runs:
        path = folder / "runs" / run.identity / "metrics.jsonl"
        lines = [json.loads(line) for line in path.open()] if path.exists() else []
        rows = unpacked(study)[run.identity]
        assert len(rows) == len(lines)
        for row, line in zip(rows, lines, strict=True):
            wanted = expected(line, run.config.net.blocks + 1)
            assert row == pytest.approx(wanted, rel=2**-23, nan_ok=True)


def test_a_row_stands_at_its_epoch_also_where_others_were_lost(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {0: {1: 0.5}}})
    (path,) = folder.glob("runs/*/metrics.jsonl")
    kept = [metrics_line(0, 0.1), metrics_line(3, 0.4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    study = load(folder)
    (rows,) = unpacked(study).values()
    assert [row[0] for row in rows][::3] == pytest.approx([0.1, 0.4])
    assert all(math.isnan(value) for row in rows[1:3] for value in row)
    assert study.runs[0].first_fired(study.thresholds) == {}


def test_an_epoch_without_norms_is_not_a_stream_without_bound(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {0: {1: 0.5}}})
    (path,) = folder.glob("runs/*/metrics.jsonl")
    path.write_text(json.dumps({"epoch": 0, "accuracy": 0.3, "diverged": False}) + "\n")
    study = load(folder)
    ((row,),) = unpacked(study).values()
    assert row[0] == pytest.approx(0.3)
    assert all(math.isnan(value) for value in row[1:])
    assert study.runs[0].first_fired(study.thresholds) == {}


def test_runs_of_several_depths_one_that_diverged_and_one_of_which_nothing_is_there(tmp_path):
    rules = {
        "bp": {0: {1: 1 / 3}, 2: {1: 0.1 + 0.2, 2: None}},
        "bp[shallow]": {0: {1: 0.2}},
        "bp[wide_block]": {1: {1: 0.7}},
    }
    folder = write_study(tmp_path / "s", rules, readings={"bp": {"g_over_e": 1e-9 / 3}})
    put_plan(StudyFolder(folder), [run_config("fa", 2, 1)], 0.5)
    started(StudyFolder(folder).runs, run_config("fa", 2, 2), 1)
    check(folder)
    packed = packed_series(load(folder).runs)
    assert sorted(set(packed["layers"])) == [1, 2, 3]
    assert sorted(set(packed["epochs"])) == [0, 2, 4]


@pytest.mark.parametrize("share", [None, 0.0, 1e-38])
def test_what_is_not_finite_or_was_not_read(tmp_path, share):
    folder = write_study(tmp_path / "s", {})
    run = started(StudyFolder(folder).runs, run_config())
    run.metrics.append(metrics_line(0, 0.1, h_norm=[1.0, None, 2.0], g_norm=[1.0, 2.0, None]))
    run.metrics.append(metrics_line(1, math.nan, g_over_e=share, train_loss=math.inf))
    run.metrics.append(metrics_line(2, 0.1, diverged=True))
    check(folder)


def test_numbers_that_no_32_bit_float_can_hold_have_no_bound_and_give_no_warning(tmp_path):
    folder = write_study(
        tmp_path / "s", {"bp": {2: {1: 0.5}}}, readings={"bp": {"h_norm": [1, 1e39, 1e40]}}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (rows,) = unpacked(load(folder)).values()
    assert rows[0][5:8] == [1.0, math.inf, math.inf]


def test_a_study_without_runs():
    assert packed_series([]) == {
        "scalars": ("accuracy", "train_loss", "growth", "gradient", "error_share"),
        "start": [],
        "epochs": [],
        "layers": [],
        "values": "",
    }
