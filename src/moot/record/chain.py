"""Hash chain of a session's journal: each entry's mark covers the one before it, so any change, gap or move is
detected."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from moot.core.gates import GateRequest
from moot.core.ports import JournalEntry, LogRow, Row, SessionRecord, StepRow, TurnRow, VersionRow
from moot.core.types import Value

GENESIS = "0" * 64
NO_SEAL = ""
MIGRATED = "migrated"
"""Marks a session recorded before the chain existed."""
IN_ORDER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)
NEWER = frozenset({"tool_calls", "turn"})
"""Columns that older rows do not have: empty, they are no part of a seal."""
ENDS = ("completed", "cancelled")
"""Final states, unless somebody resumes the session."""


class SessionSnapshot(Value):
    session: SessionRecord
    entries: tuple[JournalEntry, ...]
    steps: tuple[StepRow, ...]
    """The valid steps, as given to whoever resumes the session."""
    dropped: dict[int, int] | None = None
    """Entries marked as forgotten, and by which entry; None without such marks, as in an archive."""
    turns: tuple[TurnRow, ...] = ()
    versions: tuple[VersionRow, ...] = ()
    gates: tuple[GateRequest, ...] = ()
    logs: tuple[LogRow, ...] = ()


def canonical(value: object) -> str:
    """The same text for the same value in any store: PostgreSQL returns 2.0 and 1e16 as integers."""
    text = IN_ORDER.encode(value)
    # A float without a fraction is written with one of these; most values hold none, and are not walked through.
    return IN_ORDER.encode(_plain(value)) if ".0" in text or "e+" in text else text


def _plain(value: object) -> object:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def digest_of(value: JsonValue) -> str:
    return sha(canonical(value))


def compute_link(session_id: str, before: str, entry: JournalEntry) -> str:
    """The mark of this entry: a hash of the mark before it and the entry's content."""
    return compute_mark(session_id, before, entry.__dict__, entry.at)


def compute_mark(session_id: str, before: str, said: Mapping[str, Any], at: datetime, written: str = "") -> str:
    """`written`: the value as JSON with its own order and number format, because a replay would see the difference."""
    value = written or json.dumps(said["value"])
    covered = [
        session_id, before, said["entry"], said["kind"], said["seq"], said["part"], said["name"], said["digest"],
        value, _plain(said["elapsed"]), said["fence"], said["seal"], at.isoformat(),
    ]  # fmt: skip
    return sha(IN_ORDER.encode(covered))  # canonical: nothing but texts and integers besides


def compute_seal(rows: Iterable[Row]) -> str:
    """Covers the turns and versions kept beside a step, in separate tables."""
    beside = [_list_sealed(row) for row in rows if isinstance(row, TurnRow | VersionRow)]
    return sha(canonical(beside)) if beside else NO_SEAL


def _list_sealed(row: TurnRow | VersionRow) -> dict[str, JsonValue]:
    fields = {**row.__dict__}  # plain JSON as it is
    fields.pop("test_results", None)
    for name in NEWER:
        if name in fields and fields[name] is None:
            del fields[name]
    return fields


