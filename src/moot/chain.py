"""The chain of a session's journal: each entry's mark covers the one before it, so that nothing can be changed, left
out or moved without being seen."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from moot.ports import Entry, Row, SessionRecord, StepRow, TurnRow, VersionRow

GENESIS = "0" * 64
NO_SEAL = ""


def canonical(value: object) -> str:
    """The same text for the same value, whichever store it was in: PostgreSQL gives 2.0 and 1e16 back as integers."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


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


def linked(session_id: str, before: str, entry: Entry) -> str:
    """The mark of this entry: over the mark before it and all that the entry says."""
    said = [
        session_id, before, entry.entry, entry.kind, entry.seq, entry.part, entry.name, entry.digest, entry.value,
        entry.elapsed, entry.fence, entry.seal, entry.at.isoformat(),
    ]  # fmt: skip
    return sha(canonical(said))


def sealed(rows: Iterable[Row]) -> str:
    """What covers the turns and versions that are kept beside a step, in tables of their own."""
    beside = [row.model_dump(mode="json") for row in rows if isinstance(row, TurnRow | VersionRow)]
    return sha(canonical(beside)) if beside else NO_SEAL


def standing(entries: Sequence[Entry]) -> list[Entry]:
    """The steps that count: those of a failed tail were forgotten when it was tried again."""
    kept: dict[tuple[int, int], Entry] = {}
    for entry in entries:
        if entry.kind == "dropped":
            kept = {place: step for place, step in kept.items() if place[0] < entry.seq}
        elif entry.kind == "step":
            kept[entry.seq, entry.part] = entry
    return [kept[place] for place in sorted(kept)]


def step_of(entry: Entry) -> StepRow:
    return StepRow(
        seq=entry.seq, part=entry.part, name=entry.name, digest=entry.digest, value=entry.value, elapsed=entry.elapsed
    )


def flaws(
    record: SessionRecord, entries: Sequence[Entry], turns: Sequence[TurnRow], versions: Sequence[VersionRow]
) -> list[str]:
    """Everything that is not as it was written, one line for each; none: the record is whole."""
    return [
        *_broken_links(record, entries),
        *_broken_seals(entries, turns, versions),
        *_changed_session(record, entries),
    ]


def _broken_links(record: SessionRecord, entries: Sequence[Entry]) -> list[str]:
    found, before = [], GENESIS
    for place, entry in enumerate(entries, start=1):
        if entry.entry != place:
            found.append(f"entry {place} is missing: entry {entry.entry} stands in its place")
            break
        if linked(record.id, before, entry) != entry.chain:
            found.append(f"entry {place} ({entry.kind} {entry.name}) was changed, or another was put in its place")
        before = entry.chain
    if not found and (len(entries), before) != (record.entries, record.chain):
        found.append(f"the end of the journal is not the one that was kept: {len(entries)} of {record.entries} entries")
    return found


def _broken_seals(entries: Sequence[Entry], turns: Sequence[TurnRow], versions: Sequence[VersionRow]) -> list[str]:
    beside: dict[int, list[Row]] = {}
    rows: list[TurnRow | VersionRow] = [*turns, *versions]
    for row in rows:
        beside.setdefault(row.seq, []).append(row)
    found = []
    for step in standing(entries):
        if step.seal and sealed(beside.pop(step.seq, [])) != step.seal:
            found.append(f"the turn or version of step {step.seq} ({step.name}) was changed or is missing")
    return found + [f"there is a turn or version of step {seq} that no entry speaks of" for seq in beside]


def _changed_session(record: SessionRecord, entries: Sequence[Entry]) -> list[str]:
    """The session's own row against what the journal last said of it."""
    found = []
    plan = next((e.value for e in reversed(entries) if e.kind in ("begun", "plan")), None)
    if isinstance(plan, dict) and plan.get("plan") != digest_of(record.config):
        found.append("what the session was asked to do (its plan) was changed")
    last = next((e for e in reversed(entries) if e.kind in ("claimed", "ended")), None)
    # Taken up again after its end, a session has no result until the next one.
    ended = last.value if last is not None and last.kind == "ended" else None
    if isinstance(ended, dict) and record.status == ended.get("status"):
        if ended.get("outcome") != digest_of(record.outcome):
            found.append("the result was changed")
    elif record.status == "completed":
        found.append("the session is said to have ended, but its journal has no end")
    return found
