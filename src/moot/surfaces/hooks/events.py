"""The three hooks: before a tool call, after it, and at a prompt."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from moot.routing import guards
from moot.routing.patterns import Lazy
from moot.routing.switch import find_off_switch
from moot.surfaces.hooks.clients import client_of, read_call, write_answer
from moot.surfaces.hooks.tools import Deed, deed_of, find_named_folder
from moot.surfaces.hooks.wire import BadInput, HookAnswer, HookCall, HookReply, Hostile

if TYPE_CHECKING:
    from moot.edge.files.memory import MemoryFolder
    from moot.surfaces.hooks.verdicts import Verdict

LONGEST_REASON = 2000
LONGEST_WAIT = 570.0
"""Seconds until there is an answer: `hook install` sets a timeout of 600, and clients run a command whose hook is
late."""
NOTHING = HookAnswer()
LONGEST_PROMPT = 20_000
TAGGED = Lazy(r"<([a-z][\w-]*)[^<>]*>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
FAILED = Lazy(r"(?:^|\n)Exit Code: [1-9]|completed with exit code [1-9]")


def answer(hook: str, raw: bytes, env: Mapping[str, str], *, client: str = "", strict: bool = False) -> HookReply:
    """The answer in the client's format."""
    try:
        call = read_call(raw, client)
    except BadInput as problem:
        return own_failure(hook, str(problem), env, client=client, strict=strict or isinstance(problem, Hostile))
    try:
        with change_folder(call.folder):
            result = ANSWERS[hook](call, env, strict)
    except Exception as problem:  # grave calls are answered already; the rest must not stop the person's work
        return own_failure(hook, f"{type(problem).__name__}: {problem}", env, client=call.client, strict=strict)
    return write_answer(call.client, hook, result, call.event)


@contextlib.contextmanager
def change_folder(folder: str) -> Iterator[None]:
    """Changes to the folder if possible. The current one may be gone, which is no reason to skip the judgement."""
    before = None
    with contextlib.suppress(OSError, ValueError):
        before = os.getcwd()
    with contextlib.suppress(OSError, ValueError):
        os.chdir(folder or os.curdir)
    try:
        yield
    finally:
        if before is not None:
            os.chdir(before)


def own_failure(hook: str, why: str, env: Mapping[str, str], *, client: str = "", strict: bool = False) -> HookReply:
    """Unreadable input is not blocked, unless strict."""
    reason = f"moot could not check this: {' '.join(why.split())[:500]}"
    if hook == "pre-tool-use" and (strict or is_strict(env)):
        denied = HookAnswer("deny", f"{reason}; it is blocked", notice=reason)
        return write_answer(client, hook, denied, "")
    return write_answer(client, hook, HookAnswer(notice=f"{reason}; nothing was blocked"), "")


def is_strict(env: Mapping[str, str]) -> bool:
    """`MOOT_HOOK_STRICT` or the user's `hook.strict`; unreadable settings count as strict."""
    try:
        said = own_setting("hook.strict", env)
    except Exception:
        return True
    return str(said).strip().lower() in ("1", "true", "yes", "on")


def own_setting(key: str, env: Mapping[str, str]) -> object:
    """From the environment and the user's file. The judged agent can write the project's file."""
    from moot.edge.files.memory import quick_setting

    return quick_setting(key, env)


def memory_here(env: Mapping[str, str]) -> "MemoryFolder":
    from pathlib import Path

    from moot.edge.files.memory import hook_memory

    return hook_memory(Path.cwd(), env)


def before(call: HookCall, env: Mapping[str, str], strict: bool) -> HookAnswer:
    deed = deed_of(call, env)
    if not deed.known and (deed.route.bypass or deed.route.stakes == "low"):
        return unknown_tool(call, deed, env, strict)
    if deed.route.bypass or deed.route.stakes == "low" or find_off_switch(env):
        return NOTHING  # no opinion: the client's own permissions apply
    try:
        return answer_grave(call, deed, env)
    except Exception as problem:  # a grave call does not pass because Moot fails
        why = " ".join(f"{type(problem).__name__}: {problem}".split())[:500]
        return HookAnswer("deny", f"Moot: {deed.route.reason}. It was stopped because Moot itself failed: {why}")


