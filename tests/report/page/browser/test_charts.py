"""What charts show when they are pointed at, clicked, or told to show something else."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import (
    BLOCKS,
    RULES,
    SEEDS,
    find_run,
    metrics,
    report_in,
)

from depthgauge.results.load import load

DIGITS = {"rel": 1e-3}
"""Charts have four digits."""


def values(marks, field):
    """A field of the rows that are drawn, by rule and from left to right."""
    found = {}
    for mark in sorted(marks, key=lambda mark: mark["x"]):
        found.setdefault(mark["datum"]["rule"], []).append(mark["datum"][field])
    return found


def by_run(page, chart):
    """The values of each run's line."""
    found = {}
    for mark in page.marks(chart, "line", "run"):
        found.setdefault(mark["datum"]["run"], []).append(mark["datum"]["value"])
    return found


def is_hollow(mark):
    return mark["fill"] == "var(--paper)"


def ladder(page):
    """The signs of the ladder: means over seeds, seeds, swap twins."""
    signs = page.marks("ladder-chart", "symbol")
    means = [sign for sign in signs if "low" in sign["datum"] and not is_hollow(sign)]
    seeds = [sign for sign in signs if "low" not in sign["datum"]]
    return means, seeds, [sign for sign in signs if is_hollow(sign)]


def test_the_ladder_has_each_mean_and_each_seed(audited, pages):
    means, seeds, _ = ladder(audited)
    for rule in RULES:
        found = [
            [metrics(find_run(pages / "audited", rule, k, seed))[-1]["accuracy"] for seed in SEEDS]
            for k in range(BLOCKS + 1)
        ]
        expected = [100 * sum(rung) / len(SEEDS) for rung in found]
        assert values(means, "accuracy")[rule] == pytest.approx(expected, **DIGITS)
        every = sorted(100 * accuracy for rung in found for accuracy in rung)
        assert sorted(values(seeds, "accuracy")[rule]) == pytest.approx(every, **DIGITS)


def test_pointing_at_the_ladder_tells_the_value(audited, pages):
    audited.isolate("ladder", "bp")
    frozen = ladder(audited)[0][0]
    runs = [find_run(pages / "audited", "bp", 0, seed) for seed in SEEDS]
    mean = 50 * sum(metrics(run)[-1]["accuracy"] for run in runs)
    expect(audited.point_at(frozen)).to_contain_text(f"bp, k = 0: {mean:.1f} %, 95 % [")


def test_a_dotted_line_shows_each_rule_with_its_blocks_frozen(audited):
    means = {
        sign["datum"]["rule"]: (sign["y"], sign["fill"])
        for sign in ladder(audited)[0]
        if round(sign["datum"]["place"]) == 0
    }
    rules = audited.marks("ladder-chart", "rule", "rule", "accuracy")
    dotted = [line for line in rules if "place" not in line["datum"]]
    assert {line["datum"]["rule"] for line in dotted} == set(RULES)
    for line in dotted:
        assert (line["y"], line["stroke"]) == means[line["datum"]["rule"]]


def test_what_needs_no_depth_is_a_line_with_its_name(audited):
    (name,) = audited.marks("ladder-chart", "text", "name", "place", "accuracy")[:1]
    (line,) = (
        mark for mark in audited.marks("ladder-chart", "rule") if "rule" not in mark["datum"]
    )
    assert name["text"] == f"chance {line['datum']['accuracy']:.1f} %"
    assert name["y"] == pytest.approx(line["y"], abs=1)


def test_swap_twins_are_hollow_signs_beside_their_curve(audited, pages):
    """What a block earns is seen without a table: the way from the hollow sign to the curve."""
    study = load(pages / "audited")
    means, _, twins = ladder(audited)
    on_curve = {(sign["datum"]["rule"], sign["x"]): sign for sign in means}
    for twin in twins:
        sign = on_curve[twin["datum"]["rule"], twin["x"]]
        assert (twin["stroke"], twin["shape"]) == (sign["fill"], sign["shape"])
    expected = {
        rule.label: [pytest.approx(100 * twin.mean, **DIGITS) for twin in rule.twins]
        for rule in study.rules.values()
        if rule.twins
    }
    assert values(twins, "accuracy") == expected != {}


