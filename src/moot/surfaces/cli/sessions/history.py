"""`moot list`, `show`, `resume`, `export` and `delete`."""

import asyncio
import os
from collections.abc import Callable
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.ports import SessionRecord
from moot.core.report import Cell, Grid, Report, ReportDocument, make_row
from moot.core.types import Result
from moot.edge.files.outputs import check_output, write_output
from moot.edge.store import SqlStore
from moot.edge.store.sql import BeingRun
from moot.protocols import PROTOCOLS
from moot.record.seen import build_seen, list_seen
from moot.record.transcript import as_json
from moot.runtime.runner import SessionPlan, find_result
from moot.surfaces.cli.consent import ask_to_run
from moot.surfaces.cli.open_store import require_named_store, with_store
from moot.surfaces.cli.options import ForceFlag, JsonFlag, StoreFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_document, show_report
from moot.surfaces.cli.screen import err, out, plain, print_json, write_json, write_text
from moot.surfaces.cli.session_flags import LimitFlags, with_flags
from moot.surfaces.cli.session_runner import finish, run_command
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.choices import whoever
from moot.surfaces.history.documents import correct_status, load_document, load_story
from moot.surfaces.history.imports import agree_to_imported
from moot.surfaces.session.plans import learn_secrets, origins_of
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import open_runtime
from moot.text.report_html import render_document_html
from moot.text.report_markdown import render_document_markdown
from moot.text.secrets import Vault

SessionArgument = Annotated[str, typer.Argument(help="Session id, or a unique prefix.")]
FORMATS: dict[str, Callable[[ReportDocument], str]] = {"md": render_document_markdown, "html": render_document_html}


def register(app: typer.Typer) -> None:
    app.command("list")(list_command)
    app.command("show")(show_command)
    app.command("resume")(resume_command)
    app.command("export")(export_command)
    app.command("delete")(delete_command)


