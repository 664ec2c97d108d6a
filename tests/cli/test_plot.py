"""`depthgauge plot`: figures from studies."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET

import pytest
from cli.commands import assert_bad_input, run
from store.small_runs_on_disk import contents


def test_one_panel_for_each_ladder_of_studies_and_files(trained, tmp_path):
    before = contents(trained)
    named = [trained, trained / "ladder.json", trained / "ladder.json"]
    done = run("plot", "ladder", *named, "--output", "three.svg")
    assert (done.status, done.out, done.err) == (0, "three.svg\n", "")
    root = ET.parse(tmp_path / "three.svg").getroot()
    panels = [e for e in root.iter() if re.search(r"\bconcat_\d+_group\b", e.get("class") or "")]
    assert len(panels) == 3
    assert contents(trained) == before


@pytest.mark.parametrize("figure", ["ladder", "audit", "layers", "training", "null"])
def test_every_figure_of_an_audited_study(audited, tmp_path, figure):
    before = contents(audited.folder)
    done = run("plot", figure, audited.folder)
    assert (done.status, done.out, done.err) == (0, f"{figure}.png\n", "")
    assert (tmp_path / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    assert contents(audited.folder) == before


@pytest.mark.parametrize(
    ("name", "start"), [("f.PNG", b"\x89PNG"), ("f.svg", b"<svg"), ("f.pdf", b"%PDF")]
)
def test_the_name_says_the_format(trained, tmp_path, name, start):
    assert run("plot", "training", trained, "-o", name).status == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_rule_that_explodes_is_in_every_figure(own_rules):
    assert [
        run("plot", f, own_rules.folder).status for f in ("ladder", "audit", "layers", "training")
    ] == [0] * 4


def test_a_study_without_an_audit_is_told_how_to_get_one(trained, tmp_path):
    done = run("plot", "null", trained)
    assert_bad_input(done, f"{trained} has no audit", "null calibration", "`depthgauge audit`")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("figure", ["audit", "layers", "training"])
def test_what_is_not_a_study_is_bad_input(tmp_path, figure):
    assert_bad_input(run("plot", figure, tmp_path), str(tmp_path), "not the folder of a study")


def test_an_unknown_figure_is_bad_input(trained):
    assert_bad_input(run("plot", "pie", trained), "pie", "ladder", "null")


def test_other_figures_are_of_one_study(trained):
    assert_bad_input(run("plot", "audit", trained, trained), "the figure audit shows one study")


@pytest.mark.parametrize("name", ["figure.gif", "figure", ".png/"])
@pytest.mark.parametrize("figure", ["ladder", "training"])
def test_a_format_that_is_not_written_is_bad_input(trained, figure, name):
    assert_bad_input(run("plot", figure, trained, "-o", name), name.rstrip("/"), ".png, .svg, .pdf")


@pytest.mark.parametrize("content", [None, "{", "[]", '{"config": {}}'])
def test_what_is_not_a_ladder_is_bad_input(tmp_path, content):
    path = tmp_path / "ladder.json"
    if content is not None:
        path.write_text(content)
    assert_bad_input(run("plot", "ladder", path, "-o", "figure.png"), "ladder.json")
    assert not (tmp_path / "figure.png").exists()


def test_a_folder_without_a_ladder_is_bad_input(tmp_path):
    assert_bad_input(run("plot", "ladder", tmp_path), str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_no_folder_at_all_is_bad_input():
    assert_bad_input(run("plot", "ladder"), "DIR")


@pytest.mark.parametrize(
    "damage",
    [{"config": None}, {"rules": None}, {"rules": {"bp": [{}]}}, {"rules": {}}],
    ids=str,
)
def test_a_ladder_with_something_missing_is_bad_input(trained, tmp_path, damage):
    path = tmp_path / "ladder.json"
    path.write_text(json.dumps(json.loads((trained / "ladder.json").read_text()) | damage))
    assert_bad_input(run("plot", "ladder", path, "-o", "figure.png"), "ladder.json")


def test_an_output_that_cannot_be_written_is_bad_input(trained):
    assert_bad_input(run("plot", "ladder", trained, "-o", "nowhere/figure.png"), "nowhere")
