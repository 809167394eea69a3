"""Figures for Prometheus, written in its text form: what the server does, and what its sessions cost."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager

from moot.core.ports import Model
from moot.core.types import Call, Reply

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[tuple[str, str], ...]


class Histogram:
    """How often something took how long, by labels."""

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self._bounds = bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: Counter[Labels] = Counter()

    def observe(self, labels: Labels, value: float) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] += value  # type: ignore[assignment]

    def lines(self, name: str) -> Iterable[str]:
        for labels, counts in self._counts.items():
            total = 0
            for bound, count in zip((*map(str, self._bounds), "+Inf"), counts, strict=True):
                total += count
                yield f"{name}_bucket{written((*labels, ('le', bound)))} {total}"
            yield f"{name}_sum{written(labels)} {self._sums[labels]:.6f}"
            yield f"{name}_count{written(labels)} {total}"


class Metrics:
    def __init__(self) -> None:
        self.requests: Counter[Labels] = Counter()
        self.latency = Histogram()
        self.calls: Counter[Labels] = Counter()
        self.tokens: Counter[Labels] = Counter()
        self.call_seconds = Histogram()
        self.ends: Counter[Labels] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        if method not in ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "WS"):
            method = "other"
        where = (("method", method), ("route", route))
        self.requests[*where, ("status", str(status))] += 1
        if not route.endswith(("/events", "/ws")):  # those last as long as somebody watches
            self.latency.observe(where, seconds)

    def metered(self, open_model: Callable[[str], Model]) -> Callable[[str], Model]:
        return lambda name: Metered(open_model(name), self)

    def text(self, sessions: Mapping[tuple[str, str], int], running: int, watched: int) -> str:
        return session_figures(sessions) + "\n".join(
            (
                *_family("moot_sessions_running_here", "gauge", "Sessions that this process runs", {(): running}),
                *_family("moot_session_ends_total", "counter", "How sessions left this process", self.ends),
                *_family("moot_readers", "gauge", "Readers that follow a session", {(): watched}),
                *_family("moot_model_calls_total", "counter", "Calls of models, and how they ended", self.calls),
                *_family("moot_model_tokens_total", "counter", "Tokens of models", self.tokens),
                *_head("moot_model_call_seconds", "histogram", "Seconds a call took"),
                *self.call_seconds.lines("moot_model_call_seconds"),
                *_family("moot_http_requests_total", "counter", "Requests answered", self.requests),
                *_head("moot_http_request_seconds", "histogram", "Seconds a request took"),
                *self.latency.lines("moot_http_request_seconds"),
                "",
            )
        )


def session_figures(sessions: Mapping[tuple[str, str], int]) -> str:
    """How many sessions there are of each protocol and status."""
    counted: dict[Labels, int] = {(("protocol", p), ("status", s)): count for (p, s), count in sessions.items()}
    return "\n".join((*_family("moot_sessions", "gauge", "Sessions in the store", counted), ""))


class Metered(Model):
    """A model whose calls are counted: those that are really made, not those that a record answers."""

    def __init__(self, model: Model, metrics: Metrics) -> None:
        self._model = model
        self._metrics = metrics

    @property
    def name(self) -> str:
        return self._model.name

    def turn(self) -> AbstractAsyncContextManager[None]:
        return self._model.turn()

    async def reply(self, call: Call) -> Reply:
        began, model = time.perf_counter(), ("model", self.name)
        try:
            reply = await self._model.reply(call)
        except BaseException:
            self._metrics.calls[model, ("result", "failed")] += 1
            raise
        self._metrics.calls[model, ("result", "answered")] += 1
        self._metrics.call_seconds.observe((model,), time.perf_counter() - began)
        self._metrics.tokens[model, ("kind", "input")] += reply.usage.input_tokens
        self._metrics.tokens[model, ("kind", "output")] += reply.usage.output_tokens
        return reply

    def skip(self, call: Call) -> None:
        self._model.skip(call)

    async def aclose(self) -> None:
        await self._model.aclose()


def _head(name: str, kind: str, about: str) -> Iterable[str]:
    return (f"# HELP {name} {about}", f"# TYPE {name} {kind}")


def _family(name: str, kind: str, about: str, values: Mapping[Labels, int]) -> Iterable[str]:
    return (*_head(name, kind, about), *(f"{name}{written(labels)} {value}" for labels, value in values.items()))


def written(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = ((k, v.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for k, v in labels)
    return "{" + ",".join(f'{key}="{value}"' for key, value in escaped) + "}"
