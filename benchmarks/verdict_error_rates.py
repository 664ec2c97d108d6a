"""Print the tables of docs/error-rates.md about D1, D2 and D3: how often is the verdict wrong?

    PYTHONPATH=tests python benchmarks/verdict_error_rates.py

The figures come from simulated studies with a known truth, 20,000 for each figure, with a fixed
seed. A test compares the words of the simulation with those of the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from verdict.simulated_seeds import (
    AT_THE_THRESHOLD,
    BP,
    DFA,
    LOG_SPREADS,
    SEED_COUNTS,
    WORST_HEALTHY,
    Truth,
    word_shares,
    worst_at_the_threshold,
)

WANTED = 0.80
MOST_SEEDS = 50
DISTRIBUTIONS = {"normal": ("normal",), "t4": ("t4",), "skewed": ("skewed down", "skewed up")}
PUBLISHED: dict[str, tuple[Truth, str]] = {
    "BP": (BP, "trustworthy"),
    "worst healthy": (WORST_HEALTHY, "trustworthy"),
    "DFA": (DFA, "walk back"),
}


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def errors(case: str, tails: Sequence[str], n: int) -> str:
    """Return the rates of a wrong *trustworthy* and a wrong *walk back*, in per cent."""
    shares = (
        max(worst_at_the_threshold(word, case, n, each) for each in tails)
        for word in ("trustworthy", "walk back")
    )
    return " / ".join(f"{100 * share:.1f}" for share in shares)


def right(truth: Truth, word: str, n: int, log_spread: float, tails: str) -> str:
    """Return how often the right word comes, rounded down; in bold if that is too rare."""
    share = word_shares(truth, n, log_spread, tails)[word]
    text = f"{math.floor(100 * share)}"
    return text if share >= WANTED else f"**{text}**"


def seeds_needed(truth: Truth, word: str, log_spread: float) -> str:
    """Return the least number of seeds with which the right word comes often enough."""
    enough = (n for n in range(2, MOST_SEEDS) if word_shares(truth, n, log_spread)[word] >= WANTED)
    return str(next(enough, f"> {MOST_SEEDS}"))


def main() -> None:
    """Print both tables."""
    columns = [f"{name}, n = {n}" for name in DISTRIBUTIONS for n in SEED_COUNTS]
    print_table(
        ["at the threshold", *columns],
        (
            [case, *(errors(case, t, n) for t in DISTRIBUTIONS.values() for n in SEED_COUNTS)]
            for case in AT_THE_THRESHOLD
        ),
    )
    print()
    symmetric = ("normal", "t4")
    columns = [f"{name}, n = {n}" for name in symmetric for n in SEED_COUNTS]
    print_table(
        ["truth", "spread", *columns, "seeds for 80 %"],
        (
            [
                name,
                f"{spread:g}",
                *(right(truth, word, n, spread, t) for t in symmetric for n in SEED_COUNTS),
                seeds_needed(truth, word, spread),
            ]
            for name, (truth, word) in PUBLISHED.items()
            for spread in LOG_SPREADS
        ),
    )


if __name__ == "__main__":
    main()
