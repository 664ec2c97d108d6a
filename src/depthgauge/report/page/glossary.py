"""The words that the page uses, for somebody who sees it for the first time."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.errors import UserError
from depthgauge.registry import RULES
from depthgauge.results.study import StudyResult

WORDS = (
    ("the question", "whether the residual blocks between embedding and readout are trained by "
     "the rule, or embedding and readout do all the work. Accuracy alone cannot tell."),
    ("walk back", "a claim that the rule trains the depth is not supported: at least one of D1, "
     "D2, D3 fires with confidence."),
    ("trustworthy", "D1, D2 and D3 all pass with confidence, so accuracy and alignment may be "
     "read as they stand."),
    ("stream", "the sum h that every block adds its branch to: h₀ is the embedding's output, "
     "h_L is what the readout sees."),
    ("frozen", "all blocks stay as they were at the start; embedding and readout are trained by "
     "the same rule. What trained blocks must beat."),
    ("k", "how many blocks are trained, counted from the last; the others are frozen."),
    ("D1 scale", "the largest growth of the stream's norm in one block. The LayerNorm before the "
     "readout divides the scale out again, so accuracy need not suffer; but it divides the true "
     "gradient by the same factor, and nothing measured against that gradient means much."),
    ("D2 reference", "the norm of the true gradient at the top of the stream, by itself and as a "
     "share of the error: where both are below their floors, Γ compares with nothing."),
    ("D2s stability", "cosine between the mean gradients of different batches in the middle of the "
     "network: drift rather than noise above its threshold. Never a verdict by itself."),
    ("D3 depth", "accuracy with all blocks trained, less that with frozen ones, paired by seed."),
    ("Γ", "cosine between the credit that the rule gives and the true gradient, layer by layer."),
    ("ρ", "correlation between the change of the loss that the credit foretells for a small "
     "random step, and the true change."),
    ("lesion", "accuracy lost when one block is skipped. It shows that the network depends on the "
     "block, not that training the block was worth anything: that is D3."),
)  # fmt: skip


def glossary(study: StudyResult) -> list[tuple[str, str]]:
    """The rules of the study, as far as they are known here, then the words."""
    return [*_rules([run.config.rule.name for run in study.runs]), *WORDS]


def _rules(names: Sequence[str]) -> list[tuple[str, str]]:
    found = []
    for name in dict.fromkeys(names):
        if name in RULES.names:
            try:
                found.append((name, f"{RULES.find(name)[0].summary}."))
            except UserError:
                continue
    return found
