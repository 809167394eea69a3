"""A language server over standard input and output, for one question.

Our own instead of pygls: three requests of one client, and every answer is bounded and untrusted.
"""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from pydantic import JsonValue

from moot.edge.sandbox.process import kill_group, search_path
from moot.edge.tools.lsp.wire import Message, ServerBroken, frame_message, read_message

PATIENCE = 20.0
"""Seconds for one answer."""
SETTLING = 1.0
"""Seconds in which a full list of diagnostics may follow a first, empty one."""
FAREWELL = 2.0
CAPABILITIES: JsonValue = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "synchronization": {"dynamicRegistration": False},
        "publishDiagnostics": {"relatedInformation": False},
        "definition": {"linkSupport": True},
        "references": {},
    },
}


class LspClient:
    def __init__(self, process: asyncio.subprocess.Process, said: IO[bytes], patience: float) -> None:
        self._process = process
        self._said = said
        self._patience = patience
        self._waiting: dict[int, asyncio.Future[JsonValue]] = {}
        self._published: asyncio.Queue[tuple[str, list[JsonValue]]] = asyncio.Queue()
        self._broken: ServerBroken | None = None
        self._number = 0
        self._reading = asyncio.ensure_future(self._read())

    async def request(self, method: str, params: JsonValue, patience: float | None = None) -> JsonValue:
        """The server's answer; `ServerBroken` if there is none."""
        self._check()
        self._number += 1
        answer: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        await self._send({"id": self._number, "method": method, "params": params})
        return await self._patiently(answer, method, patience or self._patience)

    async def notify(self, method: str, params: JsonValue) -> None:
        await self._send({"method": method, "params": params})

    async def diagnostics(self, uri: str) -> list[JsonValue]:
        """The server's diagnostics of a file. Silence does not mean success; an empty list may be preliminary."""
        found: list[JsonValue] | None = None
        while not found:
            try:
                async with asyncio.timeout(self._patience if found is None else SETTLING):
                    about, listed = await self._published.get()
            except TimeoutError:
                break
            self._check()
            found = listed if about == uri else found
        if found is None:
            raise ServerBroken(f"the language server said nothing of the file within {self._patience:g} s")
        return found

    async def close(self) -> None:
        """Orderly if the server still answers; then by force, with its children."""
        with contextlib.suppress(ServerBroken, OSError):
            await self.request("shutdown", None, FAREWELL)
            await self.notify("exit", None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL):
                await self._process.wait()
        with contextlib.suppress(PermissionError):
            kill_group(self._process.pid)
        await self._process.wait()
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading

    async def _patiently(self, answer: "asyncio.Future[JsonValue]", what: str, patience: float) -> JsonValue:
        try:
            async with asyncio.timeout(patience):
                return await answer
        except TimeoutError:
            raise ServerBroken(f"the language server gave no answer to {what} within {patience:g} s") from None

    async def _send(self, message: Message) -> None:
        self._check()
        assert self._process.stdin is not None
        self._process.stdin.write(frame_message(message))
        with contextlib.suppress(ConnectionError):  # the reader reports how it ended
            await self._process.stdin.drain()

    def _check(self) -> None:
        if self._broken is not None:
            raise self._broken

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while (message := await read_message(self._process.stdout)) is not None:
                await self._take(message)
            self._break(ServerBroken(f"the language server has ended{self._last_words()}"))
        except ServerBroken as error:
            self._break(error)

    def _break(self, error: ServerBroken) -> None:
        self._broken = error
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)
        self._published.put_nowait(("", []))  # wakes a waiter for diagnostics

    async def _take(self, message: Message) -> None:
        number, method = message.get("id"), message.get("method")
        params = message.get("params")
        if isinstance(method, str) and number is not None:
            await self._send({"id": number, "result": _reply(method, params)})
        elif method == "textDocument/publishDiagnostics" and isinstance(params, dict):
            listed = params.get("diagnostics")
            self._published.put_nowait((str(params.get("uri")), listed if isinstance(listed, list) else []))
        elif isinstance(number, int) and (answer := self._waiting.pop(number, None)) and not answer.done():
            if (error := message.get("error")) is not None:
                said = error.get("message") if isinstance(error, dict) else error
                answer.set_exception(ServerBroken(f"the language server refused: {str(said)[:300]}"))
            else:
                answer.set_result(message.get("result"))

    def _last_words(self) -> str:
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, self._said.tell() - 2000))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""


def _reply(method: str, params: JsonValue) -> JsonValue:
    """Answers a server's questions to its editor: no settings, and yes to everything else."""
    items = params.get("items") if isinstance(params, dict) else None
    return [None] * len(items) if method == "workspace/configuration" and isinstance(items, list) else None


@asynccontextmanager
async def open_server(command: Sequence[str], root: Path, patience: float = PATIENCE) -> AsyncIterator[LspClient]:
    """A server that sees one folder, and nothing of the user's environment."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory(prefix="moot-") as home:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
                cwd=root,
                env={**search_path(), "HOME": home, "LANG": "C.UTF-8", "TMPDIR": home},
                start_new_session=True,
            )
        except OSError as error:
            raise ServerBroken(f"the language server {command[0]!r} cannot be started: {error.strerror}") from None
        client = LspClient(process, said, patience)
        try:
            uri = root.as_uri()
            folders: JsonValue = [{"uri": uri, "name": root.name}]
            begin: JsonValue = {
                "processId": os.getpid(), "rootUri": uri, "workspaceFolders": folders, "capabilities": CAPABILITIES
            }  # fmt: skip
            await client.request("initialize", begin)
            await client.notify("initialized", {})
            yield client
        finally:
            await client.close()
