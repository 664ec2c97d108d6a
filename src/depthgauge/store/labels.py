"""Give every rule of a study a label that no other rule of the study has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from depthgauge.config import RuleConfig

HASH_DIGITS = 7


def distinct_labels(rules: Iterable[RuleConfig]) -> dict[str, str]:
    """Return a distinct label for each rule, by the text of the rule's configuration.

    The first rule keeps its label; later rules with the same label become `label@hash`. The hash is
    that of the rule's source, or of its whole configuration if the sources are the same.
    """
    labels: dict[str, str] = {}
    for rule in rules:
        if rule.as_text not in labels:
            whole = hashlib.sha256(rule.as_text.encode()).hexdigest()
            hashes = [digest[:HASH_DIGITS] for digest in (rule.source, whole) if digest]
            possible = [rule.label, *(f"{rule.label}@{digest}" for digest in hashes)]
            labels[rule.as_text] = next(name for name in possible if name not in labels.values())
    return labels
