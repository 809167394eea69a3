"""Coding clients: how each describes a tool call, whether it can ask a person, and how it is answered.

What each client does with an answer was tried or read, see docs/hooks.md. No client reads another's answers, and most
treat an unknown answer as permission. So the client is identified with care, and an unknown one is answered by exit
code 2, which all of them treat as "no".
"""

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from moot.surfaces.hooks.wire import BadInput, HookAnswer, HookCall, HookReply, parse_json, text_of
from moot.text.controls import clean

ASKING_MODES = ("", "default", "acceptEdits", "plan")
"""Modes of Claude Code in which `ask` reaches the person; in others, some versions just run the call."""
Found = dict[str, object]


class HookClient(NamedTuple):
    label: str
    asks: Callable[[HookCall, Mapping[str, str]], bool]
    """Whether `ask` reaches a person."""
    write: Callable[[str, HookAnswer, str], HookReply]
    """Writes the answer to an event, given the client's name of it."""


def read_call(raw: bytes, flag: str = "") -> HookCall:
    """Parses a call of any client."""
    found = parse_json(raw)
    shape = identify_client(found)
    client = shape or flag
    if flag and shape and shape != flag and (flag, shape) not in READERS:
        client = "unknown"
    given = found.get("tool_input", found.get("toolArgs"))
    if isinstance(given, str):  # Cursor and Copilot send the input of some tools as text
        given = _unpack(given)
    tool = text_of(found.get("tool_name", found.get("toolName")))
    event = text_of(found.get("hook_event_name", found.get("hookEventName")))
    if event in CURSOR_SHELL and not tool:
        tool, given = "Shell", {"command": found.get("command")}
    if event == "beforeReadFile":
        tool, given = "Read", {"file_path": found.get("file_path")}
    if event == "beforeMCPExecution":
        tool = f"MCP:{tool}"
    folder = text_of(found.get("cwd"))
    if not folder and isinstance(roots := found.get("workspace_roots"), list) and roots:
        folder = text_of(roots[0])
    if not event and not tool and "prompt" not in found:
        raise BadInput("not a known hook call: it has no tool_name and no event")
    session = found.get("session_id") or found.get("sessionId") or found.get("conversation_id")
    return HookCall(
        client=client,
        event=event,
        session=text_of(session),
        folder=folder,
        tool=tool,
        given=given if isinstance(given, dict) else {},
        mode=text_of(found.get("permission_mode")),
        sure=not flag or not shape or shape == flag,
        response=next((found[key] for key in RESPONSES if key in found), None),
        error=text_of(found.get("error", found.get("error_message"))),
        prompt=text_of(found.get("prompt")),
    )


READERS = {
    ("claude", "vscode"),
    ("claude", "copilot"),
    ("claude", "cursor"),
    ("vscode", "copilot"),
    ("copilot", "vscode"),
}
"""Clients that read the settings of another, so that flag and input may rightly differ."""
RESPONSES = ("tool_response", "toolResult", "tool_result", "tool_output", "output", "result_json")
CURSOR_SHELL = ("beforeShellExecution", "afterShellExecution")


def _unpack(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"input": text}


def identify_client(found: Found) -> str:
    """By fields that only one client sends; "" if ambiguous."""
    event = text_of(found.get("hook_event_name"))
    if "cursor_version" in found or "conversation_id" in found or event[:1].islower():
        return "cursor"
    if event in ("BeforeTool", "AfterTool", "BeforeAgent"):
        return "gemini"
    if "hookEventName" in found or (event and "timestamp" in found and "transcript_path" in found):
        return "vscode"
    if "toolName" in found or ("timestamp" in found and {"session_id", "sessionId"} & found.keys()):
        return "copilot"
    if "turn_id" in found:
        return "codex"
    if {"prompt_id", "effort"} & found.keys():
        return "claude"
    return ""


# --- who can be asked


