"""Metrics that are read while they are written, shortened and written again."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduling.metrics_lines import Line, first_epochs, line, lines_in

from depthgauge.scheduling.metrics_tail import MetricsTail
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.verdict.thresholds import Thresholds


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def add(path: Path, *lines: Line) -> None:
    for one in lines:
        MetricsFile(path).append(one)


def state(metrics: MetricsTail) -> tuple[object, ...]:
    fired = {name: epoch for name, epoch in metrics.fired.items() if epoch is not None}
    return metrics.epoch, metrics.accuracy, metrics.diverged, fired


def expected(path: Path) -> tuple[object, ...]:
    lines = lines_in(path)
    newest = lines[-1] if lines else {"epoch": None, "accuracy": None}
    diverged = any(one["diverged"] for one in lines)
    return newest["epoch"], newest["accuracy"], diverged, first_epochs(lines)


def looked(metrics: MetricsTail) -> tuple[object, ...]:
    metrics.update()
    return state(metrics)


def test_before_there_is_a_file_nothing_is_known(path):
    metrics = MetricsTail(str(path))
    assert looked(metrics) == (None, None, False, {})
    assert metrics.fired == {}
    add(path, line(0, 0.1))
    assert looked(metrics) == (0, 0.1, False, {})


def test_each_look_knows_the_newest_epoch_and_when_each_diagnostic_first_fired(path):
    metrics = MetricsTail(str(path))
    add(path, line(0, 0.1), line(1, 0.2))
    assert looked(metrics) == (1, 0.2, False, {})
    assert metrics.fired == {"D1": None, "D2": None}
    add(path, line(2, 0.3, growth=60.0))
    assert looked(metrics) == (2, 0.3, False, {"D1": 2})
    add(path, line(3, 0.4), line(4, 0.5, growth=60.0, gradient=1e-6))
    assert looked(metrics) == (4, 0.5, False, {"D1": 2, "D2": 4})


def test_half_a_line_is_not_read_before_it_is_whole(path):
    metrics, text = MetricsTail(str(path)), json.dumps(line(1, 0.2))
    add(path, line(0, 0.1))
    for part in (text[:9], text[9:]):
        with path.open("a") as handle:
            handle.write(part)
        assert looked(metrics) == (0, 0.1, False, {})
    with path.open("a") as handle:
        handle.write("\n")
    assert looked(metrics) == (1, 0.2, False, {})


@pytest.mark.parametrize("back_to", [None, 0, 1])
def test_what_a_resume_drops_is_forgotten(path, back_to):
    metrics = MetricsTail(str(path))
    add(path, line(0), line(1), line(2, growth=60.0))
    assert looked(metrics)[3] == {"D1": 2}
    MetricsFile(path).rewind(back_to)
    assert looked(metrics)[0] == back_to
    assert looked(metrics)[3] == {}


def test_a_file_that_was_shortened_and_has_grown_again_is_read_anew(path):
    metrics = MetricsTail(str(path))
    add(path, line(0), line(1, growth=60.0))
    metrics.update()
    MetricsFile(path).rewind(0)
    add(path, line(1, 0.25), line(2, 0.75), line(3, 0.875))
    assert looked(metrics) == (3, 0.875, False, {})


def test_of_an_epoch_that_comes_twice_the_last_line_counts(path):
    metrics = MetricsTail(str(path))
    add(path, line(0), line(1, growth=60.0), line(2))
    metrics.update()
    add(path, line(1), line(2, 0.3, gradient=1e-6))
    assert looked(metrics) == (2, 0.3, False, {"D2": 2})


def test_a_file_that_is_gone_is_forgotten(path):
    metrics = MetricsTail(str(path))
    add(path, line(0, growth=60.0))
    metrics.update()
    path.unlink()
    assert looked(metrics) == (None, None, False, {})


def test_a_run_that_diverged_says_so_and_fires_everything(path):
    metrics = MetricsTail(str(path))
    add(path, line(0, 0.1), line(1, None, diverged=True))
    assert looked(metrics) == (1, None, True, {"D1": 1, "D2": 1})
    add(path, line(2, None))
    assert looked(metrics)[2]


def test_lines_without_readings_have_an_accuracy_alone(path):
    add(path, {"epoch": 0, "accuracy": 0.4, "diverged": False})
    metrics = MetricsTail(str(path))
    assert looked(metrics) == (0, 0.4, False, {})
    assert metrics.fired == {}


def test_only_what_was_added_is_read(path):
    """What was read before is spoilt, and nobody notices."""
    metrics = MetricsTail(str(path))
    add(path, line(0, growth=60.0), line(1))
    metrics.update()
    with path.open("r+b") as handle:
        handle.write(b"x" * 40)
    add(path, line(2, 0.7))
    assert looked(metrics) == (2, 0.7, False, {"D1": 0})


def test_a_file_that_has_not_changed_is_not_opened(path, monkeypatch):
    metrics = MetricsTail(str(path))
    add(path, line(0, 0.1))
    metrics.update()
    monkeypatch.setattr(metrics, "_read_on", lambda: pytest.fail("it was read"))
    assert looked(metrics)[0] == 0


def test_what_cannot_be_read_now_is_read_when_it_can(path):
    metrics = MetricsTail(str(path))
    path.mkdir()
    assert looked(metrics)[0] is None
    path.rmdir()
    add(path, line(0, 0.1))
    assert looked(metrics) == (0, 0.1, False, {})


EPOCHS = st.integers(0, 5)
LINES = st.builds(
    line,
    EPOCHS,
    st.sampled_from([0.1, 0.25, None]),
    growth=st.sampled_from([1.0, 49.0, 60.0]),
    gradient=st.sampled_from([1.0, 1e-6]),
    diverged=st.sampled_from([False, False, False, True]),
)
STEPS = st.one_of(
    st.tuples(st.just("add"), st.lists(LINES, min_size=1, max_size=3)),
    st.tuples(st.just("tear"), st.integers(1, 60)),
    st.tuples(st.just("rewind"), st.none() | EPOCHS),
    st.tuples(st.just("look"), st.none()),
)


@given(st.lists(STEPS, max_size=14))
def test_whatever_happens_to_the_file_it_is_known_as_it_is(steps):
    """Against reading all of it, at every look."""
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder) / "metrics.jsonl", itertools.count(1)
        metrics = MetricsTail(str(path))
        for what, how in [*steps, ("look", None)]:
            if what == "add":
                add(path, *how)
            elif what == "tear":
                with path.open("a") as handle:
                    handle.write(json.dumps(line(0))[:how])
            elif what == "rewind":
                MetricsFile(path).rewind(how)
            else:
                assert looked(metrics) == expected(path)
            if path.exists():
                os.utime(path, ns=(tick := next(clock) * 10**9, tick))


def test_other_thresholds_are_those_that_count(path):
    add(path, line(0, growth=60.0), line(1, growth=200.0))
    metrics = MetricsTail(str(path), Thresholds(growth=100.0))
    metrics.update()
    assert metrics.fired["D1"] == 1


def test_a_file_that_was_written_anew_is_read_anew(path):
    """Though the last line that was read stands where it stood."""
    metrics = MetricsTail(str(path))
    add(path, line(0), line(0, growth=60.0))
    assert looked(metrics)[0] == 0
    MetricsFile(path).rewind(None)
    add(path, line(1), line(0, growth=60.0))
    assert looked(metrics)[0] == 1
