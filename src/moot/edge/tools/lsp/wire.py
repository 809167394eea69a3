"""Messages of the Language Server Protocol: JSON in frames with a Content-Length."""

import asyncio
import json

from pydantic import JsonValue

from moot.edge.tools.tool import ToolFailed

LONGEST_HEADER = 200
MOST_HEADERS = 10
MAX_BODY = 20_000_000
Message = dict[str, JsonValue]


class ServerBroken(ToolFailed):
    """A language server that exited, was silent or does not speak the protocol."""


def frame_message(message: Message) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


async def read_message(stream: asyncio.StreamReader) -> Message | None:
    """The next message; None if the server closed its end between two messages."""
    length = await _length(stream)
    if length is None:
        return None
    try:
        message = json.loads(await stream.readexactly(length))
    except asyncio.IncompleteReadError:
        raise ServerBroken("the language server ended in the middle of a message") from None
    except (ValueError, RecursionError):
        raise ServerBroken("the language server sent a message that is not JSON") from None
    if not isinstance(message, dict):
        raise ServerBroken("the language server sent a message that is not an object")
    return message


async def _length(stream: asyncio.StreamReader) -> int | None:
    length = -1
    for number in range(MOST_HEADERS):
        try:
            line = await stream.readline()
        except ValueError:
            raise ServerBroken("the language server does not speak the protocol") from None
        if not line and not number:
            return None
        name, colon, value = line.partition(b":")
        if line.strip() and (not colon or len(line) > LONGEST_HEADER or not line.endswith(b"\n")):
            raise ServerBroken(f"the language server does not speak the protocol: {line[:60]!r}")
        if name.strip().lower() == b"content-length":
            length = int(value) if value.strip().isdigit() else -1
        if not line.strip():
            break
    if not 0 <= length <= MAX_BODY:
        raise ServerBroken("the language server sent a message without a usable length")
    return length
