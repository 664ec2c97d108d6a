"""One browser for all tests; every page is written once, and opened once in each process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, sync_playwright
from report.page.browser.browser_studies import write_pages
from report.page.browser.opened import Opened, new_context

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SETTINGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SETTINGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: `make browser` installs Debian's")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SETTINGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with all pages and their studies; processes share it: leave it alone."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "pages"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            write_pages(folder.with_name("pages being written"))
            folder.with_name("pages being written").rename(folder)
    return folder


@pytest.fixture(scope="session")
def opened_once(browser: Browser, pages: Path) -> Iterator[Callable[[str], Opened]]:
    context = new_context(browser)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    found: dict[str, Opened] = {}

    def one(name: str) -> Opened:
        if name not in found:
            found[name] = Opened(context.new_page(), pages / f"{name}.html").load()
        found[name].page.bring_to_front()
        return found[name]

    yield one
    context.close()


@pytest.fixture
def opened(opened_once: Callable[[str], Opened]) -> Iterator[Callable[[str], Opened]]:
    """A page by its name, as it looks when it is opened; in the end it has no complaint."""
    used: list[Opened] = []

    def one(name: str) -> Opened:
        used.append(opened_once(name))
        used[-1].as_at_first()
        return used[-1]

    yield one
    for page in used:
        troubles, fetched = page.troubles[:], page.fetched[:]
        page.troubles.clear()
        page.fetched.clear()
        assert (troubles, fetched) == ([], [])


@pytest.fixture
def audited(opened: Callable[[str], Opened]) -> Opened:
    """The page of the finished, audited study."""
    return opened("audited")
