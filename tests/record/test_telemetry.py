"""Sessions as OpenTelemetry spans: one for each session, phase and step, with no words of anybody unless asked for."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import BAD, GOOD, NOTHING, SQLI, blue, make_ports
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from moot.core.errors import ModelError, UsageError
from moot.core.events import Exchanged
from moot.core.types import Limits
from moot.edge.store import SqlStore
from moot.edge.telemetry import Telemetry, is_wanted
from moot.protocols.harden.script import HardenInput, HardenRules
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.surfaces.session.host import Host
from moot.surfaces.session.settings import Settings
from moot.testing import ScriptedModel, one_file

SCRIPT: dict[str, list[Any]] = {"red": [SQLI, NOTHING], "blue": [blue(GOOD)]}


def plan() -> SessionPlan:
    return SessionPlan(
        protocol="harden", topic="secret topic", input=HardenInput(code=one_file(BAD)).model_dump(mode="json"),
        rules=HardenRules().model_dump(mode="json"), limits=Limits(retries=0),
        seats={"red": ("script:fake",), "blue": ("script:fake",)},
    )  # fmt: skip


def traced(
    script: dict[str, list[Any]], place: str, *, content: bool = False, resume: str = ""
) -> tuple[str, list[ReadableSpan]]:
    """A session on a scripted model, and its spans."""
    exporter = InMemorySpanExporter()
    telemetry = Telemetry(content=content, exporter=exporter)
    spans = telemetry.session()
    own = make_ports()
    told = SessionPorts(scanner=own.scanner, clock=own.clock, listen=spans)

    async def run() -> str:
        store = SqlStore(place)
        model = ScriptedModel(script)
        runner = Runner(told, lambda name: model, store)
        try:
            result = await (runner.resume(resume) if resume else runner.start(plan()))
            return result.session_id
        finally:
            spans.close()
            await store.aclose()

    session = asyncio.run(run())
    telemetry.close()
    return session, list(exporter.get_finished_spans())


def named(spans: list[ReadableSpan], begins: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name.startswith(begins)]


def test_a_session_is_a_tree_of_phases_and_steps(tmp_path: Path) -> None:
    session, spans = traced(SCRIPT, str(tmp_path / "s.db"))
    (root,) = named(spans, "invoke_workflow")
    assert root.name == "invoke_workflow harden" and root.parent is None
    assert dict(root.attributes or {}) == {
        "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "harden", "moot.resumed": False,
        "gen_ai.conversation.id": session, "moot.status": "completed",
    }  # fmt: skip
    phases = named(spans, "phase ")
    assert [span.name for span in phases] == ["phase attack", "phase defend", "phase attack"]
    assert all(span.parent and root.context and span.parent.span_id == root.context.span_id for span in phases)
    chats = named(spans, "chat ")
    assert [(s.attributes or {})["moot.seat"] for s in chats] == ["red", "blue", "red"]
    (_, second, _), (_, defense, _) = chats, phases
    assert second.parent and defense.context and second.parent.span_id == defense.context.span_id
    assert {span.context.trace_id for span in spans if span.context} == {root.context.trace_id if root.context else 0}
    assert "step scan" in [span.name for span in spans] and "step snapshot" in [span.name for span in spans]
    assert all(span.start_time and span.end_time and span.start_time <= span.end_time for span in spans)


def test_a_call_has_the_attributes_of_the_conventions_and_no_words(tmp_path: Path) -> None:
    session, spans = traced(SCRIPT, str(tmp_path / "s.db"))
    first = named(spans, "chat ")[0]
    assert first.kind == SpanKind.CLIENT and first.name == "chat fake"
    told = dict(first.attributes or {})
    assert told.pop("moot.step") and told == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "script", "gen_ai.request.model": "fake",
        "gen_ai.request.max_tokens": Limits().reply_tokens, "gen_ai.response.model": "script:fake",
        "gen_ai.response.finish_reasons": ("stop",), "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5,
        "gen_ai.conversation.id": session, "moot.seat": "red", "moot.phase": "attack", "moot.round": 1,
    }  # fmt: skip
    everything = "".join(span.to_json() for span in spans)
    for words in ("SELECT", "secret topic", "pasted into the query"):
        assert words not in everything


def test_with_content_the_words_are_there(tmp_path: Path) -> None:
    _, spans = traced(SCRIPT, str(tmp_path / "s.db"), content=True)
    told = dict(named(spans, "chat ")[0].attributes or {})
    asked = json.loads(str(told["gen_ai.input.messages"]))
    assert asked[0]["role"] == "user" and "SELECT" in asked[0]["parts"][0]["content"]
    answered = json.loads(str(told["gen_ai.output.messages"]))
    assert answered[0]["parts"][0]["content"] == SQLI and answered[0]["finish_reason"] == "stop"
    assert json.loads(str(told["gen_ai.system_instructions"]))[0]["content"]


def test_a_failed_call_is_an_error_and_what_is_replayed_is_no_span(tmp_path: Path) -> None:
    failing: dict[str, list[Any]] = {"red": [SQLI], "blue": [ModelError("no key", kind="auth")]}
    session, spans = traced(failing, str(tmp_path / "s.db"))
    failed = [span for span in named(spans, "chat ") if span.status.status_code == StatusCode.ERROR]
    assert next(dict(span.attributes or {})["error.type"] for span in failed) == "auth"
    _, again = traced(SCRIPT, str(tmp_path / "s.db"), resume=session)
    assert [dict(span.attributes or {})["moot.seat"] for span in named(again, "chat ")] == ["blue", "red"]
    (root,) = named(again, "invoke_workflow")
    assert dict(root.attributes or {})["moot.resumed"] is True
    assert len(named(again, "step scan")) < len(named(traced(SCRIPT, str(tmp_path / "t.db"))[1], "step scan"))


def test_sessions_side_by_side_in_one_process_are_traces_of_their_own(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()

    async def run() -> list[str]:
        store = SqlStore(str(tmp_path / "s.db"))
        host = Host(Settings.load({}), store, open_model=lambda name: ScriptedModel(SCRIPT))
        host.telemetry = Telemetry(exporter=exporter)
        runner = Runner(make_ports(), lambda name: ScriptedModel(SCRIPT), store)
        records = [await runner.enroll(plan()) for _ in range(3)]
        ends = await asyncio.gather(*map(host.carry_on, records))
        await host.aclose()
        await store.aclose()
        assert ends == ["ended"] * 3
        return [record.id for record in records]

    sessions = asyncio.run(run())
    traces: dict[int, set[object]] = {}
    for span in exporter.get_finished_spans():
        assert span.context and span.attributes
        traces.setdefault(span.context.trace_id, set()).add(span.attributes["gen_ai.conversation.id"])
    assert sorted(map(tuple, traces.values())) == sorted((session,) for session in sessions)


def test_the_words_of_a_call_do_not_leave_with_its_event() -> None:
    told = Exchanged(seq=1, part=1, seat="red", phase="p", round=1, provider="a", model="b", prompt="P", text="T")
    assert "P" not in json.loads(told.model_dump_json()).values() and not {"prompt", "text"} & told.model_dump().keys()
    assert "'P'" not in repr(told)


class Receiver(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, ExportTraceServiceRequest]] = []


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        request = ExportTraceServiceRequest()
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            data = gzip.decompress(data)
        request.ParseFromString(data)
        self.server.got.append((self.path, request))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments: object) -> None: ...


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def scripted(tmp_path: Path) -> list[str]:
    (tmp_path / "app.py").write_text(BAD)
    replies = [
        {"seat": "red", "reply": SQLI, "round": 1},
        {"seat": "blue", "reply": blue(GOOD), "round": 1},
        {"seat": "red", "reply": NOTHING, "round": 2},
    ]
    (tmp_path / "s.yaml").write_text(json.dumps(replies))
    return ["harden", "app.py", "-m", "script:s.yaml", "-q", "--store", "s.db"]


def test_spans_arrive_over_http(
    cli: Cli, receiver: Receiver, scripted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{receiver.server_port}")
    assert cli(*scripted).code == 0
    assert {path for path, _ in receiver.got} == {"/v1/traces"}
    scopes = [scope for _, got in receiver.got for each in got.resource_spans for scope in each.scope_spans]
    names = [span.name for scope in scopes for span in scope.spans]
    assert "invoke_workflow harden" in names and "chat s.yaml" in names
    resource = {a.key: a.value.string_value for a in receiver.got[0][1].resource_spans[0].resource.attributes}
    assert resource["service.name"] == "moot"


def test_it_can_be_switched_off_where_the_environment_asks_for_it(
    cli: Cli, receiver: Receiver, scripted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{receiver.server_port}")
    monkeypatch.setenv("MOOT_TELEMETRY_ENABLED", "false")
    assert cli(*scripted).code == 0 and receiver.got == []


def test_off_it_costs_nothing(tmp_path: Path, scripted: list[str]) -> None:
    code = (
        "import sys; from moot.__main__ import run; "
        f"ended = run({scripted!r}, debug=False); "
        "print(ended, [m for m in sys.modules if m.startswith('opentelemetry')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.strip().splitlines()[-1] == "0 []"


def test_nobody_at_the_other_end_harms_no_session(
    cli: Cli, scripted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setattr("moot.edge.telemetry.PATIENCE", 1)
    ran = cli(*scripted)
    assert ran.code == 0 and ran.out.startswith("hardened")


@pytest.mark.parametrize(
    ("enabled", "said", "env", "expected"),
    [
        (False, False, {}, False),
        (False, False, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, True),
        (False, True, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, False),
        (True, True, {}, True),
    ],
)
def test_when_it_is_on(enabled: bool, said: bool, env: dict[str, str], expected: bool) -> None:
    assert is_wanted(enabled, said, env) is expected


def test_a_missing_package_is_an_error_only_for_whoever_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.edge.telemetry.find_spec", lambda name: None)
    assert is_wanted(False, False, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}) is False
    with pytest.raises(UsageError, match="otel"):
        is_wanted(True, True, {})
