"""What a release consists of: wheel and source distribution that install from nothing, a bill of materials, and the
files that run Moot elsewhere."""

import json
import os
import re
import shutil
import subprocess
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
import yaml
from filelock import FileLock

from moot.surfaces.session.settings import Settings

ROOT = Path(__file__).parents[1]
UV = ROOT / ".tools" / "bin" / "uv"
ENV = {**os.environ, "PYTHONPATH": str(ROOT / ".tools"), "UV_NO_PROGRESS": "1"}
ALL = os.environ.get("MOOT_TEST_PYTHONS") == "all"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
FLAWED = "import os\n\n\ndef show(name):\n    os.system('ls ' + name)\n"


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] = ENV) -> str:
    ran = subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once for all workers of the run."""
    if not UV.exists():
        pytest.skip("not run: `make setup` puts uv into .tools")
    own = tmp_path_factory.getbasetemp()
    # Of a run without workers, the parent is shared with all runs of this machine.
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "release"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            run(ROOT / "scripts" / "release-files", scratch := tmp_path_factory.mktemp("release"), "--no-audit")
            scratch.rename(folder)
    return folder


def find_python(version: str) -> Path:
    """On the PATH, from pyenv, or known to uv. A release is tested with all of them, so none may be missing."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    own = sorted(pyenv.glob(f"{version}.*/bin/python3"))
    if on_path := shutil.which(f"python{version}"):
        own.append(Path(on_path))
    by_uv: list[str | Path] = [UV, "python", "find", "--no-python-downloads", version]
    known = subprocess.run(by_uv, env=ENV, capture_output=True, text=True).stdout.strip()
    for found in [*reversed(own), *([Path(known)] if known else [])]:
        said = subprocess.run([found, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True)
        if said.stdout.decode().strip() == version:  # a shim of pyenv may stand for a version that is not there
            return found
    missing = f"Python {version} is neither on the PATH nor known to pyenv or uv: nothing was installed on it"
    if ALL:
        pytest.fail(missing)
    pytest.skip(f"not run: {missing}")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_installs_and_works_in_an_empty_environment(release: Path, tmp_path: Path, version: str) -> None:
    python = find_python(version)
    (wheel,) = release.glob("*.whl")
    home = tmp_path / "env"
    run(UV, "venv", "-q", "--python", python, home)
    run(UV, "pip", "install", "-q", "--python", home, wheel, "-c", ROOT / "requirements" / "dev.txt")
    (tmp_path / "show.py").write_text(FLAWED)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MOOT_"))}
    clean |= {"HOME": str(tmp_path), "MOOT_STORE": str(tmp_path / "s.db")}
    moot = home / "bin" / "moot"
    assert run(moot, "--version", cwd=tmp_path, env=clean).strip() == f"moot {own_version()}"
    ran = subprocess.run([moot, "harden", "show.py", "--json", "-q"], cwd=tmp_path, env=clean, capture_output=True)
    assert json.loads(ran.stdout)["attack_reports"][0]["vulnerabilities"], ran.stderr
    assert json.loads(run(moot, "list", "--json", cwd=tmp_path, env=clean))[0]["protocol"] == "harden"


def test_a_release_is_complete_and_holds_nothing_else(release: Path) -> None:
    version = own_version()
    assert {file.name for file in release.iterdir()} == {
        *(f"moot-{version}-py3-none-any.whl", f"moot-{version}.tar.gz", f"moot-{version}.cdx.json", "SHA256SUMS"),
    }
    materials = json.loads((release / f"moot-{version}.cdx.json").read_text())
    names = {component["name"] for component in materials["components"]}
    about = materials["metadata"]["component"]
    assert (about["name"], about["version"]) == ("moot", version)
    assert materials["bomFormat"] == "CycloneDX" and {"pydantic", "sqlalchemy", "fastapi"} <= names
    with zipfile.ZipFile(release / f"moot-{version}-py3-none-any.whl") as wheel:
        inside = wheel.namelist()
    assert all(name.startswith(("moot/", f"moot-{version}.dist-info/")) for name in inside)
    assert any(name.endswith("prompts/draft.md") for name in inside) and "moot/py.typed" in inside
    with tarfile.open(release / f"moot-{version}.tar.gz") as source:
        assert not [name for name in source.getnames() if "/tests/" in name or name.endswith(".pyc")]
    run("sha256sum", "-c", "--quiet", "SHA256SUMS", cwd=release)


def test_documents_speak_of_this_version() -> None:
    newest = re.search(r"(?m)^## (\S+) \(\d{4}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text())
    assert newest and newest[1] == own_version()
    assert f"rev: v{own_version()}\n" in (ROOT / "docs" / "ci.md").read_text()


def own_version() -> str:
    found = re.search(r'__version__ = "(.+)"', (ROOT / "src" / "moot" / "__init__.py").read_text())
    assert found
    return found[1]


PROJECT = '[project]\nname = "small"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["filelock"]\n'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project with one dependency, laid out as this one: its scripts ask about it alone."""
    if not UV.exists():
        pytest.skip("not run: `make setup` puts uv into .tools")
    (tmp_path / "src" / "moot").mkdir(parents=True)
    (tmp_path / "src" / "moot" / "__init__.py").write_text('__version__ = "1"\n')
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / ".tools").symlink_to(ROOT / ".tools")
    for name in ("README.md", "LICENSE"):
        (tmp_path / name).write_text("")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("*.py"))
    return tmp_path


class FlawDatabase(BaseHTTPRequestHandler):
    """Answers as osv.dev does; `says` is what it knows of the first package."""

    says: ClassVar[str] = ""

    def do_POST(self) -> None:
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        known = {"vulns": [{"id": "FLAW-1", "modified": "2026-01-01T00:00:00Z"}]} if self.says == "flaw" else {}
        self.answer({"results": [known, *({} for _ in queries[1:])]})

    def do_GET(self) -> None:
        self.answer({"id": "FLAW-1", "modified": "2026-01-01T00:00:00Z", "summary": "a flaw", "affected": []})

    def answer(self, said: object) -> None:
        body = b"<html>please sign in</html>" if self.says == "page" else json.dumps(said).encode()
        self.send_response(503 if self.says == "busy" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("says", "code", "told"),
    [
        ("nothing known", 0, "no known vulnerabilities"),
        ("flaw", 1, "audit: a dependency has a known flaw"),
        ("busy", 2, "audit: not done"),
        ("page", 2, "audit: not done"),
        ("", 2, "audit: not done"),
    ],
)
def test_only_an_answer_without_flaws_passes_the_audit(small: Path, says: str, code: int, told: str) -> None:
    handler = type("Saying", (FlawDatabase,), {"says": says})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        env = {**ENV, "MOOT_AUDIT_URL": f"http://127.0.0.1:{server.server_port}", "UV_HTTP_RETRIES": "0"}
        if says:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        else:
            server.server_close()
        audit = small / "scripts" / "audit-dependencies"
        done = subprocess.run([audit], env=env, capture_output=True, text=True, timeout=120)
        assert (done.returncode, told in done.stdout + done.stderr) == (code, True), done.stdout + done.stderr
        if says == "busy":
            folder = small / "dist"
            refused = subprocess.run([small / "scripts" / "release-files", folder], env=env, capture_output=True)
            assert refused.returncode == 2 and not folder.exists()
        if says:
            server.shutdown()


@pytest.mark.parametrize(("kind", "name", "code"), [("branch", "main", 2), ("tag", "v1", 2), ("tag", "v2", 1)])
def test_only_the_tag_of_its_version_is_released(small: Path, kind: str, name: str, code: int) -> None:
    """2: it went on to ask about the dependencies, where nobody answers."""
    env = {**ENV, "MOOT_AUDIT_URL": "http://127.0.0.1:9", "UV_HTTP_RETRIES": "0"}
    env |= {"GITHUB_REF_TYPE": kind, "GITHUB_REF_NAME": name}
    done = subprocess.run([small / "scripts" / "release-files", small / "dist"], env=env, capture_output=True)
    assert done.returncode == code and (b"the tag is v2" in done.stderr) == (code == 1), done.stderr


def test_what_builds_a_release_is_given_by_hash() -> None:
    files = ["Makefile", "deploy/Containerfile", ".github/workflows/release.yml"]
    files += ["scripts/release-files", "scripts/audit-dependencies"]
    lines = [line for name in files for line in (ROOT / name).read_text().splitlines()]
    installs = [line for line in lines if re.search(r"\bpip install\b|\buv build\b", line)]
    assert len(installs) >= 9
    assert [line for line in installs if "--require-hashes" not in line and "--no-deps" not in line] == []


def test_workflows_have_no_known_weakness() -> None:
    """Actions named by their commit, rights by job, no text of a stranger in a command."""
    linter: list[str | Path] = [
        ROOT / ".venv" / "bin" / "zizmor",
        "--offline",
        "--no-progress",
        "--persona",
        "pedantic",
    ]
    files = [*sorted((ROOT / ".github" / "workflows").iterdir()), ROOT / "action.yml"]
    run(*linter, "--min-severity", "low", *files, env=dict(os.environ))


def test_workflows_keep_their_python_under_sudo() -> None:
    """Its own PATH has the system's: the tests would run on that one, and find no other."""
    text = "".join(file.read_text() for file in (ROOT / ".github" / "workflows").iterdir())
    as_root = re.findall(r"sudo .*(?:make|\.ci/run).*", text)
    assert len(as_root) == 5 and all('env "PATH=$PATH"' in line for line in as_root)


@pytest.mark.parametrize("name", ["audit.yml", "test.yml", "release.yml"])
def test_workflows_may_do_no_more_than_they_must(name: str) -> None:
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())
    assert flow["permissions"] in ({}, {"contents": "read"})
    granted = {job: given.get("permissions", {}) for job, given in flow["jobs"].items()}
    assert {job: rights for job, rights in granted.items() if "write" in str(rights)} == (
        {"publish": {"id-token": "write"}} if name == "release.yml" else {}
    )
    assert all(given["timeout-minutes"] <= 60 for given in flow["jobs"].values())
    assert "secrets." not in str(flow)


def test_the_container_runs_as_an_ordinary_user_and_is_checked() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text()
    last = text.rsplit("FROM ", 1)[1]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE) and "HEALTHCHECK" in last and "--require-hashes" in text
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in source.split())


