"""Give every rule of a study a label that no other rule of the study has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from depthgauge.config import RuleConfig

HASH_DIGITS = 7


def distinct_labels(rules: Iterable[RuleConfig]) -> dict[str, str]:
    """Return a distinct label for each rule; the key is the text of the rule's configuration.

    The first rule keeps its label; later rules with the same label become `label@hash`. The hash is
    the start of the rule's `source`, a hash or version of its code. If the rule has no source, or
    this label is taken too, it is a hash of the rule's whole configuration.
    """
    labels: dict[str, str] = {}
    for rule in rules:
        if rule.as_text not in labels:
            whole = hashlib.sha256(rule.as_text.encode()).hexdigest()
            hashes = [digest[:HASH_DIGITS] for digest in (rule.source, whole) if digest]
            possible = [rule.label, *(f"{rule.label}@{digest}" for digest in hashes)]
            labels[rule.as_text] = next(name for name in possible if name not in labels.values())
    return labels
