"""Train on a Slurm cluster, by an array job that has one task for each cohort.

All nodes must share the study's folder.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.scheduling.worker import Job
from depthgauge.store.files import make_folder, write_text

MEGABYTE = 2**20

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

# Two minutes before the time is up, or when the node is needed, Slurm sends USR1. The worker then
# saves a checkpoint, and the task is queued again and continues from there.
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


@dataclass(frozen=True)
class Submitted:
    """The array job that trains the remaining runs of a study.

    Attributes:
        script: the path of the job's script.
        collect: the command that writes the tables when the job has ended.
        answer: the output of sbatch; None if the script was not submitted.
    """

    script: Path
    collect: str
    answer: str | None = None

    @property
    def document(self) -> dict[str, str | None]:
        """The job as a JSON document."""
        return {"script": str(self.script), "collect": self.collect, "submitted": self.answer}

    def __str__(self) -> str:
        collect = f"when the job has ended, this command writes the tables:\n{self.collect}"
        if self.answer is None:
            return f"sbatch {shlex.quote(str(self.script))}\nsubmits the study; {collect}"
        return f"{self.answer}; {collect}"


def write_job(job: Job, memory: int, submit: bool) -> Submitted:
    """Write the script of the array job; if `submit` is true, also submit the script.

    `memory` is the number of bytes that each task of the job asks for.
    """
    script = write_script(job, memory)
    collect = shlex.join(word for word in shlex.split(job.command) if word != "--submit")
    return Submitted(script, collect, _sbatch(script) if submit else None)


def _sbatch(script: Path) -> str:
    """Submit the script with sbatch, and return the output of sbatch."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise UserError(
            f"--submit: this machine has no sbatch; submit {script} on a machine that has sbatch"
        )
    done = subprocess.run(  # noqa: S603
        [sbatch, str(script)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(
            f"sbatch refused {script}: {' '.join(done.stderr.split())}; change the script, and "
            f"submit it with `sbatch {script}`"
        )
    return done.stdout.strip()


def write_script(job: Job, memory: int) -> Path:
    """Write the job's script `slurm/array.sh` in the study's folder, and return its path."""
    logs = make_folder(job.folder / "slurm")
    command = [sys.executable, "-m", "depthgauge.cli.main", "resume", str(job.folder)]
    command += ["--device", job.device, "--save-every", f"{job.save_every:g}"]
    text = SCRIPT.format(
        last=len(job.cohorts) - 1,
        threads=job.threads,
        megabytes=-(-memory // MEGABYTE),
        gpu="#SBATCH --gres=gpu:1\n" if job.device.startswith("cuda") else "",
        logs=str(logs).replace("%", "%%"),
        cohorts=" ".join(job.cohorts),
        command=shlex.join(command),
    )
    script = logs / "array.sh"
    write_text(script, text)
    return script
