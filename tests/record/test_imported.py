"""A session from elsewhere was planned by others: what it would use of this machine is asked for before it runs."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from conftest import Cli
from kit import in_store
from terminals import answered_on_a_terminal

from moot.core.ports import SessionRecord
from moot.core.types import Limits
from moot.edge.store import SqlStore
from moot.runtime.runner import SessionPlan
from moot.surfaces.history.imports import find_uses
from moot.surfaces.session.host import Host
from moot.surfaces.session.settings import Settings

MOOT = [sys.executable, "-m", "moot"]


@pytest.fixture
def imported(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a session whose red seat is a command; it stopped for want of a budget, and was imported."""
    (tmp_path / "app.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "evil.sh").write_text(f"#!/bin/sh\ncat > /dev/null\ntouch '{tmp_path}/ran'\necho '{{}}'\n")
    (tmp_path / "evil.sh").chmod(0o755)
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "from.db"))
    ran = cli("harden", "app.py", "--seat", f"red=cmd:{tmp_path}/evil.sh", "--max-calls", "0", "--json", "-q")
    session = str(json.loads(ran.out)["session_id"])
    take_to(cli, session, "a.moot", tmp_path / "to.db", monkeypatch)
    (tmp_path / "ran").unlink(missing_ok=True)
    return session


