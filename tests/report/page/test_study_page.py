"""The report of one study: whole, hostile, and with parts missing."""

from __future__ import annotations

import json
import re

import pytest
from report.page.odd_studies import ODD, write_odd_study
from report.page.parsed_page import Page
from report.study_folders import write_climbing_study, write_whole_study
from results.written_studies import change_json, write_study
from store.small_runs_on_disk import contents

from depthgauge.config import TaskConfig
from depthgauge.report.page.charts import page_charts
from depthgauge.report.page.page_data import page_data
from depthgauge.report.page.study_page import study_page, write_study_page
from depthgauge.results.load import load

SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"><img src=x onerror='alert(2)'> & </td></table></script>"
ABOUT = {"version": "1.0", "commit": "c0ffee", "date": "2030-01-02", "processor": "one"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study's folder, and its page."""
    folder = write_whole_study(tmp_path_factory.mktemp("whole") / "study", **ABOUT)
    return folder, Page(write_study_page(load(folder)).read_text(encoding="utf-8"))


def check(page: Page) -> None:
    """Every link of a page leads somewhere in it, and every chart has its element and data."""
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    targets = [value for value in page.values("href") if value.startswith("#")]
    assert {target[1:] for target in targets} <= set(ids)
    assert {f"run-{run}" for run in page.values("data-run")} <= set(ids)
    assert set(page.values("data-copy")) <= set(ids)
    runs = page.data["runs"]
    assert {f"run-{run}" for run in runs} <= set(ids)
    assert set(page.data["readings"]) <= set(runs)
    rules = {run["rule"] for run in runs.values()} | set(page.values("data-rule"))
    for leads in map(json.loads, page.values("data-runs")):
        assert leads["rule"] in rules
    assert drawn_runs(page) <= set(runs) | {None, ""}
    plots = [a["id"] for _, a in page.elements if a.get("class") == "plot"]
    assert sorted(plots) == sorted(page.data["charts"])
    assert set(page.values("data-save")) == set(plots)
    for chart in page.data["charts"].values():
        assert chart["rows"]
        assert set(chart["rows"]) <= set(page.data["rows"])


def drawn_runs(page: Page) -> set[str | None]:
    """Return the runs to which the signs of charts lead."""
    columns = [rows["run"] for rows in page.data["rows"].values() if "run" in rows]
    return {
        run
        for column in columns
        for run in (column if isinstance(column, list) else [run for run, _ in column["runs"]])
    }


# A whole one


def test_every_link_leads_somewhere(whole):
    check(whole[1])
    assert len(whole[1].values("data-run")) > 20


def test_nothing_is_fetched(whole):
    page = whole[1]
    for name in ("src", "href", "action", "data", "poster", "srcset", "formaction"):
        assert not [v for v in page.values(name) if not v.startswith(("#", "data:"))]
    styles = re.findall(r"<style>(.*?)</style>", page.html, re.S)
    assert styles
    assert not any(re.search(r"url\(|@import", style) for style in styles)
    assert len(page.html) < 2e6


def test_the_data_are_those_of_the_study(whole):
    folder, page = whole
    study = load(folder)
    assert page.data == json.loads(json.dumps(page_data(study, page_charts(study))))


def test_all_parts_are_there(whole):
    folder, page = whole
    sections = ["verdicts", "ladder", "audit", "layers", "training", "null", "utility"]
    assert page.sections() == [*sections, "runs", "paper"]
    for label, rule in load(folder).rules.items():
        assert label in page.text
        assert rule.verdict.word in page.text
    assert "12.5 %" in page.text
    assert "no luck" in page.html


def test_the_study_is_left_as_it_is_but_for_the_page(tmp_path):
    folder = write_whole_study(tmp_path / "study")
    before = contents(folder)
    assert write_study_page(load(folder)) == folder / "report.html"
    after = contents(folder)
    del after["report.html"]
    assert after == before
    other = tmp_path / "other.html"
    assert write_study_page(load(folder), other) == other
    assert other.read_text() == (folder / "report.html").read_text()


# Used depth


@pytest.fixture(scope="module")
def climbing(tmp_path_factory):
    folder = write_climbing_study(tmp_path_factory.mktemp("climbing") / "study")
    return Page(study_page(load(folder)))


def depths(page: Page) -> list[str]:
    """The lines of used depth in the cards, as they read."""
    found = re.findall(r'<p class="depth">(.*?)</p>', page.html, re.S)
    return [" ".join(re.sub(r"<.*?>", "", line).split()) for line in found]


def test_a_card_says_how_many_blocks_are_in_use_beside_backpropagation(climbing):
    check(climbing)
    assert depths(climbing) == ["used depth: 2 of 2", "used depth: 1 of 2; backpropagation: 2 of 2"]


def test_the_answer_says_how_many_blocks_each_rule_trains(climbing):
    assert "bp (2 of 2 blocks)" in climbing.text
    assert "fa (1 of 2 blocks)" in climbing.text
    answers = climbing.text.partition("fa (1 of 2 blocks)")[0]
    assert answers.rindex("shallow") > answers.rindex("bp (2 of 2 blocks)")


def test_ladder_and_glossary_say_what_swap_twins_are(climbing):
    for words in ("bp, added on noise", "fa, added on noise", "2 (block 0 on noise)"):
        assert words in climbing.text
    assert "fa trains 1 of 2 blocks (block 1)." in climbing.text
    assert "Hollow signs are swap twins" in climbing.text
    terms = [a for tag, a in climbing.elements if tag == "dt"]
    assert terms
    for term in ("used depth", "on noise", "shallow"):
        assert f"<dt>{term}</dt>" in climbing.html


def test_two_seeds_are_said_to_be_too_few_and_no_block_is_counted(whole):
    assert depths(whole[1])[0] == "used depth: too few seeds"
    assert "too few seeds blocks" not in whole[1].text


# What comes from data


def test_nothing_on_the_page_comes_from_data_but_text(tmp_path):
    """With other names, reasons and origins, the page has the same elements and attributes."""
    plain = write_whole_study(tmp_path / "plain", "mine", "no luck", **ABOUT)
    odd = write_whole_study(
        tmp_path / "<img src=x onerror=alert(3)>&amp;'\"",
        SCRIPT + QUOTES,
        QUOTES,
        **{name: f"{QUOTES}{name}" for name in ABOUT},
    )
    for folder in (plain, odd):
        base = json.loads((folder / "study.json").read_text())["base"]
        name = "tiny" if folder == plain else SCRIPT
        task = TaskConfig(name=name, checksum="0" * 64).model_dump(mode="json")
        change_json(folder / "study.json", base=base | {"task": task})
    expected, found = (Page(study_page(load(folder))) for folder in (plain, odd))
    check(found)
    assert found.skeleton == expected.skeleton
    assert "</" not in found.scripts["data"]
    assert list(found.scripts.values())[1:] == list(expected.scripts.values())[1:]
    for text in (SCRIPT + QUOTES, odd.name, SCRIPT):
        assert text in found.text
    runs = {run["state"]: run for run in found.data["runs"].values()}
    assert runs["failed"]["reason"] == QUOTES
    assert runs["finished"]["provenance"] == {name: f"{QUOTES}{name}" for name in ABOUT}


# Parts missing


@pytest.fixture
def odd_page(tmp_path):
    """The page of an odd study."""
    return lambda what: Page(study_page(load(write_odd_study(tmp_path / "study", what))))


@pytest.mark.parametrize("what", ODD)
def test_a_page_with_parts_missing_is_whole_in_itself(odd_page, what):
    page = odd_page(what)
    check(page)
    assert {"verdicts", "ladder", "audit", "layers", "training", "null", "runs", "paper"} <= set(
        page.sections()
    )
    assert "None" not in page.text
    assert "nan" not in page.text.lower().split()


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("one rule, one seed", "no alarm, depth untested, single seed"),
        ("no ladder", "no alarm, depth untested"),
        ("no audit", "Judged by the metrics of training"),
        ("only failed runs", "0 of 2 runs have finished; 2 failed."),
        ("nothing begun", "This study is not complete: 0 of 3 runs have finished; 3 waiting."),
        ("nothing planned", "No rule can be judged yet."),
        ("running", "This study is not complete: 0 of 3 runs have finished; 3 running."),
        ("all diverged", "0 of 3 runs have finished; 3 diverged."),
        ("an audit alone", "these networks were trained elsewhere"),
        ("controls", "no blocks"),
        ("a rule that was edited", "mine@7777777"),
    ],
)
def test_it_says_what_is_missing(odd_page, what, said):
    assert said in odd_page(what).text


@pytest.mark.parametrize(
    ("what", "states"),
    [("only failed runs", ["failed"] * 2), ("all diverged", ["diverged"] * 3)],
)
def test_failed_and_diverged_runs_are_shown(odd_page, what, states):
    rows = [a for tag, a in odd_page(what).elements if tag == "tr" and "id" in a]
    assert [a["class"] for a in rows] == [f"state-{state}" for state in states]


def test_a_rule_of_which_only_the_frozen_runs_are_left_has_a_whole_sentence(tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": {0: {1: 0.3}, 2: {1: None}}})
    page = Page(study_page(load(folder)))
    (numbers,) = re.findall(r'<p class="numbers">(.*?)</p>', page.html, re.S)
    words = " ".join(re.sub(r"<.*?>", "", numbers).split())
    assert words == "30.0&nbsp;% with its blocks frozen"
