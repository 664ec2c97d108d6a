"""Text in figures."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from depthgauge.config import NetConfig, SharedConfig, TaskConfig
from depthgauge.report.figures.style import file_of
from depthgauge.report.figures.text import number, plain, power_of_ten, study_title, width_of

HOSTILE = ["$x_1$ <b>", "a$b", "$$", r"\$5 \frac{$", "_mine", "100 %", "^", ""]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_data_is_never_read_as_mathematics(text):
    figure = Figure()
    shown = figure.text(0, 0, plain(text))
    parsed, mathematics = shown._preprocess_math(shown.get_text())
    assert (parsed, mathematics) == (text, False)
    file_of(figure, "svg")


def test_signs_that_cannot_be_shown_become_spaces():
    for text in ["a\nb", "a\tb", "a\0b", "a\x1bb", "a\ud800b"]:
        assert plain(text) == "a b"


def test_a_long_name_keeps_both_its_ends():
    short = plain("first" + 100 * "x" + "last")
    assert short.startswith("first")
    assert short.endswith("last")
    assert len(short) == 48
    assert plain("y" * 48) == "y" * 48


def test_numbers_in_sentences():
    for value, shown in [
        (50.0, "50"),
        (0.3, "0.3"),
        (1.28e-5, "1.28×10⁻⁵"),
        (1e-7, "10⁻⁷"),
        (1e4, "10000"),
        (2e5, "2×10⁵"),
    ]:
        assert number(value) == shown


def test_powers_of_ten():
    for value, shown in [(1.0, "1"), (10.0, "10"), (100.0, "10²"), (0.1, "10⁻¹")]:
        assert power_of_ten(value) == shown


def test_a_longer_text_is_wider():
    assert 0 < width_of("i") < width_of("iiii") < width_of("WWWW") < 1
    assert width_of("") == width_of("  ") == 0


def test_a_title_says_what_is_known():
    for task, net, title in [
        ("t", NetConfig(width=8, blocks=1), "t, width 8, 1 block"),
        ("t$", NetConfig(width=8, blocks=2), r"t\$, width 8, 2 blocks"),
        ("t" * 30, NetConfig(width=8, blocks=2), "t" * 30 + "\nwidth 8, 2 blocks"),
        ("t", None, "t"),
    ]:
        config = SharedConfig(task=TaskConfig(name=task, checksum="0"), net=net)
        assert study_title(config) == title
