"""The OpenAPI document is true: requests made from it find no error and no answer it does not speak of."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving_kit import GATED, HARDEN, STARTER, VET, serving

from moot.surfaces.server.app import build_app, documents

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance,
]  # fmt: skip
SETTINGS = settings(
    max_examples=15, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


class Running:
    """A server in a thread of its own, with sessions in every state."""

    def __init__(self, store: Path) -> None:
        self.ready, self.stop = threading.Event(), asyncio.Event()
        self.url, self.ids = "", list[str]()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve(store)))

    async def _serve(self, store: Path) -> None:
        self.loop = asyncio.get_running_loop()
        async with serving(store) as client:
            self.url = str(client.http.base_url)
            done, waiting = await client.begin(HARDEN), await client.begin(GATED)
            spent = await client.begin({**VET, "budget": {"max_calls": 0}})
            await client.until(done, "completed")
            await client.at_gate(waiting)
            await client.until(spent, "completed", "paused")
            self.ids = [done, waiting, spent]
            self.ready.set()
            await self.stop.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    server = Running(tmp_path_factory.mktemp("schema") / "s.db")
    server.thread.start()
    assert server.ready.wait(60)
    yield server
    server.loop.call_soon_threadsafe(server.stop.set)
    server.thread.join()


DOCUMENT: Any = schemathesis.openapi.from_dict(documents(build_app(None)))
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]


def test_all_routes_are_in_the_document() -> None:
    assert len(OPERATIONS) == 26


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: str(operation.label))
def test_every_answer_is_one_that_the_document_speaks_of(operation: Any, running: Running) -> None:
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    @SETTINGS
    def well_formed(case: Any) -> None:
        look(case, running)

    @given(case=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    @SETTINGS
    def malformed(case: Any) -> None:
        look(case, running)

    well_formed()
    if operation.body or operation.query or operation.headers or operation.path_parameters:
        malformed()


def look(case: Any, running: Running) -> None:
    """As it is, and once more about a session that is there."""
    known = running.ids[len(str(case.body)) % len(running.ids)]
    for session in (None, known) if "id" in case.path_parameters else (None,):
        if session is not None:
            if case.method == "DELETE":
                continue
            case.path_parameters["id"] = session
        if case.path.endswith("/events") and session is not None:
            continue  # it lasts as long as the session does; others test it
        case.validate_response(case.call(base_url=running.url, headers=STARTER), checks=CHECKS)
