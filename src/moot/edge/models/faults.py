"""Turns wire faults into the one error that a person or the room can act on."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from moot.core.errors import FailureKind, ModelError
from moot.core.secret_patterns import ECHOED_KEY, FORMS
from moot.edge.models.services import NO_KEY, Service

MAX_MESSAGE = 300
MAX_QUOTE = 120
# A server may echo keys that are not ours.
KEY_SHAPES = re.compile("|".join((ECHOED_KEY, *(form.pattern for form in FORMS.values()))))
FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})


@dataclass(frozen=True)
class RequestFault:
    """A request without an answer, independent of any SDK."""

    status: int | None = None
    detail: str = ""
    code: str = ""
    retry_after: float | None = None
    timed_out: bool = False
    oversized: bool = False
    garbled: bool = False
    """It answered, but not with a completion."""
    quota: bool = False

    @property
    def filtered(self) -> bool:
        return self.status == 400 and self.code in FILTER_CODES

    @property
    def names_temperature(self) -> bool:
        return self.status in (400, 422) and "temperature" in self.detail.lower()

    @property
    def may_be_schema(self) -> bool:
        """Whether it may succeed without a JSON schema. Servers phrase this too differently to match words."""
        return self.status in (400, 404, 422, 501) and not self.quota and not self.filtered


class Faulted(Exception):
    """Carries a fault to where it becomes a retry or a `ModelError`."""

    def __init__(self, fault: RequestFault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


def explain(fault: RequestFault, model: str, service: Service, timeout: float) -> ModelError:
    kind = failure_kind(fault)
    text = _sentence(fault, kind, service, timeout)
    return ModelError(one_line(f"model {model!r}: {text}"), kind=kind, retry_after=fault.retry_after)


def failure_kind(fault: RequestFault) -> FailureKind:
    status = fault.status
    if fault.timed_out:
        return "timeout"
    if fault.oversized:
        return "failed"
    if status is None:
        return "unavailable"
    if fault.quota:
        # Status 429, but waiting does not help.
        return "rejected"
    if status in (401, 403):
        return "auth"
    if status in (408, 409) or status >= 500:
        return "unavailable"
    if status == 429:
        return "rate_limited"
    return "not_found" if status == 404 else "rejected"


def _sentence(fault: RequestFault, kind: FailureKind, service: Service, timeout: float) -> str:
    at = service.address
    quote = f" ({quote_server(fault.detail, service.key)})" if fault.detail else ""
    match kind:
        case "timeout":
            return f"no answer from {at} within {timeout:g} s; allow more time per call (call_timeout) or ask for less"
        case "failed":
            return f"{at} sent a reply too large to read; lower the number of tokens asked for"
        case "unavailable":
            return _unavailable(fault, service, quote)
        case "rate_limited":
            wait = "later" if fault.retry_after is None else f"in {fault.retry_after:g} s"
            return f"{at} received too many requests (429); try again {wait} or ask fewer seats at once{quote}"
        case "auth":
            # Never quoted: in this answer servers repeat the key.
            key = service.key_from or "the account"
            return f"{at} did not accept the key, status {fault.status}; check {key} and that it may use this model"
        case "not_found":
            return f"{at} does not have it (404){quote}; check the model's name and {service.url_from}"
        case _:
            return _explain_rejection(fault, service, quote)


def _unavailable(fault: RequestFault, service: Service, quote: str) -> str:
    at = service.address
    if fault.garbled:
        return f"{at} sent something that is not a completion; check that {service.url_from} is right"
    if fault.status is None:
        return f"no usable answer from {at}{quote}; check that it is running and reachable"
    return f"{at} cannot answer now, status {fault.status}{quote}; try again later"


def _explain_rejection(fault: RequestFault, service: Service, quote: str) -> str:
    at = service.address
    if fault.quota:
        return f"the account's quota at {at} is used up{quote}; add credit or use another model"
    if fault.status is not None and fault.status < 400:
        return f"{at} redirects elsewhere, status {fault.status}; set {service.url_from} to the final address"
    return f"{at} rejected the request, status {fault.status}{quote}; change the request or the model"


def find_message(body: object) -> str:
    """The message inside an error body, wherever this server puts it."""
    for _ in range(3):
        if not isinstance(body, dict):
            break
        said = {str(name).lower(): value for name, value in body.items()}
        body = next((said[name] for name in ("error", "message", "detail") if said.get(name)), str(body))
    return str(body or "")


def quote_server(text: str, key: str) -> str:
    """A server's message, safe to show: one line, short, printable, without keys."""
    if len(key) > len(NO_KEY):
        text = text.replace(key, "[key]")
    text = KEY_SHAPES.sub("[key]", text)
    return one_line(text, MAX_QUOTE)


def one_line(text: str, limit: int = MAX_MESSAGE) -> str:
    # Cut first: a body may have megabytes.
    words = " ".join(text[: limit * 8].split())
    clean = "".join(char for char in words if char.isprintable())
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Requested wait in seconds: `retry-after-ms`, or `retry-after` as a number or a date."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = lower.get("retry-after", "")
    seconds = _number(text)
    return seconds if seconds is not None else _seconds_until(text, now)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _seconds_until(text: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # The old asctime form has no zone; HTTP dates are UTC.
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())
