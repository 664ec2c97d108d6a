"""The published ladders, and the rungs that are compared with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from depthgauge.config import NetConfig, Recipe, SharedConfig, TaskConfig
from depthgauge.errors import UserError
from depthgauge.published.figures import published
from depthgauge.published.memo_ladder import compare_rungs, published_ladder
from depthgauge.results.ladder import Ladder, Rung

NET = NetConfig(width=256, blocks=4)


def ladder(
    rules: Mapping[str, Mapping[int, Sequence[float]]],
    *,
    net: NetConfig = NET,
    epochs: int = 100,
    evaluated_on: str = "test",
) -> Ladder:
    task = TaskConfig(name="cifar10", checksum="0" * 64, evaluated_on=evaluated_on)
    return Ladder(
        config=SharedConfig(task=task, net=net, recipe=Recipe(epochs=epochs)),
        chance=0.1,
        rules={
            label: [Rung(k=k, accuracies=dict(enumerate(values))) for k, values in rungs.items()]
            for label, rungs in rules.items()
        },
    )


@pytest.mark.parametrize(
    ("width", "blocks", "rule", "k", "figure"),
    [
        (256, 4, "bp", 4, (0.617, 0.002)),
        (256, 4, "fa", 2, (0.349, 0.016)),
        (256, 4, "dfa", 1, (0.244, 0.015)),
        (512, 2, "bp", 2, (0.603, 0.001)),
        (512, 2, "fa", 0, (0.359, 0.000)),
    ],
)
def test_some_figures(width, blocks, rule, k, figure):
    assert published_ladder(NetConfig(width=width, blocks=blocks)).rules[rule][k] == figure


def test_the_figures_of_initialisation():
    seeds = published().init_identity.per_seed
    assert seeds[42].per_block_ratio[0] == pytest.approx(0.0959526, abs=1e-7)
    assert seeds[123].cos == pytest.approx(0.9805399, abs=1e-7)


def test_the_refusal_of_a_network_names_the_published_ones():
    with pytest.raises(UserError) as caught:
        published_ladder(NetConfig(width=128, blocks=4))
    for width, blocks in ((128, 4), (256, 4), (512, 2)):
        assert f"--width {width}" in str(caught.value)
        assert f" {blocks}" in str(caught.value)


def test_every_rung_that_was_published_is_compared():
    rungs = {"bp": {0: [0.39, 0.389], 4: [0.62]}, "mine": {0: [0.3]}, "dfa": {7: [0.1]}}
    rungs |= {"fa": {1: []}, "dfa[normalise=batch]": {0: [0.3]}}
    found = compare_rungs(ladder(rungs))
    assert [(one.what, one.n, one.published) for one in found.figures["rungs"]] == [
        ("bp k=0", 2, 0.389),
        ("bp k=4", 1, 0.617),
    ]
    assert all(one.inside for one in found.figures["rungs"])
    assert found.unlike == ()


@pytest.mark.parametrize(
    ("other", "unlike"),
    [
        ({"epochs": 30}, "epochs 30 instead of 100"),
        ({"evaluated_on": "validation"}, "evaluated_on validation instead of test"),
    ],
)
def test_what_was_not_measured_alike_is_not_judged(other, unlike):
    found = compare_rungs(ladder({"bp": {4: [0.617]}}, **other))
    assert found.unlike == (unlike,)
    for figures in found.figures.values():
        assert [(one.inside, one.half_width) for one in figures] == [(None, None)]


def test_the_ladder_is_checked_against_the_main_audit():
    found = compare_rungs(
        ladder({"bp": {4: [0.6]}, "dfa": {0: [0.35], 4: [0.3]}, "fa": {1: [0.4]}})
    )
    assert {check.what: check.published for check in found.figures["cross_checks"]} == {
        "bp: k = L, main audit": 0.615,
        "dfa: k = L, main audit": 0.306,
        "dfa: k = 0, frozen baseline": 0.349,
    }


def test_other_networks_have_no_cross_checks_with_the_main_audit():
    found = compare_rungs(ladder({"bp": {2: [0.6]}}, net=NetConfig(width=512, blocks=2)))
    assert found.figures["cross_checks"] == []
    assert [one.published for one in found.figures["rungs"]] == [0.603]


def test_a_ladder_that_does_not_say_its_network_is_refused():
    unknown = ladder({})
    config = unknown.config.model_copy(update={"net": None})
    with pytest.raises(UserError, match="does not name its network"):
        compare_rungs(unknown.model_copy(update={"config": config}))
