"""The studies whose pages are opened in a browser, and the pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from cli.commands import run
from results.written_studies import change_json, compared, write_study

from depthgauge.config import NetConfig, RunConfig
from depthgauge.report.page.compared_page import write_compared_page
from depthgauge.report.page.study_page import write_study_page
from depthgauge.results.load import load
from depthgauge.store.run_paths import RunPaths

NAMES = ("audited", "half", "deep", "hostile", "compared")
RULES = ("bp", "fa", "dfa")
BLOCKS, EPOCHS, SEEDS = 2, 2, (1, 2)
DEEP = 10

HOSTILE = {
    "bp": "a|b$x_1$&amp;" + "_and_so_on" * 12,
    "fa": "<script>alert(1)</script>",
    "dfa": '"><img src=x onerror=alert(1)>',
}
"""What the rules of the hostile study are called."""

HOSTILE_STUDY = "<img src=x onerror=alert(1)>&amp;"
HOSTILE_REASON = "ValueError: </td></script><script>alert(2)</script> & <b>bold</b>"
HOSTILE_PROCESSOR = "<svg onload=alert(3)>"


def write_pages(folder: Path) -> None:
    """Write NAME.html for each of `NAMES`; the studies are in folders beside them."""
    folder.mkdir()
    audited = train(folder / "audited")
    half = make_half(shutil.copytree(audited, folder / "half"))
    hostile = make_hostile(shutil.copytree(audited, folder / HOSTILE_STUDY))
    write_study_page(load(audited), folder / "audited.html")
    write_study_page(load(half), folder / "half.html")
    write_study_page(load(write_deep(folder / "deep")), folder / "deep.html")
    write_study_page(load(hostile), folder / "hostile.html")
    write_compared_page(compared(audited, half, hostile), folder / "compared.html")


def train(folder: Path) -> Path:
    """An audited study with its whole ladder."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    done = run(
        *("audit", "--task", "digits", "--width", 16, "--depth", BLOCKS, "--epochs", EPOCHS),
        *("--rules", *RULES, "--k", "all", "--seeds", *SEEDS, "--threads", 1),
        *("--no-floors", "--out", folder),
    )
    torch.set_num_threads(before)
    assert done.status == 0, done.err
    return folder


def find_run(study: Path, rule: str, k: int, seed: int) -> RunPaths:
    """The one rung of that rule, k and seed."""
    (found,) = (
        path.parent
        for path in study.glob("runs/*/config.json")
        if (config := json.loads(path.read_text()))["rule"]["label"] == rule
        and (config["k"], config["seed"]) == (k, seed)
        and "intervention" not in config
    )
    return RunPaths(found)


def metrics(run: RunPaths) -> list[Any]:
    return [json.loads(line) for line in run.metrics_path.open()]


def make_half(study: Path) -> Path:
    """Not audited yet: of dfa one run has failed, one was stopped, one was not begun."""
    (study / "audit.json").unlink()
    fail(find_run(study, "dfa", BLOCKS, 2), "ZeroDivisionError: the author divided by zero")
    find_run(study, "dfa", 1, 1).result_path.unlink()
    shutil.rmtree(find_run(study, "dfa", BLOCKS, 1).path)
    return study


def fail(run: RunPaths, reason: str) -> None:
    run.result_path.unlink()
    run.failed_path.write_text(json.dumps({"reason": reason, "provenance": {"commit": "abc"}}))


def write_deep(folder: Path) -> Path:
    """Ten blocks, never audited; the stream of dfa blows up in the second epoch.

    With the second seed beyond all bounds.
    """
    rungs = {0: {1: 0.3, 2: 0.31}, 1: {1: 0.4, 2: 0.42}, DEEP: {1: 0.6, 2: 0.64}}
    accuracies = {"bp": rungs, "dfa": rungs}
    write_study(
        folder, accuracies, net=NetConfig(width=3, blocks=DEEP), commit="abc", wall_seconds=75.0
    )
    change_json(
        find_run(folder, "bp", DEEP, 2).result_path,
        provenance={"commit": "abc", "wall_seconds": 8.0},
    )
    change_json(find_run(folder, "bp", 0, 1).result_path, provenance={"commit": None})
    for path in folder.glob("runs/*/config.json"):
        is_dfa = json.loads(path.read_text())["rule"]["label"] == "dfa"
        run = RunPaths(path.parent)
        config = json.loads(path.read_text())
        lines = [
            line | _stream(line["epoch"] if is_dfa else 0, config["seed"]) for line in metrics(run)
        ]
        run.metrics_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def _stream(epoch: int, seed: int) -> dict[str, list[float | None]]:
    blown_up = 100.0 if seed == 1 else None
    grown = [1.0] * DEEP + [blown_up if epoch > 1 else 2.0]
    return {"h_norm": grown, "g_norm": [1.0 / (1 + layer) for layer in range(DEEP + 1)]}


def make_hostile(study: Path) -> Path:
    """Whatever text there is would do harm if it were taken for markup.

    And the streams of bp are without bound, and Γ of dfa is not defined everywhere.
    """
    for name in ("plan", "claims"):
        shutil.rmtree(study / name)
    for path in (study / "audit.json", *study.glob("runs/*/*.json")):
        path.write_text(_renamed(path.read_text()))
    audit = (study / "audit.json").read_text()
    for path in list(study.glob("runs/*/config.json")):
        run, identity = path.parent, RunConfig.model_validate_json(path.read_text()).identity
        audit = audit.replace(run.name, identity)
        change_json(run / "result.json", identity=identity)
        run.rename(run.with_name(identity))
    document = json.loads(audit)
    for seed in SEEDS:
        scale = report_in(document, HOSTILE["bp"], seed)["readings"]["scale"]
        scale["residual_norms"][-1] = "Infinity"
    null = report_in(document, HOSTILE["dfa"], 1)["readings"]["null"]
    null["deep"] |= {"observed": None, "p_upper": None, "word": "absent"}
    null["per_layer"][1] |= {"mean": None, "spread": None}
    (study / "audit.json").write_text(json.dumps(document))
    fail(find_run(study, HOSTILE["fa"], 1, 1), HOSTILE_REASON)
    result = find_run(study, HOSTILE["dfa"], BLOCKS, 1).result_path
    provenance = json.loads(result.read_text())["provenance"] | {"processor": HOSTILE_PROCESSOR}
    change_json(result, provenance=provenance)
    return study


def report_in(audit: Any, label: str, seed: int) -> Any:
    """What an `audit.json` says of one network."""
    (found,) = (n for n in audit["networks"] if (n["label"], n["seed"]) == (label, seed))
    return found["report"]


def _renamed(text: str) -> str:
    for rule, name in HOSTILE.items():
        text = text.replace(f'"{rule}"', json.dumps(name))
    return text
