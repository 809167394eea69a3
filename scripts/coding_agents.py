"""Start a real coding agent with a recording hook against a fake model, and see whether its tool call ran."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fake_models import FakeModel, ToolCall

PROOF = "PROOF"
PATIENCE = 90.0
GRACE = 2.0
HOOK_TIMEOUT = 2
Json = dict[str, Any]

# Stands in front of the answer: it records what the client sent, then answers with what the case says.
RECORDER = """\
import json, os, sys, time
folder, event = sys.argv[1], sys.argv[2]
sent = sys.stdin.read()
env = {name: "" if "TOKEN" in name or "KEY" in name else value for name, value in os.environ.items()}
record = {"event": event, "cwd": os.getcwd(), "env": env, "sent": sent}
with open(os.path.join(folder, "calls.jsonl"), "a", encoding="utf-8") as file:
    file.write(json.dumps(record) + "\\n")
if event == "before-tool":
    with open(os.path.join(folder, "answer.json"), encoding="utf-8") as file:
        answer = json.load(file)
    if answer["hook"]:
        import subprocess
        done = subprocess.run(answer["hook"], shell=True, input=sent, text=True, capture_output=True)
        answer = {"stdout": done.stdout, "stderr": done.stderr, "code": done.returncode, "sleep": 0}
        with open(os.path.join(folder, "answers.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(answer) + "\\n")
    time.sleep(answer["sleep"])
    sys.stdout.write(answer["stdout"])
    sys.stderr.write(answer["stderr"])
    sys.exit(answer["code"])
"""

# A server with one tool, spoken to over standard input.
MCP_SERVER = """\
import json, sys
TOOL = {"name": "delete_note", "description": "Delete a note.", "inputSchema": {
    "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "notes", "version": "1"}},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "deleted"}]},
    }
    reply = {"jsonrpc": "2.0", "id": asked["id"], "result": answers.get(asked["method"], {})}
    print(json.dumps(reply), flush=True)
"""


@dataclass(frozen=True)
class Answer:
    """What a hook says before a tool is used. `stops` is false where the client is told to go on, or nothing."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    sleep: float = 0
    missing: bool = False
    hook: str = ""
    stops: bool = False


@dataclass(frozen=True)
class Place:
    """The folders of one run."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def records(self) -> Path:
        return self.root / "records"

    def hook(self, event: str, missing: bool) -> str:
        if missing and event == "before-tool":
            return str(self.root / "no-such-program")
        return f"{sys.executable} {self.root / 'recorder.py'} {self.records} {event}"

    @property
    def mcp_server(self) -> Json:
        return {"command": sys.executable, "args": [str(self.root / "mcp_server.py")]}

    def write(self, path: Path, data: Json | str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


class Client(ABC):
    """How one coding agent is set up and started."""

    name: str
    modes: tuple[str, ...]
    events: ClassVar[dict[str, str]]
    question: str  # what the screen shows when a person is asked

    @abstractmethod
    def shell(self, command: str) -> ToolCall: ...

    @abstractmethod
    def set_up(self, place: Place, answer: Answer, url: str) -> None: ...

    @abstractmethod
    def argv(self, mode: str, terminal: bool) -> list[str]: ...

    def environment(self, place: Place, url: str) -> dict[str, str]:
        return {}


class Claude(Client):
    name = "claude"
    question = r"Do\s+you\s+want\s+to"
    modes = ("default", "manual", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto", "allow-rule")
    events: ClassVar[dict[str, str]] = {
        "before-tool": "PreToolUse",
        "after-tool": "PostToolUse",
        "failure": "PostToolUseFailure",
        "prompt": "UserPromptSubmit",
        "permission": "PermissionRequest",
    }

    def shell(self, command: str) -> ToolCall:
        return ToolCall("Bash", {"command": command, "description": "run it"})

    def set_up(self, place: Place, answer: Answer, url: str) -> None:
        place.write(place.project / ".claude" / "settings.json", {"hooks": _hooks(self, place, answer, HOOK_TIMEOUT)})
        # What a person answers once at the first start: theme, key, trust in the folder, the warning of bypass mode.
        trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        answered = {"hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True}
        key = {"customApiKeyResponses": {"approved": ["none"], "rejected": []}}
        first = answered | key | {"projects": {str(place.project): trust}, "mcpServers": {"notes": place.mcp_server}}
        place.write(place.home / ".claude.json", first)

    def argv(self, mode: str, terminal: bool) -> list[str]:
        # A rule of the user that allows every command: the case of "ask" against a standing permission.
        how = ["--allowedTools", "Bash"] if mode == "allow-rule" else ["--permission-mode", mode]
        return ["claude", *([] if terminal else ["-p"]), *how, "--", "do it"]

    def environment(self, place: Place, url: str) -> dict[str, str]:
        quiet = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX")
        return dict.fromkeys(quiet, "1") | {
            "ENABLE_TOOL_SEARCH": "false",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
        }


class Codex(Client):
    name = "codex"
    model = "gpt-5.5"
    question = r"Would\s+you\s+like\s+to"
    modes = ("never", "on-request", "danger-full-access", "bypass")
    events: ClassVar[dict[str, str]] = {
        "before-tool": "PreToolUse",
        "after-tool": "PostToolUse",
        "prompt": "UserPromptSubmit",
        "permission": "PermissionRequest",
    }

    def shell(self, command: str) -> ToolCall:
        return ToolCall("exec_command", {"cmd": command})

    def set_up(self, place: Place, answer: Answer, url: str) -> None:
        provider = f'name = "fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\nrequires_openai_auth = false\n'
        config = f'model = "{self.model}"\nmodel_provider = "fake"\n[model_providers.fake]\n{provider}'
        trust = f'[projects."{place.project}"]\ntrust_level = "trusted"\n'
        server = f"[mcp_servers.notes]\ncommand = {place.mcp_server['command']!r}\nargs = {place.mcp_server['args']}\n"
        place.write(place.home / ".codex" / "config.toml", config + trust + server)
        place.write(place.home / ".codex" / "hooks.json", {"hooks": _hooks(self, place, answer, HOOK_TIMEOUT)})

    def argv(self, mode: str, terminal: bool) -> list[str]:
        start = ["codex", *([] if terminal else ["exec"]), "--dangerously-bypass-hook-trust"]
        if mode == "bypass":
            return [*start, "--dangerously-bypass-approvals-and-sandbox", "do it"]
        if mode == "danger-full-access":
            return [*start, "--sandbox", mode, "do it"]
        return [*start, "--sandbox", "workspace-write", "-c", f'approval_policy="{mode}"', "do it"]


class CodexCodeMode(Codex):
    """The newest models call their tools from a program that Codex runs."""

    name = "codex-code-mode"
    model = "gpt-5.6-sol"

    def shell(self, command: str) -> ToolCall:
        return ToolCall("exec", text=f"text(JSON.stringify(await tools.exec_command({json.dumps({'cmd': command})})));")


class Gemini(Client):
    name = "gemini"
    question = r"Allow\s+execution|Apply\s+this\s+change"
    modes = ("default", "auto_edit", "plan", "yolo")
    events: ClassVar[dict[str, str]] = {"before-tool": "BeforeTool", "after-tool": "AfterTool", "prompt": "BeforeAgent"}

    def shell(self, command: str) -> ToolCall:
        return ToolCall("run_shell_command", {"command": command, "description": "run it"})

    def set_up(self, place: Place, answer: Answer, url: str) -> None:
        hooks = _hooks(self, place, answer, HOOK_TIMEOUT * 1000)
        settings = {
            "hooks": hooks,
            "mcpServers": {"notes": place.mcp_server | {"trust": True}},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        }
        place.write(place.home / ".gemini" / "settings.json", settings)

    def argv(self, mode: str, terminal: bool) -> list[str]:
        return [
            "gemini",
            "--skip-trust",
            "--approval-mode",
            mode,
            "-m",
            "gemini-2.5-pro",
            "-i" if terminal else "-p",
            "do it",
        ]

    def environment(self, place: Place, url: str) -> dict[str, str]:
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "NO_PROXY": "127.0.0.1"}


class Copilot(Client):
    name = "copilot"
    question = r"Do\s+you\s+want\s+to|Hook\s+requires"
    modes = ("default", "allow-all-tools")
    events: ClassVar[dict[str, str]] = {
        "before-tool": "preToolUse",
        "after-tool": "postToolUse",
        "failure": "postToolUseFailure",
        "error": "errorOccurred",
        "prompt": "userPromptSubmitted",
    }

    def shell(self, command: str) -> ToolCall:
        return ToolCall("bash", {"command": command, "description": "run it"})

    def set_up(self, place: Place, answer: Answer, url: str) -> None:
        hooks = {
            name: [{"type": "command", "bash": place.hook(event, answer.missing), "timeoutSec": HOOK_TIMEOUT}]
            for event, name in self.events.items()
        }
        place.write(place.home / ".copilot" / "config.json", {"trustedFolders": [str(place.project)]})
        server = place.mcp_server | {"type": "local", "tools": ["*"]}
        place.write(place.home / ".copilot" / "mcp-config.json", {"mcpServers": {"notes": server}})
        # Hooks of the project run in a trusted folder only; those of the user always do.
        place.write(place.home / ".copilot" / "hooks" / "record.json", {"version": 1, "hooks": hooks})

    def argv(self, mode: str, terminal: bool) -> list[str]:
        how = ["--allow-all-tools"] if mode == "allow-all-tools" else []
        return ["copilot", "-i" if terminal else "-p", "do it", *how]

    def environment(self, place: Place, url: str) -> dict[str, str]:
        provider = {"BASE_URL": f"{url}/v1", "TYPE": "openai", "API_KEY": "none", "WIRE_API": "completions"}
        named = {f"COPILOT_PROVIDER_{key}": value for key, value in provider.items()}
        return named | {"COPILOT_MODEL": "fake", "COPILOT_OFFLINE": "true"}


class CopilotPascal(Copilot):
    """The same client, with the event names and the messages of Claude Code."""

    name = "copilot-pascal"
    events: ClassVar[dict[str, str]] = {
        "before-tool": "PreToolUse",
        "after-tool": "PostToolUse",
        "failure": "PostToolUseFailure",
        "prompt": "UserPromptSubmit",
    }


_ALL: tuple[Client, ...] = (Claude(), Codex(), CodexCodeMode(), Gemini(), Copilot(), CopilotPascal())
CLIENTS = {client.name: client for client in _ALL}


def _hooks(client: Client, place: Place, answer: Answer, timeout: int) -> Json:
    def group(event: str) -> list[Json]:
        hook = {"type": "command", "command": place.hook(event, answer.missing), "timeout": timeout}
        return [{"hooks": [hook]} if event == "prompt" else {"matcher": "*", "hooks": [hook]}]

    return {name: group(event) for event, name in client.events.items()}


@dataclass(frozen=True)
class Outcome:
    """What became of one call."""

    ran: bool
    asked: bool
    told: str
    calls: tuple[Json, ...]
    output: str
    model: FakeModel


@dataclass(frozen=True)
class Run:
    """One start of a client: which, how, and what its hook answers."""

    client: Client
    mode: str
    answer: Answer
    programs: str = ""
    terminal: bool = False


def drive(run: Run, script: Callable[[Path], Sequence[ToolCall]]) -> Outcome:
    """Start the client in a fresh project and wait until it ends. The script is told where the project is."""
    with tempfile.TemporaryDirectory(prefix="drive-") as folder:
        place = Place(Path(folder))
        _make_project(place)
        with FakeModel(script(place.project)) as model:
            return _drive(run, place, model)


def _drive(run: Run, place: Place, model: FakeModel) -> Outcome:
    client = run.client
    place.write(place.root / "recorder.py", RECORDER)
    place.write(place.root / "mcp_server.py", MCP_SERVER)
    place.write(place.records / "answer.json", vars(run.answer))
    client.set_up(place, run.answer, model.url)
    keep = {name: os.environ[name] for name in ("LANG", "TERM", "PYTHONPATH") if name in os.environ}
    path = f"{run.programs}{os.pathsep}{os.environ['PATH']}" if run.programs else os.environ["PATH"]
    # Codex puts no helper programs of its sandbox under the folder for temporary files.
    own = {"PATH": path, "HOME": str(place.home), "TMPDIR": str(place.root / "tmp")}
    environment = keep | own | client.environment(place, model.url)
    argv = client.argv(run.mode, run.terminal)
    if run.terminal:
        output = _run_on_terminal(argv, place.project, environment, model, client.question)
    else:
        output = _run(argv, place.project, environment)
    record = place.records / "calls.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return Outcome(
        ran=(place.project / PROOF).exists(),
        asked=run.terminal and not model.told and re.search(client.question, output) is not None,
        told="\n".join(model.told[number] for number in sorted(model.told)),
        calls=tuple(json.loads(line) for line in lines),
        output=output,
        model=model,
    )


def _make_project(place: Place) -> None:
    place.home.mkdir()
    place.project.mkdir()
    (place.root / "tmp").mkdir()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run([*git, "init", "-q", "--bare", str(place.root / "remote.git")], check=True)
    subprocess.run([*git, "init", "-q", "-b", "main"], cwd=place.project, check=True)
    (place.project / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    subprocess.run([*git, "add", "."], cwd=place.project, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "start"], cwd=place.project, check=True)
    subprocess.run([*git, "remote", "add", "origin", str(place.root / "remote.git")], cwd=place.project, check=True)


def _run(argv: list[str], cwd: Path, environment: dict[str, str]) -> str:
    program = shutil.which(argv[0], path=environment["PATH"])
    if program is None:
        raise SystemExit(f"{argv[0]!r} is not installed; name its folder with --bin")
    # A session of its own: whatever the client started ends with it.
    process = subprocess.Popen(
        [program, *argv[1:]],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE)
        return output
    except subprocess.TimeoutExpired:
        return "the client did not end in time"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _run_on_terminal(argv: list[str], cwd: Path, environment: dict[str, str], model: FakeModel, question: str) -> str:
    """Show the client a terminal, until the model was told of every call or the client waits for a person."""
    program = shutil.which(argv[0], path=environment["PATH"])
    if program is None:
        raise SystemExit(f"{argv[0]!r} is not installed; name its folder with --bin")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(program, [program, *argv[1:]], environment | {"TERM": "xterm-256color"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    screen = ""
    asked_for = None
    end = time.monotonic() + PATIENCE / 3
    try:
        while time.monotonic() < end and len(model.told) < len(model.script):
            ready, _, _ = select.select([terminal], [], [], 0.2)
            if ready:
                got = os.read(terminal, 65536).decode(errors="replace")
                for asked, reply in TERMINAL_QUERIES.items():
                    if asked in got:
                        os.write(terminal, reply.encode())
                screen += got
            elif asked_for is None and re.search(question, _plain(screen)):
                # Some modes show a question and take it back when a classifier has answered it.
                asked_for = end = time.monotonic() + GRACE
    except OSError:
        screen += "\n(the client ended)"
    finally:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return _plain(screen)


def _plain(screen: str) -> str:
    return re.sub(r"\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\\\)|[()][A-Z0-9]|[=>78])", " ", screen)


# Clients ask the terminal where the cursor is and which colours it has, and wait for the answer.
TERMINAL_QUERIES = {
    "\x1b[6n": "\x1b[1;1R",
    "\x1b[c": "\x1b[?62;c",
    "\x1b]11;?": "\x1b]11;rgb:0000/0000/0000\x1b\\",
    "\x1b]10;?": "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    "\x1b[?u": "\x1b[?0u",
}
