"""`moot models`, `moot doctor` and `moot config`: what is set up, and whether it works."""

import asyncio
import os
from dataclasses import replace
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from moot.core.config import Resolved
from moot.core.errors import MootError
from moot.core.report import count_things
from moot.core.types import ModelCall
from moot.edge.models import (
    ProviderStatus,
    find_own_server,
    find_problem,
    is_fit_to_show,
    list_status,
    why_unreachable,
)
from moot.edge.sandbox import sandbox_status
from moot.edge.store.engine import mask_address
from moot.protocols import PROTOCOLS
from moot.surfaces.cli.options import JsonFlag, ModelFlag, SeatFlag, StoreFlag, seat_settings
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import open_runtime

UNCALLED = "the model was not called (--live calls it)"
Check = dict[str, JsonValue]


def register(app: typer.Typer) -> None:
    app.command("models")(models_command)
    app.command("doctor")(doctor_command)
    config = typer.Typer(invoke_without_command=True)
    config.callback()(config_group)
    config.command("show")(config_command)
    app.add_typer(config, name="config")


def models_command(model: ModelFlag = None, seat: SeatFlag = None, json_output: JsonFlag = False) -> None:
    """List the providers, what each needs, and which model each seat has."""
    settings = Settings.load({"model": tuple(model or ()), **seat_settings(seat)}).with_pick()
    known, endpoints = list(map(_ask_server, list_status(os.environ))), settings.endpoints()
    seats = {f"{p}.{s}": list(c) for p in PROTOCOLS for s, c in settings.seats(p).items()}
    if json_output:
        entries: list[JsonValue] = [
            {"provider": p.name, "usable": p.usable, "note": p.note, "example": p.example} for p in known
        ]
        own: list[JsonValue] = [
            {"name": name, **endpoint.model_dump(), "problem": find_problem(name, os.environ, endpoints)}
            for name, endpoint in endpoints.items()
        ]
        places: dict[str, JsonValue] = {place: list(chain) for place, chain in seats.items()}
        return print_json({"providers": entries, "endpoints": own, "seats": places})
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("provider", "usable", "example", "note"):
        table.add_column(column, overflow="fold")
    shown_here = [p for p in known if p.key_present or not p.from_library]
    for p in shown_here:
        table.add_row(p.name, "yes" if p.usable else "no", plain(p.example), plain(p.note))
    for name, endpoint in endpoints.items():
        trouble = find_problem(name, os.environ, endpoints)
        note = trouble or f"{endpoint}{f' at {endpoint.base_url}' if endpoint.base_url else ''}"
        table.add_row(plain(name), "no" if trouble else "yes", plain(name), plain(note))
    out().print(table)
    if more := [p.name for p in known if p not in shown_here]:
        out().print(plain(f"with an extra, such as pip install 'moot[google]': {', '.join(more)}"))
    for place, chain in seats.items():
        out().print(plain(f"{place}: {', then '.join(chain)}"))
    if settings.picked:
        out().print(plain(settings.picked.reason))
    if not seats:
        out().print(plain("no model is configured: `moot harden` uses its deterministic teams; set one with --model"))


def _ask_server(status: ProviderStatus) -> ProviderStatus:
    """A server of one's own is usable only if it runs."""
    if not status.usable or status.from_library:
        return status
    service = find_own_server(status.example, os.environ)
    trouble = why_unreachable(service) if service else None
    return replace(status, usable=False, note=trouble) if trouble else status


