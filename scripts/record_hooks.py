"""Record what real coding agents send to their hooks, as test data: `record_hooks.py --bin FOLDER [CLIENT …]`.

One file for each event and kind of tool goes to tests/data/hooks/CLIENT. Ids, folders and times become neutral ones.
"""

import argparse
import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from client_runs import Outcome, Run, drive
from coding_agents import CLIENTS, Answer, Start
from fake_models import ToolCall

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "hooks"
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+three\n*** Add File: b.txt\n+new\n*** End Patch\n"
NEUTRAL = {
    "session_id": "s1",
    "sessionId": "s1",
    "prompt_id": "p1",
    "turn_id": "t1",
    "tool_use_id": "call1",
    "transcript_path": "/home/user/transcript.jsonl",
    "duration_ms": 1,
    "agent_id": "a1",
}
# "asked" needs a mode in which the client asks for permission; everything else needs one in which it does not.
ASKING_MODE = "default"
RECORDED_MODE = {
    "claude": "bypassPermissions",
    "codex": "bypass",
    "codex-code-mode": "bypass",
    "gemini": "yolo",
    "copilot": "allow-all-tools",
    "copilot-pascal": "allow-all-tools",
}


def samples(project: Path) -> dict[str, dict[str, tuple[ToolCall, ...]]]:
    """The calls to make, by client and kind of tool. All but the last of a tuple only prepare it."""
    file = str(project / "a.txt")
    read = ToolCall("Read", {"file_path": file})
    copilot: dict[str, tuple[ToolCall, ...]] = {
        "shell": (ToolCall("bash", {"command": "git status", "description": "Show the state"}),),
        "shell-failing": (ToolCall("bash", {"command": "git nonsense", "description": "Fail"}),),
        "write": (ToolCall("create", {"path": str(project / "b.txt"), "file_text": "new\n"}),),
        "edit": (ToolCall("edit", {"path": file, "old_str": "one", "new_str": "three"}),),
        "read": (ToolCall("view", {"path": file}),),
        "grep": (ToolCall("grep", {"pattern": "one"}),),
        "glob": (ToolCall("glob", {"pattern": "*.txt"}),),
        "mcp": (ToolCall("notes-delete_note", {"title": "a"}),),
    }
    return {
        "claude": {
            "shell": (ToolCall("Bash", {"command": "git status", "description": "Show the state"}),),
            "shell-failing": (ToolCall("Bash", {"command": "git nonsense", "description": "Fail"}),),
            "asked": (ToolCall("Bash", {"command": "touch b.txt", "description": "Make a file"}),),
            "write": (ToolCall("Write", {"file_path": f"{project}/b.txt", "content": "new\n"}),),
            "edit": (read, ToolCall("Edit", {"file_path": file, "old_string": "one", "new_string": "three"})),
            "read": (read,),
            "grep": (ToolCall("Grep", {"pattern": "one"}),),
            "glob": (ToolCall("Glob", {"pattern": "*.txt"}),),
            "fetch": (ToolCall("WebFetch", {"url": "http://127.0.0.1:9/", "prompt": "read it"}),),
            "mcp": (ToolCall("mcp__notes__delete_note", {"title": "a"}),),
            "agent": (
                ToolCall("Agent", {"description": "look", "prompt": "look", "subagent_type": "general-purpose"}),
            ),
        },
        "codex": {
            "shell": (ToolCall("exec_command", {"cmd": "git status"}),),
            "shell-failing": (ToolCall("exec_command", {"cmd": "git nonsense"}),),
            "patch": (ToolCall("apply_patch", text=PATCH),),
            "image": (ToolCall("view_image", {"path": file}),),
        },
        "codex-code-mode": {
            "shell": (ToolCall("exec", text="await tools.exec_command({cmd: 'git status'});"),),
            "mcp": (ToolCall("exec", text="text(await tools.mcp__notes__delete_note({title: 'a'}));"),),
        },
        "gemini": {
            "shell": (ToolCall("run_shell_command", {"command": "git status", "description": "Show the state"}),),
            "shell-failing": (ToolCall("run_shell_command", {"command": "git nonsense"}),),
            "write": (ToolCall("write_file", {"file_path": f"{project}/b.txt", "content": "new\n"}),),
            "edit": (
                ToolCall("read_file", {"file_path": file}),
                ToolCall(
                    "replace", {"file_path": file, "old_string": "one", "new_string": "three", "instruction": "x"}
                ),
            ),
            "read": (ToolCall("read_file", {"file_path": file}),),
            "grep": (ToolCall("grep_search", {"pattern": "one"}),),
            "glob": (ToolCall("glob", {"pattern": "*.txt"}),),
            "fetch": (ToolCall("web_fetch", {"prompt": "read http://127.0.0.1:9/"}),),
            "mcp": (ToolCall("mcp_notes_delete_note", {"title": "a"}),),
        },
        "copilot": copilot,
        "copilot-pascal": copilot,
    }


def choose_sample(name: str, kind: str, project: Path) -> tuple[ToolCall, ...]:
    return samples(project)[name][kind]


def make_neutral(value: Any, root: str) -> Any:
    if isinstance(value, dict):
        return {key: NEUTRAL.get(key, make_neutral(one, root)) for key, one in value.items()}
    if isinstance(value, list):
        return [make_neutral(one, root) for one in value]
    if isinstance(value, str):
        value = value.replace(sys.executable, "python3")
        value = value.replace(f"{root}/project", "/project").replace(f"{root}/home", "/home/user").replace(root, "/tmp")
        value = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "id1", value)
        value = re.sub(r"-tmp-drive-\w+-project", "-project", value)
        value = re.sub(r"toolu_\d+", "call1", re.sub(r"\ba[0-9a-f]{16}\b", "a1", value))
        value = re.sub(r"(PGID|PID): \d+", r"\1: 1", value)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-01-01T00:00:00.000Z", value)
    return 1767225600000 if isinstance(value, int) and value > 10**12 else value


def write_records(folder: Path, kind: str, outcome: Outcome) -> None:
    last = {call["event"]: call for call in outcome.calls}
    for event, call in last.items():
        if kind.endswith("-failing") and event in ("prompt", "before-tool"):
            continue
        sent = make_neutral(json.loads(call["sent"]), str(Path(call["cwd"]).parent))
        # A second prompt in a session is not the person's: the client reports a subagent's result that way.
        typed = event == "prompt" and sent["prompt"] == "do it"
        name = "prompt" if typed else f"{event}-{kind.removesuffix('-failing') if event == 'failure' else kind}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(sent, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", nargs="*", help="default: all")
    parser.add_argument("--bin", default="", help="folder with the clients' programs")
    parser.add_argument("--only", help="one kind of tool")
    options = parser.parse_args()
    for name in options.client or CLIENTS:
        for kind in samples(Path("/project"))[name]:
            if options.only in (None, kind):
                mode = ASKING_MODE if kind == "asked" else RECORDED_MODE[name]
                run = Run(CLIENTS[name], Start(mode), Answer(), programs=options.bin)
                outcome = drive(run, partial(choose_sample, name, kind))
                write_records(FOLDER / name, kind, outcome)
                events = ", ".join(call["event"] for call in outcome.calls)
                sys.stderr.write(f"{name} {kind}: {events}; told: {outcome.told[-300:]!r}\n")


if __name__ == "__main__":
    main()