def test_pointing_at_and_clicking_a_hollow_sign_tells_its_run(audited, pages):
    audited.isolate("ladder", "bp")
    twin, sign = load(pages / "audited")["bp"].twins[-1], ladder(audited)[2][-1]
    expect(audited.point_at(sign)).to_contain_text(
        f"bp, k = {twin.k}, with noise as the credit of the added block: {100 * twin.mean:.1f} %"
    )
    audited.page.mouse.click(*sign["middle"])
    name = f"bp, k = {twin.k} (block {BLOCKS - twin.k} on noise), seed {SEEDS[0]}"
    expect(audited.page.get_by_role("dialog", name=name)).to_be_visible()


def test_charts_of_training_and_layers_take_no_swap_twin_for_a_rung(audited):
    for chart in ("training-accuracy", "layers-h"):
        assert len(by_run(audited, chart)) == len(RULES) * len(SEEDS)


@pytest.mark.parametrize(
    ("chart", "kind"),
    [
        ("ladder-chart", "symbol"),
        ("audit-D3", "symbol"),
        ("audit-D2s", "symbol"),
        ("layers-g", "symbol"),
        ("layers-gamma", "symbol"),
        ("null-0", "rule"),
    ],
)
def test_a_click_on_a_run_opens_it(audited, chart, kind):
    audited.isolate("ladder", "bp")  # alone: nothing of another rule lies over it
    audited.choose("layers", "seed", "1")
    mark = next(mark for mark in audited.marks(chart, kind, "run") if mark["seen"])
    audited.page.mouse.click(*mark["middle"])
    expect(audited.all("#run-dialog[open]")).to_contain_text(f"runs/{mark['datum']['run']}")


def test_a_click_on_a_thin_line_opens_its_run(audited):
    first, *_ = audited.marks("training-loss", "line", "run")
    audited.all("#training-loss .mark-line path").first.dispatch_event("click")
    expect(audited.all("#run-dialog[open]")).to_contain_text(f"runs/{first['datum']['run']}")


@pytest.mark.parametrize("chosen", [(1, 2, "End", 2), (2, 0, "Home", 0)])
def test_layers_show_the_chosen_seed_k_and_epoch(audited, pages, chosen):
    seed, k, key, epoch = chosen
    audited.choose("layers", "k", str(k))
    audited.choose("layers", "seed", str(seed))
    audited.all("#layers [data-choice=epoch]").press(key)
    audited.drawn()
    expect(audited.all("#layers output")).to_have_text(f"{epoch} of 2")
    for chart, name in (("layers-h", "h_norm"), ("layers-g", "g_norm")):
        found = values(audited.marks(chart, "symbol"), "mean")
        for rule in RULES:
            line = metrics(find_run(pages / "audited", rule, k, seed))[epoch]
            assert found[rule] == pytest.approx(line[name], **DIGITS)


def test_pointing_at_a_layer_tells_rule_layer_value_and_of_how_many_seeds(audited):
    audited.isolate("ladder", "dfa")
    for seed, words in (("all", ", mean of 2 seeds"), ("1", "")):
        audited.choose("layers", "seed", seed)
        at_embedding, at_block, _ = audited.marks("layers-h", "symbol")
        value = f"{at_block['datum']['mean']:.3g}"
        expect(audited.point_at(at_embedding)).to_contain_text("dfa, embedding: ")
        expect(audited.point_at(at_block)).to_have_text(f"dfa, block 0: {value}{words}")


@pytest.mark.parametrize("seed", SEEDS)
def test_alignment_is_of_the_chosen_seed_and_of_all_blocks_alone(audited, pages, seed):
    audited.choose("layers", "seed", str(seed))
    audit = json.loads((pages / "audited" / "audit.json").read_text())
    expected = report_in(audit, "dfa", seed)["readings"]["alignment"]["per_layer"]

    def drawn():
        return values(audited.marks("layers-gamma", "symbol"), "mean").get("dfa", [])

    assert drawn() == pytest.approx(expected, **DIGITS)
    assert audited.marks("layers-gamma", "text") == []
    audited.choose("layers", "k", "1")
    assert drawn() == []
    (said,) = audited.marks("layers-gamma", "text")
    assert said["text"] == "only known with all blocks trained"
    audited.choose("layers", "k", str(BLOCKS))
    assert drawn() == pytest.approx(expected, **DIGITS)


