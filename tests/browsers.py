"""The Chromium of the system, headless, for tests of the page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def open_chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # As root its own sandbox is not to be had; it only shows pages of ours.
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield made
        finally:
            made.close()
