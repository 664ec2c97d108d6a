"""The content of `audit.json`: the readings and verdicts of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ModelWrapValidatorHandler, model_validator

from depthgauge.config import SharedConfig
from depthgauge.results.audit_parts import (
    STORED,
    AuditedNetwork,
    RuleVerdict,
    Selection,
    Settings,
    ShallowRule,
    StoredReport,
    StoredThresholds,
)
from depthgauge.results.audit_version_1 import (
    lift_network,
    lift_selection,
    lift_shallow,
    lift_verdict,
)
from depthgauge.results.floors import Floors
from depthgauge.results.run import RunResult
from depthgauge.store.provenance import Provenance
from depthgauge.verdict.words import Word

AUDIT_VERSION: Literal[2] = 2


class Audit(BaseModel):
    """An audit of a study's networks, or of somebody's checkpoints."""

    model_config = STORED

    schema_version: Literal[2] = AUDIT_VERSION
    config: SharedConfig
    chance: float
    bp_gain: float | None
    """The accuracy that backpropagation gains from depth, as a mean over seeds; None if
    backpropagation was not audited."""
    thresholds: StoredThresholds
    provenance: Provenance
    verdicts: dict[str, RuleVerdict]
    networks: tuple[AuditedNetwork, ...]
    decision_utility: dict[str, dict[str, tuple[int, int]]]
    """For each reporting strategy and label: the number of networks that the strategy walks back,
    and the number of networks that it can decide about."""
    untrained: dict[str, StoredReport]
    """Reports on networks at initialisation, by seed: a control that must raise no alarm."""
    shallow: dict[str, ShallowRule] = {}
    floors: Floors | None = None
    """The accuracies that need no depth; None if the audit did not ask for them."""
    selection: dict[str, Selection] = {}

    @model_validator(mode="wrap")
    @classmethod
    def _lift(cls, document: Any, validate: ModelWrapValidatorHandler[Audit]) -> Audit:
        """Accept documents of version 1, which have other field names and null for infinity."""
        is_old = isinstance(document, Mapping) and document.get("schema_version") == 1
        return _lift_version_1(document) if is_old else validate(document)

    @property
    def settings(self) -> dict[str, Settings]:
        """Return the verdict's word at each setting, for each rule with several settings.

        Each entry also says whether all words of the rule agree.
        """
        rules: dict[str, dict[str, Word]] = {}
        for label, entry in self.verdicts.items():
            if entry.rule is not None and entry.control is None:
                rules.setdefault(entry.rule, {})[label] = entry.word
        return {
            rule: Settings(words=words, survives=_survives(set(words.values())))
            for rule, words in rules.items()
            if len(words) > 1
        }

    def of_label(self, label: str) -> tuple[AuditedNetwork, ...]:
        """Return the networks of the rule with this label."""
        return tuple(network for network in self.networks if network.label == label)

    def with_labels_of(self, runs: Sequence[RunResult]) -> Audit:
        """Return the audit with each rule renamed to the label that its runs have in `runs`.

        Labels can change after an audit: a newer version of a rule takes over the rule's label.
        """
        label_of = {run.identity: run.label for run in runs}
        now: dict[str, str] = {}
        for network in self.networks:
            if network.source.run in label_of:
                now.setdefault(network.label, label_of[network.source.run])
        if all(before == after for before, after in now.items()):
            return self
        networks = tuple(
            network.model_copy(update={"label": now.get(network.label, network.label)})
            for network in self.networks
        )
        utility = {
            strategy: _rename(counts, now) for strategy, counts in self.decision_utility.items()
        }
        verdicts = _rename(self.verdicts, now)
        return self.model_copy(
            update={"verdicts": verdicts, "networks": networks, "decision_utility": utility}
        )


def _lift_version_1(old: Mapping[str, Any]) -> Audit:
    config, reports = old["config"], old["reports"]
    selection, shallow = old.get("selection", {}), old.get("shallow", {})
    return Audit(
        config=SharedConfig.model_validate(config),
        chance=config["chance"],
        bp_gain=config["bp_depth_gain"],
        thresholds=old["thresholds"],
        provenance=old["provenance"],
        verdicts={label: lift_verdict(entry) for label, entry in old["verdicts"].items()},
        networks=tuple(lift_network(row, reports) for row in old["summary"]),
        decision_utility=old["decision_utility"],
        untrained={key.rpartition("_s")[2]: report for key, report in old["controls"].items()},
        shallow={label: lift_shallow(entry) for label, entry in shallow.items()},
        selection={label: lift_selection(entry) for label, entry in selection.items()},
    )


Value = TypeVar("Value")


def _rename(by_label: Mapping[str, Value], now: Mapping[str, str]) -> dict[str, Value]:
    return {now.get(label, label): value for label, value in by_label.items()}


def _survives(words: set[Word]) -> bool | None:
    """Return whether a verdict has the same word at all settings.

    None means that it is not known: some settings are inconclusive, and all other settings have one
    word. If all settings are inconclusive, all words are the same.
    """
    decided = words - {"inconclusive"}
    if len(decided) > 1:
        return False
    return None if decided != words else True
