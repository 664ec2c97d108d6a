"""What charts show when they are pointed at, clicked, or told to show something else."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import (
    BLOCKS,
    DEEP,
    RULES,
    SEEDS,
    find_run,
    metrics,
    report_in,
)

from depthgauge.results.load import load


def middle_of(page, chart, trace, point):
    """Where a point of a chart is on the screen."""
    mark = page.all(f"#{chart} .scatterlayer .trace").nth(trace).locator(".point").nth(point)
    page.all(f"#{chart}").scroll_into_view_if_needed()
    box = mark.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_pointing_at_the_ladder_tells_the_value(audited, pages):
    found = [
        [metrics(find_run(pages / "audited", "bp", k, seed))[-1]["accuracy"] for seed in SEEDS]
        for k in range(BLOCKS + 1)
    ]
    k = max(range(BLOCKS + 1), key=lambda k: abs(found[k][0] - found[k][1]))
    audited.page.mouse.move(*middle_of(audited, "ladder-chart", 1, k))
    expect(audited.all("#ladder-chart .hovertext")).to_contain_text(
        f"bp, k = {k}{50 * sum(found[k]):.1f} %, 95 % ["
    )


def test_a_dotted_line_shows_each_rule_with_its_blocks_frozen(audited):
    drawn = audited.chart("ladder-chart")
    curves = [t for t in drawn["data"] if t.get("mode") == "lines+markers"]
    *dotted, _chance = drawn["layout"]["shapes"]
    assert [line["y0"] for line in dotted] == [curve["y"][0] for curve in curves]
    assert [line["line"]["color"] for line in dotted] == [
        curve["line"]["color"] for curve in curves
    ]
    assert all((line["x0"], line["x1"], line["y1"]) == (0, BLOCKS, line["y0"]) for line in dotted)


def hollow(page):
    """The traces of swap twins in the ladder, by the rule's colour."""
    traces = page.chart("ladder-chart")["data"]
    open_ones = [t for t in traces if str(t.get("marker", {}).get("symbol")).endswith("-open")]
    return {trace["marker"]["color"]: trace for trace in open_ones}


def test_swap_twins_are_hollow_signs_beside_their_curve(audited, pages):
    """What a block earns is seen without a table: the way from the hollow sign to the curve."""
    study = load(pages / "audited")
    drawn = hollow(audited)
    curves = [t for t in audited.chart("ladder-chart")["data"] if t.get("mode") == "lines+markers"]
    assert len(drawn) == sum(bool(rule.twins) for rule in study.rules.values()) > 0
    for rule, curve in zip(study.rules.values(), curves, strict=True):
        if rule.twins:
            trace = drawn[curve["line"]["color"]]
            assert trace["marker"]["symbol"] == f"{curve['marker']['symbol']}-open"
            assert trace["x"] == [twin.k for twin in rule.twins]
            assert trace["y"] == pytest.approx([100 * twin.mean for twin in rule.twins])


def test_pointing_at_and_clicking_a_hollow_sign_tells_its_run(audited, pages):
    bp = load(pages / "audited")["bp"]
    audited.isolate("ladder", "bp")
    ((_, trace),) = hollow(audited).items()
    place = audited.chart("ladder-chart")["data"].index(trace)
    last, twin = len(bp.twins) - 1, bp.twins[-1]
    where = middle_of(audited, "ladder-chart", place, last)
    audited.page.mouse.move(*where)
    expect(audited.all("#ladder-chart .hovertext")).to_contain_text(
        f"bp, k = {twin.k}, added on noise{100 * twin.mean:.1f} %, {len(SEEDS)} seeds"
    )
    audited.page.mouse.click(*where)
    block = BLOCKS - twin.k
    name = f"bp, k = {twin.k} (block {block} on noise), seed {SEEDS[0]}"
    expect(audited.page.get_by_role("dialog", name=name)).to_be_visible()


