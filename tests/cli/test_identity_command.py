"""`depthgauge identity`."""

from __future__ import annotations

import json
import statistics

import pytest
from cli.commands import assert_bad_input, run

COMMAND = ("identity", "--task", "digits", "--width", "8", "--depth", "3", "--samples", "50")


def test_the_document():
    done = run(*COMMAND, "--seeds", 1, 2, 3, "--json")
    assert (done.status, done.err) == (0, "")
    document = done.document
    assert set(document) == {
        "schema_version",
        "config",
        "per_seed",
        "per_block_ratio_mean",
        "per_block_ratio_grand_mean",
        "rel_dev_mean",
        "rel_dev_std",
        "cos_mean",
        "cos_std",
    }
    assert document["config"]["task"] == "digits"
    assert document["config"]["net"]["width"] == 8
    assert document["config"]["samples"] == 50
    assert list(document["per_seed"]) == ["1", "2", "3"]
    for reading in document["per_seed"].values():
        assert set(reading) == {"per_block_ratio", "rel_dev", "cos"}
        assert len(reading["per_block_ratio"]) == 3
        assert all(0 < ratio < 0.2 for ratio in reading["per_block_ratio"])
        assert 0.97 < reading["cos"] <= 1
    for name in ("rel_dev", "cos"):
        values = [reading[name] for reading in document["per_seed"].values()]
        assert document[f"{name}_mean"] == pytest.approx(statistics.fmean(values))
        assert document[f"{name}_std"] == pytest.approx(statistics.stdev(values))


def test_the_table_for_people():
    done = run(*COMMAND, "--seeds", 1, 2)
    assert (done.status, done.err) == (0, "")
    reading = run(*COMMAND, "--seeds", 1, 2, "--json").document["per_seed"]["2"]
    assert f"{reading['rel_dev']:.4f}" in done.out
    assert f"{reading['cos']:.4f}" in done.out
    assert " ".join(f"{ratio:.4f}" for ratio in reading["per_block_ratio"]) in done.out
    assert "digits" in done.out


def test_the_published_seeds_are_the_default():
    document = run(*COMMAND, "--json").document
    assert list(document["per_seed"]) == ["42", "123", "456"]


def test_save_keeps_the_document_and_never_overwrites(tmp_path):
    path = tmp_path / "deep" / "identity.json"
    done = run(*COMMAND, "--json", "--save", path)
    assert done.status == 0
    assert json.loads(path.read_text()) == done.document
    before = path.read_bytes()
    assert_bad_input(run(*COMMAND, "--seeds", 9, "--save", path), str(path), "not overwritten")
    assert path.read_bytes() == before


def test_bad_input():
    for options, words in [
        (("--depth", 0), ["--depth 0", "at least one block"]),
        (("--samples", 0), ["--samples"]),
        (("--seeds", -1), ["--seeds"]),
        (("--seeds",), ["--seeds"]),
        (("--net", "transformer"), ["transformer", "residual_mlp"]),
        (("--task", "mnist"), ["mnist", "digits"]),
    ]:
        assert_bad_input(run(*COMMAND, *options), *words)


def test_a_seed_given_twice_is_bad_input():
    assert_bad_input(run(*COMMAND, "--seeds", 4, 5, 4), "--seeds")


def test_a_file_that_cannot_be_written_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("")
    assert_bad_input(run(*COMMAND, "--save", tmp_path / "file" / "identity.json"))
