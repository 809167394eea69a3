"""Container and compose file on an engine that runs: built, started, stopped; a worker killed. Skipped without one."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock
from patience import wait_until

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
WORLD = dict(os.environ)
BASE = "python:3.13-slim"
STORE = "postgres:17"
TAG = "moot"
"""As the compose file names it."""
HARDENED = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
SANDBOX = (
    *("--security-opt", f"seccomp={DEPLOY / 'seccomp.json'}", "--security-opt", "systempaths=unconfined"),
    *("--security-opt", "apparmor=unconfined"),
)
FORBIDDEN = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
QUERY = """import sqlite3


def find(db, name):
    return db.execute("SELECT * FROM t WHERE n = '" + name + "'").fetchall()
"""
HOLDS = """import sqlite3
from app import find
def test_find():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (n)")
    db.execute("INSERT INTO t VALUES ('a')")
    assert find(db, "a") == [("a",)]
"""


def test_the_profile_is_that_of_the_sandbox() -> None:
    """The container may ask what code in a sandbox may ask, and what makes one: the list grows in one place."""
    made = subprocess.run([sys.executable, ROOT / "scripts" / "container_profile.py"], capture_output=True, text=True)
    assert made.stdout == (DEPLOY / "seccomp.json").read_text()
    allowed, refused = (set(rule["names"]) for rule in json.loads(made.stdout)["syscalls"])
    assert {"unshare", "mount", "pivot_root"} <= allowed and not allowed & refused
    assert {"bpf", "perf_event_open", "kexec_load", "init_module", "ptrace", "setns", "open_by_handle_at"} <= refused


def ask(*command: str | Path, limit: float = 120, **more: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=ROOT, env={**WORLD, **more}, capture_output=True, text=True, timeout=limit)


def do(*command: str | Path, limit: float = 120, **more: str) -> str:
    done = ask(*command, limit=limit, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Docker, else Podman, with our image built in it."""
    found = next((name for name in ("docker", "podman") if shutil.which(name) and not ask(name, "info").returncode), "")
    if not found:
        pytest.skip("not run: neither docker nor podman has an engine that runs here")
    require_image(found, BASE)
    format_of_checks = ("--format", "docker") if found == "podman" else ()
    with FileLock(Path(WORLD.get("TMPDIR", "/tmp")) / "moot-test-image.lock"):
        do(found, "build", *format_of_checks, "-f", DEPLOY / "Containerfile", "-t", TAG, ".", limit=900)
    return found


def require_image(engine: str, image: str) -> None:
    if ask(engine, "image", "inspect", image).returncode and (pull := ask(engine, "pull", image, limit=600)).returncode:
        pytest.skip(f"not run: {engine} cannot get {image}: {(pull.stderr.strip().splitlines() or ['?'])[-1]}")


def require_namespaces() -> None:
    if FORBIDDEN.exists() and FORBIDDEN.read_text().strip() != "0":
        pytest.skip(f"not run: {FORBIDDEN.name} is on, so an ordinary user's bubblewrap makes no sandbox here")


@pytest.fixture
def volume(engine: str) -> Iterator[str]:
    name = f"moot-test-{secrets.token_hex(4)}"
    do(engine, "volume", "create", name)
    yield name
    ask(engine, "volume", "rm", "--force", name)


