"""What tables call each rule."""

from __future__ import annotations

from store.small_runs_on_disk import run_config

from depthgauge.store.labels import distinct_labels


def test_versions_of_a_rule_have_different_names_however_alike():
    """Two of one source whose options were given other defaults, or two with none."""
    one = run_config("mine", 0, 0, source="before").rule
    versions = [one.model_copy(update={"options": {"a": a}}) for a in range(3)]
    old = [version.model_copy(update={"source": ""}) for version in versions]
    labels = distinct_labels([*versions, *old, *versions])
    assert len(set(labels.values())) == len(labels) == 6
    assert [labels[version.as_text] for version in versions[:2]] == ["mine", "mine@before"]
