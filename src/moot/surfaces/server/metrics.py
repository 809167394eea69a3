"""Prometheus metrics: requests, sessions, costs."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily

from moot.core.ports import Model
from moot.core.types import ModelCall, Reply

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "WS"})


class Families:
    """Metric families computed at scrape time."""

    def __init__(self, *families: Metric) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


class Metrics:
    """Uses its own registry: an embedding process may have another."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.ends = self._counter("moot_session_ends", "Sessions by how they left this process", "how")
        self.calls = self._counter("moot_model_calls", "Model calls by outcome", "model", "result")
        self.tokens = self._counter("moot_model_tokens", "Model tokens", "model", "kind")
        self.call_seconds = self._histogram("moot_model_call_seconds", "Seconds per model call", "model")
        self.requests = self._counter("moot_http_requests", "Requests answered", "method", "route", "status")
        self.latency = self._histogram("moot_http_request_seconds", "Seconds per request", "method", "route")

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        method = method if method in METHODS else "other"
        self.requests.labels(method, route, status).inc()
        if not route.endswith(("/events", "/ws")):  # streams last as long as somebody watches
            self.latency.labels(method, route).observe(seconds)

    def meter_models(self, open_model: Callable[[str], Model]) -> Callable[[str], Model]:
        return lambda name: MeteredModel(open_model(name), self)

    def text(self, sessions: Mapping[tuple[str, str], int], running: int, watched: int) -> str:
        now = Families(
            GaugeMetricFamily("moot_sessions_running_here", "Sessions running in this process", running),
            GaugeMetricFamily("moot_readers", "Clients following a session", watched),
            *map(without_times, self._registry.collect()),
        )
        return session_figures(sessions) + generate_latest(now).decode()

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, registry=self._registry)

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        return Histogram(name, about, labels, registry=self._registry, buckets=SECONDS)


def without_times(family: Metric) -> Metric:
    """The family without creation times, which the text format shows as extra series."""
    family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
    return family


def session_figures(sessions: Mapping[tuple[str, str], int]) -> str:
    """Sessions by protocol and status."""
    family = GaugeMetricFamily("moot_sessions", "Sessions in the store", labels=("protocol", "status"))
    for labels, count in sessions.items():
        family.add_metric(labels, count)
    return generate_latest(Families(family)).decode()


class MeteredModel(Model):
    """A model whose real calls are counted, not replayed ones."""

    def __init__(self, model: Model, metrics: Metrics) -> None:
        self._model = model
        self._metrics = metrics

    @property
    def name(self) -> str:
        return self._model.name

    def turn(self) -> AbstractAsyncContextManager[None]:
        return self._model.turn()

    async def reply(self, call: ModelCall) -> Reply:
        began, model = time.perf_counter(), self.name
        try:
            reply = await self._model.reply(call)
        except BaseException:
            self._metrics.calls.labels(model, "failed").inc()
            raise
        self._metrics.calls.labels(model, "answered").inc()
        self._metrics.call_seconds.labels(model).observe(time.perf_counter() - began)
        self._metrics.tokens.labels(model, "input").inc(reply.usage.input_tokens)
        self._metrics.tokens.labels(model, "output").inc(reply.usage.output_tokens)
        return reply

    def skip(self, call: ModelCall) -> None:
        self._model.skip(call)

    async def aclose(self) -> None:
        await self._model.aclose()
