"""Write docs/img/page-light.png and page-dark.png: a session of the page, played by scripted models.

With `--all FOLDER` every view instead, at 1280 and 400 pixels, to be looked at.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from page_demo import DEBATE_BODY, DECIDE_BODY, GATED_BODY, HARDEN_BODY, DemoServer, serve_demo
from playwright.sync_api import Browser, sync_playwright

TARGET = Path(__file__).resolve().parents[1] / "docs" / "img"
SHOWN = {"harden": HARDEN_BODY, "gate": GATED_BODY, "decide": DECIDE_BODY, "debate": DEBATE_BODY}


def begin_all(server: DemoServer) -> dict[str, str]:
    """Sessions that have come as far as they go by themselves."""
    begun = {name: server.begin(body) for name, body in SHOWN.items()}
    while any(server.call(f"/v1/debates/{each}")["status"] in ("pending", "running") for each in begun.values()):
        time.sleep(0.1)
    return begun


def take_pictures(browser: Browser, server: DemoServer, views: Mapping[str, str], widths: tuple[int, ...]) -> None:
    """`views`: file, with {width} and {scheme} in it -> path of the page."""
    for scheme in ("light", "dark"):
        for width in widths:
            own = browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme)  # type: ignore[arg-type]
            page = own.new_page()
            page.goto(f"{server.place}/?token={server.token}")
            for file, path in views.items():
                page.goto(f"{server.place}/ui{path}")
                page.evaluate("document.fonts.ready")
                page.screenshot(path=file.format(width=width, scheme=scheme))
            own.close()


def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("there is no Chromium; run scripts/need chromium")
    with tempfile.TemporaryDirectory() as name, serve_demo(Path(name)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        begun = begin_all(server)
        if sys.argv[1:2] == ["--all"]:
            views = {name: f"/sessions/{session}" for name, session in begun.items()}
            views |= {"list": "", "start": "/start/decide", "audit": f"/sessions/{begun['harden']}/audit"}
            views |= {"compare": f"/compare?one={begun['harden']}&two={begun['gate']}"}
            places = {f"{sys.argv[2]}/{name}-{{width}}-{{scheme}}.png": path for name, path in views.items()}
            take_pictures(browser, server, places, (1280, 400))
        else:
            take_pictures(browser, server, {f"{TARGET}/page-{{scheme}}.png": f"/sessions/{begun['gate']}"}, (1280,))
        browser.close()


if __name__ == "__main__":
    main()
