"""The filled reporting template: everything in it is true of the study."""

from __future__ import annotations

from functools import partial

import pytest
from report.hostile_names import HOSTILE
from report.studies import (
    COMMIT,
    CONFIG,
    TASK,
    audited_study,
    make_audit,
    make_network,
    make_pairs,
    make_run,
    make_study,
    trained_study,
)
from report.writers.latex_parsed import parsed, tabulars
from report.writers.markdown_rendered import rendered_items, rendered_tables

from depthgauge.config import SharedConfig
from depthgauge.report.paper.template import Template, reporting_template
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def template_of(study: StudyResult, date: str | None = None) -> Template:
    return reporting_template(study, date)


def part(study: StudyResult, title: str) -> dict[str, str]:
    """The statements of one part by their labels, each with its mark."""
    (section,) = (s for s in template_of(study).sections if s.title == title)
    return {item.label: f"{item.mark} {item.text}".strip() for item in section.items}


def test_it_has_four_parts():
    text = template_of(trained_study()).to_markdown()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "### Identification",
        "### Headline",
        "### Diagnostics",
        "### Pitfalls",
    ]


def test_identification():
    runs = [make_run(epsilon=1e-6, normalise="sample"), make_run(seed=2, state="stopped")]
    found = part(make_study(*runs), "Identification")
    assert found["Study"] == "my_study"
    assert found["Task"] == f"digits, checksum {'8e65' * 16}, accuracy on the test split"
    assert found["Network"].startswith("residual_mlp: width 8, blocks 2, residual_add yes")
    assert "epochs 2" in found["Recipe"]
    assert found["Rule dfa"] == "dfa, options: epsilon 1×10⁻⁶, normalise sample"
    assert found["Seeds"] == "1, 2"
    assert found["Runs"] == (
        "2, the last k blocks trained, k = 2: 1 finished, 1 stopped; the study is not complete"
    )
    assert found["Software"] == "depthgauge 0.1.0, PyTorch 2.13.0"
    assert found["Commits"] == f"runs {COMMIT}"
    assert found["Device"] == "cpu, 1 thread"


def test_the_date_is_the_callers_or_none():
    assert "**Date**: –" in template_of(trained_study()).to_markdown()
    assert "**Date**: 2031-05-06" in template_of(trained_study(), "2031-05-06").to_markdown()


def test_networks_from_elsewhere_have_no_recipe():
    config = SharedConfig(task=TASK, checkpoints="/somewhere/weights")
    study = audited_study(alone=True, config=config)
    found = part(study, "Identification")
    assert found["Recipe"] == ("not recorded: the networks were trained elsewhere, folder weights")
    assert found["Rule bp"] == "not recorded: the networks were trained elsewhere"
    assert (found["Runs"], found["Device"]) == ("none in this folder", "–")
    assert (found["Software"], found["Commits"]) == ("depthgauge 9.9.9", "audit not recorded")


def test_a_control_says_what_it_changes():
    run = make_run("bp[shallow]", k=0)
    found = part(make_study(run), "Identification")["Rule bp[shallow]"]
    assert found == (
        "bp, options: none; in its network: blocks 0; control: no blocks: the accuracy of "
        "embedding and readout alone"
    )


def test_headline():
    text = template_of(trained_study()).to_markdown()
    table = next(t for t in rendered_tables(text) if "gain" in t[0])
    bp, dfa = table[1:]
    assert bp[:4] == ["bp", "3", "70.1 ± 0.1", "30.0 ± 0.0"]
    assert table[0][-1] == "used depth"
    assert (bp[-1], dfa[-1]) == ("2 of 2", "0 of 2")
    assert "used depth: how many blocks earn accuracy." in text
    assert part(trained_study(), "Headline") == {"Chance": "12.5 %"}


def test_what_is_not_known_is_a_dash():
    study = make_study(chance=None)
    assert part(study, "Headline") == {"Chance": "–", "Rules": "none has been trained yet"}


