"""The parts of an audit: networks, verdicts, controls and selection."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, computed_field

from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.results.spread import Spread
from depthgauge.rules.access import Access
from depthgauge.verdict.judge import Verdict
from depthgauge.verdict.sensitivity import StableRange
from depthgauge.verdict.thresholds import Thresholds
from depthgauge.verdict.words import Word


def _read_report(given: Any) -> Report:
    return given if isinstance(given, Report) else Report.from_dict(given)


def _read_thresholds(given: Any) -> Thresholds:
    """Return the stored thresholds; leave out thresholds of diagnostics that are not registered."""
    if isinstance(given, Thresholds):
        return given
    known = Thresholds()
    return Thresholds(**{name: value for name, value in given.items() if name in known})


StoredThresholds = Annotated[Thresholds, PlainValidator(_read_thresholds), PlainSerializer(dict)]
StoredReport = Annotated[Report, PlainValidator(_read_report), PlainSerializer(Report.to_dict)]


STORED = ConfigDict(frozen=True, ser_json_inf_nan="strings")
"""Settings of stored models: infinity and NaN are written as texts and read back as numbers."""


class _Part(BaseModel):
    model_config = STORED


class Source(_Part):
    """The origin of a network and of its frozen baseline."""

    run: str | None = None
    """The id of the run that trained the network; None for a network from elsewhere."""
    frozen_run: str | None = None
    """The id of the run with frozen blocks, of the same rule and seed."""
    checkpoint: str | None = None
    """The name of the checkpoint file, for a network from elsewhere."""
    commit: str | None = None
    """The commit of the software that trained the network."""
    diverged_epoch: int | None = None
    """The epoch in which training diverged, if it did."""


class AuditedNetwork(_Part):
    """A network with all its blocks trained, and its readings."""

    label: str
    seed: int
    accuracy: float | None
    """The accuracy on the whole evaluation split; None if training diverged."""
    frozen: float | None
    """The accuracy of the same rule and seed with frozen blocks."""
    first_fired: dict[str, int | None]
    """The epoch at which each diagnostic first fired during training; None if it never fired. A
    diagnostic without recorded readings is left out."""
    source: Source
    report: StoredReport | None
    """All readings; None if training diverged."""


class EarlierVerdict(_Part):
    """The verdict on a rule in an earlier audit of the same study."""

    seeds: int
    """The number of seeds at that time."""
    word: Word


class RuleVerdict(_Part):
    """The verdict on a rule over seeds, and its evidence."""

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
    """The findings of the diagnostics that have no part in the verdict."""
    sensitivity: tuple[StableRange, ...]
    used_depth: UsedDepth | None = None
    """How many blocks earn accuracy; None without a ladder, and in audits of earlier versions."""
    access: Access | None = None
    """What the rule sees; None if that is not known."""
    earlier: tuple[EarlierVerdict, ...] = ()
    """The verdicts of earlier audits of the same study with other seeds, oldest first."""

    def with_history(self, before: RuleVerdict | None) -> RuleVerdict:
        """Return this verdict with a history: `before` is the verdict that this verdict replaces.

        The earlier verdicts of `before` are kept. If `before` has other seeds, it becomes one of
        the earlier verdicts.
        """
        if before is None:
            return self
        earlier = list(before.earlier)
        if set(before.seeds) != set(self.seeds):
            earlier.append(EarlierVerdict(seeds=len(before.seeds), word=before.word))
        return self.model_copy(update={"earlier": tuple(dict.fromkeys(earlier))})

    @property
    def verdict(self) -> Verdict:
        """Return the verdict as a `Verdict`."""
        return Verdict(
            self.word, self.findings, len(self.seeds), self.besides, used_depth=self.used_depth
        )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def in_words(self) -> str:
        """Return the word with its details.

        The details are diagnostics that fired or are undecided, and whether there is only one seed.
        """
        return str(self.verdict)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def published_word(self) -> Word:
        """Return the word by the published protocol, which needs no ladder."""
        return self.verdict.published.word

    @computed_field  # type: ignore[prop-decorator]
    @property
    def fired(self) -> tuple[str, ...]:
        """Return the ids of the diagnostics that fired."""
        return self.verdict.fired

    @computed_field  # type: ignore[prop-decorator]
    @property
    def single_seed(self) -> bool:
        """Return whether some finding rests on a single seed."""
        return self.verdict.single_seed


class ShallowRule(_Part):
    """A rule trained on networks without blocks: its accuracies and runs, by seed."""

    accuracy: Spread
    accuracies: dict[int, float | None]
    runs: dict[int, str]


class Candidate(_Part):
    """A setting of a rule that was tried: its accuracies on held-out samples, and its runs."""

    accuracy: Spread
    lost: int
    """The number of seeds without an accuracy: their runs diverged or failed."""
    runs: tuple[str, ...]


class Selection(_Part):
    """The choice of a rule's setting by accuracy on held-out training samples."""

    chosen: str | None
    candidates: dict[str, Candidate]
    samples: int


class Settings(_Part):
    """The verdict's word at each setting of one rule, by label."""

    words: dict[str, Word]
    survives: bool | None
    """Whether all settings have the same word; None if an inconclusive setting leaves it open."""