def test_charts_of_training_and_layers_take_no_swap_twin_for_a_rung(audited):
    audited.choose("training-k", str(BLOCKS))
    audited.choose("training-reading", "accuracy")
    thin = [
        t
        for t in audited.chart("training-chart")["data"]
        if t["mode"] == "lines" and t["line"]["width"] < 2
    ]
    assert len(thin) == len(RULES) * len(SEEDS)


@pytest.mark.parametrize("chart", ["ladder-chart", "audit-D3", "audit-D2s", "layers-g"])
def test_a_click_on_a_point_opens_its_run(audited, chart):
    audited.all("#ladder .legend [data-rule=bp]").click()  # alone: no other point lies over it
    audited.drawn()
    traces = audited.chart(chart)["data"]
    found = next(i for i, t in enumerate(traces) if "customdata" in t and t["customdata"][-1])
    last = len(traces[found]["customdata"]) - 1
    audited.page.mouse.click(*middle_of(audited, chart, found, last))
    dialog = audited.all("#run-dialog[open]")
    expect(dialog).to_contain_text(f"runs/{traces[found]['customdata'][last]}")


@pytest.mark.parametrize("chosen", [(1, 2, "End", 2), (2, 0, "Home", 0)])
def test_layers_show_the_chosen_seed_k_and_epoch(audited, pages, chosen):
    seed, k, key, epoch = chosen
    audited.choose("layers-k", str(k))
    audited.choose("layers-seed", str(seed))
    audited.all("#layers-epoch").press(key)
    audited.drawn()
    expect(audited.all("#layers-epoch-shown")).to_have_text(f"{epoch} of 2")
    for chart, name in (("layers-h", "h_norm"), ("layers-g", "g_norm")):
        traces = audited.chart(chart)["data"]
        assert len(traces) == len(RULES)
        for rule, trace in zip(RULES, traces, strict=True):
            line = metrics(find_run(pages / "audited", rule, k, seed))[epoch]
            assert trace["y"] == pytest.approx(line[name], rel=1e-6)
            assert f"<b>{rule}</b>, epoch {epoch}, embed" in trace["hovertemplate"][0]


@pytest.mark.parametrize("seed", [1, 2])
def test_alignment_is_of_the_chosen_seed_and_of_all_blocks_alone(audited, pages, seed):
    audited.choose("layers-k", str(BLOCKS))
    audited.choose("layers-seed", str(seed))
    audit = json.loads((pages / "audited" / "audit.json").read_text())
    report = report_in(audit, "dfa", seed)
    line = audited.chart("layers-gamma")["data"][-1]
    assert line["y"] == pytest.approx(report["readings"]["alignment"]["per_layer"])
    audited.choose("layers-k", "1")
    assert "all blocks trained" in audited.all("#layers-gamma .empty").inner_text()
    audited.choose("layers-k", str(BLOCKS))
    expect(audited.all("#layers-gamma .main-svg").first).to_be_visible()
    assert audited.all("#layers-gamma .empty").count() == 0


def test_a_reading_over_training_has_its_axis_and_its_threshold(audited, pages):
    audited.choose("training-k", str(BLOCKS))
    audited.choose("training-reading", "accuracy")
    drawn = audited.chart("training-chart")
    lines = metrics(find_run(pages / "audited", "bp", BLOCKS, 1))
    expected = [100 * line["accuracy"] for line in lines]
    assert drawn["data"][0]["y"] == pytest.approx(expected, rel=1e-6)
    assert drawn["layout"]["yaxis"].get("type") != "log"
    assert audited.texts("#training-chart .annotation") == ["chance"]
    audited.choose("training-reading", "growth")
    layout = audited.chart("training-chart")["layout"]
    assert layout["yaxis"]["type"] == "log"
    assert [shape["y0"] for shape in layout["shapes"]] == [50]
    assert audited.texts("#training-chart .annotation") == ["threshold 50"]
    assert audited.texts("#training-chart .ytitle") == ["growth (D1)"]


