"""Several studies on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge.report.page.data import page_data
from depthgauge.report.page.diagnostic_charts import panels
from depthgauge.report.page.render import render_page
from depthgauge.report.palette import looks
from depthgauge.report.tables import comparison as tables
from depthgauge.report.texts import comparison as texts
from depthgauge.results.comparison import Comparison
from depthgauge.store.files import write_text
from depthgauge.verdict.thresholds import Thresholds


def write_compared_page(compared: Comparison, path: Path) -> None:
    """Write the page."""
    write_text(path, compared_page(compared))


def compared_page(compared: Comparison) -> str:
    """The same tables and words as in the terminal, with ladders and diagnostics drawn."""
    context: dict[str, Any] = {
        "version": __version__,
        "names": [study.name for study in compared.studies],
        "to": compared.to,
        "studies": texts.study_sentences(compared),
        "rules": tables.rule_table(compared),
        "no_rule": texts.NO_RULE,
        "differences": [
            (
                "same",
                "The same rule in several studies",
                tables.same_rule_table(compared),
                texts.same_rule_sentences(compared),
                texts.NO_SAME_RULE,
            ),
            (
                "against",
                f"Each rule against {compared.to}",
                tables.against_table(compared),
                texts.against_sentences(compared),
                texts.nothing_against(compared),
            ),
        ],
        "how_to_read": texts.HOW_TO_READ,
        "panels": panels(_thresholds(compared)),
        "own_thresholds": len({study.thresholds for study in compared.results}) > 1,
    }
    return render_page("compared.html.j2", _data(compared), context)


def _data(compared: Comparison) -> dict[str, Any]:
    """The rules of all studies as if they were of one; each is called by its study too.

    Runs stay with their studies' own pages: two studies may have the same ones.
    """
    parts = [page_data(study) for study in compared.results]
    named = [
        rule | {"method": f"{rule['method']} · {study.name}"}
        for study, part in zip(compared.studies, parts, strict=True)
        for rule in part["rules"]
    ]
    found = looks([rule["method"] for rule in named])
    shared = {"blocks": _common(parts, "blocks"), "chance": _common(parts, "chance")}
    first, *others = (part["floors"] for part in parts)
    shared["floors"] = first if all(floors == first for floors in others) else {}
    empty = {"scalars": [], "start": [], "epochs": [], "layers": [], "values": ""}
    return shared | {
        "panels": panels(_thresholds(compared)),
        "recorded": [],
        "marks": {},
        "rules": [rule | {"look": vars(found[rule["method"]])} for rule in named],
        "runs": [],
        "series": empty,
    }


def _thresholds(compared: Comparison) -> Thresholds:
    """Those by which all studies were judged; where they differ, the protocol's."""
    used = {study.thresholds for study in compared.results}
    return used.pop() if len(used) == 1 else Thresholds()


def _common(parts: list[dict[str, Any]], name: str) -> Any:
    """What all have, None where they differ."""
    values = {part[name] for part in parts}
    return values.pop() if len(values) == 1 else None