def test_a_reading_over_training_has_its_curves_and_its_threshold(audited, pages):
    run = find_run(pages / "audited", "bp", BLOCKS, 1)
    lines = metrics(run)
    accuracies = by_run(audited, "training-accuracy")[run.path.name]
    assert accuracies == pytest.approx([100 * line["accuracy"] for line in lines], **DIGITS)
    (chance,) = audited.marks("training-accuracy", "rule")
    assert audited.point_at(chance).inner_text().startswith("chance: 1")
    (threshold,) = audited.marks("training-growth", "rule")
    assert threshold["datum"]["value"] == 50
    expect(audited.point_at(threshold)).to_have_text("threshold: above 50")
    assert audited.texts("#training figcaption")[2].startswith("growth (D1)")


def test_training_with_fewer_blocks(audited, pages):
    audited.choose("training", "k", "0")
    run = find_run(pages / "audited", "bp", 0, 2)
    _, *losses = [line["train_loss"] for line in metrics(run)]
    drawn = by_run(audited, "training-loss")[run.path.name]
    assert [value for value in drawn if value is not None] == pytest.approx(losses, **DIGITS)


def test_a_star_marks_where_a_diagnostic_first_fired(opened):
    """Of the second seed the value is beyond all bounds; its star is at the end of the axis."""
    page = opened("deep")
    stars = page.marks("training-growth", "symbol", "seed")
    assert [(star["datum"]["rule"], star["datum"]["epoch"]) for star in stars] == [("dfa", 2)] * 2
    assert stars[0]["datum"]["value"] == 100
    assert stars[1]["y"] == pytest.approx(0, abs=0.1)
    seen = next(star for star in stars if star["seen"])
    expect(page.point_at(seen)).to_contain_text(": D1 first fires at epoch 2")
    page.choose("training", "k", "1")
    assert {star["datum"]["k"] for star in page.marks("training-growth", "symbol", "seed")} == {1}


def test_a_mean_says_of_how_many_it_is(opened):
    means = [
        mark
        for mark in opened("deep").marks("training-growth", "symbol", "epoch")
        if "mean" in mark["datum"]
    ]
    assert values(means, "seeds") == {"bp": [2] * 4, "dfa": [2, 2, 1, 1]}
    said = [mark["datum"]["says"].endswith(", mean of 2 seeds") for mark in means]
    assert said == [mark["datum"]["seeds"] == 2 for mark in means]


def test_the_null_has_every_draw_and_the_alignment_of_each_seed(audited, pages):
    audit = json.loads((pages / "audited" / "audit.json").read_text())
    for index, rule in enumerate(("fa", "dfa")):
        nulls = [report_in(audit, rule, seed)["readings"]["null"] for seed in SEEDS]
        observed = [mark["datum"]["value"] for mark in audited.marks(f"null-{index}", "rule")]
        expected = [null["deep"]["observed"] for null in nulls]
        assert observed == pytest.approx(expected, **DIGITS)
        counts = Counter()
        for bar in audited.marks(f"null-{index}", "rect"):
            seed, _, words = bar["datum"]["says"].partition(": ")
            counts[seed] += int(words.split()[0])
        assert counts == {
            f"seed {seed}": len(null["fresh_deep"]) for seed, null in zip(SEEDS, nulls, strict=True)
        }
        for null in nulls:
            assert null["deep"]["word"] in audited.texts("#null figcaption .small")[index]


def test_why_a_network_has_no_place_on_an_axis_is_said(opened):
    """Of bp both streams are without bound; of the hostile study's others all were read."""
    page = opened("hostile")
    for _ in ("beside others", "alone"):
        (fate,) = page.marks("audit-D1", "text", "words")
        assert fate["text"] == "✕ 2 at ∞"
        page.all("#audit .legend button").first.click()
        page.drawn()


def test_a_null_without_a_value_of_its_own_has_no_line(opened):
    page = opened("hostile")
    assert [len(page.marks(f"null-{index}", "rule")) for index in (0, 1)] == [2, 1]
    page.choose("layers", "seed", "1")
    bands = {}
    for mark in page.marks("layers-gamma", "area"):
        bands.setdefault(mark["datum"]["rule"], []).append(mark["datum"]["low"] is not None)
    assert list(bands.values()) == [[True] * 3, [True, False, True]]
