"""Names that Markdown or LaTeX would take for something else."""

from __future__ import annotations

HOSTILE = (
    "<script>alert(1)</script>",
    "a|b",
    "*x*",
    "[l](javascript:1)",
    "`code`",
    "$x$",
    "two\nlines",
    r"\input{secret}",
    "50 % & #1 ^ _ ~ {a} \\",
    '--"quoted"\'s ?` !` ,,',
    "# heading",
    "- item",
    "1. item",
    "http://x.y www.x.y",
    "中文 naïve Γ ρ λ ± − ≤ ✓ ‖h_L‖ 1.2×10⁻⁹",
    "a" * 70,
)
