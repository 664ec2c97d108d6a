"""What studies are called where several are shown together."""

from __future__ import annotations

from pathlib import Path

import pytest

from depthgauge.errors import UserError
from depthgauge.results.compare import distinct_names


def test_by_their_folders():
    assert distinct_names([Path("runs/a"), Path("/other/b")]) == ["a", "b"]


def test_namesakes_by_as_much_of_their_paths_as_it_takes():
    paths = [Path("/x/old/study"), Path("/x/new/study"), Path("/x/old/other")]
    assert distinct_names(paths) == ["old/study", "new/study", "other"]


def test_namesakes_in_folders_that_are_namesakes():
    paths = [Path("/x/runs/study"), Path("/y/runs/study"), Path("/study")]
    assert distinct_names(paths) == ["x/runs/study", "y/runs/study", "/study"]


def test_the_current_folder_has_a_name(tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert distinct_names([Path("."), Path("/x")]) == ["here", "x"]


@pytest.mark.parametrize("again", ["study", "./study", "other/../study", "link"])
def test_a_study_that_is_given_twice(tmp_path, again):
    (tmp_path / "study").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("study")
    with pytest.raises(UserError, match="given twice") as refusal:
        distinct_names([tmp_path / "study", tmp_path / "other", tmp_path / again])
    assert str(tmp_path / again) in str(refusal.value)
