"""What never ends, or is far too much, is cut off before it fills the memory or the time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import httpx2
import pytest

from moot.core.types import Code, SourceFile
from moot.edge.models import http
from moot.evidence.failures import fingerprint
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.requirements import requirements_in
from moot.routing.router import route
from moot.scan import StaticTeam
from moot.text.controls import clean
from moot.text.markdown import page
from moot.text.secrets import Vault


class EndlessBody(httpx2.AsyncByteStream):
    def __init__(self) -> None:
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.sent < 10_000_000:
            self.sent += 1000
            yield b"x" * 1000


def test_an_endless_reply_of_a_provider_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY", 50_000)
    body = EndlessBody()

    async def ask() -> None:
        transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=body))
        async with http.CappedClient(transport=transport) as client:
            await client.get("https://provider.example/v1")

    with pytest.raises(http.OversizedBody):
        asyncio.run(ask())
    assert body.sent <= 60_000


UNITS = (
    *(
        " ",
        "\t",
        "\n",
        "a",
        "a.",
        "a_",
        "a-",
        "a@b.",
        "f(",
        "f(1) returns ",
        "for a=",
        "given a=1 ",
        "the output ",
        "1e",
    ),
    *("(", "[", "`", "**a", "<a ", "'", '"', "\\", "# ", "sk-", "eyJa.", "%41", "/a", "$(", "<<A\n", "x && ", "é"),
)
READERS: dict[str, Callable[[str], object]] = {
    "examples of a task": lambda text: examples_in(text, "f"),
    "examples in Go": lambda text: examples_in(text, "f", language="go"),
    "requirements of a task": requirements_in,
    "stakes of a command": route,
    "identity of an error": fingerprint,
    "masks": Vault({"API_KEY": "hunter2-hunter2-hunter2"}).hide,
    "parts of a document": page,
    "what a terminal shows": clean,
}


@pytest.mark.parametrize("reader", READERS)
def test_no_text_decides_how_long_it_is_read(reader: str) -> None:
    """What nobody closes, separates or ends: 20 kB of it took minutes where a pattern tried every place anew."""
    began = time.process_time()
    for unit in UNITS:
        once = unit * (20_000 // len(unit))
        for text in (once, "\n".join(once[:4_900] for _ in range(4)), "\n".join(once[:490] for _ in range(20))):
            READERS[reader](text)
            assert time.process_time() - began < 12, repr(unit)


def test_a_pattern_in_scanned_code_is_not_read_in_every_way() -> None:
    """Our own scan found this in ours: 32 backslashes took minutes, each one more twice as long."""
    check = "    if re.match(r'/[^" + "\\" * 32 + "', url):\n        return redirect(url)\n"
    text = f"import re\nfrom flask import redirect, request\ndef go():\n    url = request.args['u']\n{check}"
    began = time.process_time()
    StaticTeam().scan(Code(files=(SourceFile(path="go.py", language="python", text=text),)))
    assert time.process_time() - began < 10
