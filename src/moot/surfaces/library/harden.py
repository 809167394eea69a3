"""Moot from Python: `await harden(Path("app.py"))`, or `run_sync(harden(...))`."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from moot.core.events import Event
from moot.core.types import Code, Limits
from moot.edge.files.sources import Gathered, chosen_language, from_text, read_code
from moot.edge.sandbox import find_sandbox
from moot.protocols.harden.script import HardenResult, HardenRules
from moot.surfaces.hardening import harden_plan, write_result
from moot.surfaces.library.given import session_flags
from moot.surfaces.projects import project_note, project_of
from moot.surfaces.setup import Settings, check_prices, workshop
from moot.text.secrets import Vault

R = TypeVar("R")
Source = str | Path | Sequence[Path] | Code


async def harden(  # noqa: PLR0913 - a public door: everything but the first two is by name
    source: Source,
    rules: HardenRules | None = None,
    *,
    model: str | Sequence[str] | None = None,
    seats: Mapping[str, str | Sequence[str]] | None = None,
    language: str | None = None,
    tests: Path | None = None,
    python: str | Path | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    write: bool = False,
    listen: Callable[[Event], None] | None = None,
) -> HardenResult:
    """Attack and patch code until it holds.

    `source` is code as a `str` (then give `language`), a `Path`, several of them, or a `Code`. Without a `model`,
    and with none configured, the deterministic teams do it. `tests` run in the project's own environment, or in the one
    `python` names. `keep=False` leaves no record.
    """
    settings = Settings.load(session_flags(model, seats, store, limits))
    vault = Vault(os.environ)
    project = project_note([tests, *paths_of(source)] if tests else (), python)
    plan = harden_plan(settings, gathered(source, language), vault, str(tests) if tests else None, project)
    if rules is not None:
        plan = plan.model_copy(update={"rules": rules.model_dump(mode="json")})
    if limits is not None:
        plan = plan.model_copy(update={"limits": limits})
    check_prices(plan)
    sandbox = find_sandbox(False, settings.sandbox(), project_of(plan)) if tests else None
    async with workshop(settings, listen, sandbox, vault, keep=keep) as shop:
        shop.check_models(plan.seats)
        result = await shop.runner.start(plan)
    assert isinstance(result, HardenResult)
    if write:
        write_result(result, plan, vault)
    return result


def run_sync(coroutine: Coroutine[object, object, R]) -> R:
    """For code that is not async: run one of Moot's coroutines to its end."""
    return asyncio.run(coroutine)


def gathered(source: Source, language: str | None) -> Gathered:
    match source:
        case Code():
            return Gathered(source)
        case str():
            return Gathered(Code(files=(from_text(source, chosen_language(language)),)))
        case Path():
            return read_code([str(source)], language, None, bytes)
        case _:
            return read_code([str(path) for path in source], language, None, bytes)


def paths_of(source: Source) -> Sequence[Path]:
    return () if isinstance(source, str | Code) else (source,) if isinstance(source, Path) else source
