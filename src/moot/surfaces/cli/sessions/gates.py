"""`moot gates`, `approve`, `reject` and `answer`."""

from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.gates import GateRequest, Verdict
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.history.choices import whoever
from moot.surfaces.history.gates import decide, format_decision, gate_of

GateArgument = Annotated[str, typer.Argument(help="Id or prefix of the waiting session, or the gate's id.")]


def register(app: typer.Typer) -> None:
    app.command("gates", epilog="Example: moot gates --all --json")(gates_command)
    app.command("approve", epilog="Example: moot approve 3f2a --reason 'tests look right'")(approve_command)
    app.command("reject", epilog="Example: moot reject 3f2a --reason 'this changes the API'")(reject_command)
    app.command("answer", epilog="Example: moot answer 3f2a 'an empty list' 'UTC'")(answer_command)


def gates_command(
    session: Annotated[str, typer.Argument(help="Only the gates of this session.")] = "",
    everything: Annotated[bool, typer.Option("--all", "-a", help="Include decided gates.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """List the gates that are waiting for a person, oldest first."""

    async def look(db: SqlStore) -> list[GateRequest]:
        record = (await db.session(session)).id if session else ""
        return await GateStore(db).gates(record, waiting=not everything)

    found = with_store(store, look)
    if json_output:
        return print_json([gate.model_dump(mode="json") for gate in found])
    for gate in found:
        out().print(plain(line(gate)))
        for question in gate.questions:
            out().print(plain(f"  ? {question}"))
    if not found:
        out().print(plain("no gates"))


def line(gate: GateRequest) -> str:
    state = format_decision(gate.decision) if gate.decision else f"open until {gate.deadline:%Y-%m-%d %H:%M:%S} UTC"
    return f"{gate.session_id[:8]}  {gate.point}: {gate.shown_summary}  ({state})"


def approve_command(
    gate: GateArgument,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Approve a gate. Fails with exit code 2 if it was already decided."""
    settle(gate, "approved", reason, (), store, json_output=json_output)


def reject_command(
    gate: GateArgument,
    reason: Annotated[str, typer.Option("--reason", help="Reason; kept with the session.")],
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Reject a gate. The session ends; its record is kept."""
    settle(gate, "rejected", reason, (), store, json_output=json_output)


def answer_command(
    gate: GateArgument,
    answers: Annotated[list[str], typer.Argument(help="One answer per question, in order; '' for none.")],
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Answer the questions a session is waiting on."""
    settle(gate, "approved", "", tuple(answers), store, json_output=json_output)


def settle(
    wanted: str, verdict: Verdict, reason: str, answers: tuple[str, ...], place: str | None, *, json_output: bool
) -> None:
    async def work(db: SqlStore) -> GateRequest:
        return await decide(db, await gate_of(db, wanted), verdict, whoever(), reason, answers)

    gate = with_store(place, work)
    if json_output:
        shown: JsonValue = gate.model_dump(mode="json")
        return print_json(shown)
    out().print(plain(f"{gate.point}: {format_decision(gate.decision)}"))
    out().print(plain(f"if no process is running it, continue with: moot resume {gate.session_id}"))
