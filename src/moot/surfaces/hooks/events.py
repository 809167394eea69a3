"""The three hooks: before a tool is used, after it, and when the person says something."""

import contextlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moot.routing.switch import disabled
from moot.surfaces.hooks.tools import Deed, deed_of
from moot.surfaces.hooks.wire import BadInput, HookAnswer, HookCall, parse_call

if TYPE_CHECKING:
    from moot.edge.memory import Memory

EVENTS = {"pre-tool-use": "PreToolUse", "post-tool-use": "PostToolUse", "user-prompt": "UserPromptSubmit"}
LONGEST_REASON = 2000
NOTHING = HookAnswer()


def answer(hook: str, raw: bytes, env: Mapping[str, str], *, strict: bool = False) -> HookAnswer:
    """What to tell the coding tool. Moot's own failure blocks nothing, unless that was asked for."""
    folder = os.curdir
    try:
        call = parse_call(raw)
        folder = call.folder if os.path.isdir(call.folder) else folder
        with contextlib.chdir(folder):
            return ANSWERS[hook](call, env)
    except (BadInput, Exception) as problem:  # whatever goes wrong here, the person's work goes on
        return own_failure(hook, f"{type(problem).__name__}: {problem}", strict=strict or is_strict(folder, env))


def own_failure(hook: str, why: str, *, strict: bool) -> HookAnswer:
    told = f"moot could not check this: {' '.join(why.split())[:500]}"
    if hook == "pre-tool-use" and strict:
        return HookAnswer("PreToolUse", "deny", f"{told}; it is blocked because strict is set", notice=told)
    return HookAnswer(EVENTS[hook], notice=f"{told}; nothing was blocked")


def is_strict(folder: str, env: Mapping[str, str]) -> bool:
    """`MOOT_HOOK_STRICT` or `hook.strict`; settings that cannot be read are not taken for leave to be lax."""
    from pathlib import Path

    from moot.edge.memory import quick_setting

    try:
        said = quick_setting("hook.strict", Path(folder), env)
    except Exception:
        return True
    return str(said).strip().lower() in ("1", "true", "yes", "on")


def memory_here(env: Mapping[str, str]) -> "Memory":
    from pathlib import Path

    from moot.edge.memory import quick_memory

    return quick_memory(Path.cwd(), env)


def before(call: HookCall, env: Mapping[str, str]) -> HookAnswer:
    deed = deed_of(call)
    if deed.route.bypass or deed.route.stakes == "low" or disabled(env):
        return NOTHING  # no opinion: the coding tool's own permissions hold
    from moot.surfaces.hooks.sessions import is_waived

    if is_waived(memory_here(env).folder, call.session):
        return NOTHING
    from moot.surfaces.verdicts import judge

    verdict = judge(deed.action, deed.route, context=deed.context, session=call.session)
    told = f"Moot: {verdict.told()}"[:LONGEST_REASON]
    match verdict.resolution:
        case "PROCEED":
            return NOTHING
        case "MODIFY":
            return HookAnswer("PreToolUse", "deny", told)
        case "RETRY" | "PIVOT":
            return HookAnswer("PreToolUse", context=told)
        case _:
            return HookAnswer("PreToolUse", "ask", told)


def after(call: HookCall, env: Mapping[str, str]) -> HookAnswer:
    deed = deed_of(call)
    if deed.route.bypass:  # `grep` that finds nothing has not failed
        return NOTHING
    from moot.surfaces.outcomes import note_failure, note_success

    memory, error = memory_here(env), error_of(call)
    if error is None:
        note_success(memory, deed.action, call.session)
        return NOTHING
    step = note_failure(memory, deed.action, deed.route, error, deed.context, call.session)
    if step.due == "nothing" or disabled(env):
        return NOTHING
    event = call.event if call.event in ("PostToolUse", "PostToolUseFailure") else "PostToolUse"
    if step.due == "escalate":
        return stopped(event, f"{step.why}. Stop trying; tell the person what was tried and ask how to go on.")
    return debated(event, call, deed, step.why)


def stopped(event: str, why: str) -> HookAnswer:
    return HookAnswer(event, context=f"Moot: {why}", notice=f"moot: {why}")


def debated(event: str, call: HookCall, deed: Deed, why: str) -> HookAnswer:
    from moot.surfaces.verdicts import judge_failure

    verdict = judge_failure(deed.action, context=deed.context, session=call.session)
    if verdict is None:
        return HookAnswer(
            event,
            context=f"Moot: {why}. Do not run it once more unchanged: say what the attempts had in common, "
            "then try an approach that differs in kind, or ask the person.",
        )
    told = f"{verdict.resolution}: {verdict.told()}"[:LONGEST_REASON]
    return stopped(event, told) if verdict.resolution == "ESCALATE" else HookAnswer(event, context=f"Moot: {told}")


def error_of(call: HookCall) -> str | None:
    """What went wrong, if anything did."""
    if call.event == "PostToolUseFailure":
        return call.error or _said(call.response) or "it failed"
    found = call.response
    if isinstance(found, str):
        return found[:LONGEST_REASON] if found.startswith(("Error", "Exit code", "<tool_use_error>")) else None
    if not isinstance(found, dict):
        return call.error or None
    codes = [found.get(name) for name in ("exit_code", "exitCode", "returncode", "returnCode", "code")]
    failed = any(isinstance(code, int) and code != 0 for code in codes)
    failed |= found.get("is_error") is True or found.get("isError") is True or found.get("success") is False
    failed |= bool(found.get("error")) or bool(call.error)
    return (call.error or _said(found) or "it failed") if failed else None


def _said(response: object) -> str:
    if isinstance(response, str):
        return response[:LONGEST_REASON]
    found = response if isinstance(response, dict) else {}
    texts = (found.get(name) for name in ("error", "stderr", "message", "stdout", "output"))
    return next((text[-LONGEST_REASON:] for text in texts if isinstance(text, str) and text.strip()), "")


def heard(call: HookCall, env: Mapping[str, str]) -> HookAnswer:
    """What the person says may waive debates for this request, or begin tasks afresh."""
    from datetime import UTC, datetime

    from moot.failures import reset_reason
    from moot.routing.request import waives
    from moot.surfaces.hooks.sessions import set_waived

    memory = memory_here(env)
    waived = bool(call.session) and waives(call.prompt[:20_000])
    set_waived(memory.folder, call.session, waived=waived)
    notices = ["moot: no debates for this request, as you said"] if waived else []
    if reset_reason(call.prompt[:20_000]) is not None and call.session:
        known = memory.standings(datetime.now(UTC)).values()
        if any(entry.session == call.session for task in known for entry in (*task.failures, *task.rejections)):
            memory.reset_all(datetime.now(UTC), call.session)
            notices.append("moot: earlier failures no longer count")
    return HookAnswer("UserPromptSubmit", notice="; ".join(notices))


ANSWERS = {"pre-tool-use": before, "post-tool-use": after, "user-prompt": heard}
