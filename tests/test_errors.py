"""Errors as sentences: what the store is refused is told from what a rule is refused."""

from __future__ import annotations

import errno

import pytest

from depthgauge.errors import NO_ROOM, StoreError, UserError, one_line, storing, system_sentence


@pytest.mark.parametrize(
    ("error", "file"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "runs/metrics.jsonl"), True),
        (PermissionError(errno.EACCES, "Permission denied", "runs/result.json"), True),
        (OSError(errno.EIO, "Input/output error"), False),
        (OSError("without a number"), False),
    ],
    ids=str,
)
def test_what_the_store_is_refused_keeps_number_file_and_words(error, file):
    with pytest.raises(StoreError) as caught, storing():
        raise error
    found = caught.value
    assert (found.errno, found.filename) == (error.errno, error.filename)
    assert (found.filename is not None) == file
    assert str(found) == str(error)
    assert found.__cause__ is error
    assert system_sentence(found) == system_sentence(error)


def test_a_refusal_that_is_wrapped_twice_is_the_same():
    error = OSError(errno.ENOSPC, "No space left on device", "metrics.jsonl")
    with pytest.raises(StoreError) as caught, storing(), storing():
        raise error
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "metrics.jsonl")


def test_what_is_no_refusal_passes():
    for error in [UserError("mend it"), ZeroDivisionError("by zero")]:
        with pytest.raises(type(error)) as caught, storing():
            raise error
        assert caught.value is error


def test_without_room_it_is_said_what_for_and_how_to_go_on():
    for number in NO_ROOM:
        sentence = system_sentence(StoreError(number, "words of the system", "the/file"))
        assert sentence.startswith("there is no room left on the disk to write the/file; make room")
        assert "write the results;" in system_sentence(StoreError(number, "words of the system"))


def test_an_error_of_many_lines_is_said_on_one():
    assert one_line(ValueError("first\n  second")) == "ValueError: first second"
