"""A page that is open in a browser, and what happened while it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

TWO_FRAMES = """() => new Promise((go, fail) => {
  setTimeout(() => fail(new Error("no frame in ten seconds")), 10000);
  requestAnimationFrame(() => requestAnimationFrame(go));
})"""

CHARTS_UPDATED = """() => Promise.all(
  [...document.querySelectorAll(".plot")].map((plot) => plot.chart?.runAsync().then(() => null)))"""

DRAWN = """(id) => {
  const found = [];
  function walk(mark) {
    for (const item of mark.items) {
      if (mark.marktype === "group") item.items.forEach(walk);
      else if (mark.role === "mark") found.push(described(mark.marktype, item));
    }
  }
  function described(kind, item) {
    const { datum, x, y, fill, stroke, shape, text } = item;
    const box = item._svg?.getBoundingClientRect() ?? new DOMRect();
    const middle = [box.x + box.width / 2, box.y + box.height / 2];
    const seen = document.elementFromPoint(...middle)?.__data__ === item;
    return { kind, datum, x, y, fill, stroke, shape, text, middle, seen };
  }
  walk(document.getElementById(id).chart.scenegraph().root);
  return found;
}"""

AS_AT_FIRST = """() => {
  document.getElementById("run-dialog").close();
  const filter = document.getElementById("runs-filter");
  if (filter) { filter.value = ""; filter.dispatchEvent(new Event("input")); }
  document.querySelector('.legend button[aria-pressed="true"]')?.click();
  if (document.documentElement.dataset.theme !== "light") document.getElementById("theme").click();
  for (const control of document.querySelectorAll("select, input[type=range]")) {
    const first = control.dataset.first ?? control.max;
    if (control.value === first) continue;
    control.value = first;
    for (const event of ["input", "change"]) control.dispatchEvent(new Event(event));
  }
  for (const details of document.querySelectorAll("details")) details.open = false;
  document.activeElement?.blur();
  window.scrollTo(0, 0);
}"""


@dataclass
class Opened:
    """One page; `troubles` are messages and errors, `fetched` what was asked from elsewhere."""

    page: Page
    path: Path
    troubles: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._message)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.set_default_timeout(10_000)

    def _message(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if request.url.partition("#")[0] != self.path.as_uri() and request.url[:5] != "data:":
            self.fetched.append(request.url)

    def load(self, fragment: str = "") -> Opened:
        self.page.goto(self.path.as_uri() + fragment)
        self.all("select").evaluate_all(
            "(all) => { for (const one of all) one.dataset.first = one.value; }"
        )
        return self

    def noticed(self) -> None:
        """Wait until the page was told of its size, scheme and medium, by the second frame."""
        self.page.evaluate(TWO_FRAMES)
        self.page.evaluate(CHARTS_UPDATED)

    def drawn(self) -> None:
        """Wait until no chart is left to be drawn."""
        self.page.wait_for_selector("html[data-drawn=yes]", state="attached")

    def as_at_first(self) -> None:
        """Nothing chosen, closed, light, wide, at the top."""
        self.page.emulate_media(media="screen", color_scheme="light")
        self.page.set_viewport_size(WIDE)
        self.noticed()
        self.page.mouse.move(0, 0)
        self.page.evaluate(AS_AT_FIRST)
        self.drawn()

    def look(self, viewport: dict[str, int], scheme: str) -> None:
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=scheme)
        self.noticed()
        self.drawn()

    def open_details(self) -> None:
        self.all("details").evaluate_all("(all) => { for (const one of all) one.open = true; }")

    def all(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of elements that can be seen; those in charts have no inner text."""
        seen = self.all(selector).filter(visible=True)
        found = seen.evaluate_all("(all) => all.map((one) => one.innerText ?? one.textContent)")
        return [text.strip() for text in found]

    @property
    def charts(self) -> list[str]:
        """The ids of all charts."""
        ids: list[str] = self.all(".plot").evaluate_all("(all) => all.map((one) => one.id)")
        return ids

    def marks(self, chart: str, kind: str = "", *fields: str) -> list[dict[str, Any]]:
        """Return what a chart draws of its data, from Vega's scenegraph.

        All marks, or those of one kind whose rows have these fields. `middle` is where a mark is on
        the screen, `seen` whether nothing covers it there.
        """
        self.all(f"#{chart}").scroll_into_view_if_needed()
        return [
            mark
            for mark in self.page.evaluate(DRAWN, chart)
            if kind in ("", mark["kind"])
            and all(mark["datum"].get(name) is not None for name in fields)
        ]

    def point_at(self, mark: dict[str, Any]) -> Locator:
        """Point at a mark that `marks` returned last; return the tooltip."""
        self.page.mouse.move(*mark["middle"])
        return self.all("#vg-tooltip-element.visible")

    def choose(self, section: str, field: str, value: str) -> None:
        """Choose in a section what its charts show."""
        self.all(f"#{section} select[data-choice={field}]").select_option(value)
        self.drawn()

    def isolate(self, section: str, rule: str) -> Locator:
        legend = self.page.get_by_role("group", name="Show one rule alone")
        group = self.all(f"#{section}").locator(legend)
        button = group.get_by_role("button", name=rule, exact=True)
        button.click()
        self.drawn()
        return button


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    chosen: dict[str, Any] = {"viewport": WIDE, "color_scheme": "light"} | options
    return browser.new_context(**chosen)
