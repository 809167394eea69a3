"""`moot ui` opens the page in the browser that the user named, signed in."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsers import CHROMIUM, open_chromium
from patience import wait_until
from playwright.sync_api import expect

RECORD = """
import pathlib, sys, urllib.request
place = sys.argv[1].partition("/ui/")[0]
with urllib.request.urlopen(place + "/healthz", timeout=60) as answer:
    pathlib.Path("opened.part").write_text(f"{sys.argv[1]} {answer.status}")
pathlib.Path("opened.part").rename("opened")
sys.stdin.read()
"""
"""A browser that notes its address, asks the server, and is open until it is closed."""


@contextmanager
def run_ui(folder: Path, env: Mapping[str, str], *flags: str) -> Iterator[subprocess.Popen[str]]:
    given = {name: value for name, value in os.environ.items() if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
    given |= {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "MOOT_STORE": str(folder / "s.db"), **env}
    command = [sys.executable, "-m", "moot", "ui", "--port", "0", *flags]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, env=given, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.fixture
def browser_command(tmp_path: Path) -> str:
    (tmp_path / "record.py").write_text(RECORD)
    return f"{shlex.join([sys.executable, str(tmp_path / 'record.py')])} %s"


def test_the_named_browser_is_given_a_link_that_signs_in(tmp_path: Path, browser_command: str) -> None:
    with run_ui(tmp_path, {"BROWSER": browser_command}) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        wait_until((tmp_path / "opened").exists, "the browser is answered while it is open")
        address, status = (tmp_path / "opened").read_text().split()
        assert line == f"opening your browser; if it does not show, open {address}\n" and status == "200"
        if CHROMIUM is None:
            pytest.skip("not run to its end: there is no Chromium; scripts/need chromium")
        with open_chromium() as browser:
            page = browser.new_page()
            page.goto(address)
            expect(page.get_by_role("heading", name="Sessions")).to_be_visible(timeout=60_000)
            assert page.url.endswith("/ui")


@pytest.mark.parametrize(("env", "flags"), [({}, ()), ({"BROWSER": "named"}, ("--no-browser",))])
def test_without_a_screen_or_on_request_only_the_link_is_printed(
    tmp_path: Path, browser_command: str, env: dict[str, str], flags: tuple[str, ...]
) -> None:
    named = {name: browser_command for name in env}
    with run_ui(tmp_path, named, *flags) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
    assert not (tmp_path / "opened").exists()
