"""Imported sessions: asks for consent before their plan uses this machine."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.ports import JournalMark, SessionRecord
from moot.core.report import count_things
from moot.edge.models import is_hosted
from moot.edge.store import SqlStore
from moot.edge.store.session_copy import IMPORTED, notes_since_import
from moot.record.chain import digest_of
from moot.record.transcript import as_text
from moot.runtime.runner import SessionPlan
from moot.surfaces.history.choices import whoever

ACCEPTED = "accepted"
HARMLESS = frozenset(
    {
        *("session", "task_id", "debate", "begun", "action", "category", "attempt", "request", "fail_on", "no_llm"),
        *("ask_me", "runs_code", "places", "picked"),
    }
)
"""Plan notes that do not concern this machine. Any other note is shown, so that a new one is not forgotten."""
WRITING = {"force": "an existing file is overwritten", "write_anyway": "written even if tests fail"}
"""Notes about how `out` is written; meaningless without it."""
RULES = ("tools", "roles_folder", "judges_folder")
LONGEST = 600
"""The length of an error. The person who is asked sees everything."""
Ask = Callable[[str, Sequence[str]], bool]
"""Takes the session and its uses; True if a person agrees."""


def ask_nobody(session_id: str, uses: Sequence[str]) -> bool:
    return False


async def agree_to_imported(
    store: SqlStore, record: SessionRecord, plan: SessionPlan, ask: Ask = ask_nobody
) -> list[JournalMark]:
    """Refuses an imported session that would use this machine, unless a person agrees or has agreed to exactly that.
    Returns the notes for a fork."""
    notes = await notes_since_import(store, record.id)
    if notes is None:
        return []
    uses = find_uses(plan)
    accepted = JournalMark(kind="noted", name=ACCEPTED, value={"uses": digest_of([*uses]), "by": whoever()})
    marks = [JournalMark(kind="noted", name=IMPORTED, value={"parent": record.id}), *([accepted] if uses else [])]
    said = [note.value.get("uses") for note in notes if note.name == ACCEPTED and isinstance(note.value, dict)]
    if not uses or digest_of([*uses]) in said:
        return marks
    if not ask(record.id, uses):
        raise UsageError(
            f"session {record.id} was imported and is not run: it would use "
            f"{count_things(len(uses), 'thing')} of this machine ({_shorten('; '.join(uses))}); "
            f"look at them and agree in a terminal: moot resume {record.id}"
        )
    await store.append(record.id, [accepted])
    return marks


def find_uses(plan: SessionPlan) -> list[str]:
    """Everything of this machine that a plan names: models, commands, files, folders, URLs. In full, so that two that
    differ only in the middle do not look the same."""
    team = plan.input.get("team")
    members = [(str(m.get("seat") or m.get("id")), str(m.get("model"))) for m in _tables(team)]
    seats = [(seat, name) for seat, chain in plan.seats.items() for name in chain]
    found = [f"{seat}: {name}" for seat, name in (*seats, *members) if not is_hosted(name)]
    if plan.input.get("repository"):
        found.append(f"repository: {plan.input['repository']}")
    if plan.limits.run_with_secrets:
        found.append("secrets: code runs with the real ones")
    found += [f"{name}: {as_text(plan.rules[name])}" for name in RULES if plan.rules.get(name)]
    found += [f"webhook: {url}" for url in plan.gates.webhooks]
    for name, value in sorted(plan.notes.items()):
        if name in WRITING:
            found += [f"{name}: {WRITING[name]}"] if value and plan.notes.get("out") else []
        elif name not in HARMLESS and (used := _use_value(name, value)):
            found.append(f"{name}: {as_text(used)}")
    return list(dict.fromkeys(found))


def _use_value(name: str, value: JsonValue) -> JsonValue:
    """The text of a note; empty if the note is."""
    table = value if isinstance(value, dict) else {}
    match name:
        case "origins":  # source files: read for secrets, and written to by --write
            paths = [str(each[0]) for each in table.values() if isinstance(each, list) and each]
            return [path for path in paths if os.path.lexists(path)]
        case "ci":
            return table.get("commands") or None
        case "project":
            return {key: each for key, each in table.items() if each}
        case _:
            return value


def _tables(value: JsonValue) -> Iterable[Mapping[str, JsonValue]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _shorten(text: str) -> str:
    """Keeps beginning and end: harm may hide behind a page of harmless words."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {len(text) - LONGEST} more characters … {text[-half:]}"
