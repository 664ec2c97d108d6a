"""Verdicts in a terminal."""

from __future__ import annotations

from typing import get_args

from rich.style import Style

from depthgauge.report.texts.verdict_words import MEANINGS
from depthgauge.report.writers.terminal_table import verdict_text
from depthgauge.verdict.words import BAD_WORDS, Word

COLOURED = {word: meaning for word, meaning in MEANINGS.items() if meaning.colour}


def test_every_word_has_its_meaning_and_every_word_that_judges_a_colour():
    assert set(get_args(Word)) == MEANINGS.keys()
    assert MEANINGS.keys() - COLOURED.keys() == {"no blocks", "not judged"}


def test_words_that_mean_different_things_have_different_signs_and_colours():
    for name in ("sign", "colour", "style"):
        good = [getattr(one, name) for word, one in COLOURED.items() if word not in BAD_WORDS]
        bad = {getattr(COLOURED[word], name) for word in BAD_WORDS}
        assert len(bad) == 1
        assert len({*good, *bad}) == len(good) + 1


def test_sign_and_word_are_coloured_and_the_evidence_is_plain():
    for word, meaning in COLOURED.items():
        text = verdict_text(f"{word} (D1, single seed)", signs=True)
        assert text.plain == f"{meaning.sign} {word} (D1, single seed)"
        (span,) = text.spans
        assert text.plain[span.start : span.end] == f"{meaning.sign} {word}"
        style = Style.parse(str(span.style))
        assert style.color is not None
        assert style.color.name == meaning.colour


def test_without_signs_the_words_stay_as_they_are():
    for word in COLOURED:
        assert verdict_text(f"{word} (D3)", signs=False).plain == f"{word} (D3)"


def test_what_is_no_verdict_stays_as_it_is():
    for words in ["no blocks: nothing to judge", "", "[red]mine[/]"]:
        text = verdict_text(words, signs=True)
        assert (text.plain, text.spans) == (words, [])