def test_every_diagnostic_with_threshold_and_finding():
    text = template_of(audited_study()).to_markdown()
    header, *rows = next(t for t in rendered_tables(text) if "finding" in t[0])
    assert header == ["rule", "reading", "value", "interval", "fires if", "finding"]
    dfa = {row[1]: row[2:] for row in rows if row[0] == "dfa"}
    assert list(dfa) == [
        "D1 growth",
        "D2 ‖g_L‖",
        "D2 ‖g_L‖/‖e‖",
        "D2 numerics",
        "D2s stability",
        "D3 gain",
    ]
    assert dfa["D1 growth"][0] == "705"
    assert dfa["D1 growth"][2:] == ["> 50", "fires"]
    assert dfa["D2 ‖g_L‖"][2:] == ["< 1.28×10⁻⁵", "passes"]
    assert dfa["D3 gain"][2:] == ["< 2", "fires"]
    assert dfa["D2 numerics"] == ["1", "–", "< 0.99", "below in 0 of 2"]
    assert (dfa["D2s stability"][0], *dfa["D2s stability"][2:]) == ("0.25", "> 0.3", "straddles")


def test_verdicts_with_their_basis_and_confidence():
    found = part(audited_study(), "Diagnostics")
    assert found["Verdict, dfa"] == "walk back (D1, D3), by the audit"
    assert "at 98.3 % each" in found["Confidence"]
    assert "at least 95 %" in found["Confidence"]
    assert "Single seed" not in found
    found = part(make_study(*make_pairs("bp", [0.4])), "Diagnostics")
    words = "no alarm, depth untested (single seed), by the metrics of training"
    assert found["Verdict, bp"] == words
    assert found["Single seed"] == "point values without an error rate: bp"
    assert "Confidence" not in found


def test_what_is_untested_says_why():
    found = part(make_study(make_run()), "Diagnostics")["Verdict, dfa"]
    assert found.endswith("D3 untested, depth utility: not measured (no frozen baseline)")


def test_pitfalls_of_an_audited_study():
    found = part(audited_study(), "Pitfalls")
    assert found["Feedback"].startswith("✓ the credit of 4 of 4 audited networks")
    assert found["Mean over layers"].startswith("✓ Γ is given layer by layer")
    assert found["Null of Γ"] == "✓ Γ of 2 networks is compared with 200 fresh feedbacks each"
    assert found["Precision"].startswith("✓ trained in float32; the least cosine")
    assert found["Cosines"].startswith("✓")
    assert found["Basis of the verdicts"] == "✓ the audit judged bp, dfa"
    assert found["Depth can help"].startswith("✓ backpropagation gains +40.0 points")
    assert "1.00×10⁻⁷ for the mean loss of a batch of 128" in found["Batch size"]


def test_pitfalls_of_a_study_without_an_audit():
    found = part(trained_study(), "Pitfalls")
    for label in ("Cosines", "Precision", "Feedback", "Mean over layers", "Null of Γ"):
        assert found[label].startswith("– ")
    assert found["Basis of the verdicts"].startswith("✗ the metrics of training judged bp, dfa")
    assert found["Spread"] == "✓ sample standard deviations (ddof 1) over seeds, n = 3"
    assert found["Single seed"] == "✓ every verdict rests on several seeds"
    assert found["Lost runs"] == "✓ none of 21 diverged or failed"
    assert found["Unfinished study"].startswith("✓")
    assert found["Depth can help"].startswith("✓ backpropagation gains +40.1 points")
    assert found["Thresholds"] == "✓ those of the protocol"


def test_lost_runs_are_listed_with_their_reason():
    runs = [
        *make_pairs("bp", [0.4]),
        make_run(seed=8, state="diverged"),
        make_run(seed=9, state="failed", reason="out of memory"),
    ]
    found = part(make_study(*runs), "Pitfalls")["Lost runs"]
    assert found.startswith("✗ 2 of 4")
    assert "dfa, k = 2, seed 8: diverged" in found
    assert "dfa, k = 2, seed 9: failed (out of memory)" in found


def test_a_half_done_study_with_one_seed():
    runs = [*make_pairs("bp", [0.4]), *[make_run(seed=seed, state="waiting") for seed in (1, 2)]]
    found = part(make_study(*runs), "Pitfalls")
    assert found["Unfinished study"].startswith("✗ 2 of 4 runs are left (2 waiting)")
    assert found["Single seed"] == "✗ verdicts by the point values of one seed: bp"
    assert found["Spread"].startswith("– none is given")
    assert "not judged: dfa" in found["Basis of the verdicts"]
    assert found["Frozen baseline"].startswith("✗")


