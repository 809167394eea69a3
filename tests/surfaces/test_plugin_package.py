"""An installed package adds a protocol, a provider, a role and a scan rule. `docs/extending.md` is that package: its
files and commands are taken from the page."""

import ensurepip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`([\w./]+\.(?:py|toml))`:\n\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
SHOWN = re.findall(r"^\$ moot (.*)\n((?:(?!```|\$ ).*\n)*)", PAGE, re.MULTILINE)
BILLING = FILES["moot_example/billing.py"]
BODY = re.findall(r'^\{"protocol".*\}$', PAGE, re.MULTILINE)
DOUBLE = "Double charge: billing.charge without an idempotency key"
FIXED = "from billing import charge\ncharge(1, idempotency_key='a')\n"


@dataclass(frozen=True)
class Office:
    """A folder in which the package is installed, with the files that the page works on."""

    folder: Path
    site: Path

    @property
    def env(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.site), "XDG_CACHE_HOME": str(self.folder / "cache"), "MOOT_STORE": "s.db"}
        return {**os.environ, **own, "COLUMNS": "120"}

    def run(self, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "moot", *words], cwd=self.folder, env=self.env, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert ran.returncode in codes, f"{ran.returncode}: {ran.stdout}{ran.stderr}"
        return ran

    def moot(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        ran = self.run(*words, codes=codes)
        return ran.stdout + ran.stderr

    def json(self, *words: str, codes: tuple[int, ...] = (0,)) -> Any:
        return json.loads(self.run(*words, "--json", codes=codes).stdout)


def build_wheel(source: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    [wheel] = (source / "dist").glob("*.whl")
    return wheel


def install(wheel: Path, site: Path) -> None:
    """With the pip that comes with Python; no index is asked."""
    elsewhere = sysconfig.get_config_var("WHEEL_PKG_DIR")  # where Debian's Python has it
    [pip] = Path(elsewhere or Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
    words = ["install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--target", str(site), str(wheel)]
    env = {**os.environ, "PYTHONPATH": str(pip), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([sys.executable, "-m", "pip", *words], env=env, check=True, capture_output=True)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("office")
    package = {name: text for name, text in FILES.items() if name == "pyproject.toml" or "/" in name}
    install(build_wheel(source, {**package, "moot_example/__init__.py": ""}), folder / "site")
    for name in FILES.keys() - package.keys():
        (folder / name).write_text(FILES[name])
    return Office(folder, folder / "site")


def test_the_page_has_all_of_it() -> None:
    modules = {f"moot_example/{name}.py" for name in ("poll", "agree", "librarian", "billing")}
    assert set(FILES) == {*modules, "pyproject.toml", "team.toml", "shop.py"}
    assert [words.split()[0] for words, _ in SHOWN] == ["poll", "team", "debate", "scan", "harden"]
    assert len(BODY) == 1


@pytest.mark.parametrize(("words", "shown"), SHOWN, ids=[words.split()[0] for words, _ in SHOWN])
def test_the_commands_of_the_page_print_what_it_shows(office: Office, words: str, shown: str) -> None:
    out = office.moot(*shlex.split(words), codes=(0, 1, 2))
    for line in filter(str.strip, shown.splitlines()):
        assert line in out, out


def test_the_command_line_has_all_four(office: Office) -> None:
    assert "Ask a question several times." in office.moot("--help")
    assert "in this process" in office.moot("models")
    polled = office.json("poll", "Ship it?", "-m", "agree:all", "-r", "2")
    assert (polled["outcome"], polled["votes"], polled["calls"]) == ("yes", ["yes", "yes"], 2)
    assert office.json("replay", polled["session_id"])["same"] is True
    assert "librarian" in {role["name"] for role in office.json("team", "show")["roles"]}
    debate = ("debate", "Do we need a cache?", "--team", "team.toml", "--rounds", "1")
    debated = office.json(*debate, codes=(2,))
    assert "You are the librarian." in office.moot("export", debated["session_id"], "--format", "json")
    (rule,) = [each for each in office.json("scan", "--rules") if each["rule"] == "python-charge-twice"]
    assert (rule["language"], rule["cwe"]) == ("python", 837)
    for example, found in (("fires", ["python-charge-twice"]), ("silent", [])):
        (office.folder / "example.py").write_text(rule[example])
        scan = office.json("scan", "example.py", codes=(0, 1))
        assert [each["rule"] for each in scan["findings"]] == found


def test_processes_of_a_scan_apply_the_rule(office: Office) -> None:
    folder = office.folder / "many"
    folder.mkdir()
    for number in range(4):
        (folder / f"shop{number}.py").write_text(FILES["shop.py"])
    scan = office.json("scan", "many", "--jobs", "2", "--no-cache", codes=(1,))
    assert [each["rule"] for each in scan["findings"]] == ["python-charge-twice"] * 4


def test_a_changed_rule_is_applied_to_cached_files(office: Office) -> None:
    assert DOUBLE in office.moot("scan", "shop.py", codes=(1,))
    module = office.site / "moot_example" / "billing.py"
    text = module.read_text()
    try:
        module.write_text(text.replace("Double charge:", "Charged twice:"))
        assert "Charged twice:" in office.moot("scan", "shop.py", codes=(1,))
    finally:
        module.write_text(text)
    assert DOUBLE in office.moot("scan", "shop.py", codes=(1,))


@pytest.fixture(scope="module")
def client(office: Office) -> Iterator[httpx.Client]:
    """`moot serve` as a process; the provider is not hosted, so the server's own settings name its model."""
    words = [sys.executable, "-P", "-m", "moot", "serve", "--port", "0", "--no-token", "--store", "http.db"]
    env = {**office.env, "MOOT_MODEL": "agree:all"}
    with subprocess.Popen(words, cwd=office.folder, env=env, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        where = re.match(r"moot serves (http://127\.0\.0\.1:\d+)", line)
        assert where, line
        with httpx.Client(base_url=where[1], timeout=PATIENCE) as http:
            yield http
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0


def run_session(client: httpx.Client, body: object) -> Any:
    begun = client.post("/v1/debates", json=body)
    assert begun.status_code == 202, begun.text
    session, end = begun.json()["id"], time.monotonic() + PATIENCE
    while client.get(f"/v1/debates/{session}").json()["status"] not in ("completed", "failed"):
        assert time.monotonic() < end
        time.sleep(0.05)
    return client.get(f"/v1/debates/{session}/results").json()["result"]


def test_the_server_has_the_protocol_and_the_provider(client: httpx.Client) -> None:
    polled = run_session(client, json.loads(BODY[0]))
    assert (polled["outcome"], polled["votes"]) == ("yes", ["yes", "yes"])
    assert polled["usage"]["agree:all"]["calls"] == 2


def test_the_server_has_the_role(client: httpx.Client) -> None:
    listed = client.get("/v1/debates/team").json()["roles"]
    assert "librarian" in {role["name"] for role in listed}
    team = [{"role": role, "model": "agree:all"} for role in ("proposer", "librarian")]
    debated = run_session(client, {"protocol": "debate", "input": {"task": "Do we need a cache?", "team": team}})
    assert {each["seat"] for each in debated["candidates"]} == {"proposer", "librarian"}


def test_the_server_has_the_scan_rule(client: httpx.Client) -> None:
    for text, found in ((FILES["shop.py"], {"python-charge-twice"}), (FIXED, set())):
        result = run_session(client, {"protocol": "harden", "input": {"files": {"shop.py": text}}})
        assert {each["rule"] for each in result["attack_reports"][0]["vulnerabilities"]} == found


BROKEN = {
    "a package that fails": ("roles", "x", "1 / 0", ("team", "show"), "the role 'x' (bad:X) cannot be loaded: ZeroDiv"),
    "a role of another type": ("roles", "x", "X = 'x'", ("team", "show"), "must be a moot.teams.roles.values.Role"),
    "a role that is there": (
        "roles", "critic", "from moot.teams.roles import Role\nX = Role(name='critic', focus='f', prompt='p')",
        ("team", "show"), "a role with that name already exists",
    ),
    "rules that fail": ("rules", "x", "import nothing_of_this_name", ("scan", "shop.py"), "the scan rules 'x' (bad:X)"),
    "a rule that is there": (
        "rules", "x", BILLING.replace("python-charge-twice", "python-ssrf") + "X = RULES",
        ("scan", "shop.py", "--no-cache"), "there is a rule 'python-ssrf' already",
    ),
    "a rule without an example": (
        "rules", "x", BILLING + "X = RulePack('python', RULES.book, ())",
        ("harden", "shop.py", "--no-llm"), "the rule 'python-charge-twice' has no example",
    ),
    "a rule that fails on a file": (
        "rules", "x", BILLING.replace('"idempotency_key" not in call.keywords', "1 / 0") + "X = RULES",
        ("scan", "shop.py"), "the scan rules 'x' (bad:X) failed: ZeroDivisionError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_package_that_cannot_be_used_is_named(tmp_path: Path, kind: str) -> None:
    group, name, code, words, message = BROKEN[kind]
    info = tmp_path / "site" / "bad-1.dist-info"
    info.mkdir(parents=True)
    (info.parent / "bad.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[moot.{group}]\n{name} = bad:X\n")
    (tmp_path / "shop.py").write_text(FILES["shop.py"])
    said = Office(tmp_path, tmp_path / "site").moot(*words, codes=(2, 3))
    assert message in said and "Traceback" not in said