@dataclass(frozen=True)
class Client:
    url: str
    token: str

    def call(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def answers(self) -> bool:
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def run(self, body: object) -> dict[str, object]:
        code, begun = self.call("POST", "/v1/debates", body)
        assert code == 202, begun
        wait_until(lambda: self.status(begun) not in ("pending", "running"), "the session has ended", 0.2)
        code, ended = self.call("GET", f"/v1/debates/{begun['id']}/results")
        assert code == 200, ended
        return ended

    def status(self, begun: dict[str, object]) -> object:
        return self.call("GET", f"/v1/debates/{begun['id']}/status")[1]["status"]


@pytest.fixture
def served(engine: str, volume: str, request: pytest.FixtureRequest) -> Iterator[tuple[str, Client]]:
    """A server in its container, found well by the engine's own check: the container's name, and a client."""
    where = ("-v", f"{volume}:/data", *HARDENED, *request.param)
    token = do(engine, "run", "--rm", *where, TAG, "token", "create", "you", "--scope", "admin")
    name = do(engine, "run", "--detach", "--publish", "127.0.0.1::8420", *where, TAG)
    try:
        if engine == "docker":
            state = ("inspect", "--format", "{{.State.Health.Status}}", name)
            wait_until(lambda: do(engine, *state) == "healthy", "the engine finds it well", 0.5)
        else:  # its timer needs systemd
            wait_until(lambda: not ask(engine, "healthcheck", "run", name).returncode, "the check passes", 0.5)
        port = do(engine, "port", name, "8420").splitlines()[0].rpartition(":")[2]
        yield name, Client(f"http://127.0.0.1:{port}", token)
    finally:
        ask(engine, "rm", "--force", name)


def test_it_is_an_ordinary_user_who_can_write_only_to_its_volume(engine: str, volume: str) -> None:
    script = "id -u; grep CapEff /proc/self/status; touch /data/x /tmp/x && echo kept; touch /opt/moot/x || touch /x"
    run = (engine, "run", "--rm", "-v", f"{volume}:/data", *HARDENED, "--entrypoint", "sh", TAG, "-c", script)
    done = ask(*run)
    assert done.stdout.split() == ["10001", "CapEff:", "0" * 16, "kept"] and done.returncode == 1, done.stderr
    assert done.stderr.count("Read-only file system") == 2


def test_it_holds_moot_and_nothing_that_built_it(engine: str) -> None:
    listed = do(engine, "run", "--rm", "--entrypoint", "/opt/moot/bin/pip", TAG, "list", "--format", "json")
    names = {package["name"]: package["version"] for package in json.loads(listed)}
    said = do(engine, "run", "--rm", TAG, "--version")
    assert said == f"moot {names['moot']}" and not {"hatchling", "uv", "trove-classifiers"} & set(names)


def test_it_does_not_start_before_there_is_a_token(engine: str, volume: str) -> None:
    done = ask(engine, "run", "--rm", "-v", f"{volume}:/data", *HARDENED, TAG)
    assert done.returncode == 2 and "there is no token" in done.stderr, done.stderr


@pytest.mark.parametrize("served", [()], indirect=True, ids=["as it is"])
def test_without_a_sandbox_it_refuses_to_run_code(served: tuple[str, Client]) -> None:
    given = {"files": {"app.py": QUERY}, "tests": {"test_app.py": HOLDS}}
    code, refused = served[1].call("POST", "/v1/debates", {"protocol": "harden", "input": given})
    assert code == 409 and "sandbox" in str(refused), refused


@pytest.mark.parametrize("served", [SANDBOX], indirect=True, ids=["with deploy/seccomp.json"])
def test_code_is_hardened_and_its_tests_run_in_a_sandbox_inside(engine: str, served: tuple[str, Client]) -> None:
    require_namespaces()
    name, client = served
    given = {"files": {"app.py": QUERY}, "tests": {"test_app.py": HOLDS}}
    ended = client.run({"protocol": "harden", "input": given})
    result = json.dumps(ended["result"])
    assert ended["outcome"] == "hardened" and "WHERE n = ?" in result, ended
    wrong = {
        "test_app.py": HOLDS.replace("('a')", "('b')")
    }  # fails before and after: that it ran is seen in the result
    assert json.dumps(client.run({"protocol": "harden", "input": {**given, "tests": wrong}})["result"]) != result
    do(engine, "stop", "--time", "45", name)
    assert do(engine, "inspect", "--format", "{{.State.ExitCode}}", name) == "0"


CODE = "CODE:\n```python\ndef f(x):\n    return x + 1\n```\n"
SLOW = [
    {"always": True, "delay_s": 4, "contains": "Solve this task", "reply": CODE},
    {"always": True, "delay_s": 4, "reply": {"tests": ["f(1) == 2", "f(2) == 3"]}},
]


@dataclass(frozen=True)
class Fleet:
    """The compose file with a model from a file, under a name and a port of its own."""

    project: str
    port: int
    models: Path

    def words(self) -> tuple[str | Path, ...]:
        files = (DEPLOY / "compose.yaml", DEPLOY / "sandbox.yaml", self.models)
        return "docker", "compose", "-p", self.project, *(word for file in files for word in ("-f", file))

    def do(self, *words: str, limit: float = 300) -> str:
        return do(*self.words(), *words, limit=limit, POSTGRES_PASSWORD="held-for-a-test", MOOT_PORT=str(self.port))

    def holder(self) -> str:
        workers = json.loads(self.do("exec", "-T", "server", "moot", "fleet", "--json"))["workers"]
        return next((worker["name"] for worker in workers if worker["holding"]), "")

    def count(self, kind: str) -> int:
        query = f"SELECT count(*) FROM journal WHERE kind = '{kind}'"
        return int(self.do("exec", "-T", "store", "psql", "-U", "moot", "-Atc", query))


@pytest.fixture
def fleet(engine: str, tmp_path: Path) -> Iterator[Fleet]:
    if engine != "docker" or ask("docker", "compose", "version").returncode:
        pytest.skip("not run: there is no docker compose here")
    require_namespaces()
    require_image(engine, STORE)
    (tmp_path / "slow.yaml").write_text(json.dumps(SLOW))
    given = {"environment": {"MOOT_MODEL": "script:/slow.yaml"}, "volumes": [f"{tmp_path}/slow.yaml:/slow.yaml:ro"]}
    models = tmp_path / "models.yaml"
    models.write_text(json.dumps({"services": dict.fromkeys(("server", "worker-1", "worker-2"), given)}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    fleet = Fleet(f"moot-test-{secrets.token_hex(4)}", port, models)
    try:
        yield fleet
    finally:
        fleet.do("down", "--volumes", "--timeout", "5")


def test_a_session_whose_worker_is_killed_ends_once(fleet: Fleet) -> None:
    token = re.findall(r"moot_\S+", fleet.do("run", "--rm", "server", "token", "create", "you", "--scope", "admin"))[-1]
    fleet.do("up", "--detach")
    client = Client(f"http://127.0.0.1:{fleet.port}", token)
    wait_until(client.answers, "the server answers", 0.2)
    code, begun = client.call("POST", "/v1/debates", {"protocol": "debate", "input": {"task": "Write f(x): x + 1."}})
    assert code == 202, begun
    wait_until(lambda: fleet.holder() != "", "a worker has taken the session")
    fleet.do("kill", fleet.holder())
    assert client.status(begun) == "running"
    wait_until(lambda: client.status(begun) != "running", "another worker has ended it", 0.5)
    assert client.status(begun) == "completed"
    assert [fleet.count(kind) for kind in ("begun", "claimed", "ended")] == [1, 2, 1]
    intact = fleet.do("exec", "-T", "server", "moot", "audit", str(begun["id"]))
    assert "The record is intact" in intact
