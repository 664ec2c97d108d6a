"""`python -m speed` runs every measurement, here once and on very little data."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli.commands import start

from depthgauge.nets.stacked.products import multiplies_bf16

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROUNDS, SIZE = 1, 3
TOY = ("--rules", "dfa", "--shapes", "8x2", "--sizes", SIZE, "--axes", "runs", "epochs")
TOO_MUCH = 1.6
"""The memory estimate is never below what is needed, and not far above."""

SHORT = ("--rounds", ROUNDS, "--seconds", 0.01, "--samples", 640)


@pytest.mark.slow
def test_each_kind_of_measurement(tmp_path):
    file = tmp_path / "speed.json"
    process = start(
        *("-m", "speed", *TOY, *SHORT, "--json", file),
        cwd=BENCHMARKS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate()
    assert process.returncode == 0, err
    document = json.loads(file.read_text())
    for kind, check in (
        ("ratios", check_ratios),
        ("profile", check_profile),
        ("parts", check_parts),
        ("growth", check_growth),
        ("gauges", check_gauges),
        ("memory", check_memory),
    ):
        for result in document[kind]:
            check(result)
            assert len(err.split(kind)) > ROUNDS
    assert err.startswith("about ")
    assert "exponent" in out


def check_ratios(result: dict[str, Any]) -> None:
    names = {"script", "loop", "loops", f"engine {SIZE}", f"engines {SIZE}"}
    rounded = f"engines {SIZE} bf16"
    if multiplies_bf16(torch.device("cpu")):
        names.add(rounded)
    for measured in ("rates", "memory_bytes", "flops_of_a_run_epoch"):
        assert set(result[measured]) == names
    assert len(result["peaks"]) == ROUNDS * len(names)
    assert all(len(rates) == ROUNDS and min(rates) > 0 for rates in result["rates"].values())
    assert min(result["flops_of_a_run_epoch"].values()) > 0
    fastest = {name: max(rates) for name, rates in result["rates"].items()}
    engine = max(fastest[f"engine {SIZE}"], fastest[f"engines {SIZE}"])
    expected = {
        "loop": [engine / max(fastest["loop"], fastest["loops"])],
        "script": [engine / fastest["script"]],
    }
    if rounded in names:
        expected["bf16"] = [fastest[rounded] / fastest[f"engines {SIZE}"]]
    assert result["ratios"][str(SIZE)] == expected


def check_profile(result: dict[str, Any]) -> None:
    assert len({len(own) for own in result["seconds"].values()}) == 1
    assert min(own for times in result["seconds"].values() for own in times) > 0
    products = {name: flops for name, flops in result["flops"].items() if flops}
    assert list(products) == ["products of embeddings", "products run by run"]


def check_parts(result: dict[str, Any]) -> None:
    shares = result["per_cent"]["dfa"]
    assert list(shares) == [
        *("data", "forward", "credit", "update", "evaluation", "diagnostics", "storage")
    ]
    assert all(len(own) == ROUNDS and min(own) > 0 for own in shares.values())
    assert [sum(own) for own in zip(*shares.values(), strict=True)] == pytest.approx([100] * ROUNDS)


def check_growth(result: dict[str, Any]) -> None:
    sizes = {"runs": [3, 6, 12, 24], "epochs": [1, 2, 4, 8]}[result["axis"]]
    assert result["sizes"] == sizes
    logs = [np.log(seconds) for seconds in result["seconds"]]
    slopes = [np.polyfit(np.log(sizes), costs, 1)[0] for costs in logs]
    assert result["exponents"] == pytest.approx(slopes)
    assert len(slopes) == ROUNDS
    assert min(result["memory_beyond_an_empty_process"]) > 0


def check_gauges(result: dict[str, Any]) -> None:
    seconds = result["seconds"]["dfa"]
    assert {"epoch", "D2s stability", "lesion", "alignment", "null, 200 draws"} <= set(seconds)
    assert all(len(own) == ROUNDS and min(own) > 0 for own in seconds.values())


def check_memory(result: dict[str, Any]) -> None:
    assert (result["rule"], result["runs"], result["dtype"]) == ("dfa", SIZE, "float32")
    assert result["ratio"] == result["estimated_bytes"] / result["measured_bytes"]
    assert result["ratio"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "shape", "runs", "most"),
    [("bp", "512x2", 45, 4e9), ("state_bridge", "256x4", 15, 2e9), ("dfa", "256x4", 1, 1e9)],
)
def test_memory_is_estimated_at_real_size(tmp_path, rule, shape, runs, most):
    """On data in the shape of CIFAR-10."""
    file = tmp_path / "memory.json"
    asked = ("--rules", rule, "--shapes", shape, "--sizes", runs, "--json", file)
    process = start(*("-m", "speed", "memory", *asked), cwd=BENCHMARKS, stdout=subprocess.PIPE)
    process.communicate()
    (result,) = json.loads(file.read_text())["memory"]
    assert 1 <= result["ratio"] < TOO_MUCH
    assert result["measured_bytes"] < most
