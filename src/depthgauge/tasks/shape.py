"""The shape of a task: what a network must know of it to be built."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.errors import UserError

IMAGE_AXES = 3


@dataclass(frozen=True)
class TaskShape:
    """The samples and answers of a task.

    Attributes:
        task: the task's name, for messages.
        sample: the shape of one sample: (features,), (channels, height, width) or (positions,).
        outputs: the number of classes, or of numbers to predict.
        symbols: the number of different tokens; None if samples are not tokens.
        per_position: whether every position of a sample has an answer of its own.
    """

    task: str
    sample: tuple[int, ...]
    outputs: int
    symbols: int | None = None
    per_position: bool = False

    def __str__(self) -> str:
        kind = "sequences of tokens" if self.symbols is not None else "numbers"
        return f"the samples of the task {self.task} are {kind} of the shape {self.sample}"

    def image_for(self, net: str) -> tuple[int, int, int]:
        """Return channels, height and width of an image.

        Raises:
            UserError: the samples are no images; `net` is the network that needs images.
        """
        if len(self.sample) != IMAGE_AXES or self.symbols is not None:
            raise UserError(
                f"the net {net} takes images of the shape (channels, height, width), and {self}; "
                "choose a task of images, such as digits, or another net"
            )
        channels, height, width = self.sample
        return channels, height, width