def list_command(
    search: Annotated[str, typer.Argument(help="Only sessions with this topic text or status.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many, newest first.")] = 20,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """List sessions, the newest first."""
    found = with_store(store, lambda db: db.sessions(limit + 1, search))
    if json_output:
        return print_json([_summary(record) for record in found[:limit]])
    records = [correct_status(record) for record in found[:limit]]
    if not records:
        return out().print(plain(f"no session matches {search!r}" if search else "no sessions"))
    columns = ("session", "begun", "protocol", "status", "outcome", "topic")
    show_report(Report(blocks=(Grid(columns=columns, rows=tuple(map(_row, records))),)))
    if len(found) > limit:
        err().print(plain("there are older sessions; --limit N shows more"))


def show_command(
    session: SessionArgument,
    seen: Annotated[bool, typer.Option("--seen", help="Show instead which turns of others each seat saw.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Show the result of a session, then what was said and done in it, in order."""
    if seen:
        story = with_store(store, lambda db: load_story(db, session))
        prompts: list[JsonValue] = [each.model_dump(mode="json") for each in list_seen(story)]
        return print_json(prompts) if json_output else show_document(build_seen(story))
    if json_output:
        write_json(as_json(with_store(store, lambda db: load_story(db, session))))
    else:
        show_document(with_store(store, lambda db: load_document(db, session)))


def export_command(
    session: SessionArgument,
    form: Annotated[
        str,
        typer.Option(
            "--format", "-f", help="json, md, html, site: a page to open from disk, or archive: one signed file."
        ),
    ] = "json",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="File to write (site: folder or FILE.zip); default is stdout.")
    ] = None,
    force: ForceFlag = False,
    store: StoreFlag = None,
) -> None:
    """Export the whole record of a session."""
    if form == "site":
        from moot.surfaces.cli.sessions.site import write_site

        return write_site(session, output, store, force=force)
    check_output(output, force=force, flag="--output")
    if form == "archive":
        from moot.surfaces.cli.sessions.archive import write_archive

        return write_archive(session, output, store, force=force)
    if form == "json":
        text = as_json(with_store(store, lambda db: load_story(db, session)))
    elif form in FORMATS:
        text = FORMATS[form](with_store(store, lambda db: load_document(db, session)))
    else:
        raise UsageError(f"unknown format {form!r}; known are json, {', '.join(FORMATS)}, site, archive")
    if output is None:
        return write_json(text) if form == "json" else write_text(f"{text}\n")
    write_output(output, f"{text}\n".encode(errors="replace"), force=force)


def delete_command(
    session: SessionArgument,
    force: Annotated[bool, typer.Option("--force", help="Delete it even if it seems to be running.")] = False,
    store: StoreFlag = None,
) -> None:
    """Delete a session. Only a tombstone (id, final hash) remains.

    Fails if a process is running the session; a process on another machine counts as running. See --force.
    """

    async def remove(db: SqlStore) -> str:
        record = await db.session(session)
        try:
            await db.delete(record.id, whoever(), force=force)
        except BeingRun as error:
            raise UsageError(f"{error}. If that process is gone: moot delete {record.id} --force") from None
        return record.id

    out().print(plain(f"deleted {with_store(store, remove)}"))


@with_flags(LimitFlags)
def resume_command(
    flags: LimitFlags,
    session: SessionArgument,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the result back to its files.")] = False,
    sarif_file: Annotated[str | None, typer.Option("--sarif", help="Write the findings as SARIF 2.1.0.")] = None,
    force: ForceFlag = False,
) -> None:
    """Continue a session from where it stopped. Recorded steps are not paid for again."""
    check_output(sarif_file, force=force and sarif_file is not None, flag="--sarif")
    require_named_store(flags.store)
    settings = Settings.load({"store": flags.store})
    ending = Ending(write, sarif_file, flags.json_output, flags.quiet, force=force)
    vault = Vault(os.environ)
    record, plan, done = asyncio.run(_look_up(settings, session, flags.apply_limits, vault))
    out_file = plan.notes.get("out")
    if force and not sarif_file and not out_file:
        raise UsageError("--force allows overwriting a file, but this session writes none")
    if force and out_file:  # the plan keeps the note of the first start
        plan = plan.model_copy(update={"notes": {**plan.notes, "force": True}})
    learn_secrets(origins_of(plan), vault)
    if done is not None:
        raise typer.Exit(finish(done, plan, vault, ending))
    code = run_command(settings, plan, vault, ending, lambda runner: runner.resume(record.id, flags.apply_limits))
    raise typer.Exit(code)


async def _look_up(
    settings: Settings, session: str, change: Callable[[SessionPlan], SessionPlan], vault: Vault
) -> tuple[SessionRecord, SessionPlan, Result | None]:
    """The session, its plan with the changes given now, and its result if it is over."""
    async with open_runtime(settings=settings, vault=vault) as reading:
        assert reading.store is not None
        record = await reading.store.session(session)
        kept = find_result(record)
        plan = change(SessionPlan.model_validate(record.config))
        # Before files are read for secrets, and before a result is written.
        await agree_to_imported(reading.store, record, plan, ask_to_run)
        if kept is None:
            return record, plan, None
        extension, result = find_extension(record.protocol), PROTOCOLS[record.protocol].result.model_validate(kept)
        result = await extension.settle(
            result, plan, reading.store
        )  # it may have been killed before its result was settled
        return record, plan, await extension.amend(result, reading.store)


def _row(record: SessionRecord) -> tuple[Cell, ...]:
    begun = record.created_at.strftime("%Y-%m-%d %H:%M")
    return make_row(
        record.id[:8], begun, record.protocol, record.status, str(_summary(record)["outcome"]), record.topic
    )


def _summary(record: SessionRecord) -> dict[str, JsonValue]:
    outcome = record.outcome.get("outcome") if isinstance(record.outcome, dict) else None
    return {
        "id": record.id,
        "protocol": record.protocol,
        "topic": record.topic,
        "status": record.status,
        "outcome": outcome or "",
        "created_at": record.created_at.isoformat(),
        "rounds": record.total_rounds,
    }
