"""Any protocol from Python: `await run("harden", code=Path("app.py"))`."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moot.core.config import flat
from moot.core.errors import UsageError
from moot.core.events import Event
from moot.core.types import Limits, Result, Rules
from moot.edge.files.sources import Origins
from moot.protocols import PROTOCOLS
from moot.runtime.ports import Person
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import find_extension
from moot.surfaces.library.given import Names, session_flags
from moot.surfaces.session.input_fields import read_material
from moot.surfaces.session.plans import Request
from moot.surfaces.session.project_environment import project_note
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import run_plan
from moot.text.secrets import Vault


@dataclass(frozen=True)
class FinishedRun:
    """A result, and what is needed to write it to a file."""

    result: Any
    plan: SessionPlan
    vault: Vault


async def run(  # noqa: PLR0913 - a public door: everything but the name is by name
    protocol: str,
    /,
    *,
    rules: Rules | None = None,
    model: Names | None = None,
    seats: Mapping[str, Names] | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    repo: str | Path | None = None,
    branch: bool = False,
    python: str | Path | None = None,
    listen: Callable[[Event], None] | None = None,
    **given: Any,
) -> Result:
    """Run any protocol, also of an installed package. `given` are the fields of its input: code as a text, a `Path`,
    several of them or a `Code` (with `language`), tests as a `Path`. An empty `model` uses none."""
    if protocol not in PROTOCOLS:
        raise UsageError(f"unknown protocol {protocol!r}; known are {', '.join(PROTOCOLS)}")
    kind = PROTOCOLS[protocol].input
    language = given.get("language") if "language" in kind.model_fields else given.pop("language", None)
    read = read_material(kind, given, language)
    done = await run_protocol(
        protocol, read.values, origins=read.origins, project=read.paths, rules=rules, model=model, seats=seats,
        limits=limits, store=store, keep=keep, repo=repo, branch=branch, python=python, listen=listen,
    )  # fmt: skip
    result: Result = done.result
    return result


async def run_protocol(  # noqa: PLR0913 - everything but the first two is by name
    name: str,
    given: Mapping[str, Any],
    *,
    origins: Origins | None = None,
    project: Sequence[str | Path | None] = (),
    rules: Rules | None = None,
    flags: Mapping[str, object] | None = None,
    model: Names | None = None,
    seats: Mapping[str, Names] | None = None,
    use_models: bool = True,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    repo: str | Path | None = None,
    branch: bool = False,
    python: str | Path | None = None,
    person: Person | None = None,
    listen: Callable[[Event], None] | None = None,
) -> FinishedRun:
    """The implementation of all coroutines. `project`: paths in the project whose environment tests need."""
    if branch and not keep:
        raise UsageError("a branch needs a session that is kept, so that it can be resumed")
    own = {**session_flags(model, seats, store, limits), **(flags or {}), **rule_flags(name, rules)}
    settings, vault = Settings.load(own), Vault(os.environ)
    request = Request(
        protocol=PROTOCOLS[name],
        given=given,
        settings=settings,
        vault=vault,
        notes=project_note(project, python) if any(project) or python else {},
        origins=origins or {},
        repo=str(repo) if repo else None,
        branch=branch,
        use_models=use_models and (model is None or bool(model or seats)),
    )
    plan = find_extension(name).plan(request)
    if rules is not None:
        plan = plan.model_copy(update={"rules": rules.model_dump(mode="json")})
    if limits is not None:
        plan = plan.model_copy(update={"limits": limits})
    result = await run_plan(settings=settings, plan=plan, vault=vault, listen=listen, person=person, keep=keep)
    return FinishedRun(result, plan, vault)


def rule_flags(protocol: str, rules: Rules | None) -> dict[str, object]:
    """The given rules as flags, from which the plan is made."""
    if rules is None:
        return {}
    said = flat(rules.model_dump(include=rules.model_fields_set - {"timeout"}), f"{protocol}.")
    return {**said, **({"timeout": rules.timeout} if "timeout" in rules.model_fields_set else {})}