def answer_grave(call: HookCall, deed: Deed, env: Mapping[str, str]) -> HookAnswer:
    """The answer to a call that may do harm."""
    from moot.surfaces.hooks.allowances import allowances, call_id, use
    from moot.surfaces.hooks.sessions import is_waived

    if deed.route.stakes != "high" and is_waived(env, call.session):
        return NOTHING
    if use(allowances(env), call_id(call)) or is_allowed(call, deed, env):
        return NOTHING
    verdict = judge_call(call, deed)
    reason = " ".join([f"Moot: {verdict.render_full()}", *(f"{note}." for note in fresh(deed))])[:LONGEST_REASON]
    match verdict.resolution:
        case "PROCEED":
            return NOTHING
        case "MODIFY":
            return HookAnswer("deny", reason)
        case "RETRY" | "PIVOT":
            return HookAnswer(context=reason)
        case _:
            return escalate(call, deed, reason, env)


def fresh(deed: Deed) -> list[str]:
    """Notes that the reason does not contain."""
    lines = ((note, re.search(r"; line (\d+): ", note)) for note in deed.notes)
    return [note for note, found in lines if not found or f"(line {found[1]})" not in deed.route.reason]


def unknown_tool(call: HookCall, deed: Deed, env: Mapping[str, str], strict: bool) -> HookAnswer:
    reason = f"Moot does not know the tool {call.tool} and cannot tell what it does"
    if find_off_switch(env):
        return NOTHING
    if not strict and not is_strict(env):
        return HookAnswer(notice=f"moot: {reason}; it was not checked")
    from moot.surfaces.hooks.allowances import allowances, call_id, use

    return NOTHING if use(allowances(env), call_id(call)) else escalate(call, deed, reason, env)


def is_allowed(call: HookCall, deed: Deed, env: Mapping[str, str]) -> bool:
    """By a pattern in the user's settings; never for changes of Moot or the client, or in other places."""
    from moot.surfaces.hooks.allowances import matches

    if guards(deed.route) or find_named_folder(call):
        return False
    found = own_setting("hook.allow", env)
    patterns = found.split(",") if isinstance(found, str) else found if isinstance(found, list) else []
    return matches(deed.action, [str(each) for each in patterns])


def judge_call(call: HookCall, deed: Deed) -> "Verdict":
    """Debates the call; without a model a person decides. No failure lets a grave call pass."""
    from moot.surfaces.hooks.verdicts import Verdict, judge

    if guards(deed.route):  # the judged agent does not choose the judge
        return Verdict("ESCALATE", f"{deed.route.reason}; only a person may decide that")
    try:
        return judge(deed.action, deed.route, context=deed.context, session=call.session, seconds=LONGEST_WAIT / 2)
    except Exception as problem:
        why = " ".join(f"{type(problem).__name__}: {problem}".split())[:500]
        return Verdict("ESCALATE", deed.route.reason, degraded=(f"it could not be debated: {why}",))


def escalate(call: HookCall, deed: Deed, told: str, env: Mapping[str, str]) -> HookAnswer:
    """Escalates to a person: through the client if it can ask, else by `moot allow`, now or before the next try."""
    if call.sure and client_of(call.client).asks(call, env):
        return HookAnswer("ask", told)
    from moot.surfaces.hooks.allowances import SHOWN, allowances, note_stopped, wait
    from moot.text.secrets import Vault

    whole = "\n".join(filter(None, (deed.action, deed.context)))
    name = note_stopped(allowances(env), call, Vault(env).hide(whole), Vault(env).hide(told))
    if (seconds := read_waiting_time(env)) and wait(allowances(env), name, seconds):
        return NOTHING
    how = (
        f"Nobody can be asked here. A person can allow this one call with `moot allow {name[:SHOWN]}` in a terminal; "
        "then try it again, unchanged. Do not run `moot allow` yourself and do not look for a way around it."
    )
    return HookAnswer("deny", f"{told.rstrip('.')}. {how}")


def read_waiting_time(env: Mapping[str, str]) -> float:
    found = own_setting("hook.wait", env)
    return min(LONGEST_WAIT / 2, max(0.0, float(str(found)))) if found is not None else 0.0