def test_numbers_of_seeds_that_differ_are_given_for_each_rule():
    study = make_study(*make_pairs("bp", [0.4, 0.41]), *make_pairs("dfa", [0.1]))
    assert part(study, "Pitfalls")["Spread"].endswith("n: bp 2, dfa 1")


@pytest.mark.parametrize(
    ("commit", "words"),
    [(None, "the commit of 1 was not recorded"), ("abc-dirty", "1 ran from a checkout with")],
)
def test_a_run_whose_code_is_not_known_is_said(commit, words):
    found = part(make_study(make_run(commit=commit)), "Pitfalls")["Run behind each number"]
    assert found.startswith("✗")
    assert words in found


@pytest.mark.parametrize(
    ("commit", "words"),
    [(None, "that the audit ran from was not recorded"), ("abc-dirty", "the audit ran from a")],
)
def test_an_audit_whose_code_is_not_known_is_said(commit, words):
    study = audited_study(provenance={"commit": commit})
    found = part(study, "Pitfalls")["Run behind each number"]
    assert found.startswith("✗")
    assert words in found


def test_feedback_that_was_not_saved_is_said():
    study = audited_study(readings={"gamma": None})
    assert part(study, "Pitfalls")["Feedback"] == (
        "✗ the credit of 2 of 4 audited networks could be read; Γ and ρ are n/a for dfa"
    )


def test_gradients_that_are_numerically_wrong_are_said():
    study = audited_study(readings={"numerics": 0.5})
    assert "is 0.500 over 4 networks" in part(study, "Pitfalls")["Precision"]
    assert part(study, "Pitfalls")["Precision"].startswith("✗")
    _, *rows = next(
        t for t in rendered_tables(template_of(study).to_markdown()) if "finding" in t[0]
    )
    assert ["dfa", "D2 numerics", "0.5", "–", "< 0.99", "below in 2 of 2"] in rows


def test_frozen_accuracies_that_were_given_are_not_called_paired():
    given = CONFIG.model_copy(update={"frozen_acc": {"bp": 0.3, "dfa": 0.3}})
    study = audited_study(config=given)
    assert part(study, "Pitfalls")["Frozen baseline"].startswith("✗")
    assert "not paired by seed" in part(study, "Diagnostics")["Confidence"]
    assert ", paired by seed" not in template_of(study).to_markdown()


def test_a_task_on_which_depth_does_not_help():
    study = make_study(*make_pairs("bp", [0.001, 0.001]), *make_pairs("dfa", [0.0, 0.0]))
    found = part(study, "Pitfalls")["Depth can help"]
    assert found.startswith("✗ backpropagation gains +0.1 points")
    assert part(make_study(make_run()), "Pitfalls")["Depth can help"].startswith("– not known")


def test_thresholds_that_were_changed_are_named():
    study = audited_study(thresholds=Thresholds(growth=10.0))
    assert part(study, "Pitfalls")["Thresholds"] == (
        "✗ not the protocol's: growth 10 (protocol 50)"
    )


def test_a_verdict_that_depends_on_the_setting_is_said():
    other = make_network("dfa[normalise=batch]", 1, 0.7, 0.3)
    study = make_study(audit=make_audit(make_network("dfa", growth=700.0), other))
    found = part(study, "Pitfalls")["Settings and controls"]
    assert found.startswith("✗ dfa: the verdict depends on the setting")


STUDIES = {
    "recorded": trained_study,
    "audited": audited_study,
    "audit alone": partial(audited_study, alone=True),
    "empty": make_study,
    "nothing known": lambda: make_study(config=SharedConfig(task=TASK), chance=None),
    "only failed": lambda: make_study(make_run(state="failed", reason="50 % of {memory}")),
    "only diverged": lambda: make_study(make_run(state="diverged")),
    "one rule, one seed": lambda: make_study(make_run()),
    **{name: partial(trained_study, name) for name in HOSTILE},
}


@pytest.mark.parametrize("make", STUDIES.values(), ids=STUDIES)
def test_it_can_be_filled_for_any_study_in_both_languages(make):
    template = template_of(make())
    markdown, latex = template.to_markdown(), template.to_latex()
    statements = sum(len(section.items) for section in template.sections)
    assert len(rendered_items(markdown)) == statements
    for table in rendered_tables(markdown):
        assert len({len(row) for row in table}) == 1
    parsed(latex)
    for columns, cells in tabulars(latex):
        assert set(cells) == {len([c for c in columns if c in "lrp"])}
