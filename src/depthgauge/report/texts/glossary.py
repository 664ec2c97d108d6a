"""The glossary of the page, for somebody who sees the page for the first time."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.diagnostics.registry import diagnostics, verdict_diagnostics
from depthgauge.diagnostics.used_depth import MEANING, TITLE
from depthgauge.errors import UserError
from depthgauge.registry import RULES
from depthgauge.results.study import StudyResult

BEFORE = (
    ("the question", "whether the residual blocks between embedding and readout are trained by "
     "the rule, or embedding and readout do all the work. Accuracy alone cannot tell."),
    ("stream", "the sum h that every block adds its branch to: h₀ is the embedding's output, "
     "h_L is what the readout sees."),
    ("frozen", "all blocks stay as they were at the start; embedding and readout are trained by "
     "the same rule. Trained blocks must beat this accuracy."),
    ("k", "how many blocks are trained, counted from the last; the others are frozen."),
)  # fmt: skip

AFTER = (
    ("Γ", "cosine between the credit that the rule gives and the true gradient, layer by layer."),
    ("ρ", "correlation between the change of the loss that the credit predicts for a small "
     "random step, and the true change."),
    ("lesion", "accuracy lost when one block is skipped. It shows that the network depends on the "
     "block, not that training the block gained anything: the gain over frozen blocks shows that."),
    ("rewind", "accuracy lost when one block goes back to its initial weights. A block that never "
     "changed loses nothing. A block that only noise has changed does lose accuracy, because the "
     "other blocks have adapted to it."),
)  # fmt: skip


def glossary(study: StudyResult) -> list[tuple[str, str]]:
    """Return words and their meanings: the study's rules, verdicts, diagnostics and readings."""
    rules = _rules([run.config.rule.name for run in study.runs])
    return [*rules, *BEFORE, *_verdicts(), *_diagnostics(), *AFTER]


def _verdicts() -> list[tuple[str, str]]:
    ids = [one.id for one in verdict_diagnostics()]
    return [
        (TITLE, MEANING),
        (
            "on noise",
            "a rung trained once more, with noise as the credit of the block that it adds. Blocks "
            "that grow at random gain a little; a block earns only the accuracy above that gain.",
        ),
        (
            "shallow",
            "the rule uses fewer blocks than backpropagation: even its upper limit is below the "
            "number that backpropagation is shown to use.",
        ),
        (
            "walk back",
            "a claim that the rule trains the depth is not supported: at least one of "
            f"{', '.join(ids)} fires with confidence.",
        ),
        (
            "trustworthy",
            f"{', '.join(ids)} all pass with confidence, and at least as many blocks are shown to "
            "earn accuracy as with backpropagation.",
        ),
    ]


def _diagnostics() -> list[tuple[str, str]]:
    return [(one.name, f"{one.meaning} It fires where {one.fires_when}.") for one in diagnostics()]


def _rules(names: Sequence[str]) -> list[tuple[str, str]]:
    found = []
    for name in dict.fromkeys(names):
        if name in RULES.names:
            try:
                found.append((name, f"{RULES.find(name)[0].summary}."))
            except UserError:
                continue
    return found