def take_to(cli: Cli, session: str, file: str, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("export", session, "--format", "archive", "-o", file).code == 0
    monkeypatch.setenv("MOOT_STORE", str(store))
    assert cli("import", file).code == 0


def record_of(session: str) -> SessionRecord:
    return in_store(Settings.load({}).store, lambda store: store.session(session))


def test_nobody_at_a_terminal_means_no(cli: Cli, imported: str, tmp_path: Path) -> None:
    ran = cli("resume", imported, "--max-calls", "5")
    assert ran.code == 2 and "was imported" in ran.err and "evil.sh" in ran.err and "moot resume" in ran.err
    assert not (tmp_path / "ran").exists() and record_of(imported).status != "running"


def test_a_fork_of_it_is_asked_about_too_and_leaves_nothing(cli: Cli, imported: str, tmp_path: Path) -> None:
    ran = cli("fork", imported, "--at", "1", "--set", "max_calls=5")
    assert ran.code == 2 and "was imported" in ran.err and not (tmp_path / "ran").exists()
    assert len(json.loads(cli("list", "--json").out)) == 1


@pytest.mark.parametrize("said", ["n\n", "\n"])
def test_a_person_may_say_no(imported: str, tmp_path: Path, said: str) -> None:
    ended, seen = answered_on_a_terminal([*MOOT, "resume", imported, "--max-calls", "5"], said)
    assert ended == 2 and "red: cmd:" in seen and not (tmp_path / "ran").exists()


def test_a_person_agrees_once_and_to_exactly_that(
    cli: Cli, imported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, _ = answered_on_a_terminal([*MOOT, "resume", imported, "--max-calls", "1"], "y\n")
    assert ended != 70 and (tmp_path / "ran").exists()
    (tmp_path / "ran").unlink()
    assert "was imported" not in cli("resume", imported, "--max-calls", "9", "-q").err
    forked = cli("fork", imported, "--at", "1", "--seat", f"red=cmd:{tmp_path}/evil.sh --more")
    assert forked.code == 2 and "was imported" in forked.err
    take_to(cli, imported, "b.moot", tmp_path / "third.db", monkeypatch)
    assert "was imported" in cli("resume", imported).err, "what another store agreed to is nothing here"


def test_a_long_command_is_shown_whole_and_agreed_to_whole(cli: Cli, imported: str, tmp_path: Path) -> None:
    """Another one of the same length, with the same beginning and end, is another one."""
    seat, pad = f"red=cmd:{tmp_path}/evil.sh ", "x" * 3000
    fork = [*MOOT, "fork", imported, "--at", "1", "--set", "max_calls=0", "--seat"]
    ended, seen = answered_on_a_terminal([*fork, f"{seat}{pad} FIRST {pad}"], "y\n")
    assert ended != 70 and f"{pad} FIRST {pad}" in seen
    (child,) = [each["id"] for each in json.loads(cli("list", "--json").out) if each["id"] != imported]
    assert "was imported" not in cli("fork", child, "--at", "1", "--seat", f"{seat}{pad} FIRST {pad}").err
    other = cli("fork", child, "--at", "1", "--seat", f"{seat}{pad} OTHER {pad}")
    assert other.code == 2 and "was imported" in other.err and "more characters" in other.err


def test_a_fork_that_was_agreed_to_stays_a_session_of_others(cli: Cli, imported: str, tmp_path: Path) -> None:
    ended, seen = answered_on_a_terminal([*MOOT, "fork", imported, "--at", "1", "--set", "max_calls=0"], "y\n")
    assert ended != 70 and "was imported" in seen
    (child,) = [each["id"] for each in json.loads(cli("list", "--json").out) if each["id"] != imported]
    assert cli("delete", imported).code == 0
    forked = cli("fork", child, "--at", "1", "--seat", f"red=cmd:{tmp_path}/evil.sh --more")
    assert forked.code == 2 and "was imported" in forked.err


@pytest.mark.parametrize("status", ["paused", "pending"])
def test_a_server_or_worker_runs_none_and_sets_it_aside(imported: str, tmp_path: Path, status: str) -> None:
    async def carry_on() -> SessionRecord:
        settings = Settings.load({})
        store = SqlStore(settings.store)
        host = Host(settings, store)
        try:
            record = (await store.session(imported)).model_copy(update={"status": status})
            await store.update(record)
            assert await host.carry_on(await store.session(imported)) == "failed"
            return await store.session(imported)
        finally:
            await host.aclose()
            await store.aclose()

    after = asyncio.run(carry_on())
    assert after.status == "paused" and not after.waiting_on and not (tmp_path / "ran").exists()


def test_an_imported_session_waits_for_nobody_to_take_it_up(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server takes up what is pending."""
    from moot.edge.clock import SystemClock
    from moot.runtime.runner import new_record

    plan = SessionPlan(protocol="harden", topic="t", input={}, rules={}, seats={"red": ("cmd:evil",)})
    record = new_record(plan, SystemClock().now())
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "from.db"))
    monkeypatch.chdir(tmp_path)
    in_store(str(tmp_path / "from.db"), lambda store: store.create(record))
    take_to(cli, record.id, "a.moot", tmp_path / "to.db", monkeypatch)
    assert record_of(record.id).status == "paused"


def test_what_uses_nothing_here_is_not_asked_about() -> None:
    plan = SessionPlan(
        protocol="debate", topic="t", input={"repository": "", "team": [{"seat": "a", "model": "openai:x"}]},
        rules={"tools": [], "roles_folder": ""}, seats={"a": ("openai:x", "anthropic:y")}, limits=Limits(),
        notes={"runs_code": True, "unsafe_local": False, "ci": {"actions": {}, "commands": []}, "project": {"how": ""},
               "origins": {"a.py": ["/no/such/file.py", "0"]}, "folders": {}, "state": "",
               "force": True, "write_anyway": True},
    )  # fmt: skip
    assert find_uses(plan) == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"seats": {"red": ("openai:x", "local:w.gguf")}}, "red: local:w.gguf"),
        ({"seats": {"red": ("script:a.yaml",)}}, "red: script:a.yaml"),
        ({"limits": Limits(run_with_secrets=True)}, "secrets: code runs with the real ones"),
        ({"input": {"team": [{"seat": "a", "model": "cmd:x"}]}}, "a: cmd:x"),
        ({"input": {"repository": "/home/me/private"}}, "repository: /home/me/private"),
        ({"rules": {"tools": ["docs.search"]}}, 'tools: ["docs.search"]'),
        ({"rules": {"roles_folder": "/etc"}}, "roles_folder: /etc"),
        ({"gates": {"webhooks": ["http://x.example"]}}, "webhook: http://x.example"),
        ({"notes": {"out": "/home/me/.bashrc"}}, "out: /home/me/.bashrc"),
        ({"notes": {"out": "/home/me/a.py", "force": True}}, "force: an existing file is overwritten"),
        ({"notes": {"out": "/home/me/a.py", "write_anyway": True}}, "write_anyway: written even if tests fail"),
        ({"notes": {"memory": "/home/me"}}, "memory: /home/me"),
        ({"notes": {"unsafe_local": True}}, "unsafe_local: true"),
        ({"notes": {"repository": "/home/me/r"}}, "repository: /home/me/r"),
        ({"notes": {"state": "/home/me/STATE.md"}}, "state: /home/me/STATE.md"),
        ({"notes": {"folders": {"q": "/home/me"}}}, 'folders: {"q": "/home/me"}'),
        ({"notes": {"origins": {"a": ["/etc/passwd", "0"]}}}, 'origins: ["/etc/passwd"]'),
        ({"notes": {"project": {"python": {"folders": {"/a": "/home/me/.ssh"}}}}}, ".ssh"),
        ({"notes": {"ci": {"commands": [{"name": "n", "command": ["evil"]}]}}}, "evil"),
        ({"notes": {"something_new": "x"}}, "something_new: x"),
    ],
)
def test_whatever_a_plan_names_of_this_machine_is_shown(changed: dict[str, object], says: str) -> None:
    plan = SessionPlan.model_validate({"protocol": "harden", "topic": "t", "input": {}, "rules": {}, **changed})
    assert any(says in each for each in find_uses(plan)), find_uses(plan)
