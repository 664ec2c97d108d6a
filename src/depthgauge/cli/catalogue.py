"""What `rules`, `nets` and `tasks` say, out of the classes themselves.

`make catalogue` writes it into catalogue.json, which the lists read: the classes need torch, and
that takes seconds to load.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from depthgauge.config import TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.nets.registry import NETS
from depthgauge.rules.choice import option_names
from depthgauge.rules.contract import Rule
from depthgauge.rules.known import BUILT_IN
from depthgauge.rules.registry import load_known
from depthgauge.tasks.registry import TASKS

Entry = dict[str, Any]

FILE = Path(__file__).with_suffix(".json")


def catalogue() -> dict[str, list[Entry]]:
    """Everything that comes with the package."""
    return {
        "rules": [described(load_known(name)) for name in BUILT_IN],
        "beside rules": _beside_rules(),
        "nets": [
            {"name": name, "summary": (net.__doc__ or "").splitlines()[0]}
            for name, net in NETS.items()
        ],
        "tasks": [
            {"name": name, "summary": task.summary, "epochs": task.epochs, "width": task.width}
            for name, task in TASKS.items()
        ],
    }


def described(rule: type[Rule]) -> Entry:
    """One rule, with the options that can be chosen."""
    return {
        "name": rule.name,
        "summary": rule.summary,
        "needs": sorted(rule.needs),
        "options": _options(rule.Options, option_names(rule)),
    }


def _options(model: type[BaseModel], names: Iterable[str]) -> list[Entry]:
    fields = {name: model.model_fields[name] for name in names}
    return [
        {
            "name": name,
            "default": field.get_default(call_default_factory=True),
            "description": field.description or "",
        }
        for name, field in fields.items()
    ]


def _beside_rules() -> list[Entry]:
    """What else may stand in a rule's brackets."""
    controls = [
        {"name": name, "default": None, "description": control.summary}
        for name, control in CONTROLS.items()
    ]
    training = _options(TrainingOptions, TrainingOptions.model_fields)
    return [
        {"name": "any rule[…]", "summary": "options of training", "options": training},
        {"name": "any rule[…]", "summary": "or under a control", "options": controls},
    ]


def as_text() -> str:
    """The file, written anew."""
    return json.dumps(catalogue(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(as_text(), encoding="utf-8")
