"""What is compared with the journal, and how each difference is named: tables, no store."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from moot.core.gates import GateDecision, GateRequest
from moot.core.ports import JournalEntry, SessionRecord, TurnRow, VersionRow
from moot.core.types import Status
from moot.record.chain import (
    GENESIS,
    SessionSnapshot,
    canonical,
    compute_link,
    compute_seal,
    digest_of,
    find_dropped,
    flaws_of,
    select_standing,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CONFIG: dict[str, JsonValue] = {"rules": {"b": 1.0, "a": 2}}
RESULT: JsonValue = {"result": {"outcome": "hardened"}}
Said = dict[str, Any]


def make_journal(*said: Said) -> tuple[JournalEntry, ...]:
    """Entries that say this, properly linked."""
    entries, before = list[JournalEntry](), GENESIS
    blank = {"seq": 0, "part": 0, "name": "", "digest": "", "value": None, "elapsed": 0.0, "fence": 1, "seal": ""}
    for number, each in enumerate(said, start=1):
        entry = JournalEntry.model_validate({**blank, **each, "entry": number, "at": NOW, "chain": ""})
        before = compute_link("s", before, entry)
        entries.append(entry.model_copy(update={"chain": before}))
    return tuple(entries)


def make_whole(*said: Said, status: Status = "running", **more: Any) -> SessionSnapshot:
    """A session with this journal, as its row should be."""
    entries = make_journal(*said)
    record = SessionRecord(
        id="s", protocol="harden", topic="t", status=status, config=CONFIG, created_at=NOW, updated_at=NOW,
        entries=len(entries), chain=entries[-1].chain if entries else "",
    )  # fmt: skip
    of_row: Said = {name: more.pop(name) for name in ("outcome", "parent", "protocol", "config") if name in more}
    return SessionSnapshot(session=record.model_copy(update=of_row), entries=entries, steps=(), **more)


BEGUN: Said = {"kind": "begun", "name": "harden", "value": {"plan": digest_of(CONFIG), "parent": None}}
CLAIMED: Said = {"kind": "claimed"}


def step(seq: int, part: int = 0, **more: Any) -> Said:
    return {"kind": "step", "name": "scan", "seq": seq, "part": part, **more}


def ended(status: str, outcome: JsonValue = None) -> Said:
    return {"kind": "ended", "value": {"status": status, "outcome": digest_of(outcome)}}


def forget(seq: int) -> Said:
    return {"kind": "dropped", "seq": seq}


CHANGED_STATUS = "the status was changed: it ended {}, and is marked {}"


@pytest.mark.parametrize(
    ("marks", "status", "outcome", "flaws"),
    [
        ([], "pending", None, []),
        ([CLAIMED], "running", None, []),
        ([CLAIMED], "cancelled", None, []),
        ([CLAIMED, ended("completed", RESULT)], "completed", RESULT, []),
        ([CLAIMED, ended("paused", RESULT)], "paused", RESULT, []),
        ([CLAIMED, ended("paused")], "pending", None, []),
        ([CLAIMED, ended("paused")], "cancelled", None, []),
        ([CLAIMED, ended("completed", RESULT), CLAIMED], "running", RESULT, []),
        ([CLAIMED, ended("paused", RESULT), CLAIMED], "paused", None, []),
        ([CLAIMED, ended("paused", RESULT), CLAIMED], "running", None, []),
        ([CLAIMED, ended("paused", RESULT), CLAIMED], "paused", {"other": 1}, ["the result was changed"]),
        ([CLAIMED, ended("paused", RESULT)], "paused", None, ["the result was changed"]),
        ([CLAIMED, ended("completed", RESULT), CLAIMED, ended("cancelled")], "cancelled", None, []),
        ([CLAIMED], "running", RESULT, ["the result was changed"]),
        ([CLAIMED, ended("completed", RESULT)], "completed", {"other": 1}, ["the result was changed"]),
        ([CLAIMED, ended("completed", RESULT)], "completed", None, ["the result was changed"]),
        ([CLAIMED], "completed", None, ["the session is marked as ended, but its journal has no end"]),
        ([CLAIMED, ended("completed"), CLAIMED], "completed", None,
         ["the session is marked as ended, but was resumed since"]),
        ([CLAIMED, ended("completed")], "running", None, [CHANGED_STATUS.format("completed", "running")]),
        ([CLAIMED, ended("completed")], "cancelled", None, [CHANGED_STATUS.format("completed", "cancelled")]),
        ([CLAIMED, ended("cancelled")], "paused", None, [CHANGED_STATUS.format("cancelled", "paused")]),
        ([CLAIMED, ended("paused")], "completed", None, [CHANGED_STATUS.format("paused", "completed")]),
    ],
)  # fmt: skip
def test_the_end_of_a_session_is_the_one_its_journal_tells(
    marks: Sequence[Said], status: Status, outcome: JsonValue, flaws: list[str]
) -> None:
    assert flaws_of(make_whole(BEGUN, *marks, status=status, outcome=outcome)) == flaws


WHAT = "the description of the session or its fork parent was changed"
PLAN = "the plan of the session was changed"
PARENTED: Said = {**BEGUN, "value": {**BEGUN["value"], "parent": "p"}}
OTHER: dict[str, JsonValue] = {"rules": {}}
REPLANNED: Said = {"kind": "plan", "value": {"plan": digest_of(OTHER)}}


@pytest.mark.parametrize(
    ("said", "row", "flaws"),
    [
        ([BEGUN], {}, []),
        ([PARENTED], {"parent": "p"}, []),
        ([{**BEGUN, "name": "migrated"}], {"protocol": "vet"}, []),
        ([BEGUN, REPLANNED], {"config": OTHER}, []),
        ([BEGUN], {"protocol": "vet"}, [WHAT]),
        ([BEGUN], {"parent": "p"}, [WHAT]),
        ([PARENTED], {}, [WHAT]),
        ([PARENTED], {"parent": "q", "protocol": "vet"}, [WHAT]),
        ([BEGUN], {"config": OTHER}, [PLAN]),
        ([BEGUN, REPLANNED], {}, [PLAN]),
        ([CLAIMED, BEGUN], {}, ["the journal does not begin with the start of the session"]),
        ([], {"config": CONFIG}, ["the journal does not end as recorded: 0 of 0 entries",
                                  "the journal does not begin with the start of the session", PLAN]),
    ],
)  # fmt: skip
def test_what_a_session_is_was_said_at_its_beginning(said: Sequence[Said], row: Any, flaws: list[str]) -> None:
    assert flaws_of(make_whole(*said, status="pending", **row)) == flaws


def altered(whole: SessionSnapshot, place: int, **change: Any) -> SessionSnapshot:
    entries = list(whole.entries)
    entries[place] = entries[place].model_copy(update=change)
    return whole.model_copy(update={"entries": tuple(entries)})


def test_an_entry_that_is_changed_missing_or_cut_off_is_named() -> None:
    whole = make_whole(BEGUN, CLAIMED, step(1), step(2))
    assert flaws_of(whole) == []
    changed = "entry {} ({} scan) was changed, or another was put in its place"
    assert flaws_of(altered(whole, 2, value="x")) == [changed.format(3, "step")]
    forged = compute_link("s", whole.entries[1].chain, whole.entries[2].model_copy(update={"value": "x"}))
    assert flaws_of(altered(whole, 2, value="x", chain=forged)) == [changed.format(4, "step")]
    gap = whole.model_copy(update={"entries": (whole.entries[0], *whole.entries[2:])})
    assert flaws_of(gap) == ["entry 2 is missing: entry 3 is in its place"]
    short = whole.model_copy(update={"entries": whole.entries[:3]})
    assert flaws_of(short) == ["the journal does not end as recorded: 3 of 4 entries"]
    other = whole.session.model_copy(update={"chain": GENESIS})
    told = flaws_of(whole.model_copy(update={"session": other}))
    assert told == ["the journal does not end as recorded: 4 of 4 entries"]


def test_a_forgotten_tail_counts_no_more_and_what_came_after_it_does() -> None:
    entries = make_journal(
        BEGUN, step(1), step(2, 1), step(2), step(3), forget(2), step(2), step(3), forget(3), step(3, 2)
    )
    assert [entry.entry for entry in select_standing(entries)] == [2, 7, 10]
    assert find_dropped(entries) == {3: 6, 4: 6, 5: 6, 8: 9}
    assert find_dropped(make_journal(step(1), forget(1), step(1), forget(1))) == {1: 2, 3: 4}, "each by the next mark"


@pytest.mark.parametrize(
    ("told", "wrong"),
    [(None, []), ({3: 4}, []), ({}, [3]), ({3: 5}, [3]), ({2: 4, 3: 4}, [2])],
)
def test_a_step_is_forgotten_as_the_journal_says(told: dict[int, int] | None, wrong: list[int]) -> None:
    whole = make_whole(BEGUN, step(1), step(2), forget(2), dropped=told)
    assert flaws_of(whole) == [f"entry {n} has a wrong mark as discarded (dropped_by)" for n in wrong]


TURN = TurnRow(seq=1, round=1, phase="p", agent_id="a", agent_role="r", provider="p", model="m", content="c")
VERSION = VersionRow(seq=1, number=1, language="python", code="x", diff="")
SEALED = step(1, seal=compute_seal([TURN, VERSION]))
BROKEN = "the turn or version of step 1 (scan) was changed or is missing"


@pytest.mark.parametrize(
    ("said", "turns", "versions", "flaws"),
    [
        (SEALED, [TURN], [VERSION], []),
        (step(1), [], [], []),
        (SEALED, [], [VERSION], [BROKEN]),
        (SEALED, [TURN], [], [BROKEN]),
        (SEALED, [], [], [BROKEN]),
        (SEALED, [TURN.model_copy(update={"content": "d"})], [VERSION], [BROKEN]),
        (step(1), [TURN], [], ["there is a turn or version of step 1 that no entry mentions"]),
        (SEALED, [TURN, TURN.model_copy(update={"seq": 2})], [VERSION],
         ["there is a turn or version of step 2 that no entry mentions"]),
    ],
)  # fmt: skip
def test_turns_and_versions_are_those_that_were_kept_with_their_step(
    said: Said, turns: list[TurnRow], versions: list[VersionRow], flaws: list[str]
) -> None:
    assert flaws_of(make_whole(BEGUN, said, turns=tuple(turns), versions=tuple(versions))) == flaws


YES = GateDecision(verdict="approved", how="person", reviewer="ann")
GATE = GateRequest(id="g", session_id="s", seq=1, kind="approval", point="defense", summary="", created_at=NOW,
                   deadline=NOW + timedelta(hours=1))  # fmt: skip
PARKED: Said = {"kind": "parked", "value": {"gate": "g", "deadline": GATE.deadline.isoformat()}}
DECIDED: Said = {"kind": "decided", "value": {"gate": "g", **YES.model_dump(mode="json")}}
CHANGED_GATE = "gate g (defense) or its decision was changed"


@pytest.mark.parametrize(
    ("said", "change", "flaws"),
    [
        ([PARKED], {}, []),
        ([PARKED, DECIDED], {"decision": YES}, []),
        ([PARKED], None, ["gate g is missing"]),
        ([PARKED], {"decision": YES}, [CHANGED_GATE]),
        ([PARKED, DECIDED], {}, [CHANGED_GATE]),
        ([PARKED, DECIDED], {"decision": YES.model_copy(update={"reviewer": "bob"})}, [CHANGED_GATE]),
        ([PARKED], {"deadline": NOW}, [CHANGED_GATE]),
        ([], {}, [CHANGED_GATE]),
    ],
)
def test_gates_and_decisions_are_those_of_the_journal(
    said: Sequence[Said], change: dict[str, Any] | None, flaws: list[str]
) -> None:
    gates = () if change is None else (GATE.model_copy(update=change),)
    assert flaws_of(make_whole(BEGUN, *said, gates=gates)) == flaws


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 2.0, "a": [0.5, {"d": (3.0,), "c": None}]}, '{"a":[0.5,{"c":null,"d":[3]}],"b":2}'),
        (1e16, "10000000000000000"),
        (True, "true"),
        ("ü", '"\\u00fc"'),
    ],
)
def test_the_same_value_is_the_same_text_in_any_store(value: object, text: str) -> None:
    assert canonical(value) == text


def test_a_mark_covers_the_order_and_the_kind_of_what_was_written() -> None:
    """A replay would see the difference."""
    marks = [make_journal({"kind": "step", "value": value})[0].chain for value in ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
    marks += [make_journal({"kind": "step", "value": value})[0].chain for value in ([2], [2.0])]
    assert len(set(marks)) == 4 and {len(mark) for mark in marks} == {64}


def test_a_mark_is_the_one_that_earlier_releases_made() -> None:
    """Another one would call every record that is kept forged."""
    first, second = make_journal(BEGUN, step(1, value={"b": [1, 2.0], "a": "ü"}, elapsed=2.0))
    assert (first.chain[:16], second.chain[:16]) == ("f986109269676205", "810868b8e09313e2")
