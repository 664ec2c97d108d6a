"""What axe-core finds: nothing serious, in light and dark, wide and narrow."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from report.page.browser.browser_studies import NAMES
from report.page.browser.opened import PHONE, WIDE

SIZES = {"wide": WIDE, "phone": PHONE}
OFTEN = [("audited", "wide", "light"), ("audited", "phone", "dark")]
OFTEN += [("compared", "wide", "dark")]
LOOKS = [(name, size, scheme) for name in NAMES for size in SIZES for scheme in ("light", "dark")]


def serious(page, part=None):
    """What is serious or worse, and where."""
    found = Axe().run(page.page, context=part).response
    assert found["testEngine"]["name"] == "axe-core"
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    [
        pytest.param(*look, marks=() if look in OFTEN else pytest.mark.slow, id="-".join(look))
        for look in LOOKS
    ],
)
def test_the_page(opened, name, size, scheme):
    page = opened(name)
    page.look(SIZES[size], scheme)
    page.open_details()
    assert serious(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_runs_window(audited, scheme):
    audited.look(PHONE if scheme == "dark" else WIDE, scheme)
    audited.all("#audit summary").first.click()
    audited.all("#audit td [data-run]").first.click()
    assert serious(audited, "#run-dialog") == []


def test_a_rule_alone(audited):
    audited.isolate("ladder", "fa")
    assert serious(audited, "#ladder") == []


def test_what_is_serious_would_be_found(audited):
    audited.page.evaluate("() => { document.querySelector('#paper .small').style.color = '#ccc'; }")
    found = serious(audited, "#paper")
    audited.page.evaluate("() => document.querySelector('#paper .small').removeAttribute('style')")
    assert [id for id, _ in found] == ["color-contrast"]