def select_standing(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """The steps that count: those of a failed tail were forgotten when it was retried."""
    kept: dict[tuple[int, int], JournalEntry] = {}
    for entry in entries:
        if entry.kind == "dropped":
            kept = {place: step for place, step in kept.items() if place[0] < entry.seq}
        elif entry.kind == "step":
            kept[entry.seq, entry.part] = entry
    return [kept[place] for place in sorted(kept)]


def find_dropped(entries: Iterable[JournalEntry]) -> dict[int, int]:
    """Number of each forgotten step -> the entry that dropped it."""
    gone, kept = dict[int, int](), list[JournalEntry]()
    for entry in entries:
        if entry.kind == "dropped":
            gone |= {step.entry: entry.entry for step in kept if step.seq >= entry.seq}
            kept = [step for step in kept if step.seq < entry.seq]
        elif entry.kind == "step":
            kept.append(entry)
    return gone


def step_of(entry: JournalEntry) -> StepRow:
    return StepRow(
        seq=entry.seq, part=entry.part, name=entry.name, digest=entry.digest, value=entry.value, elapsed=entry.elapsed
    )


def flaws_of(whole: SessionSnapshot) -> list[str]:
    """Every deviation from what was written, one line each; empty if the record is intact."""
    return [
        *flaws(whole.session, whole.entries, whole.turns, whole.versions),
        *_wrongly_dropped(whole.entries, whole.dropped),
        *_check_gates(whole.entries, whole.gates),
    ]


def flaws(
    record: SessionRecord, entries: Sequence[JournalEntry], turns: Sequence[TurnRow], versions: Sequence[VersionRow]
) -> list[str]:
    """What `flaws_of` finds without checking the steps and gates given to the runner."""
    return [
        *_find_broken_links(record, entries),
        *_find_broken_seals(entries, turns, versions),
        *_check_session_row(record, entries),
    ]


def _find_broken_links(record: SessionRecord, entries: Sequence[JournalEntry]) -> list[str]:
    found, before = [], GENESIS
    for place, entry in enumerate(entries, start=1):
        if entry.entry != place:
            found.append(f"entry {place} is missing: entry {entry.entry} is in its place")
            break
        if compute_link(record.id, before, entry) != entry.chain:
            found.append(f"entry {place} ({entry.kind} {entry.name}) was changed, or another was put in its place")
        before = entry.chain
    if not found and (len(entries), before) != (record.entries, record.chain):
        found.append(f"the journal does not end as recorded: {len(entries)} of {record.entries} entries")
    return found


def _find_broken_seals(
    entries: Sequence[JournalEntry], turns: Sequence[TurnRow], versions: Sequence[VersionRow]
) -> list[str]:
    beside: dict[int, list[Row]] = {}
    rows: list[TurnRow | VersionRow] = [*turns, *versions]
    for row in rows:
        beside.setdefault(row.seq, []).append(row)
    found = []
    for step in select_standing(entries):
        if step.seal and compute_seal(beside.pop(step.seq, [])) != step.seal:
            found.append(f"the turn or version of step {step.seq} ({step.name}) was changed or is missing")
    return found + [f"there is a turn or version of step {seq} that no entry mentions" for seq in beside]


def _check_session_row(record: SessionRecord, entries: Sequence[JournalEntry]) -> list[str]:
    """Compare the session's own row with the journal."""
    found = []
    begun = entries[0] if entries and entries[0].kind == "begun" else None
    first = _entry_fields(begun)
    if begun is None:
        found.append("the journal does not begin with the start of the session")
    elif begun.name not in (record.protocol, MIGRATED) or first.get("parent") != record.parent:
        found.append("the description of the session or its fork parent was changed")
    plan = _entry_fields(next((e for e in reversed(entries) if e.kind in ("begun", "plan")), None))
    if plan.get("plan") != digest_of(record.config):
        found.append("the plan of the session was changed")
    return found + _check_ending(record, entries)


def _check_ending(record: SessionRecord, entries: Sequence[JournalEntry]) -> list[str]:
    ended = _entry_fields(next((e for e in reversed(entries) if e.kind == "ended"), None))
    last = next((e.kind for e in reversed(entries) if e.kind in ("claimed", "ended")), "")
    found = []
    begun_again = last == "claimed" and record.outcome is None  # whoever resumes a session takes its result back
    if (ended.get("outcome") or digest_of(None)) != digest_of(record.outcome) and not begun_again:
        found.append("the result was changed")
    given_up = (ended.get("status"), record.status) == ("paused", "cancelled")  # a waiting session may be given up
    moved = record.status != ended.get("status") and {record.status, ended.get("status")} & {*ENDS} and not given_up
    if record.status == "completed" and not ended:
        found.append("the session is marked as ended, but its journal has no end")
    elif last == "ended" and moved:
        found.append(f"the status was changed: it ended {ended.get('status')}, and is marked {record.status}")
    elif last == "claimed" and record.status == "completed":
        found.append("the session is marked as ended, but was resumed since")
    return found


def _entry_fields(entry: JournalEntry | None) -> dict[str, JsonValue]:
    return entry.value if entry is not None and isinstance(entry.value, dict) else {}


def _wrongly_dropped(entries: Sequence[JournalEntry], told: dict[int, int] | None) -> list[str]:
    """Whoever resumes the session reads its steps by a column that the chain does not cover."""
    gone = find_dropped(entries)
    wrong = sorted(place for place, _ in gone.items() ^ (gone if told is None else told).items())
    return [f"entry {place} has a wrong mark as discarded (dropped_by)" for place in dict.fromkeys(wrong)]


def _check_gates(entries: Sequence[JournalEntry], gates: Sequence[GateRequest]) -> list[str]:
    asked = {
        str(_entry_fields(e).get("gate")): str(_entry_fields(e).get("deadline")) for e in entries if e.kind == "parked"
    }
    decided = {str(_entry_fields(e).get("gate")): _entry_fields(e) for e in entries if e.kind == "decided"}
    kept = {gate.id: gate for gate in gates}
    found = [f"gate {gate} is missing" for gate in asked if gate not in kept]
    for gate in gates:
        made = gate.decision and {"gate": gate.id, **gate.decision.model_dump(mode="json")}
        if asked.get(gate.id) != gate.deadline.isoformat() or decided.get(gate.id) != made:
            found.append(f"gate {gate.id} ({gate.point}) or its decision was changed")
    return found
