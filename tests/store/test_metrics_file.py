"""One line for each epoch: whole ones count, damaged ones are put aside."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from store.small_runs_on_disk import contents, metrics_line

from depthgauge.store.metrics_file import MetricsFile


@pytest.fixture
def metrics(tmp_path: Path) -> MetricsFile:
    return MetricsFile(tmp_path / "metrics.jsonl")


def with_epochs(metrics: MetricsFile, *epochs: int) -> MetricsFile:
    for epoch in epochs:
        metrics.append(metrics_line(epoch))
    return metrics


def epochs_of(metrics: MetricsFile) -> list[int]:
    return [line["epoch"] for line in metrics.lines()]


# What is written is read


def test_metrics_come_back_in_order_of_epochs(metrics):
    assert metrics.lines() == []
    lines = [metrics_line(epoch, accuracy=0.1 * epoch) for epoch in range(4)]
    for line in lines:
        metrics.append(line)
    assert metrics.lines() == lines


def test_the_last_line_of_an_epoch_counts(metrics):
    for epoch, accuracy in ((0, 0.1), (1, 0.2), (2, 0.3), (1, 0.7)):
        metrics.append(metrics_line(epoch, accuracy))
    assert [line["accuracy"] for line in metrics.lines()] == [0.1, 0.7, 0.3]


def test_what_is_not_finite_becomes_null(metrics):
    nan, inf = float("nan"), float("inf")
    metrics.append(
        metrics_line(0) | {"train_loss": nan, "h_norm": [1.0, inf], "more": {"a": [-inf, 2]}}
    )
    (line,) = metrics.lines()
    assert line["train_loss"] is None
    assert line["h_norm"] == [1.0, None]
    assert line["more"] == {"a": [None, 2]}


VALUES = st.recursive(
    st.floats() | st.integers() | st.booleans() | st.none() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def nulled(value: Any) -> Any:
    """What json makes of it once every NaN and infinity is null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> MetricsFile:
    return MetricsFile(tmp_path_factory.mktemp("run") / "metrics.jsonl")


@given(values=st.lists(VALUES, max_size=3))
def test_every_line_is_one_line_of_strict_json(one_file, values):
    one_file.path.write_text("")
    for epoch, value in enumerate(values):
        one_file.append(metrics_line(epoch) | {"value": value})
    assert [line["value"] for line in one_file.lines()] == [nulled(value) for value in values]
    assert len(one_file.path.read_bytes().splitlines()) == len(values)


@pytest.mark.parametrize(
    ("epochs", "count"), [((), 0), ((0,), 1), ((0, 1, 2), 3), ((1, 2), 0), ((2, 0, 1, 4, 5), 3)]
)
def test_epochs_count_until_the_first_that_is_missing(metrics, epochs, count):
    assert with_epochs(metrics, *epochs).epochs_without_gap() == count


# Going back


@pytest.mark.parametrize(("epoch", "kept"), [(None, []), (0, [0]), (2, [0, 1, 2]), (9, [0, 1, 2])])
def test_lines_are_kept_until_the_epoch_that_a_run_goes_on_from(metrics, epoch, kept):
    with_epochs(metrics, 0, 1, 2).rewind(epoch)
    assert epochs_of(metrics) == kept
    assert list(contents(metrics.path.parent)) == ["metrics.jsonl"]


def test_keeping_lines_does_not_change_what_is_kept(metrics):
    line = metrics_line(0) | {"accuracy": 0.1 + 0.2, "h_norm": [math.pi * 1e-300, 1e308]}
    metrics.append(line)
    before = metrics.path.read_bytes()
    metrics.rewind(0)
    assert metrics.path.read_bytes() == before
    assert metrics.lines() == [line]


def test_where_nothing_was_recorded_there_is_an_empty_file(metrics):
    metrics.rewind(None)
    assert metrics.path.read_bytes() == b""


# Damage


