"""The main job from Python: arrays and a class go in, a study with verdicts comes out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.training.threads import use_threads
from depthgauge.user_code.python_file import import_file

RULE = '''
"""A rule of one's own."""

import os

from depthgauge.rules.contract import Credit, RuleOptions
from depthgauge.rules.dfa import DFA


class ScaledOptions(RuleOptions):
    strength: float = 1.0


class Scaled(DFA):
    """DFA whose credit is scaled."""

    name = "scaled"
    summary = "dfa, scaled"
    Options = ScaledOptions

    def credit(self, context):
        if os.environ.get("TEST_RAISES"):
            raise ZeroDivisionError("the author divided by zero")
        credit = super().credit(context)
        scale = self.options.strength
        return Credit(blocks=[scale * b for b in credit.blocks], embed=scale * credit.embed)
'''

SCRIPT = f"""{RULE}

import numpy as np

import depthgauge as dg

random = np.random.default_rng(1)
x, y = random.normal(size=(60, 6)), np.arange(60) % 3
study = dg.audit(
    rules=["bp", Scaled(ScaledOptions(strength=0.5))], task=(x, y, x, y), seeds=2,
    width=6, depth=2, epochs=2, threads=1, k=[0, 2], twins=False, floors=False,
    out="study",
)
print(study["scaled[strength=0.5]"].verdict.word)
"""
"""Without a main guard: two worker processes must not run it again."""

SMALL: dict[str, Any] = {"width": 6, "depth": 2, "epochs": 2, "threads": 1, "floors": False}
NO_LADDER: dict[str, Any] = {"k": [0, 2], "twins": False}
FRAMES = {"runs": "accuracy", "epochs": "epoch", "ladder": "k", "layers": "layer"}


def arrays() -> tuple[np.ndarray[Any, Any], ...]:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(60, 6)).astype("float32"), np.arange(60) % 3
    return x, y, x, y


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dg.StudyResult:
    """An audit on arrays in memory of bp and of a rule class. Look, do not touch."""
    folder = tmp_path_factory.mktemp("api")
    with use_threads(1):
        return dg.audit(
            rules=["bp", scaled(folder)],
            task=arrays(),
            seeds=2,
            out=folder / "study",
            **SMALL,
            **NO_LADDER,
        )


def scaled(folder: Path) -> Any:
    path = folder / "own.py"
    path.write_text(RULE)
    return import_file("own", path).Scaled


def test_a_study_in_memory_is_the_study_that_is_loaded(audited):
    again = dg.load(audited.folder)
    assert list(again) == ["bp", "scaled"]
    assert again.verdicts == audited.verdicts
    assert again["scaled"].verdict.word == audited["scaled"].verdict.word
    assert again.audit == audited.audit
    assert json.loads((audited.folder / "audit.json").read_text())["schema_version"] == 2


@pytest.mark.parametrize(("name", "column"), FRAMES.items())
def test_every_data_frame_has_both_rules(audited, name, column):
    frame = audited.to_dataframe(name)
    assert set(frame["label"]) == {"bp", "scaled"}
    assert frame[column].notna().any()


def test_the_data_frame_of_runs_has_each_run_with_its_accuracy(audited):
    frame = audited.to_dataframe("runs")
    assert list(frame["accuracy"]) == [run.accuracy for run in audited.runs]
    assert len(frame) == 2 * 2 * 2


def test_another_data_frame_or_figure_is_refused_in_a_sentence(audited):
    with pytest.raises(dg.UserError, match="'pie'"):
        audited.plot("pie")
    with pytest.raises(dg.UserError, match="'tables'"):
        audited.to_dataframe("tables")
    with pytest.raises(dg.UserError, match="no rule 'fa'; its rules are: bp, scaled"):
        audited["fa"]


def test_a_figure_is_saved_as_its_name_says(audited, tmp_path):
    saved = audited.plot("ladder").save(tmp_path / "ladder.pdf")
    assert saved.read_bytes().startswith(b"%PDF")
    with pytest.raises(dg.UserError, match="must end in one of"):
        audited.plot("ladder").save(tmp_path / "ladder.gif")


def test_a_notebook_shows_verdicts_and_chart_and_nothing_a_name_could_inject(audited):
    html = audited._repr_html_()
    assert "<td>scaled</td>" in html
    assert "<svg" in html
    odd = dg.StudyResult("<script>", audited.folder, audited.config, None, (), problems=("<b>",))
    assert "<script>" not in odd._repr_html_()
    assert "&lt;b&gt;" in odd._repr_html_()


def test_a_plan_knows_what_is_done_and_writes_nothing(audited, tmp_path):
    options = {"rules": ["bp"], "task": "digits", "seeds": [1], "out": tmp_path / "new", **SMALL}
    plan = dg.plan(**options)
    assert [(run.label, run.k, run.state) for run in plan.runs] == [
        ("bp", 2, "waiting"),
        ("bp", 1, "waiting"),
        ("bp", 0, "waiting"),
    ]
    assert [run.k for run in dg.plan(**options, **NO_LADDER).runs] == [2, 0]
    assert not (tmp_path / "new").exists()
    own = dg.plan(rules=["bp"], task=arrays(), seeds=2, out=audited.folder, **SMALL, **NO_LADDER)
    assert {run.state for run in own.runs} == {"finished"}
    rungs = dg.plan(kind="ladder", **options)
    assert [run.k for run in rungs.runs] == [2, 1, 0]
    with pytest.raises(
        dg.UserError, match="kind='tower' is not possible; choose 'audit' or 'ladder'"
    ):
        dg.plan(kind="tower", **options)


def test_what_failed_is_retried_and_what_is_missing_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_RAISES", "1")
    options = {"task": arrays(), "seeds": [1], "k": [0], "out": tmp_path / "study", **SMALL}
    study = dg.ladder(rules=["bp", scaled(tmp_path)], **options)
    assert study.counts == {"finished": 1, "failed": 1}
    (reason,) = (run.reason for run in study.runs if run.state == "failed")
    assert reason == "ZeroDivisionError: the author divided by zero"
    monkeypatch.delenv("TEST_RAISES")
    assert dg.retry(study.folder).counts == {"finished": 2}
    (lost,) = (run for run in study.runs if run.label == "bp")
    (lost.folder / "result.json").unlink()
    again = dg.resume(study.folder)
    assert again.counts == {"finished": 2}
    assert again["bp"].accuracy == study["bp"].accuracy


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The study of a script, moved after the script has ended, and what the script printed."""
    folder = tmp_path_factory.mktemp("script")
    (folder / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return (folder / "study").rename(folder / "moved"), done.stdout.strip()


def test_a_class_of_a_script_joins_a_study_at_its_options(scripted):
    folder, printed = scripted
    study = dg.load(folder)
    assert study["scaled[strength=0.5]"].verdict.word == printed
    assert study.counts == {"finished": 8}


def test_a_study_that_was_moved_half_done_goes_on_with_its_own_arrays_and_classes(
    scripted, tmp_path
):
    folder = Path(shutil.copytree(scripted[0], tmp_path / "elsewhere"))
    whole = dg.load(folder)
    for run in [run for run in whole.runs if run.label != "bp"]:
        shutil.rmtree(run.folder)
    assert dg.load(folder).counts == {"finished": 4, "waiting": 4}
    again = dg.resume(folder)
    assert [(run.identity, run.accuracy) for run in again.runs] == [
        (run.identity, run.accuracy) for run in whole.runs
    ]
    assert str(scripted[0].parent) not in (folder / "plan" / "1.json").read_text()


def test_a_configuration_that_lost_its_rule_is_named_put_aside_and_written_anew(tmp_path, caplog):
    options = {"rules": ["bp"], "task": arrays(), "seeds": [1], "k": [0], "out": tmp_path / "study"}
    study = dg.ladder(**options, **SMALL)
    path = study.runs[0].folder / "config.json"
    whole = json.loads(path.read_text())
    shutil.rmtree(study.folder / "plan")
    path.write_text(json.dumps({name: part for name, part in whole.items() if name != "rule"}))
    (problem,) = dg.load(study.folder).problems
    assert str(path) in problem
    again = dg.ladder(**options, **SMALL)
    assert again.runs == study.runs
    assert again.problems == ()
    assert json.loads(path.read_text()) == whole
    assert (path.parent / "quarantine" / "1-config.json").is_file()
    assert "config.json is not the configuration" in caplog.text
    path.unlink()
    (problem,) = dg.load(study.folder).problems
    assert str(path) in problem


def test_what_is_no_configuration_is_refused_in_a_sentence():
    for call in [dg.audit, dg.ladder, dg.plan, dg.identity]:
        with pytest.raises(dg.UserError, match="'ladder' is no StudyConfig; give options by name"):
            call("ladder")


def test_identity_compare_and_report(audited, tmp_path):
    identity = dg.identity(task=arrays(), seeds=[1, 2], samples=20, **SMALL)
    assert list(identity.per_seed) == [1, 2]
    with pytest.raises(dg.UserError, match="is given twice"):
        dg.compare([audited, audited.folder])
    other = dg.ladder(rules=["bp"], task=arrays(), seeds=[1], out=tmp_path / "other", **SMALL)
    assert dg.compare([audited, other]).to == "bp"
    assert dg.report(audited, tmp_path / "page.html").read_text().startswith("<!")


def test_identity_of_no_blocks_is_refused():
    with pytest.raises(dg.UserError, match="--depth 0: identity needs at least one block"):
        dg.identity(task="digits", depth=0)
