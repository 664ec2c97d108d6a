"""Say in words which part of a network each parameter belongs to, and whose credit it follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch import nn

from depthgauge.errors import UserError
from depthgauge.nets.cut.ownership import LOSS

SHOWN = 3
"""The most parameters that a sentence names."""


class Parts:
    """The parameters of a network with their blocks and their owners.

    Args:
        model: the network.
        blocks: its blocks.
        owners: for each parameter the credits that it follows (see `find_owners`).
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Sequence[nn.Module],
        owners: Mapping[str, frozenset[int]],
    ) -> None:
        self._blocks, self._owners = blocks, owners
        homes: dict[int, set[int]] = {}
        for index, block in enumerate(blocks):
            for parameter in block.parameters():
                homes.setdefault(id(parameter), set()).add(index + 1)
        self._homes = {n: homes.get(id(p), set()) for n, p in model.named_parameters()}
        self._trained = {n for n, p in model.named_parameters() if p.requires_grad}

    def owner_names(self) -> dict[str, tuple[str, ...]]:
        """Return the owners of each parameter in words."""
        return {n: tuple(map(_owner_name, sorted(own))) for n, own in self._owners.items()}

    def check_locality(self) -> None:
        """Refuse a network with a block that follows credit of others, or none."""
        for name, home in self._homes.items():
            foreign = self._owners.get(name, frozenset()) - home
            if home and foreign:
                block = min(home) - 1
                raise UserError(
                    f"block {block} (its parameter {name}) follows not only its own credit but "
                    f"also {_list_owners(foreign)}: it is used elsewhere too, or its output goes "
                    "round the next block's input; wrap what the network does with the stream "
                    "before or after a block (a norm, a slice, a side output) into the block"
                )
        for number, module in enumerate(self._blocks):
            own = [n for n, home in self._homes.items() if number + 1 in home]
            trained = [name for name in own if name in self._trained]
            if trained and not any(self._owners.get(name) for name in trained):
                raise UserError(
                    f"no parameter of block {number} ({type(module).__name__}) gets a gradient; "
                    "the network detaches the block or runs it without gradients"
                )

    def find_shared(self) -> str | None:
        """Return a sentence if blocks share weights."""
        for name, home in self._homes.items():
            if len(home) > 1:
                numbers = [str(place - 1) for place in sorted(home)]
                return (
                    f"blocks {_join(numbers)} share weights ({name}), so none of them can be "
                    "frozen alone"
                )
        return None

    def notes(self) -> tuple[str, ...]:
        """Return a sentence on each group of parameters that is trained in an unusual way."""
        groups: dict[frozenset[int], list[str]] = {}
        for name, own in self._owners.items():
            between = own and not own <= {0, LOSS}
            if name in self._trained and not self._homes[name] and (between or len(own) != 1):
                groups.setdefault(own, []).append(name)
        notes = [
            f"{_list_names(names)} {'follow' if len(names) > 1 else 'follows'} "
            f"{_list_owners(own) if own else 'no credit and not the loss'}"
            for own, names in groups.items()
        ]
        return (*notes, *([shared] if (shared := self.find_shared()) else []))


def _owner_name(owner: int) -> str:
    if owner == LOSS:
        return "loss"
    return "below the blocks" if owner == 0 else f"block {owner - 1}"


def _list_owners(owners: Iterable[int]) -> str:
    ordered = sorted(owners, key=lambda owner: (owner == LOSS, owner))
    blocks = [str(owner - 1) for owner in ordered if owner > 0]
    words = ["the credit below the blocks"] if 0 in ordered else []
    if blocks:
        words.append(f"the credit of block{'s' if len(blocks) > 1 else ''} {_join(blocks)}")
    if LOSS in ordered:
        words.append("the loss")
    return " and ".join(words)


def _list_names(names: Sequence[str]) -> str:
    shown = _join(names[:SHOWN]) if len(names) <= SHOWN else ", ".join(names[:SHOWN])
    more = len(names) - SHOWN
    return f"{shown} and {more} more parameters" if more > 0 else shown


def _join(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
