"""Exceptions for users, and functions that turn other errors into sentences."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's error codes for a full disk, a used-up quota, and a file over the size limit."""


class UserError(Exception):
    """An error that the user can mend: the message says what is wrong and what to do.

    The command line prints the message on standard error and exits with status 2.
    """


class NotApplicableError(UserError):
    """An error: a request does not apply to this network, such as `null` without feedback."""


class OptionError(UserError):
    """An error: an option has an impossible value; `option` is the option's name."""

    def __init__(self, option: str, sentence: str) -> None:
        super().__init__(sentence)
        self.option = option


class StoreError(OSError):
    """An error: the system refused to read or write the files or data of a study."""


@contextmanager
def storing() -> Iterator[None]:
    """Turn an OSError inside the `with` block into a StoreError."""
    try:
        yield
    except OSError as error:
        names = [] if error.filename is None else [error.filename]
        raise StoreError(*error.args, *names) from error


class StoppedError(Exception):
    """An error: a signal stopped training; `signal` is its number. Everything is saved."""

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def system_sentence(error: OSError) -> str:
    """Return a sentence that says what the system refused, and how to go on if that is known."""
    if error.errno in NO_ROOM:
        what = error.filename or "the results"
        return (
            f"there is no room left on the disk to write {what}; make room, and run the same "
            "command again to continue from the last checkpoint"
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and error.filename:
        path = Path(error.filename)
        what = path.parent if path.suffix == ".tmp" else path
        return f"cannot read or write {what} ({error.strerror}); check its permissions"
    return str(error)


def one_line(error: BaseException) -> str:
    """Return an exception's class and message on one line, to be put into a sentence."""
    return " ".join(f"{type(error).__name__}: {error}".split())
