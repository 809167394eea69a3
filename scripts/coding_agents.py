"""The coding agents that can be driven: how each is set up, given hooks and started."""

import json
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fake_models import ToolCall

Json = dict[str, Any]


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
    timeout: int = 60  # seconds that the client gives the hook


@dataclass(frozen=True)
class Start:
    """How a client is started."""

    mode: str
    terminal: bool = False
    prompt: str = "do it"


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
    def set_up(self, place: Place, url: str) -> None:
        """Write the settings without which the client does not start, or asks first."""

    @abstractmethod
    def write_hooks(self, place: Place, answer: Answer) -> None: ...

    @abstractmethod
    def argv(self, start: Start) -> list[str]: ...

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

    def set_up(self, place: Place, url: str) -> None:
        # What a person answers once at the first start: theme, key, trust in the folder, the warning of bypass mode.
        trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        answered = {"hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True}
        key = {"customApiKeyResponses": {"approved": ["none"], "rejected": []}}
        first = answered | key | {"projects": {str(place.project): trust}, "mcpServers": {"notes": place.mcp_server}}
        place.write(place.home / ".claude.json", first)

    def write_hooks(self, place: Place, answer: Answer) -> None:
        place.write(place.project / ".claude" / "settings.json", {"hooks": _hooks(self, place, answer, answer.timeout)})

    def argv(self, start: Start) -> list[str]:
        # A rule of the user that allows every command: the case of "ask" against a standing permission.
        how = ["--allowedTools", "Bash"] if start.mode == "allow-rule" else ["--permission-mode", start.mode]
        return ["claude", *([] if start.terminal else ["-p"]), *how, "--", start.prompt]

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

    def set_up(self, place: Place, url: str) -> None:
        provider = f'name = "fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\nrequires_openai_auth = false\n'
        config = f'model = "{self.model}"\nmodel_provider = "fake"\n[model_providers.fake]\n{provider}'
        # The offer of a newer model, which a terminal shows first, counts as seen.
        seen = '[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n"gpt-5.6-sol" = "gpt-6-sol"\n'
        trust = f'[projects."{place.project}"]\ntrust_level = "trusted"\n'
        server = f"[mcp_servers.notes]\ncommand = {place.mcp_server['command']!r}\nargs = {place.mcp_server['args']}\n"
        place.write(place.home / ".codex" / "config.toml", config + seen + trust + server)

    def write_hooks(self, place: Place, answer: Answer) -> None:
        place.write(place.home / ".codex" / "hooks.json", {"hooks": _hooks(self, place, answer, answer.timeout)})

    def argv(self, start: Start) -> list[str]:
        # Hooks run only once a person has approved each of them, or with this flag.
        first = ["codex", *([] if start.terminal else ["exec"]), "--dangerously-bypass-hook-trust"]
        if start.mode == "bypass":
            how = ["--dangerously-bypass-approvals-and-sandbox"]
        elif start.mode == "danger-full-access":
            how = ["--sandbox", start.mode]
        else:
            how = ["--sandbox", "workspace-write", "-c", f'approval_policy="{start.mode}"']
        return [*first, *how, start.prompt]


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

    def set_up(self, place: Place, url: str) -> None:
        settings = {
            "mcpServers": {"notes": place.mcp_server | {"trust": True}},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        }
        place.write(place.home / ".gemini" / "settings.json", settings)
        # With --skip-trust instead, the client starts but does not run the project's hooks.
        place.write(place.home / ".gemini" / "trustedFolders.json", {str(place.project): "TRUST_FOLDER"})

    def write_hooks(self, place: Place, answer: Answer) -> None:
        hooks = _hooks(self, place, answer, answer.timeout * 1000)
        place.write(place.project / ".gemini" / "settings.json", {"hooks": hooks})

    def argv(self, start: Start) -> list[str]:
        how = ["--approval-mode", start.mode, "-m", "gemini-2.5-pro"]
        return ["gemini", *how, "-i" if start.terminal else "-p", start.prompt]

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

    def set_up(self, place: Place, url: str) -> None:
        place.write(place.home / ".copilot" / "config.json", {"trustedFolders": [str(place.project)]})
        server = place.mcp_server | {"type": "local", "tools": ["*"]}
        place.write(place.home / ".copilot" / "mcp-config.json", {"mcpServers": {"notes": server}})

    def write_hooks(self, place: Place, answer: Answer) -> None:
        hooks = {
            name: [{"type": "command", "bash": place.hook(event, answer.missing), "timeoutSec": answer.timeout}]
            for event, name in self.events.items()
        }
        # Hooks of the project run in a trusted folder only; those of the user always do.
        place.write(place.home / ".copilot" / "hooks" / "record.json", {"version": 1, "hooks": hooks})

    def argv(self, start: Start) -> list[str]:
        how = ["--allow-all-tools"] if start.mode == "allow-all-tools" else []
        return ["copilot", "-i" if start.terminal else "-p", start.prompt, *how]

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
