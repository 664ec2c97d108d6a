"""The distance of untrained networks from the identity, over seeds."""

from __future__ import annotations

import json
import statistics

import pytest
import torch
from oracles.identity import identity_of_samples
from training.small_runs import make_task

from depthgauge.auditing.identity import measure_identity
from depthgauge.config import NetConfig
from depthgauge.nets.registry import initial_net
from depthgauge.published.figures import published

TASK = make_task()
NET = NetConfig(width=8, blocks=3, w2_std=0.3)
SEEDS = [42, 7, 123]


def test_every_seed_is_read_on_the_first_samples():
    document = measure_identity(TASK, NET, SEEDS, samples=11).to_dict()
    assert list(document["per_seed"]) == ["42", "7", "123"]
    for seed in SEEDS:
        net = initial_net(NET, TASK, seed)
        expected = identity_of_samples(net, TASK.evaluation.x[:11])
        found = document["per_seed"][str(seed)]
        assert found["per_block_ratio"] == pytest.approx(expected["per_block_ratio"], rel=1e-5)
        assert found["rel_dev"] == pytest.approx(expected["rel_dev"], rel=1e-5)
        assert found["cos"] == pytest.approx(expected["cos"], rel=1e-5)


def test_means_and_sample_standard_deviations_over_the_seeds():
    document = measure_identity(TASK, NET, SEEDS, samples=50).to_dict()
    seeds = list(document["per_seed"].values())
    for name in ("rel_dev", "cos"):
        values = [seed[name] for seed in seeds]
        assert document[f"{name}_mean"] == pytest.approx(sum(values) / 3)
        assert document[f"{name}_std"] == pytest.approx(statistics.stdev(values))
    columns = zip(*(seed["per_block_ratio"] for seed in seeds), strict=True)
    means = [sum(column) / 3 for column in columns]
    assert document["per_block_ratio_mean"] == pytest.approx(means)
    assert document["per_block_ratio_grand_mean"] == pytest.approx(sum(means) / 3)


def test_one_seed_has_no_spread():
    document = measure_identity(TASK, NET, [42], samples=50).to_dict()
    assert document["rel_dev_std"] is None
    assert document["cos_std"] is None


def test_the_configuration_says_what_was_read():
    document = measure_identity(TASK, NET, SEEDS, samples=10**6).to_dict()
    assert document["config"] == {
        "task": "tiny",
        "checksum": TASK.checksum,
        "net": NET.model_dump(mode="json"),
        "seeds": SEEDS,
        "samples": len(TASK.evaluation),
        "split": "test",
    }
    json.dumps(document, allow_nan=False)


def test_measuring_leaves_the_random_state_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    measure_identity(TASK, NET, SEEDS, samples=10)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.cifar
def test_the_published_initialisation_figures_come_out_to_seven_digits(cifar10):
    net = NetConfig(width=256, blocks=4)
    document = measure_identity(cifar10, net, [42, 123, 456], samples=256).to_dict()
    for seed, figures in published().init_identity.per_seed.items():
        found = document["per_seed"][str(seed)]
        assert found["per_block_ratio"] == pytest.approx(figures.per_block_ratio, abs=1e-7)
        assert found["rel_dev"] == pytest.approx(figures.rel_dev, abs=1e-7)
        assert found["cos"] == pytest.approx(figures.cos, abs=1e-7)
    assert round(document["rel_dev_mean"], 3) == 0.196
    assert round(document["rel_dev_std"], 3) == 0.003
    assert round(document["cos_mean"], 3) == 0.981
    assert round(document["cos_std"], 3) == 0.001
