from datetime import UTC, datetime

import pytest
from asking import KEY
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import FailureKind
from moot.edge.models.faults import RequestFault, explain, failure_kind, retry_after
from moot.edge.models.features import is_closed
from moot.edge.models.services import Service

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
SERVICE = Service("openai", "http://127.0.0.1:1/v1", own=False, key=KEY)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (RequestFault(status=429), "rate_limited"),
        (RequestFault(status=429, quota=True), "rejected"),
        (RequestFault(status=401), "auth"),
        (RequestFault(status=403), "auth"),
        (RequestFault(status=404), "not_found"),
        (RequestFault(status=408), "unavailable"),
        (RequestFault(status=409), "unavailable"),
        (RequestFault(status=500), "unavailable"),
        (RequestFault(status=501), "unavailable"),
        (RequestFault(status=529), "unavailable"),
        (RequestFault(status=400), "rejected"),
        (RequestFault(status=413), "rejected"),
        (RequestFault(status=302), "rejected"),
        (RequestFault(), "unavailable"),
        (RequestFault(timed_out=True), "timeout"),
        (RequestFault(oversized=True), "failed"),
    ],
)
def test_each_fault_has_one_kind(fault: RequestFault, kind: FailureKind) -> None:
    assert failure_kind(fault) == kind
    assert explain(fault, "openai:x", SERVICE, 5.0).kind == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu Jan  1 12:00:10 2026"}, 10.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_the_server_asks_us_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(
    status=st.none() | st.integers(300, 599),
    detail=st.text(max_size=600) | st.just(f"your key {KEY} is bad\n") | st.just(f"{'x' * 110}{KEY}"),
    quota=st.booleans(),
    timed_out=st.booleans(),
    garbled=st.booleans(),
)
def test_a_message_is_one_short_line_without_the_key(
    status: int | None, detail: str, quota: bool, timed_out: bool, garbled: bool
) -> None:
    fault = RequestFault(status=status, detail=detail, quota=quota, timed_out=timed_out, garbled=garbled)
    said = str(explain(fault, "openai:x", SERVICE, 5.0))
    assert "openai:x" in said
    assert len(said) <= 300 and said.isprintable()
    assert KEY[:12] not in said


def test_keys_that_are_not_ours_are_not_shown_either() -> None:
    said = str(
        explain(RequestFault(status=400, detail="no: sk-proj-Abc123***wxyz, Bearer abc.def"), "openai:x", SERVICE, 5.0)
    )
    assert "Abc123" not in said and "abc.def" not in said


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, True),
        ({"type": "object", "properties": {"a": {"type": "object"}}}, False),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}}, False),
        ({"anyOf": [{"type": "object", "properties": {"a": {}}, "additionalProperties": True}]}, False),
    ],
)
def test_a_schema_with_a_free_mapping_is_open(schema: object, closed: bool) -> None:
    assert is_closed(schema) is closed
