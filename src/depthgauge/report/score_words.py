"""The word for a study's score: texts are written for accuracy, and say R² where a study has R²."""

from __future__ import annotations

import re
from collections.abc import Callable

from depthgauge.results.study import StudyResult

ACCURACY = "accuracy"

INSTEAD = {
    "accuracy": "{score}",
    "accuracies": "{score}",
    "Accuracy": "{score}",
    "Accuracies": "{score}",
    "linear classifier": "linear regression",
}
"""The words of texts for accuracy, and what stands in their place for another score."""

_WORDS = re.compile(rf"(?<![\w-])({'|'.join(INSTEAD)})(?![\w-])")

Reword = Callable[[str], str]
"""A function that changes words in a text."""


def reworder(score: str) -> Reword:
    """Return the function that puts the word for a score into a text."""

    def reword(text: str) -> str:
        if score == ACCURACY:
            return text
        return type(text)(_WORDS.sub(lambda word: INSTEAD[word[0]].format(score=score), text))

    return reword


def words_of(study: StudyResult) -> Reword:
    """Return the function that puts the word for a study's score into a text."""
    return reworder(study.score)
