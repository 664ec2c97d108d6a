"""`depthgauge new-rule`: a file that works as it stands."""

from __future__ import annotations

from cli.commands import assert_bad_input, run

from depthgauge.rules.choice import choose_rule


def test_the_new_rule_passes_its_check_as_it_stands(tmp_path):
    done = run("new-rule", "my_rule")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "wrote my_rule.py",
        "depthgauge check-rule my_rule.py:MyRule",
        "depthgauge audit --rules bp my_rule.py:MyRule",
    ]
    assert len((tmp_path / "my_rule.py").read_text().splitlines()) <= 40
    for options in ("", "[shared=true]"):
        checked = run("check-rule", f"my_rule.py:MyRule{options}")
        assert (checked.status, checked.err) == (0, "")
        assert all(line.startswith("ok") and ": " not in line for line in checked.out.splitlines())


def test_the_class_is_called_after_the_rule():
    for name, class_name in [("x", "X"), ("a_2b", "A2b"), ("Kept", "Kept")]:
        assert run("new-rule", name).status == 0
        choice = choose_rule(f"{name}.py:{class_name}[shared=true]")
        assert choice.label == f"{name}[shared=True]"


def test_the_folder_is_made_and_is_part_of_the_next_commands(tmp_path):
    done = run("new-rule", "mine", "--out", "rules/new")
    assert (tmp_path / "rules" / "new" / "mine.py").exists()
    assert "depthgauge check-rule rules/new/mine.py:Mine" in done.out.splitlines()


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "mine.py").write_text("precious")
    assert_bad_input(run("new-rule", "mine"), "mine.py exists and is not", "another name or --out")
    assert (tmp_path / "mine.py").read_text() == "precious"


def test_a_name_that_is_no_identifier_is_refused(tmp_path):
    for name in ["my-rule", "2nd", "", "class", "a/b", "_", "_mine", "my rule"]:
        assert_bad_input(run("new-rule", name), f"{name!r} cannot be a rule's name", "my_rule")
        assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path):
    for name in ["dfa", "rule", "rule_options", "none"]:
        assert_bad_input(run("new-rule", name), f"the name {name!r} is taken", f"my_{name}")
        assert list(tmp_path.iterdir()) == []
