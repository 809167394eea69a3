"""The rules by which a session ends, is tried again and is reported: tables, no store."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from moot.core.ports import SessionRecord
from moot.core.types import Result, Status
from moot.runtime.runner import Stop, cut_by, find_result, retry_from, status_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Ended(Result):
    outcome: str
    stop_reason: str = ""


def record(status: Status, outcome: JsonValue) -> SessionRecord:
    return SessionRecord(
        id="s", protocol="harden", topic="t", status=status, config={}, created_at=NOW, updated_at=NOW, outcome=outcome
    )


@pytest.mark.parametrize(
    ("cut", "failed_at", "wish", "status"),
    [
        ("", None, None, "completed"),
        ("", None, "cancel", "completed"),  # it was done before it could be stopped
        ("", 4, None, "paused"),
        ("budget_exhausted", None, None, "completed"),
        ("budget_exhausted", 2, None, "paused"),
        ("timed_out", None, "cancel", "completed"),
        ("cancelled", None, None, "paused"),
        ("cancelled", None, "pause", "paused"),
        ("cancelled", 4, "cancel", "cancelled"),
        ("cancelled", None, "cancel", "cancelled"),
        ("rejected", None, None, "cancelled"),
        ("rejected", 4, "pause", "cancelled"),
    ],
)
def test_where_a_session_stands_after_its_end(
    cut: str, failed_at: int | None, wish: Stop | None, status: Status
) -> None:
    assert status_after(cut, failed_at, wish) == status


@pytest.mark.parametrize(
    ("result", "cut"),
    [
        (Result(), ""),
        (Ended(outcome="hardened"), ""),
        (Ended(outcome="timed_out"), "timed_out"),
        (Ended(outcome="contested", stop_reason="budget_exhausted"), "budget_exhausted"),
        (Ended(outcome="rejected", stop_reason="cancelled"), "rejected"),
        (Ended(outcome="contested", stop_reason="max_rounds"), ""),
    ],
)
def test_what_cut_a_session_short_is_its_outcome_or_its_stop_reason(result: Result, cut: str) -> None:
    assert cut_by(result) == cut


@pytest.mark.parametrize(
    ("status", "outcome", "seq"),
    [
        ("paused", {"retry_from": 3}, 3),
        ("pending", {"retry_from": 3}, 3),
        ("completed", {"retry_from": 3}, None),
        ("running", {"retry_from": 3}, None),
        ("paused", {"retry_from": None}, None),
        ("paused", {"retry_from": "3"}, None),
        ("paused", {}, None),
        ("paused", None, None),
    ],
)
def test_a_session_is_tried_again_from_the_step_that_failed_only_while_it_waits(
    status: Status, outcome: JsonValue, seq: int | None
) -> None:
    assert retry_from(record(status, outcome)) == seq


@pytest.mark.parametrize(
    ("status", "outcome", "finished"),
    [
        ("completed", {"result": {"a": 1}}, True),
        ("completed", {"result": {"a": 1}, "cut": ""}, True),
        ("completed", {"result": {"a": 1}, "cut": "timed_out"}, False),
        ("completed", {"result": None}, False),
        ("completed", {}, False),
        ("completed", None, False),
        ("paused", {"result": {"a": 1}}, False),
        ("cancelled", {"result": {"a": 1}}, False),
    ],
)
def test_only_a_completed_session_that_nothing_cut_short_has_nothing_left_to_do(
    status: Status, outcome: JsonValue, finished: bool
) -> None:
    assert find_result(record(status, outcome)) == ({"a": 1} if finished else None)
