"""One style for all figures, and files that are the same whenever they are made."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from depthgauge.report.figures.text import plain, width_of
from depthgauge.report.palette import Look

FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 160
FAINT = 0.3
GREY = "0.35"
FONT = 9
"""Points, of all but titles and axis labels."""

HANDLE, BETWEEN = 2.2, 1.4
"""Length of a legend's signs and space between its columns, in letters."""

BESIDE = (HANDLE + 0.8 + BETWEEN) * FONT / 72
MANY = 12
"""Entries of a legend that stand in at least two columns."""

LEGEND_LINE, LEGEND_MARGIN = 0.19, 0.16
"""Inches."""

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "xtick.labelsize": FONT,
    "ytick.labelsize": FONT,
    "legend.fontsize": FONT,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "figure.titlesize": 10,
    "figure.titleweight": "bold",
    "figure.constrained_layout.w_pad": 0.07,
    "savefig.dpi": DOTS_PER_INCH,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "depthgauge",
}


@contextmanager
def styled() -> Iterator[None]:
    """While drawing and while saving: what users have set for their own figures does not show."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)  # type: ignore[arg-type]
        yield


def file_of(figure: Figure, kind: str) -> bytes:
    """A figure as PNG, SVG or PDF; without dates, so that it is the same every time."""
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    buffer = io.BytesIO()
    with styled(), _any_letter():
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def one_pdf(figures: Sequence[Figure]) -> bytes:
    """A PDF with a page for each figure: they share their fonts, which take longest to embed."""
    buffer = io.BytesIO()
    with styled(), _any_letter(), PdfPages(buffer, metadata={"CreationDate": None}) as pages:
        for figure in figures:
            pages.savefig(figure)
    return buffer.getvalue()


@contextmanager
def _any_letter() -> Iterator[None]:
    """Letters that no font has come out as boxes, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def panels(
    rows: int, columns: int, width: float, height: float, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of panels, each `width` × `height` inches with its labels, row by row."""
    figure = Figure((width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(grid.flat)


def title(figure: Figure, text: str) -> None:
    """Above all panels, on the left; empty where nothing is known."""
    figure.suptitle(text, x=0.01, ha="left")


def key_of(look: Look) -> Line2D:
    """What a legend shows for a rule."""
    drawn: dict[str, Any] = {"marker": look.marker, "linestyle": look.line}
    return Line2D([], [], color=look.light, **drawn)


def with_lost(rule: str, diverged: int) -> str:
    """A rule's entry in a legend where networks that diverged have no curve, or end early."""
    return f"{rule} ({diverged} diverged)" if diverged else rule


def legend_below(figure: Figure, entries: Sequence[tuple[str, Artist]]) -> None:
    """A legend under the panels in as many columns as fit; the figure grows by what it takes."""
    texts = [plain(label) for label, _ in entries]
    widths = [width_of(text) + BESIDE for text in texts]
    least = 2 if len(texts) > MANY else 1
    figure.set_figwidth(max(figure.get_figwidth(), least * max(widths) + 0.1))
    columns = _columns(widths, figure.get_figwidth() - 0.1)
    taken = LEGEND_MARGIN + LEGEND_LINE * math.ceil(len(texts) / columns)
    height = figure.get_figheight() + taken
    figure.set_figheight(height)
    figure.set_layout_engine("constrained", rect=(0, taken / height, 1, 1 - taken / height))
    legend = figure.legend(
        [sign for _, sign in entries],
        [str(number) for number in range(len(texts))],
        loc="lower center",
        borderaxespad=0.2,
        ncols=columns,
        handlelength=HANDLE,
        columnspacing=BETWEEN,
    )
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set_text(text)


def _columns(widths: Sequence[float], room: float) -> int:
    """The most columns that fit; a legend is filled column by column."""
    for columns in range(len(widths), 1, -1):
        if sum(max(column) for column in np.array_split(widths, columns)) <= room:
            return columns
    return 1
