"""Pictures of reports for the README and the docs: `make screenshots`.

python docs/make_screenshots.py STUDY_OF_THE_DEMO
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from depthgauge.report.page.compared_page import write_compared_page
from depthgauge.report.page.study_page import write_study_page
from depthgauge.results.compare import compare_studies
from depthgauge.results.load import load

ROOT = Path(__file__).resolve().parent.parent
IMAGES, REPRODUCTION = ROOT / "docs" / "images", ROOT / "reproduction"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")

NOTHING_ON_TOP = "nav { position: static !important; }"
"""The list of sections follows who scrolls, and would cover a heading."""


@dataclass(frozen=True)
class Picture:
    """Of which page, which part of it (from the top if none is named), and how large."""

    name: str
    page: str
    section: str | None = None
    width: int = 1200
    height: int = 1180
    dark: bool = False


PICTURES = (
    Picture("report-teacher", "teacher", height=1640),
    Picture("report-teacher-audit", "teacher", "#audit"),
    Picture("report-teacher-layers", "teacher", "#layers"),
    Picture("report-teacher-training", "teacher", "#training"),
    Picture("report-teacher-null", "teacher", "#null"),
    Picture("report-teacher-phone", "teacher", width=390, height=1180, dark=True),
    Picture("report-cifar10", "cifar10", height=1700),
    Picture("report-cifar10-published", "cifar10", "#published"),
    Picture("compare", "compared", "#against"),
)


def write_pages(demo: Path, folder: Path) -> dict[str, Path]:
    """The pages that pictures are taken of."""
    ladder, audit = (
        load(REPRODUCTION / f"{name}-d256-L4") for name in ("memo-ladder", "main-audit")
    )
    pages = {name: folder / f"{name}.html" for name in ("teacher", "cifar10", "compared")}
    write_study_page(load(demo), pages["teacher"])
    write_study_page(ladder, pages["cifar10"])
    write_compared_page(compare_studies([ladder, audit]), pages["compared"])
    return pages


def take(browser: Browser, picture: Picture, page: Path) -> Path:
    """Once every chart has been drawn."""
    tab = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.dark else "light",
    )
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-drawn=yes]", state="attached")
    path = IMAGES / f"{picture.name}.png"
    if picture.section is None:
        tab.screenshot(path=path)
    else:
        tab.locator(picture.section).screenshot(path=path, style=NOTHING_ON_TOP)
    tab.close()
    return path


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = write_pages(Path(sys.argv[1]), Path(folder))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        for picture in PICTURES:
            print(take(browser, picture, pages[picture.page]).relative_to(ROOT))
        browser.close()


if __name__ == "__main__":
    main()