def test_training_with_fewer_blocks(audited, pages):
    audited.choose("training-reading", "train_loss")
    audited.choose("training-k", "0")
    lines = metrics(find_run(pages / "audited", "bp", 0, 2))
    drawn = audited.chart("training-chart")["data"][1]["y"]
    assert drawn == [None, *(pytest.approx(line["train_loss"], rel=1e-6) for line in lines[1:])]


def test_a_cross_marks_where_a_diagnostic_first_fired(opened):
    page = opened("deep")
    page.choose("training-k", str(DEEP))
    page.choose("training-reading", "growth")
    crosses = [t for t in page.chart("training-chart")["data"] if t["mode"] == "markers"]
    assert crosses[1]["marker"]["symbol"] == ["x-thin", "x-thin"]
    assert [(cross["x"], cross["y"]) for cross in crosses] == [([], []), ([2, 2], [100, 100])]
    assert all("D1 first fires: dfa" in text for text in crosses[1]["hovertemplate"])
    assert page.all("#training-chart .trace .point").count() == 2


@pytest.mark.parametrize("seed", [1, 2])
def test_the_null_is_of_the_chosen_seed(audited, pages, seed):
    audited.choose("null-seed", str(seed))
    audit = json.loads((pages / "audited" / "audit.json").read_text())
    for index, rule in enumerate(("fa", "dfa")):
        null = report_in(audit, rule, seed)["readings"]["null"]
        drawn = audited.chart(f"null-chart-{index}")
        assert drawn["layout"]["shapes"][0]["x0"] == pytest.approx(null["deep"]["observed"])
        assert sum(drawn["data"][0]["y"]) == len(null["fresh_deep"])
        assert audited.texts("#null figcaption")[index].startswith(
            f"{rule}: {null['deep']['word']} (p = "
        )


def test_without_a_null_it_says_so(opened):
    page = opened("half")
    expect(page.all("#null-empty")).to_be_visible()
    expect(page.all("#null-controls")).to_be_hidden()


def test_why_a_network_has_no_place_on_an_axis_is_said(opened):
    """Of bp both streams are without bound; of the hostile study's others all were read."""
    page = opened("hostile")
    for _ in ("beside others", "alone"):
        words = [note["text"] for note in page.chart("audit-D1")["layout"]["annotations"]]
        assert [text for text in words if text.endswith("at ∞")] == ["2 at ∞"]
        assert not any("not read" in text for text in words)
        page.all("#audit .legend button").first.click()
        page.drawn()


def test_a_null_without_a_value_of_its_own_has_no_line(opened):
    page = opened("hostile")
    with_line, without = (page.chart(f"null-chart-{index}") for index in (0, 1))
    assert len(with_line["layout"]["shapes"]) == 1
    assert without["layout"].get("shapes", []) == []
    assert "(no p-value, " in page.texts("#null figcaption")[1]
    bands = [t for t in page.chart("layers-gamma")["data"] if t.get("fill") == "toself"]
    assert [None in band["y"] for band in bands] == [False, True]


def test_a_mean_says_of_how_many_it_is(opened):
    page = opened("deep")
    page.choose("training-k", str(DEEP))
    page.choose("training-reading", "growth")
    means = [
        t for t in page.chart("training-chart")["data"] if t.get("line", {}).get("width", 0) > 2
    ]
    said = [[re.search(r"mean of (\d)", text)[1] for text in t["hovertemplate"]] for t in means]
    assert said == [["2"] * 4, ["2", "2", "1", "1"]]


def test_a_chart_that_was_empty_can_be_clicked_again(audited):
    audited.all("#ladder .legend [data-rule=dfa]").click()
    audited.choose("layers-k", "0")
    expect(audited.all("#layers-gamma .empty")).to_be_visible()
    audited.choose("layers-k", "2")
    audited.drawn()
    traces = audited.chart("layers-gamma")["data"]
    found = next(i for i, t in enumerate(traces) if "customdata" in t)
    audited.page.mouse.click(*middle_of(audited, "layers-gamma", found, 2))
    expect(audited.all("#run-dialog[open]")).to_contain_text(traces[found]["customdata"][2])
