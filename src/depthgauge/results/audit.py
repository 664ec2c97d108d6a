"""What an audit read and concluded: the content of `audit.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    computed_field,
    model_validator,
)

from depthgauge.config import SharedConfig
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.finding import Finding
from depthgauge.results.audit_before import lifted_audit
from depthgauge.results.run import RunResult
from depthgauge.results.spread import Spread
from depthgauge.store.provenance import Provenance
from depthgauge.verdict.judge import Verdict, Word
from depthgauge.verdict.sensitivity import StableRange
from depthgauge.verdict.thresholds import Thresholds

AUDIT_VERSION: Literal[2] = 2


def _read_report(given: Any) -> Report:
    return given if isinstance(given, Report) else Report.from_dict(given)


def _read_thresholds(given: Any) -> Thresholds:
    """Return thresholds; those of diagnostics that are not registered here are left out."""
    if isinstance(given, Thresholds):
        return given
    known = Thresholds()
    return Thresholds(**{name: value for name, value in given.items() if name in known})


StoredThresholds = Annotated[Thresholds, PlainValidator(_read_thresholds), PlainSerializer(dict)]
StoredReport = Annotated[Report, PlainValidator(_read_report), PlainSerializer(Report.to_dict)]


class _Part(BaseModel):
    """A part of an audit; what is not finite is written by its name, and read back."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")


class Source(_Part):
    """Where a network and its baseline come from."""

    run: str | None = None
    """Identity of the run that trained the network; None for a network from elsewhere."""
    frozen_run: str | None = None
    """Identity of the run with frozen blocks, of the same rule and seed."""
    checkpoint: str | None = None
    """Name of the file, for a network from elsewhere."""
    commit: str | None = None
    """Commit of the software that trained it."""
    diverged_epoch: int | None = None
    """The epoch in which training diverged, where it did."""


class AuditedNetwork(_Part):
    """A network with all its blocks trained, and what was read off it."""

    label: str
    seed: int
    accuracy: float | None
    """On the whole evaluation split; None where training diverged."""
    frozen: float | None
    """Accuracy of the same rule and seed with frozen blocks."""
    first_fired: dict[str, int | None]
    """The epoch at which each diagnostic first fired in training, as far as it was watched."""
    source: Source
    report: StoredReport | None
    """Every reading; None where training diverged."""


class RuleVerdict(_Part):
    """The verdict on a rule over seeds, and what it rests on."""

    rule: str | None
    """The rule's name, without options; None for networks from elsewhere."""
    control: str | None
    seeds: tuple[int, ...]
    diverged_seeds: tuple[int, ...]
    accuracy: Spread
    frozen: Spread
    word: Word
    findings: tuple[Finding, ...]
    besides: tuple[Finding, ...] = ()
    """Findings of the diagnostics that are never a verdict by themselves."""
    sensitivity: tuple[StableRange, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict as an object."""
        return Verdict(self.word, self.findings, len(self.seeds), self.besides)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def in_words(self) -> str:
        """The word, with what fired and whether it rests on one seed."""
        return str(self.verdict)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def fired(self) -> tuple[str, ...]:
        """The diagnostics that fired."""
        return self.verdict.fired

    @computed_field  # type: ignore[prop-decorator]
    @property
    def single_seed(self) -> bool:
        """Whether the word rests on point values."""
        return self.verdict.single_seed


class ShallowRule(_Part):
    """A rule trained without any blocks: accuracies and runs by seed."""

    accuracy: Spread
    accuracies: dict[int, float | None]
    runs: dict[int, str]


class Candidate(_Part):
    """A setting that was tried: its accuracy on held-out samples, and its runs."""

    accuracy: Spread
    lost: int
    runs: tuple[str, ...]


class Selection(_Part):
    """How the setting of a rule was chosen on held-out training samples."""

    chosen: str | None
    candidates: dict[str, Candidate]
    samples: int


class Settings(_Part):
    """The words of a rule at its several settings, by label; None where it cannot be told."""

    words: dict[str, Word]
    survives: bool | None


class Audit(_Part):
    """An audit of a study's networks, or of somebody's checkpoints."""

    schema_version: Literal[2] = AUDIT_VERSION
    config: SharedConfig
    chance: float
    bp_gain: float | None
    """What backpropagation gains from depth, mean over seeds; None if it was not audited."""
    thresholds: StoredThresholds
    provenance: Provenance
    verdicts: dict[str, RuleVerdict]
    networks: tuple[AuditedNetwork, ...]
    decision_utility: dict[str, dict[str, tuple[int, int]]]
    """For each way of reporting and each label: networks walked back, of those it can decide."""
    untrained: dict[str, StoredReport]
    """Networks at initialisation, by seed: a control that must raise no alarm."""
    shallow: dict[str, ShallowRule] = {}
    selection: dict[str, Selection] = {}

    @model_validator(mode="before")
    @classmethod
    def _lift(cls, document: Any) -> Any:
        """Documents of the first version had other names, and null for what is not finite."""
        is_old = isinstance(document, Mapping) and document.get("schema_version") == 1
        return lifted_audit(document) if is_old else document

    @property
    def settings(self) -> dict[str, Settings]:
        """For each rule with several settings: the word of each, and whether it is one word."""
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
        """Return the networks of a rule."""
        return tuple(network for network in self.networks if network.label == label)

    def called_as_in(self, runs: Sequence[RunResult]) -> Audit:
        """Return the audit with its rules called as a study's runs call them now.

        A rule is found by its runs: since the audit, a newer version may have taken its label.
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
        utility = {way: _renamed(counts, now) for way, counts in self.decision_utility.items()}
        verdicts = _renamed(self.verdicts, now)
        return self.model_copy(
            update={"verdicts": verdicts, "networks": networks, "decision_utility": utility}
        )


Value = TypeVar("Value")


def _renamed(by_label: Mapping[str, Value], now: Mapping[str, str]) -> dict[str, Value]:
    return {now.get(label, label): value for label, value in by_label.items()}


def _survives(words: set[Word]) -> bool | None:
    """A verdict survives if every setting has the same word; an inconclusive one leaves it open."""
    decided = words - {"inconclusive"}
    if len(decided) > 1:
        return False
    return None if decided != words else True
