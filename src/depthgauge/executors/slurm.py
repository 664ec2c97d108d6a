"""On a Slurm cluster: an array job, one cohort for each of its tasks, on a shared folder."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from depthgauge.errors import HandedOnError, UserError
from depthgauge.executors.job import Job
from depthgauge.store.files import make_folder, write_text

MEGABYTE = 2**20
ROOM = 1.5
"""Times the expected memory that is asked for."""

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=depthgauge
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task={threads}
#SBATCH --mem={megabytes}M
{gpu}#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="{logs}/%A_%a.log"

# Two minutes before the time is up, and when the node is wanted back, USR1 asks for a checkpoint;
# the task is then queued again and goes on from there.
cohorts=({cohorts})
{command} --cohorts "${{cohorts[$SLURM_ARRAY_TASK_ID]}}" &
worker=$!
trap 'kill -USR1 "$worker"' USR1
trap 'kill -TERM "$worker"' TERM
wait "$worker"
status=$?
while kill -0 "$worker" 2>/dev/null; do
    wait "$worker"
    status=$?
done
if [ "$status" -eq 138 ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
fi
exit "$status"
"""


def hand_to_slurm(job: Job, memory: int, submit: bool) -> None:
    """Write the array's script, and submit it if that is asked for; always raises HandedOnError.

    `memory` is what a cohort is expected to need, in bytes.
    """
    script = write_script(job, memory)
    command = shlex.join(word for word in shlex.split(job.command) if word != "--submit")
    document: dict[str, object] = {"script": str(script), "collect": command}
    collect = f"when its tasks have ended, this writes the tables:\n{command}"
    if not submit:
        raise HandedOnError(
            f"sbatch {shlex.quote(str(script))}\nsubmits the study; {collect}",
            document | {"submitted": None},
        )
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise UserError(f"--submit: there is no sbatch here; the script is {script}")
    done = subprocess.run(  # noqa: S603
        [sbatch, str(script)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(f"sbatch refused {script}: {' '.join(done.stderr.split())}")
    answer = done.stdout.strip()
    raise HandedOnError(f"{answer}; {collect}", document | {"submitted": answer})


def write_script(job: Job, memory: int) -> Path:
    """`slurm/array.sh` in the study's folder."""
    logs = make_folder(job.folder / "slurm")
    command = [sys.executable, "-m", "depthgauge.cli.main", "resume", str(job.folder)]
    command += ["--device", job.device, "--save-every", f"{job.save_every:g}"]
    text = SCRIPT.format(
        last=len(job.cohorts) - 1,
        threads=job.threads,
        megabytes=round(ROOM * memory / MEGABYTE),
        gpu="#SBATCH --gres=gpu:1\n" if job.device.startswith("cuda") else "",
        logs=str(logs).replace("%", "%%"),
        cohorts=" ".join(job.cohorts),
        command=shlex.join(command),
    )
    script = logs / "array.sh"
    write_text(script, text)
    return script
