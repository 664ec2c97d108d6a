"""Verdicts in a terminal."""

from __future__ import annotations

from typing import get_args

from report.studies import audited_study
from rich.style import Style

from depthgauge.report.audit_table import TABLES, rule_table
from depthgauge.report.verdict_text import LOOKS, verdict_text, with_styled_verdicts
from depthgauge.verdict.words import BAD_WORDS, Word

COLOURS = {
    "trustworthy": "green",
    "walk back": "red",
    "shallow": "red",
    "diverged": "red",
    "inconclusive": "yellow",
    "no alarm, depth untested": "blue",
}


def test_every_word_of_a_verdict_has_a_look():
    assert {*get_args(Word), "diverged"} - {"no blocks", "not judged"} == LOOKS.keys()


def test_words_that_mean_different_things_have_different_signs():
    signs = [look.sign for word, look in LOOKS.items() if word not in {*BAD_WORDS, "diverged"}]
    bad = {LOOKS[word].sign for word in BAD_WORDS}
    assert len({*signs, *bad}) == len(signs) + 1


def test_sign_and_word_are_coloured_and_the_evidence_is_plain():
    for word, colour in COLOURS.items():
        text = verdict_text(f"{word} (D1, single seed)", signs=True)
        assert text.plain == f"{LOOKS[word].sign} {word} (D1, single seed)"
        (span,) = text.spans
        assert text.plain[span.start : span.end] == f"{LOOKS[word].sign} {word}"
        style = Style.parse(str(span.style))
        assert style.color is not None
        assert style.color.name == colour


def test_without_signs_the_words_stay_as_they_are():
    for word in LOOKS:
        assert verdict_text(f"{word} (D3)", signs=False).plain == f"{word} (D3)"


def test_what_is_no_verdict_stays_as_it_is():
    for words in ["no blocks: nothing to judge", "", "[red]mine[/]"]:
        text = verdict_text(words, signs=True)
        assert (text.plain, text.spans) == (words, [])


def test_the_verdicts_of_a_table_are_styled_and_its_other_columns_are_not():
    header, plain = rule_table(audited_study())
    place = header.index("verdict")
    styled_header, styled = with_styled_verdicts((header, plain), signs=True)
    assert styled_header == header
    verdict = styled[-1].pop(place)
    assert str(verdict) == f"✗ {plain[-1].pop(place)}"
    assert verdict.spans
    assert styled[-1] == plain[-1]


def test_other_tables_stay_as_they_are():
    study = audited_study()
    for table in TABLES:
        if table is not rule_table:
            assert with_styled_verdicts(table(study), signs=True) == table(study)
