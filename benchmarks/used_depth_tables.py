"""Print the tables of docs/error-rates.md about used depth, from measured counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Measured: TypeAlias = dict[str, Any]
"""A setting in the form in which benchmarks/used_depth_error_rates.py writes it."""

STUDIES = 20_000
TOO_LARGE = ("low too large", "a rung wrongly")
TOO_SMALL = ("high too small", "idle wrongly")
FOUND = (
    ("bp", "low right", "backpropagation: `low` is 4"),
    ("bp", "estimate right", "backpropagation: the estimate is 4"),
    ("tttt", "trustworthy", "a rule like it: *trustworthy*"),
    (".ttt", "shallow", "three blocks, nothing to the fourth: *shallow*"),
    ("nttt", "shallow", "three blocks, noise hurts at the fourth: *shallow*"),
    ("nttt", "trustworthy", "the same: *trustworthy*, which is wrong"),
    ("nnnt", "shallow", "one block, noise hurts at the others: *shallow*"),
)


def print_tables(settings: Sequence[Measured]) -> None:
    """Print all tables in Markdown."""
    _print_errors([each for each in settings if each["task"] not in ("embedded", "again")])
    _print_power([each for each in settings if each["task"] == "embedded"])
    _print_looks([each for each in settings if each["task"] == "again"])


def _print_errors(settings: Sequence[Measured]) -> None:
    counts = sorted({n for each in settings for n in each["looks"]})
    _print_row(["truth", "noise", *(f"n = {n}" for n in counts)])
    _print_row(["---"] * (2 + len(counts)))
    kinds = dict.fromkeys((each["task"], _noise(each["noise"])) for each in settings)
    for kind in kinds:
        own = {
            each["looks"][0]: each
            for each in settings
            if (each["task"], _noise(each["noise"])) == kind
        }
        _print_row([*kind, *(_errors(own[n]) + _mark(own[n]) if n in own else "" for n in counts)])


def _noise(noise: dict[str, Any]) -> str:
    low, high = noise["spread"], noise["spread"] * noise["factor"]
    spread = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return f"{noise['tails']}, {spread}" + (" + evaluation" if noise["samples"] else "")


def _errors(measured: Measured) -> str:
    """Return the largest error rates among rules: `low`, `high`, *shallow*, *trustworthy*."""
    rules = measured["rules"]
    as_deep = [rule for rule in rules if rules[rule]["used"] >= rules[rule]["used_by_bp"]]
    shallower = [rule for rule in rules if rules[rule]["earning"] < rules[rule]["used_by_bp"]]
    cases = (
        (rules, TOO_LARGE),
        (rules, TOO_SMALL),
        (as_deep, ("shallow",)),
        (shallower, ("trustworthy",)),
    )
    return " / ".join(
        f"{max((_share(measured, rule, *names) for rule in who), default=0.0):.1f}"
        for who, names in cases
    )


def _mark(measured: Measured) -> str:
    """Return a star if there are fewer studies than usual."""
    return "" if measured["studies"] >= STUDIES else " *"


def _print_power(settings: Sequence[Measured]) -> None:
    print()
    columns = (
        f"{each['noise']['spread']:g}, n = {each['looks'][0]}{_mark(each)}" for each in settings
    )
    _print_row(["truth: found", *columns])
    _print_row(["---"] * (1 + len(settings)))
    for rule, name, text in FOUND:
        _print_row([text, *(f"{_share(each, rule, name):.0f}" for each in settings)])


def _print_looks(settings: Sequence[Measured]) -> None:
    print()
    _print_row(["rule uses", "seeds", "low too large", "shallow", "trustworthy", "inconclusive"])
    _print_row(["---"] * 6)
    for rule, text in (("tttt", "four blocks, as backpropagation"), ("nttt", "three blocks")):
        for each in settings:
            looks = " then ".join(map(str, each["looks"]))
            answers = (TOO_LARGE, ("shallow",), ("trustworthy",), ("inconclusive",))
            shares = (_share(each, rule, *names) for names in answers)
            _print_row([text, looks, *(f"{share:.1f}" for share in shares)])


def _share(measured: Measured, rule: str, *names: str) -> float:
    """Return the rate of the most frequent of these answers about a rule, in per cent."""
    counts: dict[str, int] = measured["rules"][rule]["counts"]
    return 100 * max(counts.get(name, 0) for name in names) / int(measured["studies"])


def _print_row(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |")
