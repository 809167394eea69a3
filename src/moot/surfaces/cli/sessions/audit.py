"""`moot audit`, `moot replay` and `moot diff`: inspect, verify and compare records."""

import asyncio
from collections.abc import Iterable
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.report import count_things, list_spending
from moot.edge.store import SqlStore
from moot.edge.store.snapshots import verify_sessions, whole
from moot.record.audit import AuditLine, short, sum_spending, timeline, votes
from moot.record.chain import SessionSnapshot, flaws_of
from moot.record.json_diff import JsonDifference
from moot.record.replay import Replayed, replay
from moot.record.session_diff import SessionDiff, compare_sessions
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json, section
from moot.surfaces.cli.sessions.history import SessionArgument

FLAWED = 1
SHOWN = 20
CLOCK = {"timed_out": "the time ran out", "cancelled": "it was stopped"}


def register(app: typer.Typer) -> None:
    app.command("audit")(audit_command)
    app.command("replay")(replay_command)
    app.command("diff")(diff_command)


def audit_command(
    session: Annotated[str, typer.Argument(help="Session id or prefix; optional with --verify.")] = "",
    verify: Annotated[bool, typer.Option("--verify", help="Only verify that the record is intact.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Show every journal entry of a session, or verify that none was changed.

    Exit code 0: the record is intact; 1: an entry was changed, is missing or is out of order.
    """
    if verify:
        return _verify(session, store, json_output)
    if not session:
        raise UsageError("name a session; only --verify works without one")
    seen = with_store(store, lambda db: whole(db, session))
    flaws = flaws_of(seen)
    if json_output:
        print_json(as_json(seen, flaws))
    else:
        show(seen, flaws)
    raise typer.Exit(FLAWED if flaws else 0)


def _verify(session: str, store: str | None, json_output: bool) -> None:
    async def look(db: SqlStore) -> dict[str, list[str]]:
        return await verify_sessions(db, (await db.session(session)).id if session else "")

    found = with_store(store, look)
    if json_output:
        flawed: dict[str, JsonValue] = {name: list(flaws) for name, flaws in found.items() if flaws}
        print_json({"whole": not flawed, "sessions": len(found.keys() - {"tombstones"}), "flaws": flawed})
    else:
        for name, flaws in found.items():
            for flaw in flaws:
                out().print(plain(f"{name}: {flaw}"), soft_wrap=True)
        if not any(found.values()):
            out().print(plain(f"intact: {count_things(len(found.keys() - {'tombstones'}), 'session')}"))
    raise typer.Exit(FLAWED if any(found.values()) else 0)


def as_json(seen: SessionSnapshot, flaws: list[str]) -> dict[str, JsonValue]:
    return {
        "session": seen.session.model_dump(mode="json"),
        "whole": not flaws,
        "flaws": [*flaws],
        "timeline": [each.model_dump(mode="json") for each in timeline(seen)],
        "gates": [gate.model_dump(mode="json") for gate in seen.gates],
        "votes": [*votes(seen)],
        "spent": {model: spend.model_dump(mode="json") for model, spend in sum_spending(seen.entries).items()},
    }


def show(seen: SessionSnapshot, flaws: list[str]) -> None:
    console, session = out(), seen.session
    console.print(plain(f"{session.protocol}: {session.topic}"))
    console.print(plain(f"session {session.id}, {session.status}"))
    console.print()
    for each in timeline(seen):
        _entry(each)
    section(console, "Votes", [short(line) for line in votes(seen)])
    spending = [f"{model}: {cost}" for model, cost in list_spending(sum_spending(seen.entries))]
    section(console, "Spent", spending or ["no model was called"])
    section(console, "Changed since it was recorded", flaws)
    if not flaws:
        console.print()
        entries = f"{len(seen.entries)} {'entry' if len(seen.entries) == 1 else 'entries'}"
        console.print(plain(f"The record is intact: {entries}, final hash {session.chain}"))


def _entry(each: AuditLine) -> None:
    console = out()
    step = f" step {each.step}" if each.step else ""
    gone = " (discarded: retried)" if each.forgotten else ""
    console.print(plain(f"{each.entry:4} {each.at:%Y-%m-%d %H:%M:%S}{step} {short(each.title)}{gone}"), soft_wrap=True)
    for line in each.lines:
        console.print(plain(f"       {short(line)}"), soft_wrap=True)


def replay_command(session: SessionArgument, store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Run a session again from its record, without calling a model, and compare the results.

    Exit code 0: the same result from an intact record; 1: a different result, or a record that was changed.
    """
    again = asyncio.run(replay(with_store(store, lambda db: whole(db, session))))
    if json_output:
        print_json(again)
    else:
        _show_replay(again)
    raise typer.Exit(0 if again.same and not again.flaws else FLAWED)


def _show_replay(again: Replayed) -> None:
    console = out()
    if not again.same:
        console.print(plain(f"different: {again.why or 'the result differs'}"))
        _differences(again.differences, "recorded", "now")
    elif again.ended:
        console.print(plain(f"the same result from {count_things(again.steps, 'recorded step')}, without a call"))
    else:
        console.print(plain(f"the same for {count_things(again.steps, 'recorded step')}; the session has not ended"))
    if again.cut in CLOCK:
        console.print(plain(f"no step records when {CLOCK[again.cut]}: it is assumed to be after the last one"))
    section(console, "Changed since it was recorded", again.flaws)


def diff_command(
    one: SessionArgument,
    two: Annotated[str, typer.Argument(help="The other session.")],
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Show where two sessions diverge: in their plans, at which step, and in their results.

    Exit code 0: identical; 1: different. Times and durations are not compared.
    """

    async def look(db: SqlStore) -> SessionDiff:
        return compare_sessions(await whole(db, one), await whole(db, two))

    parted = with_store(store, look)
    if json_output:
        print_json({**parted.model_dump(mode="json"), "same": parted.same})
    else:
        _show_parted(parted)
    raise typer.Exit(0 if parted.same else FLAWED)


def _show_parted(parted: SessionDiff) -> None:
    console = out()
    if parted.related:
        console.print(plain(parted.related))
    console.print(plain("the same plan" if not parted.plan else "other plans:"))
    _differences(parted.plan)
    where = f"they diverge at step {parted.at}" if parted.at else "they never diverge"
    console.print(
        plain(
            f"{count_things(parted.same_steps, 'step')} {'is' if parted.same_steps == 1 else 'are'} the same; {where}"
        )
    )
    _differences(parted.step)
    console.print(plain("the same result" if not parted.result else "other results:"))
    _differences(parted.result)


def _differences(unlike: Iterable[JsonDifference], one: str = "one", two: str = "two") -> None:
    console, all_of_them = out(), list(unlike)
    for each in all_of_them[:SHOWN]:
        console.print(plain(f"  {each.path}"))
        console.print(plain(f"    {one}: {each.one or '(nothing)'}"), soft_wrap=True)
        console.print(plain(f"    {two}: {each.two or '(nothing)'}"), soft_wrap=True)
    if len(all_of_them) > SHOWN:
        console.print(plain(f"  … and {len(all_of_them) - SHOWN} more (--json shows all)"))
