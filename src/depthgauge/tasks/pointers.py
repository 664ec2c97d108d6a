"""The task `pointers`: follow 1 to k pointers in a table; generated in memory, needs depth."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.losses.labels import IGNORED
from depthgauge.tasks.base import Split, Task

PLACES, HOPS, QUERIES = 8, 4, 2
TRAIN, EVALUATION = 12_000, 3_000
SEED = 0
CANDIDATES = 20
"""Sequences drawn for each test sequence; those whose table is in the training set are dropped."""


def load_pointers() -> Task:
    """Make the task: 12,000 sequences to train and 3,000 to test, always the same.

    docs/tasks/pointers.md defines the task, and says how its size was chosen.
    """
    return make_pointers(PLACES, HOPS, QUERIES)


def make_pointers(
    places: int, hops: int, queries: int, *, train: int = TRAIN, evaluation: int = EVALUATION
) -> Task:
    """Make a task of following pointers.

    A sequence begins with a table: the token at place i is p(i), where p is a random cycle through
    all places. Then come queries: `queries` random starts s for each number of hops j = 1 … `hops`,
    in this order. The label of a query is p applied j times to s. The tokens of the table have no
    label. No table of a test sequence occurs in the training set.
    """
    generator = torch.Generator().manual_seed(SEED)
    tables = _draw_tables(train + CANDIDATES * evaluation, places, generator)
    known, candidates = tables[:train], tables[train:]
    new = candidates[~torch.isin(_numbers(candidates), _numbers(known))][:evaluation]
    splits = []
    for table in (known, new):
        starts = torch.randint(places, (len(table), hops * queries), generator=generator)
        labels = follow(table, starts, hops)
        y = torch.cat([torch.full_like(table, IGNORED), labels], 1)
        splits.append(Split(torch.cat([table, starts], 1), y))
    return Task("pointers", splits[0], splits[1], num_classes=places)


def _draw_tables(count: int, places: int, generator: torch.Generator) -> Tensor:
    """Draw tables (count, places); each is a random cycle through all places."""
    drawn = torch.rand(count, places, generator=generator, dtype=torch.float64)
    cycle = drawn.argsort(dim=1, stable=True)
    return torch.empty_like(cycle).scatter_(1, cycle, cycle.roll(-1, 1))


def _numbers(tables: Tensor) -> Tensor:
    """Return one number for each table; different tables have different numbers."""
    places = tables.shape[1]
    return (tables * places ** torch.arange(places)).sum(1)


def follow(table: Tensor, starts: Tensor, hops: int) -> Tensor:
    """Return where the starts lead: the first queries after one hop, the last after `hops`."""
    answers, reached = [], starts
    queries = starts.shape[1] // hops
    for hop in range(hops):
        reached = table.gather(1, reached)
        answers.append(reached[:, hop * queries : (hop + 1) * queries])
    return torch.cat(answers, 1)
