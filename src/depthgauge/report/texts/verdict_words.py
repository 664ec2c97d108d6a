"""The words of a verdict: the symbol, the colour and the meaning of each word."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.verdict.words import Word


@dataclass(frozen=True)
class Meaning:
    """The meaning of a verdict's word, for somebody who sees the word for the first time.

    Attributes:
        sign: a symbol, such as ✓, for readers who do not see colours.
        style: the name of the word's style on the page.
        colour: the colour in a terminal.
        gloss: the meaning.
    """

    sign: str
    style: str
    colour: str
    gloss: str


MEANINGS: dict[Word, Meaning] = {
    "trustworthy": Meaning("✓", "good", "green", "the blocks are trained, and earn the accuracy"),
    "shallow": Meaning("✗", "bad", "red", "fewer blocks are trained than backpropagation trains"),
    "walk back": Meaning(
        "✗", "bad", "red", "the evidence does not support the claim that the depth is trained"
    ),
    "inconclusive": Meaning("~", "unclear", "yellow", "more seeds are needed to tell"),
    "no alarm, depth untested": Meaning(
        "?", "untested", "blue", "no alarm, but depth was not put to the test"
    ),
    "no blocks": Meaning("–", "untested", "", "there is no depth to be judged"),
    "not judged": Meaning("…", "untested", "", "there are too few results to judge"),
}
