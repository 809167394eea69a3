"""Answers clients while the server is still being imported, and reports errors in the protocol if it cannot be: clients
drop a server that exits without a message."""

import json
import os
import sys
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO

from moot import __version__

NAME = "moot"
TITLE = "Moot"
INSTRUCTIONS = (
    "Moot makes models argue about code and decisions and lets executed checks settle it. A session takes minutes and "
    "costs model calls. If your calls are cut off sooner, give wait=false and poll get_session. Only a person decides "
    "at a gate. Files are never written: apply the diff of a report yourself."
)
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
PREFIX = "io.modelcontextprotocol/"
OFFERS: dict[str, Any] = {
    "completions": {},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
INVALID = -32600


class Front:
    """Reads messages, answers those that need no session, and queues the rest for the server."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source, self._target = source, target
        self._lock = Lock()
        self.lines: SimpleQueue[bytes | None] = SimpleQueue()
        """None: the client disconnected."""
        self._answered: object = None
        """The id of the request answered here; the server's own answer to it is dropped."""

    def start(self) -> "Front":
        Thread(target=self._read, daemon=True).start()
        return self

    def _read(self) -> None:
        opening = True
        for line in self._source:
            message = parse_message(line)
            if opening and "method" in message and "id" in message:
                opening = False
                if (answer := answer_opening(message)) is not None:
                    self._answered = message["id"]
                    self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}))
            self.lines.put(line)
        self.lines.put(None)

    def write(self, text: str) -> None:
        with self._lock:
            self._target.write(text.rstrip("\n").encode("utf-8", "replace") + b"\n")
            self._target.flush()

    def relay(self, text: str) -> None:
        """Forwards the server's output, except its answer to the opening request."""
        if self._answered is not None:
            message = parse_message(text)
            if "method" not in message and message.get("id") == self._answered:
                self._answered = None
                return
        self.write(text)

    def serve_broken(self, reason: str) -> None:
        """Tells the client why there are no sessions, until it disconnects."""
        answered = self._answered
        while (line := self.lines.get()) is not None:
            message = parse_message(line)
            if "id" not in message or "method" not in message:
                continue
            if answered is not None and message["id"] == answered:
                answered = None
                continue
            self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer_broken(message, reason)}))


@cache
def claim_streams() -> Front:
    """Takes over standard input and output. Other code, such as a child process, then reads nothing and writes to
    stderr."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if os.isatty(source):
        sys.stderr.write("moot mcp speaks MCP on its standard streams; docs/mcp.md says how to add it to a client\n")
    return Front(os.fdopen(source, "rb"), os.fdopen(target, "wb")).start()


def parse_message(line: bytes | str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def answer_opening(message: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to an opening request of either era; None for all others."""
    params = message.get("params")
    if not isinstance(params, dict):
        return None
    about = {"name": NAME, "title": TITLE, "version": __version__}
    if message["method"] == "initialize":
        wanted = params.get("protocolVersion")
        if not (isinstance(wanted, str) and isinstance(params.get("capabilities"), dict) and params.get("clientInfo")):
            return None
        version = wanted if wanted in HANDSHAKES else HANDSHAKES[-1]
        said = {"protocolVersion": version, "capabilities": OFFERS, "serverInfo": about}
        return {**said, "instructions": INSTRUCTIONS}
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    known = meta.get(f"{PREFIX}protocolVersion") == MODERN and f"{PREFIX}clientCapabilities" in meta
    if message["method"] != "server/discover" or not known:
        return None
    return {
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": {**OFFERS, "extensions": {TASKS: {}}},
        "instructions": INSTRUCTIONS,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {f"{PREFIX}serverInfo": about},
    }


def answer_broken(message: dict[str, Any], reason: str) -> dict[str, Any]:
    """Offers one tool that says what is missing; everything else is an error with that text."""
    if (opening := answer_opening(message)) is not None:
        return {"result": opening}
    words = {"content": [{"type": "text", "text": reason}], "isError": True}
    tool = {"name": "moot_setup", "description": f"Moot cannot run: {reason}", "inputSchema": {"type": "object"}}
    listed = {"tools": [tool], "ttlMs": 0, "cacheScope": "private"}
    results: dict[str, Any] = {"ping": {}, "tools/list": listed, "tools/call": words}
    if message["method"] not in results:
        return {"error": {"code": INVALID, "message": reason}}
    return {"result": {"resultType": "complete", **results[message["method"]]}}
