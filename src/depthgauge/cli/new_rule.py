"""`depthgauge new-rule NAME`: write a file with a working rule, as a start for your own rule."""

from __future__ import annotations

import argparse
import keyword
from pathlib import Path

from depthgauge.errors import UserError


def add_new_rule(parser: argparse.ArgumentParser) -> None:
    """Add the options of `new-rule`."""
    parser.description = "Write NAME.py with a complete, working rule, from which to make your own."
    parser.add_argument("name", metavar="NAME", help="the rule's name, such as my_rule")
    parser.add_argument(
        "--out", metavar="DIR", default=".", help="folder of the file (the current folder)"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Write the file, and print the commands that check and audit the rule."""
    class_name = _class_name(args.name)
    _refuse_taken(args.name, class_name)
    path = Path(args.out) / f"{args.name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(rule_text(args.name, class_name))
    except FileExistsError as error:
        raise UserError(
            f"{path} exists and is not overwritten; choose another name or --out"
        ) from error
    print(f"wrote {path}")
    print(f"depthgauge check-rule {path}:{class_name}")
    print(f"depthgauge audit --rules bp {path}:{class_name}")
    return 0


def rule_text(name: str, class_name: str) -> str:
    """Return the text of a working rule with this name and class name."""
    from importlib.resources import files
    from string import Template

    template = files("depthgauge.rules").joinpath("template.py.txt").read_text(encoding="utf-8")
    return Template(template).substitute(name=name, Class=class_name)


def _class_name(name: str) -> str:
    """Return the class name for a rule's name: `MyRule` for `my_rule`; refuse impossible names."""
    if not (name.isidentifier() and name[0].isalpha()) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be a rule's name; use letters, digits and _, beginning with a "
            "letter, as in my_rule"
        )
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _refuse_taken(name: str, class_name: str) -> None:
    """Refuse a name if another rule has the name, or if the class name is already in use."""
    from depthgauge.registry import RULES
    from depthgauge.rules import contract

    if name in RULES.names or keyword.iskeyword(class_name) or hasattr(contract, class_name):
        raise UserError(f"the name {name!r} is taken; choose another, as in my_{name}")
