"""A checkout is not trusted: what its file would start, write, send elsewhere or switch off waits for a person."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import trust_project
from terminals import answered_on_a_terminal

from moot.core.trust import TABLE, is_harmless, rule_of
from moot.surfaces.session.project_trust import SAID
from moot.surfaces.session.settings import Settings, all_settings

TRUST = [sys.executable, "-m", "moot", "trust"]
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that was cloned, with code in it."""
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    (folder / "app.py").write_text("def add(a, b):\n    return a + b\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def moot(cli: Cli, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """`moot` in the checkout."""
    monkeypatch.chdir(checkout)
    return cli


def write(folder: Path, text: str) -> Path:
    (folder / "moot.toml").write_text(text)
    return folder / "moot.toml"


def command_that_leaves_a_trace(folder: Path) -> tuple[str, Path]:
    proof, script = folder.parent / "ran", folder / "evil.sh"
    script.write_text(f"#!/bin/sh\ncat > /dev/null\ntouch '{proof}'\necho '{{}}'\n")
    script.chmod(0o755)
    return f"cmd:{script}", proof


def value(key: str) -> object:
    return Settings.load({})[key]


# --- what is started


@pytest.mark.parametrize(
    "words",
    [("harden", "app.py", "-q"), ("vet", "drop the table users in production"), ("models",), ("doctor",),
     ("guard", "--", "git", "push", "--force"), ("solve", "add two numbers"), ("debate", "is it right?"),
     ("decide", "--ask", "a or b?", "--option", "a", "--option", "b"), ("review", "PLAN.md")],
)  # fmt: skip
@pytest.mark.parametrize("key", ["model", "seats"])
def test_a_cloned_command_is_not_run(moot: Cli, checkout: Path, words: tuple[str, ...], key: str) -> None:
    model, proof = command_that_leaves_a_trace(checkout)
    seats = ("red", "blue", "critic", "advocate", "coder", "risk", "value", "effort", "adversary", "defender")
    named = "\n".join(f'{seat} = "{model}"' for seat in seats)
    write(checkout, f'model = "{model}"\n' if key == "model" else f"[seats]\n{named}\n")
    (checkout / "PLAN.md").write_text("# Plan\n\n## Tasks\n\n- [ ] one\n")
    ran = moot(*words)
    assert not proof.exists()
    assert words[0] == "guard" or ("is not trusted" in ran.err and key in ran.err and "moot trust" in ran.err), ran.err
    assert not ran.err.count("is not trusted") > 1


def test_what_is_trusted_is_run(moot: Cli, checkout: Path) -> None:
    model, proof = command_that_leaves_a_trace(checkout)
    write(checkout, f'model = "{model}"\n')
    trust_project(checkout)
    ran = moot("harden", "app.py", "-q")
    assert proof.exists() and "not trusted" not in ran.err


def test_servers_of_a_checkout_are_not_started(moot: Cli, checkout: Path) -> None:
    script, proof = command_that_leaves_a_trace(checkout)
    command = json.dumps([script.removeprefix("cmd:")])
    write(checkout, f"[lsp.python]\ncommand = {command}\n[mcp.servers.docs]\ncommand = {command}\n")
    ran = moot("tools", "--servers")
    assert not proof.exists() and "lsp.python.command, mcp.servers.docs.command" in ran.err
    moot("tools", "use", "find_definition", '{"name": "add"}', "--file", "app.py")
    assert not proof.exists()


def test_checks_that_were_left_out_do_not_look_passed(moot: Cli, checkout: Path) -> None:
    write(
        checkout,
        '[ci.post_proposal]\nactions = ["security_scan"]\n'
        '[[ci.commands]]\nname = "own"\npoint = "post_proposal"\ncommand = ["false"]\n',
    )
    ran = moot("ci", "post_proposal", "app.py")
    assert ran.code == 2 and "moot trust" in ran.err
    assert moot("ci", "post_proposal", "app.py", "--action", "security_scan").code == 0


# --- what is written


def test_nothing_is_written_where_a_checkout_says(moot: Cli, checkout: Path, tmp_path: Path) -> None:
    write(checkout, f'store = "{tmp_path}/elsewhere/s.db"\n[vet]\nmemory = "{tmp_path}/elsewhere"\n')
    for words in (("list",), ("harden", "app.py", "-q"), ("track", "fail", "the tests", "--error", "x")):
        SAID.clear()  # each is a process of its own
        assert "moot trust" in moot(*words).err
    assert not (tmp_path / "elsewhere").exists()


# --- every setting


SAMPLES: dict[str, str] = {
    "run_with_secrets": "true", "harden.tools": '["run_code"]', "review.comments": "1",
    "decide.require_agreement": '"majority"', "decide.require_stance_maintenance": "true",
    "decide.require_change_documentation": "false",
    "store": '"x.db"', "vet.memory": '"x"', "vet.reset_after_hours": "0.1", "retention.logs_days": "1",
    "retention.sessions_days": "1", "mcp.servers.a.command": '["x"]', "lsp.python.command": '["x"]',
    "debate.tools": '["run_code"]', "solve.tools": '["run_code"]', "hook.strict": "true", "hook.allow": '["rm *"]',
    "hook.wait": "9.0", "gates.points": '["review"]', "gates.timeout": "1.0", "gates.on_timeout": '"approved"',
    "gates.webhooks": '["http://x.example"]', "server.host": '"0.0.0.0"', "server.port": "1", "server.sessions": "9999",
    "server.header_seconds": "9.0", "server.allow_local": "true", "server.hosts": '["x"]', "server.cors": '["x"]',
    "server.webhooks": '["http://x.example"]', "server.max_body": "9", "server.body_seconds": "9.0",
    "server.rate": "0.0", "server.burst": "9", "server.heartbeat": "9.0", "fleet.limits.a.concurrency": "9",
    "fleet.limits.a.per_minute": "9", "fleet.heartbeat": "9.0", "fleet.dead_after": "99.0", "fleet.sweep": "9.0",
    "fleet.drain": "9.0", "telemetry.enabled": "true", "telemetry.content": "true", "debate.roles_folder": '"x"',
    "decide.judges_folder": '"x"', "models.a.provider": '"openai"', "models.a.model": '"x"',
    "models.a.base_url": '"http://x.example"', "models.a.key": '"OPENAI_API_KEY"',
    "ci.commands": '[{name = "a", point = "post_proposal", command = ["x"]}]',
}  # fmt: skip
"""A value, other than the default, of everything that needs trust."""


def test_every_setting_is_sorted_and_every_row_is_a_setting() -> None:
    keys = [setting.key for setting in all_settings()]
    assert [key for key in keys if rule_of(key) is None] == []
    families = [row.removesuffix("*") for row in TABLE]
    assert [row for row, head in zip(TABLE, families, strict=True) if not any(k.startswith(head) for k in keys)] == []


def test_a_setting_that_nobody_sorted_needs_trust() -> None:
    for key in ("base_url", "model.big.base_url", "seat"):
        assert rule_of(key) is None and not is_harmless(key, "x", {}, lambda name: True)


def test_every_setting_that_needs_trust_has_a_sample() -> None:
    keys = [setting.key for setting in all_settings() if rule_of(setting.key) == "trust"]
    named = [key for key in keys if key not in SAMPLES and "*" not in key and not key.startswith("server.")]
    assert named == []


@pytest.mark.parametrize("key", SAMPLES)
def test_what_needs_trust_waits_for_it(checkout: Path, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Settings.load({}).resolved.get(key)
    write(checkout, f"{key} = {SAMPLES[key]}\n")
    untrusted = Settings.load({})
    assert untrusted.resolved.get(key) == before and untrusted.ignored == {key}
    assert f"ignored: {key} (" in capsys.readouterr().err
    trust_project(checkout)
    assert Settings.load({}).resolved.get(key) != before and not capsys.readouterr().err


def test_the_page_says_of_every_row_what_becomes_of_it() -> None:
    page = (DOCS / "trust.md").read_text()
    assert [row for row in TABLE if f"`{row}`" not in page] == []


@pytest.mark.parametrize(
    ("own", "said", "key", "counts"),
    [
        ("", "max_usd = 2.0", "max_usd", True),
        ("max_usd = 1.0", "max_usd = 2.0", "max_usd", False),
        ("max_usd = 3.0", "max_usd = 2.0", "max_usd", True),
        ("", "timeout = 900", "timeout", True),
        ("timeout = 10", "timeout = 900", "timeout", False),
        ("", "[sandbox]\nmemory = 99999999999", "sandbox.memory", False),
        ("", "[sandbox]\nmemory = 1000000", "sandbox.memory", True),
        ("[sandbox]\nmemory = 99999999999", "[sandbox]\nmemory = 9999999999", "sandbox.memory", True),
        ("", "[harden]\nrisk_threshold = 1.0", "harden.risk_threshold", False),
        ("", "[harden]\nmin_vulnerabilities = 99", "harden.min_vulnerabilities", False),
        ("", "[harden]\nmax_rounds = 1", "harden.max_rounds", True),
        ("", "[gates]\nenabled = true", "gates.enabled", True),
        ("[gates]\nenabled = true", "[gates]\nenabled = false", "gates.enabled", False),
        ("", 'model = "openai:gpt-5.4-mini"', "model", True),
        ("", 'model = ["openai:a", "cmd:b"]', "model", False),
        ("", 'model = " cmd:b"', "model", False),
        ("", 'model = "script:b.yaml"', "model", False),
        ("", 'model = "local:b.gguf"', "model", False),
        ("", 'model = "nonsense:b"', "model", False),
        ('model = "ollama:mine"', 'model = "openai:a"', "model", False),
        ('model = "openai:mine"', 'model = "openai:a"', "model", True),
        ('[seats]\nred = "cmd:claude -p"', 'model = "openai:a"', "model", False),
        ("", '[review.profiles]\nquality = "cmd:x"', "review.profiles.quality", False),
    ],
)
def test_a_checkout_may_only_ask_for_less(
    checkout: Path, tmp_path: Path, own: str, said: str, key: str, counts: bool
) -> None:
    (tmp_path / "config-home" / "moot").mkdir(parents=True)
    (tmp_path / "config-home" / "moot" / "moot.toml").write_text(own)
    before = Settings.load({}).resolved.get(key)
    write(checkout, said)
    after = Settings.load({})
    assert (after.resolved.get(key) != before) is counts and (key in after.ignored) is not counts


def test_what_a_flag_or_the_environment_decides_is_not_complained_of(
    moot: Cli, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(checkout, 'store = "x.db"\n')
    monkeypatch.setenv("MOOT_STORE", "own.db")
    assert "trust" not in moot("list").err and (checkout / "own.db").exists() and not (checkout / "x.db").exists()


def test_a_wrong_setting_is_an_error_also_without_trust(moot: Cli, checkout: Path) -> None:
    for text, says in (("stor = 1", "did you mean 'store'"), ("store = 1", "cannot be 1"), ("= broken", "not valid")):
        write(checkout, text)
        ran = moot("list")
        assert ran.code == 2 and says in ran.err


# --- other files that a checkout could speak by


def test_no_other_file_of_a_checkout_sets_anything(checkout: Path) -> None:
    (checkout / "pyproject.toml").write_text('[tool.moot]\nstore = "x.db"\nmodel = "cmd:x"\n')
    for name in (".env", ".envrc", ".moot.toml", "moot.json", "setup.cfg"):
        (checkout / name).write_text("MOOT_STORE=x.db\nMOOT_MODEL=cmd:x\n[moot]\nstore = x.db\n")
    assert {s.source for s in Settings.load({}).resolved.values()} == {"default"}


def test_a_file_of_a_folder_above_is_no_more_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open" / "inner").mkdir(parents=True)
    write(tmp_path / "open", 'store = "x.db"\n')
    monkeypatch.chdir(tmp_path / "open" / "inner")
    assert Settings.load({}).ignored == {"store"}


def test_a_link_to_a_trusted_file_is_not_trusted(checkout: Path, tmp_path: Path) -> None:
    """What it starts would be started in another folder."""
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine", 'model = "cmd:./judge.sh"\n')
    trust_project(tmp_path / "mine")
    (checkout / "moot.toml").symlink_to(tmp_path / "mine" / "moot.toml")
    assert Settings.load({}).ignored == {"model"}


def test_a_copy_elsewhere_is_not_trusted(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(checkout, 'store = "x.db"\n')
    trust_project(checkout)
    assert not Settings.load({}).ignored
    (tmp_path / "copy").mkdir()
    write(tmp_path / "copy", 'store = "x.db"\n')
    monkeypatch.chdir(tmp_path / "copy")
    assert Settings.load({}).ignored == {"store"}


def test_the_users_own_file_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "config-home" / "moot"
    own.mkdir(parents=True)
    write(own, 'store = "mine.db"\n')
    monkeypatch.chdir(own)
    assert Settings.load({}).store == "mine.db" and not Settings.load({}).ignored


# --- for how long


def test_trust_ends_when_the_file_is_changed(checkout: Path) -> None:
    path = write(checkout, 'store = "x.db"\n')
    trust_project(checkout)
    assert not Settings.load({}).ignored
    path.write_text('store = "y.db"\n')
    assert Settings.load({}).ignored == {"store"}
    path.write_text('store = "x.db"\n')
    assert not Settings.load({}).ignored  # exactly what a person looked at


def test_trust_ends_when_a_script_that_the_file_names_is_changed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(checkout, 'model = "cmd:python tools/judge.py"\n[debate]\nroles_folder = "roles"\n')
    for name in ("tools/judge.py", "roles/critic.md"):
        (checkout / name).parent.mkdir()
        (checkout / name).write_text("one\n")
    trust_project(checkout)
    assert not Settings.load({}).ignored
    for name in ("tools/judge.py", "roles/critic.md"):
        (checkout / name).write_text("two\n")
        assert Settings.load({}).ignored == {"model", "debate.roles_folder"}
        (checkout / name).write_text("one\n")
        assert not Settings.load({}).ignored
    (checkout / "roles" / "more.md").write_text("another\n")
    assert Settings.load({}).ignored
    (checkout / "roles" / "more.md").unlink()
    (checkout / "sub" / "tools").mkdir(parents=True)
    (checkout / "sub" / "tools" / "judge.py").write_text("another that is run from there\n")
    monkeypatch.chdir(checkout / "sub")
    assert Settings.load({}).ignored


@pytest.mark.parametrize("text", ["{torn", "[]", '{"event": "trusted"}', "\0\xff"])
def test_a_broken_list_of_trusted_files_trusts_nothing(checkout: Path, tmp_path: Path, text: str) -> None:
    write(checkout, 'store = "x.db"\n')
    (tmp_path / "data-home" / "moot").mkdir(parents=True)
    (tmp_path / "data-home" / "moot" / "trust.jsonl").write_text(text)
    assert Settings.load({}).ignored == {"store"}
    (tmp_path / "data-home" / "moot" / "trust.jsonl").unlink()
    (tmp_path / "data-home" / "moot" / "trust.jsonl").mkdir()
    assert Settings.load({}).ignored == {"store"}


def test_where_nobody_sits_a_hash_is_trusted(moot: Cli, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(checkout, 'store = "x.db"\n')
    digest = json.loads(moot("trust", "--show", "--json").out)["sha256"]
    monkeypatch.setenv("MOOT_TRUST", f"{'0' * 64}, {digest}")
    assert not Settings.load({}).ignored
    path.write_text('store = "y.db"\n')
    assert Settings.load({}).ignored == {"store"}
    for nothing in ("", ",", "yes", "*"):
        monkeypatch.setenv("MOOT_TRUST", nothing)
        assert Settings.load({}).ignored == {"store"}


# --- the command


def test_without_a_terminal_nobody_can_trust(moot: Cli, checkout: Path) -> None:
    write(checkout, 'store = "x.db"\n')
    ran = moot("trust")
    assert ran.code == 2 and "terminal" in ran.err and Settings.load({}).ignored
    assert moot("trust", "--yes").code == 2


def test_a_person_trusts_what_they_have_seen(moot: Cli, checkout: Path) -> None:
    write(checkout, 'store = "x\\u001b[2Jy.db"\nmax_calls = 3\n')
    for said, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        ended, seen = answered_on_a_terminal(TRUST, said)
        assert ended == code and "store = " in seen and "max_calls" not in seen and "\x1b[2J" not in seen
    assert not Settings.load({}).ignored
    assert "trusted" in moot("trust").out and moot("trust", "--show").code == 0


def test_what_is_trusted_is_listed_and_taken_back(moot: Cli, checkout: Path) -> None:
    assert "no file is trusted" in moot("trust", "--list").out
    path = write(checkout, 'store = "x.db"\n')
    assert moot("trust", "--show").code == 1
    trust_project(checkout)
    (listed,) = json.loads(moot("trust", "--list", "--json").out)
    assert listed["path"] == str(path) and listed["by"] == "ann" and "changed" not in moot("trust", "--list").out
    assert moot("trust", "--revoke").code == 0 and Settings.load({}).ignored
    assert json.loads(moot("trust", "--list", "--json").out) == []
    assert "was not trusted" in moot("trust", "--revoke", str(checkout)).out


def test_a_file_without_risk_needs_no_trust(moot: Cli, checkout: Path, tmp_path: Path) -> None:
    write(checkout, "max_calls = 3\n")
    ran = moot("trust")
    assert ran.code == 0 and "nothing in it needs trust" in ran.out
    (checkout / "moot.toml").unlink()
    assert moot("trust").code == 2 and moot("trust", "app.py").code == 2 and moot("trust", "--show", "--list").code == 2


# --- an agent behind a hook


@pytest.mark.parametrize(
    "command",
    ["moot trust", "moot trust .", "yes | moot trust", "python -m moot trust", "script -qc 'moot trust' /dev/null",
     "echo y | script -q -c 'moot trust ../x'", "MOOT_TRUST=abc moot harden app.py", "export MOOT_TRUST=abc",
     "echo '{}' >> ~/.local/share/moot/trust.jsonl", "expect -c 'spawn moot trust; send y'", "env MOOT_TRUST=a moot x",
     "uv run moot trust", "sh -c 'moot trust'"],
)  # fmt: skip
def test_an_agent_does_not_trust_by_itself(command: str) -> None:
    assert judged(command) == "deny"


def judged(command: str) -> Any:
    from moot.surfaces.hooks.events import answer

    call = {
        "session_id": "s1", "cwd": str(Path.cwd()), "tool_name": "Bash", "tool_input": {"command": command}
    }  # fmt: skip
    found = answer("pre-tool-use", json.dumps(call).encode(), {**os.environ, "HOME": str(Path.home())}, client="claude")
    return json.loads(found.out or "{}").get("hookSpecificOutput", {}).get("permissionDecision")
