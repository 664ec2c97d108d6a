"""Errors as sentences."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's codes for a full disk, a used-up quota, and a file beyond the size limit."""


class UserError(Exception):
    """An error that the user can mend: the message says what is wrong and what to do.

    The command line prints the message on standard error and exits with status 2.
    """


class NotApplicableError(UserError):
    """The user asked for something that does not apply to this network; the message says why."""


class OptionError(UserError):
    """An option has a value that is not possible; `option` is its name."""

    def __init__(self, option: str, sentence: str) -> None:
        super().__init__(sentence)
        self.option = option


class StoreError(OSError):
    """The system refused to read or write the files or data of a study."""


@contextmanager
def storing() -> Iterator[None]:
    """Turn an error of the system inside the block into a StoreError."""
    try:
        yield
    except OSError as error:
        names = [] if error.filename is None else [error.filename]
        raise StoreError(*error.args, *names) from error


class StoppedError(Exception):
    """Training stopped because of the signal with this number, after everything was saved."""

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def system_sentence(error: OSError) -> str:
    """Return a sentence that says what the system refused, and how to go on if that is known."""
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
    """Return an exception's class and text on one line, to be part of a sentence."""
    return " ".join(f"{type(error).__name__}: {error}".split())
