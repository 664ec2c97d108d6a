"""`depthgauge plot`: figures from studies."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET

import pytest
from cli.commands import assert_bad_input, run
from report.studies import curve, make_ladder
from store.small_runs_on_disk import contents


def write_ladder(path, *accuracies):
    path.write_text(make_ladder({"bp": curve(*accuracies)}, task=path.stem).model_dump_json())
    return path


def test_two_studies_in_one_figure(trained, tmp_path):
    other = write_ladder(tmp_path / "other.json", 0.1, 0.2)
    before = contents(trained)
    done = run("plot", "ladder", trained, other, "-o", "both.png")
    assert (done.status, done.out, done.err) == (0, "both.png\n", "")
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")
    assert contents(trained) == before


def test_one_panel_for_each_ladder(tmp_path):
    files = [write_ladder(tmp_path / f"{n}.json", 0.1, 0.2) for n in ("first", "second", "third")]
    assert run("plot", "ladder", *files, "--output", "three.svg").status == 0
    root = ET.parse(tmp_path / "three.svg").getroot()
    panels = [e for e in root.iter() if (e.get("id") or "").startswith("axes_")]
    assert len(panels) == 3
    text = (tmp_path / "three.svg").read_text()
    assert all(name in text for name in ("first", "second", "third"))


@pytest.mark.parametrize("figure", ["ladder", "audit", "layers", "training", "null"])
def test_every_figure_of_an_audited_study(audited, tmp_path, figure):
    before = contents(audited.folder)
    done = run("plot", figure, audited.folder)
    assert (done.status, done.out, done.err) == (0, f"{figure}.png\n", "")
    assert (tmp_path / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    assert contents(audited.folder) == before


@pytest.mark.parametrize(
    ("name", "start"), [("f.PNG", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")]
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
    assert_bad_input(run("plot", "audit", trained, trained), "unrecognized arguments")


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
    [
        {"config": {}},
        {"rules": None},
        {"rules": {"bp": [{}]}},
        {"rules": {}},
        {"schema_version": 3},
    ],
)
def test_a_ladder_with_something_missing_is_bad_input(tmp_path, damage):
    path = tmp_path / "ladder.json"
    path.write_text(
        json.dumps(make_ladder({"bp": curve(0.1, 0.2)}).model_dump(mode="json") | damage)
    )
    assert_bad_input(run("plot", "ladder", path, "-o", "figure.png"), "ladder.json")


def test_an_output_that_cannot_be_written_is_bad_input(trained):
    assert_bad_input(run("plot", "ladder", trained, "-o", "nowhere/figure.png"), "nowhere")
