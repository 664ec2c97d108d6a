"""A registered diagnostic is in everything that a real audit writes and shows."""

from __future__ import annotations

import json

import pytest
from cli.commands import SMALL, run
from diagnostics.toy import TOY, registered
from report.page.parsed_page import Page

from depthgauge.report.charts.figures import FIGURES
from depthgauge.report.page.study_page import study_page
from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.report.tables.networks import network_table
from depthgauge.results.load import load

LIMIT = 0.9
"""More than any block is worth, so that DX fires for every network."""


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    """Run an audit with the toy registered; return its output, its folder and the study."""
    folder = tmp_path_factory.mktemp("toy") / "study"
    with registered():
        done = run(
            *("audit", *SMALL, "--rules", "bp", "dfa", "--seeds", 1, 2),
            *("--thresholds", f"lesion_lost={LIMIT}", "--out", folder, "--verbose"),
        )
        assert done.status == 0, done.err
        yield done.out, folder, load(folder)


def test_in_the_verdict(audit):
    for rule in audit[2].rules.values():
        assert "DX" in rule.verdict.fired
        assert "DX" in str(rule.verdict)


def test_in_the_terminal(audit):
    out, _, study = audit
    lost = network_table(study).only("lesion (DX)").texts[0][0]
    reading = study["bp"].networks[0].report.lesion.value
    assert lost == f"{100 * reading:.1f}".replace("-", "−")
    assert "lesion" in out
    assert lost in out
    assert "dfa DX fires: lesion: the most missed block is worth" in " ".join(out.split())


def test_in_the_document(audit):
    document = json.loads((audit[1] / "audit.json").read_text())
    assert document["thresholds"]["lesion_lost"] == LIMIT
    verdict = document["verdicts"]["dfa"]
    assert "DX" in verdict["fired"]
    found = {finding["id"]: finding for finding in verdict["findings"]}["DX"]
    assert (found["outcome"], list(found["intervals"])) == ("fires", ["largest_lesion"])
    assert "lesion_lost" in [stable["threshold"] for stable in verdict["sensitivity"]]
    assert "accuracy + mean Γ + DX" in document["decision_utility"]


def test_on_the_page(audit):
    page = Page(study_page(audit[2]))
    assert "audit-DX" in page.values("id")
    assert "DX lesion" in page.text
    assert "DX lesion: accuracy lost (points), one row for each rule" in page.values("aria-label")
    assert "DX fires where no block is missed." in page.text
    assert TOY.meaning in page.text
    assert "lesion (DX)" in page.text
    assert "no block is missed: fires" in page.text.lower()
    rows = page.data["rows"]
    assert rows["audit-DX:limits"]["value"] == [100 * LIMIT]
    reading = audit[2]["bp"].networks[0].report.lesion.value
    assert rows["audit-DX:seeds"]["value"][0] == float(f"{100 * reading:.4g}")


def test_in_the_paper(audit):
    tables = {table.name: table for table in paper_tables(audit[2])}
    verdicts = tables["verdicts"]
    assert verdicts.only("DX").texts == [["fires"], ["fires"]]
    assert "lesion (DX)" in tables["networks"].titles
    template = reporting_template(audit[2]).to_markdown()
    assert "DX lesion" in template
    assert "DX fires where no block is missed." in template


def test_in_the_figure(audit):
    figure = FIGURES["audit"].draw(audit[2])
    (panel,) = (one for one in figure.panels if one.title == "DX lesion")
    assert "accuracy lost (points)" in panel.description
    titles = [layer["encoding"]["x"]["axis"]["title"] for layer in panel.specification()["layer"]]
    assert titles[0] == ["accuracy lost (points)", "fires below 90"]


def test_its_threshold_is_named_by_the_help(audit):
    assert "lesion_lost" in run("audit", "--help").out