def after(call: HookCall, env: Mapping[str, str], strict: bool) -> HookAnswer:
    deed = deed_of(call, env)
    if deed.route.bypass:  # `grep` that finds nothing has not failed
        return NOTHING
    from moot.surfaces.hooks.outcomes import note_failure, note_success

    memory, error = memory_here(env), error_of(call)
    if error is None:
        note_success(memory, deed.action, call.session)
        return NOTHING
    step = note_failure(memory, deed.action, deed.route, error, deed.context, call.session)
    if step.due == "nothing" or find_off_switch(env):
        return NOTHING
    if step.due == "escalate":
        return stop_answer(f"{step.why}. Stop trying; tell the person what was tried and ask how to continue.")
    return debate_failure(call, deed, step.why)


def stop_answer(why: str) -> HookAnswer:
    return HookAnswer(context=f"Moot: {why}", notice=f"moot: {why}")


def debate_failure(call: HookCall, deed: Deed, why: str) -> HookAnswer:
    from moot.surfaces.hooks.verdicts import judge_failure

    verdict = judge_failure(deed.action, context=deed.context, session=call.session)
    if verdict is None:
        return HookAnswer(
            context=f"Moot: {why}. Do not run it again unchanged: say what the attempts had in common, "
            "then try an approach that differs in kind, or ask the person.",
        )
    reason = f"{verdict.resolution}: {verdict.render_full()}"[:LONGEST_REASON]
    return stop_answer(reason) if verdict.resolution == "ESCALATE" else HookAnswer(context=f"Moot: {reason}")


def error_of(call: HookCall) -> str | None:
    if call.event in ("PostToolUseFailure", "postToolUseFailure"):
        return call.error or _read_response(call.response) or "it failed"
    found = call.response
    if isinstance(found, str):
        return found[:LONGEST_REASON] if found.startswith(("Error", "Exit code", "<tool_use_error>")) else None
    if not isinstance(found, dict):
        return call.error or None
    codes = [found.get(name) for name in ("exit_code", "exitCode", "returncode", "returnCode", "code")]
    failed = any(isinstance(code, int) and code != 0 for code in codes)
    failed |= found.get("is_error") is True or found.get("isError") is True or found.get("success") is False
    failed |= bool(found.get("error")) or bool(call.error) or any(map(FAILED.search, _list_model_texts(found)))
    return (call.error or _read_response(found) or "it failed") if failed else None


def _list_model_texts(response: dict[str, object]) -> list[str]:
    """The result text for the model: only there Gemini and Copilot say how a command ended."""
    texts = (response.get(name) for name in ("llmContent", "textResultForLlm", "text_result_for_llm"))
    return [text[-LONGEST_REASON:] for text in texts if isinstance(text, str)]


def _read_response(response: object) -> str:
    if isinstance(response, str):
        return response[:LONGEST_REASON]
    found = response if isinstance(response, dict) else {}
    texts = (found.get(name) for name in ("error", "stderr", "message", "stdout", "output"))
    parts = [text[-LONGEST_REASON:] for text in texts if isinstance(text, str) and text.strip()]
    return next(iter((*parts, *_list_model_texts(found))), "")


def hear_prompt(call: HookCall, env: Mapping[str, str], strict: bool) -> HookAnswer:
    """Handles phrases that waive debates or reset tasks."""
    from datetime import UTC, datetime

    from moot.evidence.failures import reset_reason
    from moot.routing.request import waives
    from moot.surfaces.hooks.sessions import set_waived

    words = own_words(call.prompt[:LONGEST_PROMPT])
    if call.prompt.strip() and not words:
        return NOTHING
    memory = memory_here(env)
    waived = bool(call.session) and waives(words)
    set_waived(env, call.session, waived=waived)
    notices = ["moot: for this request only high stakes are debated, as you said"] if waived else []
    if reset_reason(words) is not None and call.session:
        known = memory.standings(datetime.now(UTC)).values()
        if any(entry.session == call.session for task in known for entry in (*task.failures, *task.rejections)):
            memory.reset_all(datetime.now(UTC), call.session)
            notices.append("moot: earlier failures no longer count")
    return HookAnswer(notice="; ".join(notices))


def own_words(prompt: str) -> str:
    """The person's own text: clients also send reports of subagents, in tags."""
    return TAGGED.sub(" ", prompt).strip()


ANSWERS = {"pre-tool-use": before, "post-tool-use": after, "user-prompt": hear_prompt}
