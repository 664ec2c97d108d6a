"""Options of the recipe: in the configuration of every run, checked before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.commands import run, run_ladder

import depthgauge as dg
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.results.load import load

SGD = ("--optimizer", "sgd", "--learning-rate", 0.05, "--nesterov", "--momentum", 0.8)
STEPS = ("--schedule", "steps", "--milestones", 1, 2, "--step-factor", 0.5)
PARTS = ("--embedding-rate", 0.5, "--readout-rate", 2)

OWN_LOSS = """
from depthgauge.losses.contract import Loss


class Hinge(Loss):
    name = "hinge"
    summary = "how much every other class comes within 1 of the label's"

    def value(self, output, target):
        own = output.gather(-1, target.unsqueeze(-1))
        return (output - own + 1).clamp(min=0).sum(-1) - 1
"""


class Halved(CrossEntropy):
    name = "halved"
    summary = "half the cross-entropy"

    def value(self, output, target):
        return super().value(output, target) / 2

    def error(self, output, target):
        return super().error(output, target) / 2


def recipes(folder: Path) -> dict[str, dict]:
    return {run.label: run.config.recipe.model_dump(mode="json") for run in load(folder).runs}


def test_every_run_has_the_recipe_and_the_tables_name_it(tmp_path):
    done = run_ladder(tmp_path, "--rules", "bp", "dfa", "--k", 2, *SGD, *STEPS, *PARTS)
    assert done.status == 0, done.err
    for recipe in recipes(tmp_path).values():
        assert recipe["optimizer"] == "sgd"
        assert recipe["learning_rate"] == 0.05
        assert (recipe["nesterov"], recipe["momentum"]) == (True, 0.8)
        assert (recipe["schedule"], recipe["milestones"]) == ("steps", [1, 2])
        assert (recipe["step_factor"], recipe["readout_rate"]) == (0.5, 2.0)
    page = run("report", tmp_path)
    assert page.status == 0, page.err
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "SGD, learning rate 0.05" in text
    assert "milestones 1 and 2" in text


def test_vary_trains_each_optimizer_under_its_label(tmp_path):
    done = run_ladder(tmp_path, "--rules", "bp", "--k", 2, "--vary", "optimizer=adamw,sgd")
    assert done.status == 0, done.err
    optimizers = {label: recipe.get("optimizer") for label, recipe in recipes(tmp_path).items()}
    assert optimizers == {"bp": None, "bp[optimizer=sgd]": "sgd"}


def test_milestones_can_be_varied(tmp_path):
    vary = ("--vary", "milestones=1+2,1")
    done = run_ladder(tmp_path, "--rules", "bp", "--k", 2, *STEPS, *vary)
    assert done.status == 0, done.err
    found = {label: recipe["milestones"] for label, recipe in recipes(tmp_path).items()}
    assert found == {"bp[milestones=1+2]": [1, 2], "bp[milestones=1]": [1]}


def test_classes_can_be_learned_by_squared_error(tmp_path):
    loss = ("--loss", "squared_error")
    done = run_ladder(tmp_path, "--rules", "bp", "dfa", "--k", 2, *loss)
    assert done.status == 0, done.err
    for recipe in recipes(tmp_path).values():
        assert recipe["loss"] == "squared_error"
        assert "score" not in recipe


def test_a_loss_of_ones_own_is_saved_with_the_study(tmp_path):
    """The study goes on without the user's file, and a changed file is another loss."""
    path, out = tmp_path / "own.py", tmp_path / "out"
    path.write_text(OWN_LOSS)
    loss = ("--rules", "bp", "--k", 2, "--loss", f"{path}:Hinge")
    done = run_ladder(out, *loss)
    assert done.status == 0, done.err
    (own,) = {recipe["loss"] for recipe in recipes(out).values()}
    name, _, digits = own.partition("@")
    assert name == "Hinge"
    assert (out / "sources" / f"{digits}.py").read_text() == OWN_LOSS
    moved = path.rename(tmp_path / "moved.py")
    same = run_ladder(out, *loss[:-1], f"{moved}:Hinge")
    assert "nothing to train" in same.err or same.status == 0, same.err
    assert {recipe["loss"] for recipe in recipes(out).values()} == {own}
    moved.write_text(OWN_LOSS + "# changed")
    other = run_ladder(out, *loss[:-1], f"{moved}:Hinge")
    assert other.status == 2
    assert "recipe.loss" in other.err


def test_a_loss_can_be_passed_as_a_class(tmp_path):
    digits = {"task": "digits", "width": 8, "depth": 2, "epochs": 1, "floors": False}
    study = dg.ladder(rules=["bp"], k=[2], seeds=1, loss=Halved, out=tmp_path / "out", **digits)
    assert study.config.recipe.loss.startswith("Halved@")
    assert study.runs[0].accuracy is not None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--optimizer", "lamb"), ["lamb", "adamw"]),
        (("--optimizer", "sgd", "--beta1", 0.5), ["--beta1", "no effect with the optimizer sgd"]),
        (("--momentum", 0.5), ["--momentum", "no effect with the optimizer adamw"]),
        (("--nesterov",), ["--nesterov", "no effect with the optimizer adamw"]),
        (("--optimizer", "sgd", "--momentum", 0, "--nesterov"), ["sgd without momentum"]),
        (("--milestones", 3), ["--milestones", "no effect with the schedule cosine"]),
        (("--schedule", "steps"), ["--schedule steps", "--milestones 30 60"]),
        (("--schedule", "steps", "--milestones", 0), ["--milestones", "at least 1"]),
        (("--learning-rate", 0), ["--learning-rate 0", "greater than 0"]),
        (("--learning-rate", "inf"), ["--learning-rate inf", "finite"]),
        (("--beta2", 1), ["--beta2 1", "less than 1"]),
        (("--readout-rate", -1), ["--readout-rate -1", "greater than 0"]),
        (("--loss", "hinge"), ["'hinge'", "cross_entropy, squared_error"]),
        (("--rules", "bp[momentum=0.5]"), ["momentum", "no effect with the optimizer adamw"]),
        (("--rules", "bp[schedule=steps]"), ["bp[schedule=steps]", "milestones"]),
        (("--vary", "schedule=none,steps"), ["steps", "milestones"]),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(tmp_path, options, words):
    given = options if "--rules" in options else ("--rules", "bp", *options)
    done = run_ladder(tmp_path / "out", *given)
    assert done.status == 2
    for word in words:
        assert word in done.err, (word, done.err)
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
