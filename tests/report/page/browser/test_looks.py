"""Light, dark, wide, narrow and printed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import NAMES
from report.page.browser.opened import PHONE, WIDE

LIGHT_PAPER, DARK_PAPER = "rgb(255, 255, 255)", "rgb(15, 19, 23)"
LIGHT_INK, DARK_INK = "rgb(27, 31, 36)", "rgb(232, 236, 240)"

COLOURS = """() => [
  getComputedStyle(document.body).backgroundColor,
  getComputedStyle(document.querySelector("#ladder-chart .role-axis-label text")).fill,
]"""

SCHEMES = ("light", "dark")

TOO_WIDE = "() => document.documentElement.scrollWidth - window.innerWidth"

CUT_CARDS = """() => [...document.querySelectorAll(".card, .card *, .answer li, .identity dd")]
  .filter((one) => getComputedStyle(one).display !== "inline")
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent)"""

CUT_IN_CHARTS = """() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
  const room = plot.getBoundingClientRect();
  return [...plot.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return text.textContent.trim() && box.width && (box.left < room.left - 1
      || box.right > room.right + 1 || box.top < room.top - 1 || box.bottom > room.bottom + 1);
  }).map((text) => `${plot.id}: ${text.textContent}`);
})"""


OFTEN = [(PHONE, "dark", name) for name in NAMES] + [(WIDE, "light", "audited")]
LOOKS = [(size, scheme, name) for name in NAMES for size in (WIDE, PHONE) for scheme in SCHEMES]


@pytest.mark.parametrize(
    ("viewport", "scheme", "name"),
    [
        pytest.param(
            *look,
            marks=() if look in OFTEN else pytest.mark.slow,
            id=f"{look[2]}-{'wide' if look[0] is WIDE else 'phone'}-{look[1]}",
        )
        for look in LOOKS
    ],
)
def test_nothing_is_wider_than_the_screen_and_no_text_is_cut(opened, name, viewport, scheme):
    page = opened(name)
    page.look(viewport, scheme)
    page.open_details()
    assert page.page.evaluate(TOO_WIDE) <= 0
    assert page.page.evaluate(CUT_CARDS) == []
    assert page.page.evaluate(CUT_IN_CHARTS) == []


@pytest.mark.parametrize("name", ["audited", "hostile"])
def test_a_runs_window_fits_a_phone(opened, name):
    page = opened(name)
    page.look(PHONE, "light")
    page.all("#runs-table td:first-child a").first.click()
    assert page.page.evaluate(TOO_WIDE) <= 0
    box = page.all("#run-dialog").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    inside = page.all("#run-dialog").evaluate("(one) => one.scrollWidth - one.clientWidth")
    assert inside <= 0


def test_dark_where_the_system_is_dark(audited):
    assert audited.page.evaluate(COLOURS) == [LIGHT_PAPER, LIGHT_INK]
    audited.look(WIDE, "dark")
    assert audited.page.evaluate(COLOURS) == [DARK_PAPER, DARK_INK]


def test_dark_by_the_button_and_light_again(audited):
    audited.page.get_by_role("button", name="Dark").click()
    audited.drawn()
    assert audited.page.evaluate(COLOURS) == [DARK_PAPER, DARK_INK]
    audited.page.get_by_role("button", name="Light").click()
    audited.drawn()
    assert audited.page.evaluate(COLOURS) == [LIGHT_PAPER, LIGHT_INK]


@pytest.mark.parametrize("name", ["audited", "compared"])
def test_in_print_there_are_charts_and_nothing_to_press(opened, name):
    page = opened(name)
    page.page.emulate_media(media="print")
    page.noticed()
    for pressed in ("nav", ".controls", ".legend", "#theme", ".copy", ".skip"):
        assert page.all(pressed).filter(visible=True).count() == 0
    for chart in page.all(".plot").all():
        expect(chart.locator("svg")).to_be_visible()
        assert chart.bounding_box()["height"] > 100


def test_what_is_printed_is_light_and_the_screen_stays_dark(audited):
    audited.look(WIDE, "dark")
    audited.page.evaluate(
        f"""() => addEventListener("beforeprint", () => {{ window.printed = ({COLOURS})(); }},
            {{once: true}})"""
    )
    assert audited.page.pdf().startswith(b"%PDF-")
    assert audited.page.evaluate("() => window.printed") == [LIGHT_PAPER, LIGHT_INK]
    audited.drawn()
    assert audited.page.evaluate(COLOURS) == [DARK_PAPER, DARK_INK]
