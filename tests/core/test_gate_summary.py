"""How the recorded summary of a gate is shown."""

from datetime import UTC, datetime

import pytest

from moot.core.gates import GateRequest

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        ("round 1: 1 flaws patched", "round 1: 1 flaw patched"),
        ("round 1: 2 flaws patched", "round 1: 2 flaws patched"),
        ("round 1: 0 flaws patched", "round 1: 0 flaws patched"),
        ("round 1: 11 flaws patched", "round 1: 11 flaws patched"),
        ("app.py: 1 challenges stand after round 1", "app.py: 1 challenge stands after round 1"),
        ("app.py: 2 challenges stand after round 1", "app.py: 2 challenges stand after round 1"),
        ("1 points, 1 breaking tests, 1 of them valid", "1 point, 1 breaking test, 1 of them valid"),
        ("1 drafts, 21 tests agreed on, 1 repairs kept", "1 draft, 21 tests agreed on, 1 repair kept"),
        ("it loses 0.1 points", "it loses 0.1 points"),
    ],
)
def test_one_thing_is_shown_in_the_singular_and_the_record_stays(recorded: str, shown: str) -> None:
    gate = GateRequest(
        id="g", session_id="s", seq=1, kind="approval", point="defense", summary=recorded, created_at=NOW, deadline=NOW
    )
    assert gate.shown_summary == shown
    assert gate.summary == recorded and "shown_summary" not in gate.model_dump()
