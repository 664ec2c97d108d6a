"""Errors as sentences."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class UserError(Exception):
    """Something the user can mend: the message names it and says what would be right.

    The command line prints the message on standard error and exits with status 2; nothing else
    that the user typed is lost or overwritten.
    """


class NotApplicableError(UserError):
    """What was asked for does not apply to this network; the message says why."""


class OptionError(UserError):
    """An option has a value that is not possible; `option` is its name."""

    def __init__(self, option: str, sentence: str) -> None:
        super().__init__(sentence)
        self.option = option


class StoreError(OSError):
    """The system refused to read or write a study's files, or its data."""


@contextmanager
def storing() -> Iterator[None]:
    """Around the store's own work, so that what the system refuses there is known as such."""
    try:
        yield
    except OSError as error:
        raise StoreError(*error.args, *_names(error)) from error


def _names(error: OSError) -> list[object]:
    """Its file, as OSError takes it: the third of its arguments."""
    return [] if error.filename is None else [error.filename]


class StoppedError(Exception):
    """A signal asked to stop, and everything is saved; `signal` is its number."""

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def system_sentence(error: OSError) -> str:
    """What the system refused, and how to go on where that is known."""
    if error.errno in NO_ROOM:
        what = error.filename or "what was measured"
        return (
            f"there is no room left to write {what}; make room, and the same command goes on from "
            "the last checkpoint"
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and error.filename:
        path = Path(error.filename)
        what = path.parent if path.suffix == ".tmp" else path
        return f"{what} cannot be written or read ({error.strerror})"
    return str(error)


def one_line(error: BaseException) -> str:
    """An exception's kind and text on one line, for a sentence."""
    return " ".join(f"{type(error).__name__}: {error}".split())
