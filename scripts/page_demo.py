"""A server with scripted models, and sessions worth looking at: for the pictures and the browser tests."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page_sessions import DEBATED, REVIEW, REVIEW_BODY, SOLVE, SOLVE_BODY, TOPIC_BODY, VET, VET_BODY, always
from terminal_svg import APP, FOUND, PATCH, TESTS

TASK = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([7]) -> 7, largest([4]) -> 4, largest([9]) -> 9"
)
LAST = "def largest(numbers):\n    return numbers[-1] if numbers else None\n"
RIGHT = "def largest(numbers):\n    return max(numbers, default=None)\n"
PARTS = ("correctness", "coverage", "security", "performance", "maintainability")


def draft(approach: str, text: str) -> str:
    return f"APPROACH: {approach}\n\nCODE:\nFILE: solution.py\n```python\n{text}```\n"


SCORES = [{"why": "read twice", "candidate": "A", **dict.fromkeys(PARTS, 0.9)}]
POINT = {"point": "It takes the last number for the largest.", "evidence": "numbers[-1]", "candidate": "B"}
DEBATE = [
    always({"questions": [{"question": "What of an empty list?"}]}, contains="Before anybody", round=1),
    always({"questions": []}, contains="Before anybody"),
    always({"answers": [{"quote": "NONE", "answer": "None."}]}, contains="Answer these"),
    always(draft("the built-in, with a default", RIGHT), contains="Solve this task", seat="proposer"),
    always(draft("the last one", LAST), contains="Solve this task", seat="critic"),
    always(draft("the built-in, with a default", RIGHT), contains="Solve this task"),
    always(draft("the built-in, with a default", RIGHT), contains="Make one better"),
    always("TESTS:\n- largest([3, 1]) == 3\n- largest([-2, -5]) == -2", contains="Write tests for"),
    always({"answers": {"1": "3", "2": "-2"}}, contains="What must these"),
    always({"points": [{**POINT, "stance": "refutes"}], "tests": ["largest([3, 1]) == 3"]}, contains="Critics look"),
    always({"scores": SCORES}, contains="Score each"),
    always({"reasons": "It passes every test.", "ranking": ["A", "B"], "confidence": 0.9}, contains="Rank the"),
    always({}, contains="An attempt at"),
]
JUDGES = {
    "risk": ("B", "Sync conflicts lose data. **Online only** cannot."),
    "value": ("A", "Inspectors work in basements; without offline work they go back to paper."),
    "effort": ("C", "Drafts that are sent later are a tenth of the work:\n\n- no merge\n- no conflict screen"),
}
DECIDE = [
    always(
        {
            "challenges": {other: f"{other} overlooks the basement" for other in JUDGES if other != seat},
            "reasons": why, "convinced_by": "NONE", "option": option, "confidence": "HIGH",
        },
        seat=seat,
    )
    for seat, (option, why) in JUDGES.items()
]  # fmt: skip
HARDEN = [
    {"seat": "red", "round": 1, "reply": {"vulnerabilities": [FOUND]}, "times": 1000},
    always(PATCH, seat="blue"),
    always({"vulnerabilities": []}, seat="red"),
]
REPLIES = [*HARDEN, *DECIDE, *SOLVE, *REVIEW, *DEBATED, *DEBATE, *VET]
HARDEN_BODY = {"protocol": "harden", "input": {"files": {"app.py": APP}, "tests": {"test_app.py": TESTS}}}
GATED_BODY = {**HARDEN_BODY, "gates": {"enabled": True}}
OPTIONS = [
    {"id": "A", "label": "Full offline", "description": "with sync"},
    {"id": "B", "label": "Online only", "description": "needs a signal"},
    {"id": "C", "label": "Drafts", "description": "sent later"},
]
QUESTION = {"id": "SQ-1", "text": "Do we need offline work in v1?", "options": OPTIONS}
DECIDE_BODY = {"protocol": "decide", "input": {"questions": [QUESTION], "force_panel": True}}
DEBATE_BODY = {"protocol": "debate", "input": {"task": TASK}, "rules": {"planning": "off"}}

CLARIFIED_BODY = {**DEBATE_BODY, "rules": {"planning": "off", "clarify": "always"}, "gates": {"answers": True}}
SHOWN: dict[str, Mapping[str, Any]] = {
    "harden": HARDEN_BODY, "gate": GATED_BODY, "contested": DECIDE_BODY, "debate": DEBATE_BODY,
    "clarification": CLARIFIED_BODY, "solve": SOLVE_BODY, "topic": TOPIC_BODY, "review": REVIEW_BODY, "vet": VET_BODY,
}  # fmt: skip


def list_views(begun: Mapping[str, str]) -> dict[str, str]:
    """Every view of the page by name, with its path. `begun`: name in SHOWN -> id of its session."""
    forms = {f"start-{name}": f"/start/{name}" for name in ("debate", "decide", "harden", "review", "solve", "vet")}
    return {
        "list": "", "nothing-found": "?text=nothing+like+it", "start": "/start", **forms,
        **{name: f"/sessions/{session}" for name, session in begun.items()},
        "audit": f"/sessions/{begun['harden']}/audit", "login": "/login", "error": "/sessions/none",
        "compare": f"/compare?one={begun['solve']}&two={begun['debate']}",
    }  # fmt: skip


@dataclass
class DemoServer:
    """`moot serve` in a process of its own, on a folder of its own."""

    folder: Path
    port: int = 0
    token: str = ""

    def __post_init__(self) -> None:
        (self.folder / "replies.yaml").write_text(json.dumps(REPLIES))
        self._process: subprocess.Popen[str] | None = None

    @property
    def place(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def env(self) -> dict[str, str]:
        own = {"MOOT_STORE": str(self.folder / "moot.db"), "MOOT_MODEL": "script:replies.yaml"}
        return {**os.environ, **own, "XDG_DATA_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}

    def start(self) -> None:
        """On the same port again, after the first time."""
        command = [sys.executable, "-m", "moot", "serve", "--port", str(self.port), "--quiet"]
        self._process = subprocess.Popen(command, cwd=self.folder, env=self.env(), stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found, line
        self.port, self.token = int(found[1]), found[2]

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.communicate(timeout=60)
            self._process = None

    def call(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.place + path, data, headers), timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def begin(self, body: Mapping[str, Any]) -> str:
        return str(self.call("/v1/debates", body)["id"])

    def begin_all(self) -> dict[str, str]:
        """Sessions of every kind, as far as they go by themselves."""
        begun = {name: self.begin(body) for name, body in SHOWN.items()}
        while any(self.call(f"/v1/debates/{each}")["status"] in ("pending", "running") for each in begun.values()):
            time.sleep(0.1)
        for name, session in begun.items():  # a script that ran dry would be shown as if it belonged there
            problem = self.call(f"/v1/debates/{session}")["problem"]
            if problem:
                raise RuntimeError(f"the session {name!r} stopped: {problem}")
        return begun


@contextmanager
def serve_demo(folder: Path) -> Iterator[DemoServer]:
    server = DemoServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
