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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coding_agents import Answer, Client, Json, Place, Start
from fake_models import FakeModel, ToolCall

PROOF = "PROOF"
PATIENCE = 90.0
GRACE = 2.0

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
class Outcome:
    """What became of one call."""

    ran: bool
    asked: bool
    told: str
    calls: tuple[Json, ...]
    output: str
    model: FakeModel

    @property
    def started(self) -> bool:
        return bool(self.model.tools)


@dataclass(frozen=True)
class Run:
    """One start of a client, with a hook that gives an answer or with what `install` sets up."""

    client: Client
    start: Start
    answer: Answer
    install: str = ""
    programs: str = ""
    until: str = ""
    """On a terminal: the client runs until its model is sent these words, instead of until its calls are over."""

    def is_over(self, model: FakeModel) -> bool:
        if self.until:
            return any(self.until in json.dumps(request) for _, request in model.requests)
        return len(model.told) >= len(model.script)


def drive(run: Run, script: Callable[[Path], Sequence[ToolCall]]) -> Outcome:
    """Start the client in a fresh project and wait until it ends. The script is told where the project is."""
    with tempfile.TemporaryDirectory(prefix="drive-") as folder:
        place = Place(Path(folder))
        _make_project(place, run.answer)
        with FakeModel(script(place.project)) as model:
            return _drive(run, place, model)


def _drive(run: Run, place: Place, model: FakeModel) -> Outcome:
    keep = {name: os.environ[name] for name in ("LANG", "TERM", "PYTHONPATH") if name in os.environ}
    path = f"{run.programs}{os.pathsep}{os.environ['PATH']}" if run.programs else os.environ["PATH"]
    # Codex puts no helper programs of its sandbox under the folder for temporary files.
    own = {"PATH": path, "HOME": str(place.home), "TMPDIR": str(place.root / "tmp")}
    environment = keep | own | run.client.environment(place, model.url)
    run.client.set_up(place, model.url)
    if run.install:
        # Its words go where they do not disturb the table.
        # moot: ignore[python-shell] the person who starts the script types this command
        subprocess.run(run.install, shell=True, cwd=place.project, env=environment, stdout=sys.stderr, check=True)
    else:
        run.client.write_hooks(place, run.answer)
    argv = run.client.argv(run.start)
    if run.start.terminal:
        output = _run_on_terminal(argv, place.project, environment, run, model)
    else:
        output = _run(argv, place.project, environment)
    record = place.records / "calls.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return Outcome(
        ran=(place.project / PROOF).exists(),
        asked=run.start.terminal and not model.told and re.search(run.client.question, output) is not None,
        told="\n".join(model.told[number] for number in sorted(model.told)),
        calls=tuple(json.loads(line) for line in lines),
        output=output,
        model=model,
    )


def _make_project(place: Place, answer: Answer) -> None:
    place.home.mkdir()
    place.project.mkdir()
    (place.root / "tmp").mkdir()
    place.write(place.root / "recorder.py", RECORDER)
    place.write(place.root / "mcp_server.py", MCP_SERVER)
    place.write(place.records / "answer.json", vars(answer))
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


def _run_on_terminal(argv: list[str], cwd: Path, environment: dict[str, str], run: Run, model: FakeModel) -> str:
    """Show the client a terminal, until its run is over or it waits for a person."""
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
    end = time.monotonic() + (PATIENCE if run.until else PATIENCE / 3)
    try:
        while time.monotonic() < end and not run.is_over(model):
            ready, _, _ = select.select([terminal], [], [], 0.2)
            if ready:
                got = os.read(terminal, 65536).decode(errors="replace")
                for asked, reply in TERMINAL_QUERIES.items():
                    if asked in got:
                        os.write(terminal, reply.encode())
                screen += got
            elif asked_for is None and re.search(run.client.question, _plain(screen)):
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