def test_a_line_cut_short_at_any_character_does_not_count(metrics):
    whole = with_epochs(metrics, 0).path.read_text()
    last = json.dumps(metrics_line(1))
    for length in range(len(last)):
        metrics.path.write_text(whole + last[:length])
        assert epochs_of(metrics) == [0], last[:length]
    metrics.path.write_text(whole + last)
    assert epochs_of(metrics) == [0, 1]


NO_LINES = [
    b'{"epoch": 1, "acc',
    b"\xff\xfe\x00",
    b"\0" * 40,
    b"[]",
    b"null",
    b"1",
    b'"epoch"',
    b"{}",
    *(
        b'{"epoch": %s, "accuracy": 0.5, "diverged": false}' % epoch
        for epoch in (b"null", b'"1"', b"1.5", b"true", b"Infinity", b"1e999")
    ),
    b'{"epoch": 1}',
    b'{"epoch": 1, "diverged": false}',
    b'{"epoch": 1, "accuracy": 0.5}',
    b'{"accuracy": 0.5, "diverged": false}',
]
"""The last ones are valid JSON, but a result cannot be made of them."""


@pytest.mark.parametrize("damage", NO_LINES, ids=str)
def test_a_damaged_line_in_the_middle_is_as_if_it_were_missing(metrics, damage):
    first, _, last = with_epochs(metrics, 0, 1, 2).path.read_bytes().splitlines(keepends=True)
    metrics.path.write_bytes(first + damage + b"\n" + last)
    damaged = metrics.path.read_bytes()
    assert epochs_of(metrics) == [0, 2]
    assert metrics.epochs_without_gap() == 1
    metrics.rewind(0)
    assert metrics.path.read_bytes() == first
    assert (metrics.path.parent / "quarantine" / "1-metrics.jsonl").read_bytes() == damaged


def test_a_line_needs_only_what_a_result_is_made_of(metrics):
    """Others may be added in later versions, and were missing in earlier ones."""
    line = {"epoch": 0, "accuracy": 0.5, "diverged": False}
    metrics.append(line)
    assert metrics.lines() == [line]
    metrics.rewind(0)
    assert list(contents(metrics.path.parent)) == ["metrics.jsonl"]


@pytest.mark.parametrize("damage", [b'{"epoch": 3, "acc', b"\xff\xfe\r\n\x80", b"[]\n"], ids=str)
def test_what_is_damaged_is_put_aside_to_the_last_byte(metrics, damage):
    whole = with_epochs(metrics, 0, 1, 2).path.read_bytes()
    metrics.path.write_bytes(whole + damage)
    metrics.rewind(2)
    assert metrics.path.read_bytes() == whole
    aside = metrics.path.parent / "quarantine"
    assert (aside / "1-metrics.jsonl").read_bytes() == whole + damage
    assert "cut short or damaged" in (aside / "1-metrics.jsonl.reason.txt").read_text()


def test_after_a_torn_line_a_run_goes_on_with_whole_ones(metrics):
    with with_epochs(metrics, 0, 1, 2).path.open("a") as handle:
        handle.write('{"epoch": 3, "acc')
    metrics.rewind(1)
    metrics.append(metrics_line(2, accuracy=0.9))
    assert metrics.lines() == [metrics_line(0), metrics_line(1), metrics_line(2, accuracy=0.9)]
    assert len(metrics.path.read_text().splitlines()) == 3


@given(content=st.binary(max_size=40) | st.lists(st.sampled_from(NO_LINES)).map(b"\n".join))
@example(content=2 * b'{"epoch": 0, "accuracy": 0, "diverged": true}\r\n')
def test_whatever_is_in_the_file_the_epochs_rise(one_file, content):
    one_file.path.write_bytes(content)
    epochs = epochs_of(one_file)
    assert epochs == sorted(set(epochs))
    assert one_file.epochs_without_gap() <= len(epochs)
