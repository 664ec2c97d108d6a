"""The pointers task: the same everywhere, and every label is where its pointers lead."""

from __future__ import annotations

import time

import torch

from depthgauge.losses.labels import IGNORED
from depthgauge.tasks.pointers import HOPS, PLACES, QUERIES, load_pointers, make_pointers

CHECKSUM = "ee52c669bcf1ef4053ce1002bdf6fa20ec4d32b892c0a8b4d09235044ae092d7"


def test_it_is_the_same_on_every_machine() -> None:
    assert load_pointers().checksum == CHECKSUM


def test_its_shapes() -> None:
    task = load_pointers()
    positions = PLACES + HOPS * QUERIES
    assert (len(task.train), len(task.evaluation)) == (12_000, 3_000)
    assert (task.shape.sample, task.shape.symbols, task.shape.outputs) == (
        (positions,),
        PLACES,
        PLACES,
    )
    assert task.shape.per_position


def test_every_label_follows_its_pointers() -> None:
    task = make_pointers(6, 3, 2, train=40, evaluation=10)
    for split in (task.train, task.evaluation):
        for tokens, labels in zip(split.x.tolist(), split.y.tolist(), strict=True):
            table, starts = tokens[:6], tokens[6:]
            assert labels[:6] == [IGNORED] * 6
            for query, start in enumerate(starts):
                place = start
                for _ in range(query // 2 + 1):
                    place = table[place]
                assert labels[6 + query] == place


def test_the_table_is_one_cycle_so_no_pointer_leads_back_early() -> None:
    task = make_pointers(6, 3, 2, train=40, evaluation=10)
    for table in task.train.x[:, :6].tolist():
        place, seen = 0, set()
        while place not in seen:
            seen.add(place)
            place = table[place]
        assert len(seen) == 6


def test_no_table_is_in_both_splits() -> None:
    task = load_pointers()
    known, new = (
        {tuple(table) for table in split.x[:, :PLACES].tolist()}
        for split in (task.train, task.evaluation)
    )
    assert not known & new
    assert len(new) > 400


def test_answers_are_about_uniform() -> None:
    task = load_pointers()
    labels = task.train.y[task.train.y != IGNORED]
    shares = torch.bincount(labels) / len(labels)
    assert float((shares - 1 / PLACES).abs().max()) < 0.01
    assert task.chance < 1.2 / PLACES


def test_it_is_made_in_a_moment_and_leaves_the_global_random_state_alone() -> None:
    before, started = torch.get_rng_state(), time.process_time()
    load_pointers()
    assert time.process_time() - started < 2
    assert torch.equal(torch.get_rng_state(), before)
