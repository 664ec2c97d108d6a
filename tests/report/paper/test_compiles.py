"""LaTeX through a real TeX."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from report.hostile_names import HOSTILE
from report.studies import audited_study

from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.report.writers.latex_symbols import SYMBOLS
from depthgauge.report.writers.latex_table import latex_table
from depthgauge.report.writers.latex_text import latex_text


def has_tex() -> bool:
    if shutil.which("pdflatex") is None:
        return False
    found = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False)
    return found.returncode == 0


@pytest.mark.skipif(not has_tex(), reason="no pdflatex with booktabs on this machine")
def test_tables_and_template_compile_with_hostile_names(tmp_path: Path):
    parts = [latex_text(" ".join([*HOSTILE, *SYMBOLS, *map(chr, range(1, 0x180)), "😀"]))]
    for name in HOSTILE:
        study = audited_study(name)
        parts += [latex_table(table, study.name) for table in paper_tables(study)[:1]]
        parts.append(reporting_template(study).to_latex())
    body = "\n\n\\clearpage\n".join(parts)
    preamble = "\\documentclass{article}\n\\usepackage{booktabs,textcomp,graphicx}\n"
    document = f"{preamble}\\begin{{document}}\n\\listoftables\n{body}\n\\end{{document}}\n"
    (tmp_path / "paper.tex").write_text(document, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 0
    assert b"Missing character" not in (tmp_path / "paper.log").read_bytes()
