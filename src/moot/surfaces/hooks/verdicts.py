"""Verdicts on actions for hook and guard, with or without a model."""

import asyncio
import os
from pathlib import Path
from typing import NamedTuple

from moot.edge.files.memory import hook_folder
from moot.protocols.vet.script import VetResult
from moot.routing.answer import Route
from moot.surfaces.extensions.vet import VetQuestion, answer_directly, memory_of, vet_question
from moot.surfaces.session.settings import Settings

NO_MODEL = "no model is configured to debate it (set `model` in your own moot.toml or MOOT_MODEL)"


class Verdict(NamedTuple):
    resolution: str
    reason: str
    changes: tuple[str, ...] = ()
    next_approach: str = ""
    debated: bool = False
    degraded: tuple[str, ...] = ()
    session_id: str = ""

    def render_full(self) -> str:
        """The full text, for a person or model that must act on it."""
        said = [self.reason]
        said += [f"Change it like this: {'; '.join(self.changes)}"] if self.changes else []
        said += [f"Instead: {self.next_approach}"] if self.next_approach else []
        said += [f"(caveats: {'; '.join(self.degraded)})"] if self.degraded else []
        return " ".join(said)


def judge(action: str, route: Route, *, context: str = "", session: str = "", seconds: float | None = None) -> Verdict:
    """The verdict on an action before it runs. Without a model, a person decides about anything grave.

    Models and memory come from the user's own settings: the judged agent may write the project's file.
    """
    settings = _settings()
    question = VetQuestion(action, route.stakes, context, session)
    at_once = answer_directly(memory_of(settings), question)
    if at_once is not None:
        return _of(at_once)
    if "critic" not in settings.seats("vet"):
        grave = route.stakes != "low"
        return Verdict("ESCALATE" if grave else "PROCEED", route.reason, degraded=(NO_MODEL,))

    async def debate() -> VetResult:
        async with asyncio.timeout(seconds):
            return await vet_question(settings, question)

    try:
        return _of(asyncio.run(debate()))
    except TimeoutError:
        late = f"the debate did not end within {seconds:g} seconds"
        return Verdict("ESCALATE", route.reason, degraded=(late,))


def judge_failure(task: str, *, context: str = "", session: str = "") -> Verdict | None:
    """The verdict on a task that keeps failing; None without a model."""
    settings = _settings()
    if "critic" not in settings.seats("vet"):
        return None
    question = VetQuestion(task, None, context, session, failed=True)
    return _of(asyncio.run(vet_question(settings, question)))


def _settings() -> Settings:
    return Settings.load({"vet.memory": str(hook_folder(Path.cwd(), os.environ))}, own=True)


def _of(result: VetResult) -> Verdict:
    return Verdict(
        result.resolution, result.rationale, tuple(result.modifications), result.next_approach or "",
        result.debated, tuple(result.degraded), result.session_id or "",
    )  # fmt: skip