def test_the_compose_file_starts_what_there_is() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    assert set(services) == {"store", "server", "worker-1", "worker-2"}
    for name in ("server", "worker-1", "worker-2"):
        service = services[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        help_text = run(ROOT / ".venv" / "bin" / "moot", service["command"][0], "--help")
        assert all(word in help_text for word in service["command"] if str(word).startswith("--"))
        assert int(service["stop_grace_period"].removesuffix("s")) > Settings.load({})["fleet.drain"]
    assert services["server"]["ports"] == ["127.0.0.1:${MOOT_PORT:-8420}:8420"]


def test_a_token_is_made_before_the_server_starts(tmp_path: Path) -> None:
    """In its container it listens on every address, where it refuses to start without one."""
    pages = [(ROOT / page).read_text() for page in ("deploy/compose.yaml", "docs/fleet.md")]
    command = re.compile(r"(?m)^[# ]*docker compose -f deploy/compose.yaml (?:run --rm server )?(.*)$")
    (first, last), same = (command.findall(text) for text in pages)
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db"), "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    said = run(ROOT / ".venv" / "bin" / "moot", *first.split(), cwd=tmp_path, env=env)
    assert said.startswith("moot_") and last == "up"
    assert same == [first, last, "-f deploy/sandbox.yaml up"]