def doctor_command(
    live: Annotated[bool, typer.Option("--live", help="Also make one small call to each configured model.")] = False,
    model: ModelFlag = None,
    seat: SeatFlag = None,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Test the store, the sandbox and the configured models. Exit code 1 if something does not work."""
    settings = Settings.load({"model": tuple(model or ()), "store": store, **seat_settings(seat)}).with_pick()
    checks = [
        _store_check(settings),
        _sandbox_check(),
        *_model_checks(settings, live=live),
        *_list_deprecated(settings),
    ]
    if json_output:
        print_json(list(checks))
    else:
        for check in checks:
            out().print(plain(f"{'ok  ' if check['ok'] else 'FAIL'}  {check['what']}: {check['note']}"))
    raise typer.Exit(0 if all(check["ok"] for check in checks) else 1)


def config_group(context: typer.Context, store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Print every setting, its value, and where that came from."""
    if context.invoked_subcommand is None:
        config_command(store, json_output)


def config_command(store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Print every setting, its value, and where that came from."""
    resolved = Settings.load({"store": store}).resolved.values()
    if json_output:
        return print_json({r.key: {"value": _format_setting(r), "source": r.source} for r in resolved})
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("setting", "value", "from", "meaning"):
        table.add_column(column, overflow="fold")
    for r in resolved:
        table.add_row(r.key, plain(str(_format_setting(r))), plain(r.source), plain(r.about))
    out().print(table)


def _format_setting(setting: Resolved) -> JsonValue:
    if setting.key.startswith("models.") and not is_fit_to_show(setting.key, str(setting.value)):
        return "(hidden)"
    return mask_address(str(setting.value)) if setting.key == "store" else _plain(setting.value)


def _plain(value: object) -> JsonValue:
    if isinstance(value, tuple):
        return [str(entry) for entry in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _list_deprecated(settings: Settings) -> list[Check]:
    """Settings that still work, and that a later version will refuse."""
    return [{"what": each.key, "ok": True, "note": each.notice} for each in settings.resolved.values() if each.notice]


def _store_check(settings: Settings) -> Check:
    async def look() -> int:
        async with open_runtime(settings=settings) as session:
            assert session.store is not None
            return len(await session.store.sessions(limit=1_000_000))

    try:
        return {
            "what": "store",
            "ok": True,
            "note": f"{mask_address(settings.store)}, {count_things(asyncio.run(look()), 'session')}",
        }
    except MootError as error:
        return {"what": "store", "ok": False, "note": str(error)}


def _sandbox_check() -> Check:
    try:
        return {"what": "sandbox", "ok": True, "note": sandbox_status()}
    except MootError as error:
        return {"what": "sandbox", "ok": False, "note": str(error)}


def _model_checks(settings: Settings, *, live: bool) -> list[Check]:
    seated = [name for p in PROTOCOLS for chain in settings.seats(p).values() for name in chain]
    names = list(dict.fromkeys([*seated, *settings.endpoints()]))
    if not names:
        return [{"what": "models", "ok": True, "note": "none configured; the deterministic teams need none"}]
    return [_model_check(settings, name, live=live) for name in names]


def _model_check(settings: Settings, name: str, *, live: bool) -> Check:
    try:
        endpoints = settings.endpoints()
        if trouble := find_problem(name, os.environ, endpoints):
            return {"what": name, "ok": False, "note": trouble}
        server = find_own_server(name, os.environ, endpoints)
        if server and (trouble := why_unreachable(server)):
            return {"what": name, "ok": False, "note": trouble}
        idle = f"the server answers at {server.address}; {UNCALLED}" if server else UNCALLED
        note = asyncio.run(_tiny_call(settings, name)) if live else idle
        return {"what": name, "ok": True, "note": note}
    except TimeoutError:
        return {"what": name, "ok": False, "note": f"no answer within {settings['call_timeout']:g} s"}
    except MootError as error:
        return {"what": name, "ok": False, "note": str(error)}


async def _tiny_call(settings: Settings, name: str) -> str:
    call = ModelCall(
        seat="doctor", phase="doctor", round=1, system="", prompt="Answer with the word ready.", max_tokens=16
    )
    async with open_runtime(settings=settings, keep=False) as session:
        async with asyncio.timeout(float(settings["call_timeout"])):
            reply = await session.open_model(name).reply(call)
    said = " ".join(reply.text.split())[:40]
    return f"answered {said!r}" if said else "gave an empty answer"
