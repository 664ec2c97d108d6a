"""Means over seeds, computed inside the chart because a reader may choose other seeds."""

from __future__ import annotations

import altair as alt


def mean_over_seeds(layer: alt.Chart, by: str, place: str, log: bool) -> alt.Chart:
    """Return the layer with means over seeds, for each rule and each value of the field `by`.

    The field `mean` has the mean of `value`, or the geometric mean if the axis is logarithmic.
    `place` is a Vega expression for the place in words, such as `epoch 3`. If a mean has only one
    seed, its row keeps the id of the run in the field `run`.
    """
    means: alt.Chart = (
        layer.transform_filter("datum.value > 0" if log else "isValid(datum.value)")
        .transform_calculate(scaled="log(datum.value)" if log else "datum.value")
        .transform_aggregate(
            scaled="mean(scaled)", seeds="count()", run="min(run)", groupby=["rule", by]
        )
        .transform_calculate(run="datum.seeds > 1 ? null : datum.run")
        .transform_calculate(mean="exp(datum.scaled)" if log else "datum.scaled")
        .transform_calculate(
            says=f"datum.rule + ', ' + {place} + ': ' + format(datum.mean, '.3~g')"
            " + (datum.seeds > 1 ? ', mean of ' + datum.seeds + ' seeds' : '')"
        )
    )
    return means
