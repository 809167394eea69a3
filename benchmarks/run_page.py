"""The page of a session of 2,000 turns: how soon it can be used, how it scrolls, and what 50 live viewers cost."""

import asyncio
import os
import shutil
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import sync_playwright
from pydantic import JsonValue

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import ROOT, keep
from moot.core.ports import StepRow
from moot.edge.store import SqlStore
from moot.runtime.runner import SessionPlan, new_record

sys.path.insert(0, str(ROOT / "scripts"))
from page_demo import DemoServer, serve_demo
from terminal_svg import PATCH

TURNS, VIEWERS, SECONDS, RATE = 2000, 50, 20, 5
FRAMES = """async () => {
  let longest = 0, last = performance.now();
  for (let n = 0; n < 120; n++) {
    scrollBy(0, document.documentElement.scrollHeight / 120);
    await new Promise(requestAnimationFrame);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  return longest;
}"""


def turn(number: int) -> StepRow:
    call: dict[str, JsonValue] = {
        "seat": ("red", "blue")[number % 2],
        "phase": "attack",
        "round": 1 + number // 100,
        "system": "s",
        "prompt": "p",
    }
    usage: JsonValue = {"input_tokens": 10, "output_tokens": 5, "usd": 0.0}
    reply: JsonValue = {"text": PATCH, "model": "script:replies.yaml", "usage": usage, "finish": "stop"}
    value: JsonValue = {"exchange": {"tries": [], "reply": reply, "milliseconds": 1}, "call": call}
    return StepRow(seq=number, part=1, name=f"ask {call['seat']}", digest="", value=value, elapsed=0.0)


async def seed(store: SqlStore) -> str:
    """A paused session: nobody carries it on, so its journal grows only as we write it."""
    record = new_record(SessionPlan(protocol="harden", topic="a long one", input={}, rules={}), datetime.now(UTC))
    await store.create(record.model_copy(update={"status": "paused"}))
    for first in range(1, TURNS, 200):
        await store.append(record.id, [turn(number) for number in range(first, first + 200)])
    return record.id


async def watch(server: DemoServer, store: SqlStore, session: str) -> float:
    """Processor seconds a second of the server, while turns come and everybody is told."""
    request = f"GET /ui/sessions/{session}/events?after={TURNS + 1} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    request += f"Authorization: Bearer {server.token}\r\n\r\n"
    viewers = [await asyncio.open_connection("127.0.0.1", server.port, limit=2**24) for _ in range(VIEWERS)]
    heard = [0] * VIEWERS

    async def listen(place: int) -> None:
        reader, writer = viewers[place]
        writer.write(request.encode())
        while line := await reader.readline():
            heard[place] += line.startswith(b"data: ")

    listening = [asyncio.create_task(listen(place)) for place in range(VIEWERS)]
    await asyncio.sleep(2)
    spent, began = processor(server.pid), time.monotonic()
    for number in range(SECONDS * RATE):
        await store.append(session, [turn(TURNS + 1 + number)])
        await asyncio.sleep(max(0.0, began + (number + 1) / RATE - time.monotonic()))
    await asyncio.sleep(2)
    used = (processor(server.pid) - spent) / (time.monotonic() - began)
    assert set(heard) == {SECONDS * RATE}, heard
    for task in listening:
        task.cancel()
    for _, writer in viewers:
        writer.close()
    return used


def processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def browse(server: DemoServer, session: str) -> list[str]:
    chromium = shutil.which("chromium")
    if chromium is None:
        return ["not run: there is no Chromium"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{server.place}/?token={server.token}")
        sizes = list[int]()
        page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
        began = time.monotonic()
        page.goto(f"{server.place}/ui/sessions/{session}", wait_until="commit")
        page.locator("article.turn").first.wait_for()
        first = time.monotonic() - began
        page.locator("article.turn").nth(TURNS - 1).wait_for(state="attached", timeout=120_000)
        every = time.monotonic() - began
        lines = [f"first turn shown after {first:.2f} s, all {TURNS:,} after {every:.1f} s"]
        lines += [
            f"first load {sum(sizes) / 1000:.0f} kB",
            f"longest frame while scrolling {page.evaluate(FRAMES):.0f} ms",
        ]
        browser.close()
    return lines


def main() -> int:
    with tempfile.TemporaryDirectory() as name, serve_demo(Path(name)) as server:
        store = SqlStore(str(server.folder / "moot.db"))
        session = asyncio.run(seed(store))
        ask = urllib.request.Request(
            f"{server.place}/ui/sessions/{session}", headers={"Authorization": f"Bearer {server.token}"}
        )
        began = time.monotonic()
        urllib.request.urlopen(ask).read()
        lines = [
            f"# A session of {TURNS:,} turns",
            "",
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start.",
        ]
        rendered = time.monotonic() - began
        lines += [f"the page rendered in {rendered:.2f} s", *browse(server, session)]
        used = asyncio.run(watch(server, store, session))
        lines += [f"{VIEWERS} live viewers, {RATE} turns a second: {used:.3f} of a core"]
    keep("page", "\n".join(lines))
    report_figures(
        "page",
        [
            BenchFigure(f"a session of {TURNS:,} turns rendered", rendered, "s"),
            BenchFigure(f"{VIEWERS} viewers, {RATE} turns a second", used, "cores"),
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
