"""What a client may set: the same at every door. A fork is a begin, and so is a resume."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit import BAD
from serving_kit import DECIDE, GATED, HARDEN, Client, run, serving
from test_server_doors import token

from moot.edge.store.tokens import Scope
from moot.runtime.runner import About, SessionPlan, new_record

DEBATE = {
    "protocol": "debate",
    "models": ["openai:a", "openai:b"],
    "input": {"task": "Is a monolith right for a team of three?"},
}
BEGUN: dict[str, dict[str, Any]] = {"harden": HARDEN, "debate": DEBATE, "decide": DECIDE}
RUNS: tuple[Scope, ...] = ("read", "run")
APPROVES: tuple[Scope, ...] = ("read", "run", "approve")
REACHES: list[tuple[str, dict[str, Any]]] = [
    ("harden", {"changes": {"gates.webhooks": ["http://127.0.0.1:1/"]}}),
    ("harden", {"changes": {"gates.webhooks": "http://127.0.0.1:1/,http://127.0.0.1:2/"}}),
    ("harden", {"changes": {"gates.enabled": True, "gates.webhooks": ["http://[::1]:1/"]}}),
    ("harden", {"changes": {"gates.timeout": 1e300}}),
    ("harden", {"changes": {"gates.points": ["nowhere"]}}),
    ("harden", {"changes": {"max_reply_bytes": 10**15}}),
    ("harden", {"changes": {"reply_tokens": 10**9}}),
    ("harden", {"changes": {"prompt_tokens": 10**9}}),
    ("harden", {"changes": {"retries": 10}}),
    ("harden", {"changes": {"tool_seconds": 1e9}}),
    ("harden", {"changes": {"call_timeout": 1e9}}),
    ("harden", {"changes": {"max_usd": 1.0}}),
    ("harden", {"changes": {"nonsense": 1}}),
    ("harden", {"changes": {"store": "/tmp/x.db"}}),
    ("harden", {"changes": {"notes.repository": "/"}}),
    ("harden", {"changes": {"sandbox.memory": 10**12}}),
    ("harden", {"seats": {"red": "cmd:touch x"}}),
    ("harden", {"seats": {"red": ["openai:x", "script:/etc/passwd"]}}),
    ("harden", {"seats": {"red": " cmd:touch x"}}),
    ("harden", {"seats": {"blue": "local:/weights.gguf"}}),
    ("harden", {"seats": {"green": "openai:x"}}),
    ("harden", {"branch": True}),
    ("harden", {"gates": {"enabled": False}}),
    ("harden", {"models": "cmd:true"}),
    ("debate", {"changes": {"roles_folder": "/etc"}}),
    ("debate", {"changes": {"debate.roles_folder": "/etc"}}),
    ("debate", {"changes": {"tools": ["read", "search"]}}),
    ("debate", {"changes": {"debate.tools": "run_code"}}),
    ("decide", {"changes": {"judges_folder": "/etc"}}),
    ("decide", {"changes": {"decide.judges_folder": "/etc"}}),
]  # fmt: skip


async def ended(client: Client, body: dict[str, Any]) -> str:
    session = await client.begin(body)
    await client.until(session, "completed", "paused")
    return session


async def sessions_of(client: Client) -> set[str]:
    found = await client.server.site.store.sessions(limit=1000)
    return {record.id for record in found}


def test_a_fork_may_set_no_more_than_a_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_WEBHOOK_SECRET", "s" * 32)

    async def story() -> None:
        every = await token(tmp_path / "s.db", "eve", *APPROVES)
        async with serving(tmp_path / "s.db", headers=every) as client:
            parents = {name: await ended(client, body) for name, body in BEGUN.items()}
            before = await sessions_of(client)
            for name, wish in REACHES:
                answer = await client.post(f"/v1/debates/{parents[name]}/fork", {"at": 1, **wish})
                assert answer.status_code == 422, (name, wish, answer.text)
            assert await sessions_of(client) == before, "what is refused begins nothing"
            fine = await client.post(
                f"/v1/debates/{parents['harden']}/fork",
                {"at": 1, "changes": {"max_rounds": 2, "max_calls": 9}, "seats": {"red": "openai:other"}},
            )
            assert fine.status_code == 202, fine.text
            await client.until(fine.json()["id"], "completed")

    run(story())


LOOSER: list[dict[str, Any]] = [
    {"gates.enabled": False},
    {"gates.points": []},
    {"gates.on_timeout": "approved"},
    {"gates.timeout": 0.001},
    {"gates.timeout": 90_000},
    {"gates.answers": False},
    {"gates.enabled": False, "gates.on_timeout": "approved"},
]  # fmt: skip


def test_changing_the_gates_of_a_session_needs_the_right_to_approve(tmp_path: Path) -> None:
    gates = {"enabled": True, "points": ["defense"], "answers": True}

    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *RUNS)
        async with serving(tmp_path / "s.db", headers=ann) as client:
            session = await client.begin({**HARDEN, "gates": gates})
            await client.at_gate(session)
            before = await sessions_of(client)
            last = max(step.seq for step in await client.server.site.store.steps(session)) + 1
            for at in (1, last):
                for changes in LOOSER:
                    answer = await client.post(f"/v1/debates/{session}/fork", {"at": at, "changes": changes})
                    told = (answer.status_code, answer.json().get("code"))
                    assert told == (403, "scope_missing"), (at, changes, answer.text)
            assert await sessions_of(client) == before
            same = await client.post(f"/v1/debates/{session}/fork", {"at": last, "changes": {"gates.enabled": True}})
            assert same.status_code == 202, same.text
            child = await client.at_gate(same.json()["id"])
            own = (await client.get(f"/v1/debates/{child['id']}/gates")).json()["gates"]
            assert [gate["session_id"] for gate in own] == [child["id"]], "it waits at a gate of its own"

    run(story())


def test_who_may_approve_may_change_the_gates(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *APPROVES)
        async with serving(tmp_path / "s.db", headers=ann) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            forked = await client.post(f"/v1/debates/{session}/fork", {"at": 1, "changes": {"gates.enabled": False}})
            assert forked.status_code == 202, forked.text
            assert (await client.until(forked.json()["id"], "completed"))["outcome"] == "hardened"

    run(story())


def test_a_phase_that_has_a_gate_is_not_dropped_without_the_right_to_approve(tmp_path: Path) -> None:
    """Without its phase a gate is never reached: that switches it off too."""
    kept = ["proposal", "critique", "convergence"]

    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *RUNS)
        async with serving(tmp_path / "s.db", headers=ann) as client:
            body = {**DEBATE, "gates": {"enabled": True, "points": ["proposal", "review"]}}
            session = await client.begin(body)
            await client.at_gate(session)
            for phases in (kept, ["convergence"]):
                answer = await client.post(f"/v1/debates/{session}/fork", {"at": 1, "changes": {"phases": phases}})
                assert (answer.status_code, answer.json().get("code")) == (403, "scope_missing"), answer.text
            await client.post(f"/v1/debates/{session}/cancel")
        async with serving(tmp_path / "s.db", headers=ann, gates__enabled=True, gates__points=("review",)) as client:
            for rules in ({"phases": kept}, {"phases": ["proposal"]}):
                answer = await client.post("/v1/debates", {**DEBATE, "rules": rules})
                assert (answer.status_code, answer.json().get("code")) == (403, "scope_missing"), answer.text
            fine = await client.post("/v1/debates", {**DEBATE, "rules": {"phases": [*kept, "review"]}})
            assert fine.status_code == 202, fine.text
            await client.post(f"/v1/debates/{fine.json()['id']}/cancel")

    run(story())


def test_the_gates_of_the_server_hold_for_everybody_who_may_not_approve(tmp_path: Path) -> None:
    weaker: list[dict[str, Any]] = [
        {"enabled": False}, {"on_timeout": "approved"}, {"timeout": 0.5}, {"enabled": True, "timeout": 600},
        {"answers": False},
    ]  # fmt: skip
    policy: dict[str, Any] = {"gates__enabled": True, "gates__timeout": 3600.0, "gates__answers": True}

    async def story() -> None:
        ann, bob = await token(tmp_path / "s.db", "ann", *RUNS), await token(tmp_path / "s.db", "bob", *APPROVES)
        async with serving(tmp_path / "s.db", headers=ann) as client:
            old = await ended(client, HARDEN)  # before the server had gates
            spent = await ended(client, {**HARDEN, "budget": {"max_calls": 1}})
        async with serving(tmp_path / "s.db", headers=ann, **policy) as client:
            for gates in weaker:
                answer = await client.post("/v1/debates", {**HARDEN, "gates": gates})
                assert (answer.status_code, answer.json().get("code")) == (403, "scope_missing"), gates
            for path, body in ((f"{old}/fork", {"at": 1}), (f"{spent}/resume", {"budget": {"max_calls": 9}})):
                answer = await client.post(f"/v1/debates/{path}", body)
                assert (answer.status_code, answer.json().get("code")) == (403, "scope_missing"), answer.text
            same = await client.begin({**HARDEN, "gates": {"enabled": True, "timeout": 3600, "answers": True}})
            await client.at_gate(same)
            session = await client.begin(HARDEN)
            await client.at_gate(session)
            allowed = await client.post("/v1/debates", {**HARDEN, "gates": {"enabled": False}}, headers=bob)
            assert allowed.status_code == 202, allowed.text

    run(story())


def test_what_the_server_forbids_now_is_not_taken_over_from_an_old_session(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *APPROVES)
        async with serving(tmp_path / "s.db", headers=ann, server__allow_local=True) as client:
            held = await ended(client, {**HARDEN, "models": "cmd:true", "budget": {"max_calls": 1}})
        async with serving(tmp_path / "s.db", headers=ann) as client:
            for path, body in (
                (f"{held}/fork", {"at": 1}),
                (f"{held}/fork", {"at": 1, "seats": {"red": "openai:x"}}),
                (f"{held}/resume", {"budget": {"max_calls": 9}}),
                (f"{held}/resume", None),
            ):
                answer = await client.post(f"/v1/debates/{path}", body)
                assert answer.status_code == 422 and "cmd" in answer.text, answer.text
            both = {"red": "openai:x", "blue": "openai:x"}
            fine = await client.post(f"/v1/debates/{held}/fork", {"at": 1, "seats": both})
            assert fine.status_code == 202, fine.text

    run(story())


NOTES: list[dict[str, Any]] = [
    {"repository": "/", "places": {}}, {"out": "/tmp/x.py"}, {"project": {"python": None}, "ask_me": True},
    {"ci": {"commands": [{"name": "x", "point": "post_proposal", "command": ["touch", "/tmp/x"]}]}},
    {"unsafe_local": True}, {"origins": {"app.py": ["/etc/passwd", "utf-8"]}}, {"memory": "/etc"},
    {"something_new": True}, {"input": {"repository": "/"}},
]  # fmt: skip


@pytest.mark.parametrize("notes", NOTES, ids=lambda notes: next(iter(notes)))
def test_what_only_the_machine_of_the_server_may_say_is_not_forked(tmp_path: Path, notes: dict[str, Any]) -> None:
    """Sessions of the command line lie in the same store, with paths and programs of this machine in them."""

    async def story() -> None:
        async with serving(tmp_path / "s.db", headers=await token(tmp_path / "s.db", "chief", "admin")) as client:
            done = await ended(client, HARDEN)
            site = client.server.site
            plan = SessionPlan.model_validate((await site.store.session(done)).config)
            changed = {"input": {**plan.input, **notes["input"]}} if "input" in notes else {"notes": notes}
            own = new_record(plan.model_copy(update=changed), site.now(), About(by=None))
            await site.store.create(own.model_copy(update={"status": "paused"}))
            for path, body in ((f"{own.id}/fork", {"at": 1}), (f"{own.id}/resume", {})):
                answer = await client.post(f"/v1/debates/{path}", body)
                assert answer.status_code == 422 and "server.allow_local" in answer.text, answer.text

    run(story())


def test_the_limits_of_the_server_are_the_most_that_a_client_may_take(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *RUNS)
        async with serving(tmp_path / "s.db", headers=ann, max_calls=5, timeout=200.0) as client:
            done = await ended(client, {**HARDEN, "budget": {"max_calls": 1}})
            for path, body in (
                ("", {**HARDEN, "budget": {"max_calls": 6}}),
                ("", {**HARDEN, "rules": {"timeout": 201}}),
                (f"/{done}/fork", {"at": 1, "changes": {"max_calls": 6}}),
                (f"/{done}/fork", {"at": 1, "changes": {"max_calls": None}}),
                (f"/{done}/fork", {"at": 1, "changes": {"timeout": 1000}}),
                (f"/{done}/resume", {"budget": {"max_calls": 6}}),
            ):
                answer = await client.post(f"/v1/debates{path}", body)
                assert answer.status_code == 422, (path, body, answer.text)
            resumed = await client.post(f"/v1/debates/{done}/resume", {"budget": {"max_calls": 5}})
            assert resumed.status_code == 202, resumed.text

    run(story())


def test_a_path_in_a_request_never_names_a_repository_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    subprocess.run(["git", "init", "-q", str(here)], check=True)
    monkeypatch.chdir(here)

    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *RUNS)
        async with serving(tmp_path / "s.db", headers=ann) as client:
            body = {**DEBATE, "input": {"task": "Improve app.py", "kind": "topic", "files": {"app.py": BAD}}}
            session = await client.begin(body)
            plan = (await client.get(f"/v1/debates/{session}")).json()["plan"]
            assert plan["input"]["repository"] == ""
            await client.post(f"/v1/debates/{session}/cancel")

    run(story())


NEEDED: dict[str, dict[str, Any]] = {
    "answers": {"answers": ["x"]}, "choice": {"question": "Q", "option": "A", "reason": "r"}, "fork": {"at": 1},
}  # fmt: skip


def test_unknown_fields_are_refused_everywhere(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *APPROVES)
        async with serving(tmp_path / "s.db", headers=ann) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            one = f"/v1/debates/{session}"
            for path in ("", "/status", "/results", "/turns", "/versions", "/audit", "/gates", "/events"):
                answer = await client.get(f"{one}{path}", params={"owner": "bob"})
                assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), path
            for path in ("/v1/debates", "/v1/debates/team", "/metrics"):
                answer = await client.get(path, params={"owner": "bob"})
                assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), path
            for path in ("approve", "reject", "answers", "choice", "pause", "cancel", "resume", "fork"):
                more: dict[str, Any] = NEEDED.get(path, {})
                answer = await client.post(f"{one}/{path}", {**more, "gates": {"enabled": False}})
                assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), (path, answer.text)
                answer = await client.post(f"{one}/{path}", more, params={"by": "bob"})
                assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), (path, answer.text)
            assert (await client.get(one)).json()["waiting_on"], "nothing of it decided the gate"

    run(story())


def test_nothing_is_forked_or_carried_on_for_somebody_else(tmp_path: Path) -> None:
    """And they are not told whether there is such a session."""

    async def story() -> None:
        ann, eve = [await token(tmp_path / "s.db", name, *APPROVES) for name in ("ann", "eve")]
        async with serving(tmp_path / "s.db", headers=ann) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            before = await sessions_of(client)
            bodies: dict[str, Any] = {
                "fork": {"at": 1}, "resume": {}, "pause": None, "cancel": None, "approve": {}, "reject": {},
                "answers": {"answers": ["x"]}, "choice": {"question": "Q1", "option": "A", "reason": "x"},
            }  # fmt: skip
            nobody = "00000000-0000-4000-8000-000000000000"
            for path, body in bodies.items():
                told = [
                    await client.post(f"/v1/debates/{each}/{path}", body, headers=eve) for each in (session, nobody)
                ]
                assert [answer.status_code for answer in told] == [404, 404], (path, told[0].text)
                assert told[0].json() == told[1].json()
            assert await sessions_of(client) == before
            assert (await client.get(f"/v1/debates/{session}")).json()["waiting_on"]

    asyncio.run(story())
