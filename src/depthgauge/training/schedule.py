"""The learning rate of each epoch."""

from __future__ import annotations

import math

from depthgauge.recipe import Recipe


def learning_rate(recipe: Recipe, epoch: int) -> float:
    """Return the learning rate of an epoch, counted from 0.

    Cosine is half a cosine from the recipe's rate to zero. Steps multiplies the rate by
    `step_factor` after each milestone.
    """
    if recipe.schedule == "cosine":
        return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * epoch / recipe.epochs))
    passed = sum(epoch >= milestone for milestone in recipe.milestones)
    return recipe.learning_rate * recipe.step_factor**passed
