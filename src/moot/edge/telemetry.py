"""Sessions as OpenTelemetry spans: one for the session, each phase and each step. Built from a session's events;
OpenTelemetry is imported with the first of them."""

import json
import os
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from moot import __version__
from moot.core.errors import UsageError
from moot.core.events import Asked, Degraded, Event, Exchanged, Retried, SessionEnded, SessionStarted, StepDone

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, SpanKind, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PATIENCE = 5
"""Seconds that the end of a session may wait for the exporter."""
MILLION = 1_000_000
Attributes = dict[str, Any]


def is_wanted(enabled: bool, said: bool, env: Mapping[str, str]) -> bool:
    """Whether to make spans: as `said` in the settings, else if OpenTelemetry's own variables name an endpoint. It is
    an error if the settings ask for what is not available; for the environment it is not."""
    asked = enabled if said else any(env.get(name, "").strip() for name in ENDPOINTS)
    there = asked and find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None
    if asked and said and not there:
        raise UsageError("telemetry.enabled needs its packages; pip install 'moot[otel]'")
    return there


class Telemetry:
    """The span exporter of one process."""

    def __init__(self, *, content: bool = False, exporter: "SpanExporter | None" = None) -> None:
        self.content = content
        """Whether prompts and replies are in the spans."""
        self._exporter = exporter
        self._provider: Any = None

    @property
    def tracer(self) -> "Tracer":
        if self._provider is None:
            self._provider = self._open_tracer()
        found: Tracer = self._provider.get_tracer("moot", __version__)
        return found

    def session(self) -> "Spans":
        return Spans(self)

    def close(self) -> None:
        """Send all finished spans, or give up after a while."""
        if self._provider is not None:
            self._provider.force_flush(PATIENCE * 1000)
            self._provider.shutdown()

    def _open_tracer(self) -> Any:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        own = {"service.version": __version__}
        if not os.environ.get("OTEL_SERVICE_NAME"):
            own["service.name"] = "moot"
        provider = TracerProvider(resource=Resource.create(own), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(self._exporter or _sender()))
        return provider


def _sender() -> "SpanExporter":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(timeout=PATIENCE)


class Spans:
    """The listener of one session."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._session: Span | None = None
        self._phase: Span | None = None
        self._phase_name = ""
        self._id = ""

    def __call__(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self._begin(event)
            case Asked() if not event.replayed:
                self._enter(event.phase)
            case Exchanged():
                self._enter(event.phase)
                self._exchange(event)
            case StepDone() if not event.replayed:
                self._step(event)
            case Retried():
                self._note("moot.retried", {"moot.seat": event.seat, "moot.wait": event.wait})
            case Degraded() if self._telemetry.content:  # it may quote a reply
                self._note("moot.degraded", {"moot.note": event.note})
            case SessionEnded():
                self._end(event.status)
            case _:
                pass

    def close(self) -> None:
        """A session that parks or fails reports no end."""
        self._end("interrupted")

    def _begin(self, event: SessionStarted) -> None:
        self._id = event.session_id
        tags: Attributes = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": event.protocol,
            "moot.resumed": event.resumed,
        }
        if self._telemetry.content:
            tags["moot.topic"] = event.topic
        self._session = self._start(f"invoke_workflow {event.protocol}", tags, None)

    def _enter(self, phase: str) -> None:
        if self._phase is not None and phase == self._phase_name:
            return
        if self._phase is not None:
            self._phase.end()
        self._phase, self._phase_name = self._start(f"phase {phase}", {"moot.phase": phase}, self._session), phase

    def _exchange(self, event: Exchanged) -> None:
        tags: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": event.provider,
            "gen_ai.request.model": event.model,
            "moot.seat": event.seat,
            "moot.phase": event.phase,
            "moot.round": event.round,
            "moot.step": f"{event.seq}.{event.part}",
        }
        if event.max_tokens is not None:
            tags["gen_ai.request.max_tokens"] = event.max_tokens
        if event.temperature is not None:
            tags["gen_ai.request.temperature"] = event.temperature
        if event.error:
            tags["error.type"] = event.error
        else:
            tags |= {
                "gen_ai.response.model": event.answered_by,
                "gen_ai.response.finish_reasons": [event.finish],
                "gen_ai.usage.input_tokens": event.input_tokens,
                "gen_ai.usage.output_tokens": event.output_tokens,
            }
        if self._telemetry.content:
            tags |= _content(event)
        self._record_span(f"chat {event.model}", tags, event.milliseconds, failed=bool(event.error), client=True)

    def _step(self, event: StepDone) -> None:
        tags: Attributes = {"moot.step": str(event.seq), "moot.step.name": event.name}
        kind, _, tool = event.name.partition(" ")
        if kind == "tool":
            tags |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool or "unknown"}
            return self._record_span(f"execute_tool {tool or 'unknown'}", tags, event.milliseconds)
        self._record_span(f"step {event.name}", tags, event.milliseconds)

    def _record_span(
        self, name: str, told: Attributes, milliseconds: int, *, failed: bool = False, client: bool = False
    ) -> None:
        """A step is reported when it is over."""
        from opentelemetry.trace import SpanKind, Status, StatusCode

        now = time.time_ns()
        kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
        span = self._start(name, told, self._phase or self._session, now - milliseconds * MILLION, kind)
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(now)

    def _start(
        self, name: str, told: Attributes, parent: "Span | None", at: int | None = None, kind: "SpanKind | None" = None
    ) -> "Span":
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, set_span_in_context

        context = set_span_in_context(parent, Context()) if parent is not None else None
        named = {**told, "gen_ai.conversation.id": self._id}
        return self._telemetry.tracer.start_span(
            name, context, kind=kind or SpanKind.INTERNAL, attributes=named, start_time=at
        )

    def _note(self, name: str, told: Attributes) -> None:
        if (span := self._phase or self._session) is not None:
            span.add_event(name, told)

    def _end(self, status: str) -> None:
        if self._phase is not None:
            self._phase.end()
        if self._session is not None:
            self._session.set_attribute("moot.status", status)
            self._session.end()
        self._phase = self._session = None


def _content(event: Exchanged) -> Attributes:
    def parts(role: str, text: str, **more: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more}])

    return {
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": event.system}]),
        "gen_ai.input.messages": parts("user", event.prompt),
        "gen_ai.output.messages": parts("assistant", event.text, finish_reason=event.finish),
    }
