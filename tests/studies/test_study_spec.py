"""What in a study file does not go with the rest of it has its line and field, as all else has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from depthgauge.errors import UserError
from depthgauge.studies.study_file import read_study_file

SUFFIXES = [".toml", ".yaml"]


def write(folder: Path, suffix: str, fields: dict[str, Any]) -> Path:
    """One line for each field, after a line of comment."""
    path = folder / f"study{suffix}"
    sign = " = " if suffix == ".toml" else ": "
    lines = [f"{name}{sign}{json.dumps(value)}\n" for name, value in fields.items()]
    path.write_text("# a study\n" + "".join(lines))
    return path


LADDER = {"command": "ladder"}

BAD = [
    ({"k": [5]}, "the network has 4 blocks, so k is from 0 to 4"),
    ({"blocks": 2, "k": [0, 3]}, "the network has 2 blocks, so k is from 0 to 2"),
    ({"blocks": 0, "k": [1]}, "the network has 0 blocks, so k is from 0 to 0"),
    ({"rules": ["bp", "dfa", "bp"]}, "bp stands there twice"),
    ({"k": [0, 1, 1]}, "1 stands there twice"),
    ({"seeds": [7, 8, 7]}, "7 stands there twice"),
    ({"address": "auto"}, "goes with executor = 'ray'"),
    ({"executor": "slurm", "address": "auto"}, "goes with executor = 'ray'"),
    ({"submit": True}, "goes with executor = 'slurm'"),
    ({"executor": "ray", "submit": True}, "goes with executor = 'slurm'"),
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("fields", "reason"), BAD, ids=[str(fields) for fields, _ in BAD])
def test_what_does_not_fit_is_said_with_line_and_field(tmp_path, suffix, fields, reason):
    path = write(tmp_path, suffix, LADDER | fields)
    with pytest.raises(UserError) as refused:
        read_study_file(path)
    *_, field = fields
    line = 2 + len(fields)
    assert str(refused.value) == f"{path}, line {line}, field {field!r}: {reason}"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_fields_fit_in_whatever_order_they_stand(tmp_path, suffix):
    """What a field must go with may stand below it."""
    fields = {"address": "auto", "k": [6], "executor": "ray", "blocks": 6}
    spec = read_study_file(write(tmp_path, suffix, fields | LADDER))
    assert (spec.k, spec.address) == ([6], "auto")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "fields",
    [
        {"k": [0, 4]},
        {"blocks": 0, "k": [0]},
        {"executor": "slurm", "submit": True},
        {"submit": False},
        {"rules": ["dfa", "dfa[normalise=batch]"], "k": [1, 2], "seeds": [1, 2]},
    ],
    ids=str,
)
def test_what_fits_is_taken(tmp_path, suffix, fields):
    spec = read_study_file(write(tmp_path, suffix, LADDER | fields))
    assert spec.model_dump(exclude_none=True) == LADDER | fields
