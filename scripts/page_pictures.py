"""Write docs/img/page*.png: two sessions of the page, played by scripted models, light and dark.

With `--all FOLDER` every view instead, at four widths, light and dark, and on paper, to be looked at.
"""

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from page_demo import DemoServer, list_views, serve_demo
from playwright.sync_api import Browser, sync_playwright

TARGET = Path(__file__).resolve().parents[1] / "docs" / "img"
WIDTHS = (400, 768, 1280, 1600)


def take_pictures(
    browser: Browser, server: DemoServer, views: Mapping[str, str], widths: tuple[int, ...], *, whole: bool = False
) -> None:
    """`views`: file, with {width} and {scheme} in it -> path of the page. `whole`: all of it, and as PDF."""
    for scheme in ("light", "dark"):
        for width in widths:
            own = browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme)
            page = own.new_page()
            page.goto(f"{server.place}/?token={server.token}")
            for file, path in views.items():
                page.goto(f"{server.place}/ui{path}")
                page.wait_for_function("document.fonts.status === 'loaded'")  # a view may lead on to another
                page.screenshot(path=file.format(width=width, scheme=scheme), full_page=whole)
                if whole and (width, scheme) == (WIDTHS[-1], "light"):
                    page.pdf(path=file.format(width="paper", scheme=scheme).replace(".png", ".pdf"), format="A4")
            own.close()


def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("there is no Chromium; run scripts/need chromium")
    with tempfile.TemporaryDirectory() as name, serve_demo(Path(name)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        begun = server.begin_all()
        if sys.argv[1:2] == ["--all"]:
            views = list_views(begun)
            places = {f"{sys.argv[2]}/{name}-{{width}}-{{scheme}}.png": path for name, path in views.items()}
            take_pictures(browser, server, places, WIDTHS, whole=True)
        else:
            shown = {"page": "gate", "page-debate": "topic"}
            places = {f"{TARGET}/{name}-{{scheme}}.png": f"/sessions/{begun[of]}" for name, of in shown.items()}
            take_pictures(browser, server, places, (1280,))
        browser.close()


if __name__ == "__main__":
    main()
