"""Moot from Python: `await harden(Path("app.py"))`, or `run_sync(harden(...))`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from moot.core.events import Event
from moot.core.types import Limits
from moot.protocols.harden.script import HardenResult, HardenRules
from moot.surfaces.extensions.harden import write_result
from moot.surfaces.library.protocols import run_protocol
from moot.surfaces.session.input_fields import Source, gather_code, gather_tests, paths_of

R = TypeVar("R")


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
    repo: str | Path | None = None,
    branch: bool = False,
    listen: Callable[[Event], None] | None = None,
) -> HardenResult:
    """Attack and patch code until no flaw is found.

    `source` is code as a `str` (then give `language`), a `Path`, several of them, or a `Code`. Without a `model` and
    with none configured, the model of the only key is used; without a key, or with `model=[]`, the deterministic teams
    work alone. `tests` run in the project's own environment, or in the one `python` names. `branch` commits each
    version to the branch `debate/<session>` of the repository `repo`, by default the current one. `keep=False` leaves
    no record.
    """
    read = gather_code(source, language)
    given = {"code": read.code, "tests": gather_tests(tests) if tests else None, "left_out": read.left_out}
    done = await run_protocol(
        "harden", given, origins=read.origins, project=(tests, *paths_of(source)) if tests else (), rules=rules,
        model=model, seats=seats, limits=limits, store=store, keep=keep, repo=repo, branch=branch, python=python,
        listen=listen,
    )  # fmt: skip
    result: HardenResult = done.result
    if write:
        write_result(result, done.plan, done.vault)
    return result


def run_sync(coroutine: Coroutine[object, object, R]) -> R:
    """Runs one of Moot's coroutines to its end, for code that is not async."""
    return asyncio.run(coroutine)