def _is_attended(call: HookCall, env: Mapping[str, str]) -> bool:
    """Claude Code says whether a person is present; older versions only how they were started."""
    there = env.get("CLAUDE_CODE_SESSION_ATTENDED") or ("1" if env.get("CLAUDE_CODE_ENTRYPOINT") == "cli" else "0")
    return there == "1" and call.mode in ASKING_MODES


def _never(call: HookCall, env: Mapping[str, str]) -> bool:
    """`ask` would run the command: in Codex always, in Cursor without a person; Gemini waits for ever."""
    return False


def _always(call: HookCall, env: Mapping[str, str]) -> bool:
    return True


# --- how each is answered

EVENTS = {"pre-tool-use": "PreToolUse", "post-tool-use": "PostToolUse", "user-prompt": "UserPromptSubmit"}


def _claude(hook: str, answer: HookAnswer, event: str) -> HookReply:
    """Claude Code, Codex and VS Code read the same; Codex rejects unknown fields."""
    specific: Found = {"hookEventName": event if event.startswith(EVENTS[hook]) else EVENTS[hook]}
    if answer.decision:
        specific |= {"permissionDecision": answer.decision, "permissionDecisionReason": answer.reason}
    if answer.context:
        specific["additionalContext"] = answer.context
    whole: Found = {"hookSpecificOutput": specific} if len(specific) > 1 else {}
    return _json(whole | ({"systemMessage": answer.notice} if answer.notice else {}))


def _cursor(hook: str, answer: HookAnswer, event: str) -> HookReply:
    if hook == "user-prompt":
        return _json({"continue": True} | ({"user_message": answer.notice} if answer.notice else {}))
    said = answer.reason or answer.context
    whole: Found = {"permission": answer.decision} if answer.decision else {}
    if answer.reason or answer.notice:
        whole["user_message"] = answer.reason or answer.notice
    if said:
        whole |= {"agent_message": said} if hook == "pre-tool-use" else {"additional_context": said}
    return _json(whole)


def _gemini(hook: str, answer: HookAnswer, event: str) -> HookReply:
    whole: Found = {"decision": "deny", "reason": answer.reason} if answer.decision else {}
    if answer.context:
        whole["hookSpecificOutput"] = {"additionalContext": answer.context}
    return _json(whole | ({"systemMessage": answer.notice} if answer.notice else {}))


def _copilot(hook: str, answer: HookAnswer, event: str) -> HookReply:
    """Copilot reads one format for its own events and another for those of Claude Code: it gets both."""
    own = {"permissionDecision": answer.decision, "permissionDecisionReason": answer.reason} if answer.decision else {}
    whole = json.loads(_claude(hook, answer, event).out or "{}")
    return _json({**own, **whole})


def _unknown(hook: str, answer: HookAnswer, event: str) -> HookReply:
    """No format is certain, but exit code 2 with a reason on stderr is."""
    if answer.decision:
        return HookReply(err=f"{answer.reason}\n", code=2)
    return HookReply(err=f"{answer.notice}\n" if answer.notice else "")


def _json(whole: Found) -> HookReply:
    return HookReply(json.dumps(whole) + "\n" if whole else "")  # ASCII, which any locale can write


CLIENTS = {
    "claude": HookClient("Claude Code", _is_attended, _claude),
    "codex": HookClient("Codex", _never, _claude),
    "vscode": HookClient("VS Code", _always, _claude),
    "copilot": HookClient("Copilot CLI", _never, _copilot),
    "cursor": HookClient("Cursor", _never, _cursor),
    "gemini": HookClient("Gemini CLI", _never, _gemini),
}
UNKNOWN = HookClient("an unknown client", _never, _unknown)


def client_of(name: str) -> HookClient:
    return CLIENTS.get(name, UNKNOWN)


def write_answer(client: str, hook: str, answer: HookAnswer, event: str) -> HookReply:
    """In the client's format. What it shows to the person who decides has no character that a terminal obeys."""
    return client_of(client).write(hook, HookAnswer(*map(clean, answer)), event)
