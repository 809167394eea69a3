"""Every view as people meet it: small and large, light and dark, by keyboard, read aloud, and on paper."""

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import CHROMIUM, open_chromium
from page_demo import SHOWN, list_views, serve_demo
from playwright.sync_api import Page

from moot.core.report import Grid, ReportDocument, ReportSection, make_row
from moot.text.report_html import render_document_html

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="not run: there is no Chromium; scripts/need chromium")
Views = tuple[Page, dict[str, str]]
LOOKS: list[tuple[int, Literal["light", "dark"]]] = [(400, "light"), (1280, "light"), (1280, "dark"), (400, "dark")]
PICTURED = ("list", "start-debate", "gate", "debate")
ALIKE = {"start-harden", "start-review", "start-solve", "nothing-found"}
"""Of the same template as another view."""
NAMES = [name for name in list_views(dict.fromkeys(SHOWN, "")) if name not in ALIKE]
WHOLE = {"resultTypes": ["violations"]}
AGAIN = {**WHOLE, "runOnly": ["color-contrast", "scrollable-region-focusable"]}
"""What another width or scheme can break."""
PAPER = 673
"""Pixels between the margins of A4."""
OPEN = "document.querySelectorAll('details:not([data-src])').forEach(each => each.open = true)"
LEVELS = "[...document.querySelectorAll('h1, h2, h3, h4, h5')].filter(h => h.checkVisibility()).map(h => +h.tagName[1])"
CUT = """[...document.querySelectorAll("main *")].filter(each => each.checkVisibility() &&
  each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML.slice(0, 90))"""
PRESSED = """[...document.querySelectorAll("button, input, select, textarea")].filter(each =>
  each.checkVisibility()).map(each => each.outerHTML.slice(0, 90))"""
CLOSED = """[...document.querySelectorAll("main details:not(.more *) > *")].filter(each =>
  !each.checkVisibility()).map(each => each.outerHTML.slice(0, 90))"""
CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
LEFT = f"""[...document.querySelectorAll("main :is({CONTROLS})")].filter(each => each.checkVisibility() &&
  !("reached" in each.dataset) && each.type !== "radio").map(each => each.outerHTML.slice(0, 120))"""
LINES = """(cell) => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  return words.getClientRects().length;
}"""
REACHED = """() => {
  const at = document.activeElement;
  if (at === document.body) return "the end";
  at.dataset.reached = "";
  const shown = [at, at.closest("li"), at.closest("label")].filter(Boolean).map((each) => getComputedStyle(each));
  return shown.some((look) => look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0) ? "" : at.outerHTML;
}"""


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Views]:
    """A page that is signed in, and the address of every view."""
    with serve_demo(tmp_path_factory.mktemp("looks")) as server, open_chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.place}/?token={server.token}")
        yield page, {name: f"{server.place}/ui{path}" for name, path in list_views(server.begin_all()).items()}


def show(views: Views, name: str, width: int = 1280) -> Page:
    page, addresses = views
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": width, "height": 860})
    kept: Any = page.context.cookies()
    if name == "login":  # whoever is signed in is led on
        page.context.clear_cookies()
    page.goto(addresses[name], wait_until="networkidle" if name == "login" else "load")
    page.locator("h1").wait_for()
    page.context.add_cookies(kept)
    return page


def list_grave(page: Page, options: dict[str, Any]) -> list[tuple[str, str]]:
    found = Axe().run(page, options=options).response["violations"]
    return [(f["id"], f["nodes"][0]["html"][:200]) for f in found if f["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_shut_out_of_a_view(views: Views, name: str, tmp_path: Path) -> None:
    """axe finds nothing serious, headings are in order, nothing is wider than the screen. The main views are pictured,
    into the folder MOOT_PICTURES if it is set."""
    page = show(views, name, LOOKS[0][0])
    folder = Path(os.environ.get("MOOT_PICTURES") or tmp_path)
    for number, (width, scheme) in enumerate(LOOKS):
        page.set_viewport_size({"width": width, "height": 860})
        page.emulate_media(color_scheme=scheme)
        if name in PICTURED:
            assert len(page.screenshot(path=folder / f"{name}-{width}-{scheme}.png")) > 10_000, "a picture of nothing"
        page.evaluate(OPEN)
        assert list_grave(page, AGAIN if number else WHOLE) == [], (width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, scheme)
    levels: list[int] = page.evaluate(LEVELS)
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


@pytest.mark.parametrize("name", ["list", "start-decide", "gate", "contested"])
def test_every_control_is_reached_by_the_keyboard_and_seen(views: Views, name: str) -> None:
    page = show(views, name)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    box = page.locator(".skip").bounding_box()
    assert box is not None and box["y"] >= 0
    for _ in range(page.locator(CONTROLS).count()):
        page.keyboard.press("Tab")
        unseen = page.evaluate(REACHED)
        if unseen == "the end":
            break
        assert unseen == ""
    assert page.evaluate(LEFT) == []


def test_a_session_in_which_nobody_was_asked_has_no_empty_timeline(views: Views) -> None:
    page = show(views, "harden")
    assert page.locator(".timeline").is_visible()
    page.evaluate("document.querySelectorAll('#lanes tbody tr').forEach((row) => row.remove())")
    assert not page.locator(".timeline").is_visible()


def test_words_of_a_narrow_table_stay_whole(views: Views) -> None:
    name = show(views, "harden", 400).locator(".spend tbody th").first
    name.evaluate("(each) => { each.textContent = 'defense'; }")
    box = name.bounding_box()
    assert box is not None and box["height"] < 50


@pytest.mark.parametrize("width", [400, 1280])
def test_a_table_of_an_exported_report_keeps_its_words_whole_and_the_page_does_not_scroll(
    views: Views, width: int
) -> None:
    cells = ("VULN-001", "critical", "src/shop/app.py:2", "SQL injection: query built by formatting " * 2, "patched")
    table = Grid(title="findings", columns=("id", "severity", "where", "finding", "state"), rows=(make_row(*cells),))
    document = ReportDocument(title="harden", lead="l", sections=(ReportSection(title="Result", blocks=(table,)),))
    browser = views[0].context.browser
    assert browser is not None
    page = browser.new_page(viewport={"width": width, "height": 860})
    page.set_content(render_document_html(document))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for place in (1, 2, 4):
        assert page.locator("td").nth(place).evaluate(LINES) == 1, cells[place]
    page.close()


def test_the_skip_link_goes_to_the_content(views: Views) -> None:
    page = show(views, "list")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("name", ["topic", "debate", "harden", "review", "contested", "audit", "compare"])
def test_on_paper_nothing_is_cut_and_nothing_can_be_pressed(views: Views, name: str) -> None:
    page = show(views, name, PAPER)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(CUT) == []
    assert page.evaluate(PRESSED) == []
    assert page.evaluate(CLOSED) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    if name in SHOWN:
        assert page.get_by_text("Last hash of the record").is_visible()
        assert page.locator(".turn .said").first.is_visible()
