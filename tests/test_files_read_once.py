"""No file of a study is opened twice by the process that was asked for the study.

On a network file system every opening is a question to a server. And a file that is read in two
places is understood in two places, which may disagree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.stopped_studies import write_stopping_rules

pytestmark = pytest.mark.slow

SCRIPT = '''
"""Go through the life of a study, and print which of its files each call opened to read."""

import json, os, sys
from collections import Counter
from pathlib import Path

import safetensors

folder = Path(sys.argv[1])
study, stops, opened = folder / "study", f"{folder}/stopping_rules.py:Stops", Counter()


def note(path, flags):
    path = Path(os.fsdecode(path)).absolute()
    reads = flags & os.O_ACCMODE != os.O_WRONLY
    ours = path.is_relative_to(study) and path.is_file() and path.name[0] != "."
    if reads and ours and not by_a_worker():
        status = path.stat()
        opened[str(path.relative_to(study)), status.st_ino, status.st_mtime_ns] += 1


def by_a_worker():
    frame = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.endswith("scheduling/worker.py"):
        frame = frame.f_back
    return frame is not None


def on_event(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        note(arguments[0], arguments[2])


def open_and_note(path, *arguments, _open=safetensors.safe_open, **options):
    note(path, os.O_RDONLY)
    return _open(path, *arguments, **options)


os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # one core: no other process trains
sys.addaudithook(on_event)
safetensors.safe_open = open_and_note  # Rust opens the file, and tells no audit hook

import depthgauge as dg
from depthgauge.errors import StoppedError

OPTIONS = dict(task="digits", width=6, depth=1, seeds=[1, 2], epochs=3, batch_size=500)
OPTIONS |= dict(twins=False, threads=1, cohort=15, save_every=0, out=str(study))
dg.audit(rules=["bp"], **OPTIONS)
os.environ["TEST_STOPS"] = "1"
try:
    dg.ladder(rules=[stops], k=[0, 1], **OPTIONS)
except StoppedError:
    pass
for name, call in {
    "half done, loaded": lambda: dg.load(study),
    "half done, audited": lambda: dg.audit(rules=["bp", stops, "fa"], **OPTIONS),
    "finished, loaded": lambda: dg.load(study),
    "finished, audited": lambda: dg.audit(rules=["bp", stops, "fa"], **OPTIONS),
    "finished, ladder": lambda: dg.ladder(rules=["bp", stops, "fa"], **OPTIONS),
    "finished, resumed": lambda: dg.resume(study),
}.items():
    opened.clear()
    call()
    print(json.dumps([name, [[path, count] for (path, *_), count in opened.items()]]))
'''
"""A file that was written anew is another one, so its place on the disk and its time count too.
One that is being written has a name with a dot, and is opened once more to have it on the disk.
Workers are not counted: they are processes of their own, but for studies that need only one."""

READ = {"study.json", "plan/1.json", "plan/2.json", "result.json", "floors.json"}
TRAINED = READ | {"config.json"}
NETWORKS = {"metrics.jsonl", "checkpoint.safetensors"}
NEEDED = {
    "half done, loaded": READ | {"audit.json", "metrics.jsonl"},
    "half done, audited": TRAINED | NETWORKS | {"checkpoint.previous.safetensors", "audit.json"},
    "finished, loaded": READ | {"plan/3.json", "audit.json"},
    "finished, audited": TRAINED | {"plan/3.json", "audit.json"} | NETWORKS,
    "finished, ladder": TRAINED | {"plan/3.json", "audit.json"},
    "finished, resumed": TRAINED | {"plan/3.json", "audit.json"},
}
"""What each call opens, and nothing besides: an audit reads what the one before it said."""

FOLLOWED = "claims/"
"""Claims are opened again on purpose: they say whether their owners are still alive."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, int]]]:
    """By call, how often each file was opened to read."""
    folder = tmp_path_factory.mktemp("once")
    write_stopping_rules(folder)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder],
        env={name: value for name, value in os.environ.items() if name != "TEST_STOPS"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    calls = dict(json.loads(line) for line in done.stdout.splitlines())
    return {
        call: [(path, count) for path, count in found if not path.startswith(FOLLOWED)]
        for call, found in calls.items()
    }


@pytest.mark.parametrize("call", NEEDED)
def test_no_file_is_opened_twice(opened, call):
    assert [(path, count) for path, count in opened[call] if count > 1] == []


@pytest.mark.parametrize(("call", "needed"), NEEDED.items())
def test_what_is_needed_is_opened_and_nothing_besides(opened, call, needed):
    names = {path if path.startswith("plan") else Path(path).name for path, _ in opened[call]}
    assert names == needed
