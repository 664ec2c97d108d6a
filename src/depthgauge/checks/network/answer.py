"""What `check-net` says of a network."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class BlockList:
    """A list of modules that could be the blocks.

    Attributes:
        path: what `blocks=` or `--blocks` takes.
        count: the number of modules in it.
        kinds: the names of their classes.
        refusal: why the network cannot be trained with these blocks; None if it can.
    """

    path: str
    count: int
    kinds: tuple[str, ...]
    refusal: str | None

    def __str__(self) -> str:
        """Say what the list is, and whether it can be used."""
        verdict = "can be used" if self.refusal is None else f"cannot be used: {self.refusal}"
        return f"--blocks {self.path} ({self.count} × {', '.join(self.kinds)}) {verdict}"


@dataclass(frozen=True)
class NetCheck:
    """What depthgauge sees of a network, and what it can do with it.

    Attributes:
        network: the name of the network's class.
        parameters: the number of its parameters.
        inputs: the inputs on which it ran, in words.
        output: the shape of its output for one sample.
        blocks: the names of its blocks.
        kinds: the names of the blocks' classes.
        path: the path to the blocks; None if they were given as modules.
        stream: which argument of a block is the stream, its shapes and what blocks return, in
            words.
        below: the modules below the blocks.
        readout: the modules above the blocks.
        notes: sentences on what should be known.
        candidates: lists of modules that could be the blocks, if no path was given.
        trained: why the network cannot be trained under a rule; None if it can.
        ladder_tested: why its blocks cannot be frozen one by one; None if they can.
        diagnosed: why `diagnose` cannot read it; None if it can.
        resumed: why interrupted training cannot be continued; None if it can.
        rules: for each rule why it cannot train the network; None if it can.
    """

    network: str
    parameters: int
    inputs: str
    output: tuple[int, ...] = ()
    blocks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    path: str | None = None
    stream: str = ""
    below: tuple[str, ...] = ()
    readout: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    candidates: tuple[BlockList, ...] = ()
    trained: str | None = None
    ladder_tested: str | None = None
    diagnosed: str | None = None
    resumed: str | None = None
    rules: dict[str, str | None] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the network can be trained, ladder-tested, diagnosed and resumed."""
        return not any((self.trained, self.ladder_tested, self.diagnosed, self.resumed))

    def __str__(self) -> str:
        """Return everything in lines."""
        lines = [f"{self.network}, {self.parameters:,} parameters"]
        lines += [_line(name, text) for name, text in self._facts() if text]
        lines += [_line("note", note) for note in self.notes]
        others = [candidate for candidate in self.candidates if candidate.path != self.path]
        lines += [_line("could be", str(candidate)) for candidate in others]
        lines += ["", *(_line(name, _answer(reason)) for name, reason in self._answers())]
        able = [name for name, reason in self.rules.items() if reason is None]
        if able:
            lines.append(_line("rules", ", ".join(able)))
        lines += [_line("no", reason) for reason in self.rules.values() if reason]
        return "\n".join(lines)

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("inputs", self.inputs),
            ("blocks", self._block_words()),
            ("stream", self.stream),
            ("below", ", ".join(self.below)),
            ("readout", ", ".join(self.readout)),
            ("output", " × ".join(map(str, self.output))),
        ]

    def _block_words(self) -> str:
        if not self.blocks:
            return ""
        first, last = self.blocks[0], self.blocks[-1]
        ends = first if first == last else f"{first} … {last}"
        found = f"; found: --blocks {self.path}" if self.candidates else ""
        return f"{len(self.blocks)}: {ends} ({', '.join(self.kinds)}){found}"

    def _answers(self) -> list[tuple[str, str | None]]:
        return [
            ("train", self.trained),
            ("ladder", self.ladder_tested),
            ("diagnose", self.diagnosed),
            ("resume", self.resumed),
        ]


def _answer(reason: str | None) -> str:
    return "yes" if reason is None else f"no: {reason}"


def _line(name: str, text: str) -> str:
    return f"  {name:<12}{text}"
