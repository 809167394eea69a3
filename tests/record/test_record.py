"""The record as a user meets it: whole for every protocol on both stores, shown, replayed, forked and compared."""

import asyncio
import json
import signal
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD, GOOD, NOTHING, SQLI, blue, run_moot
from panels import SCOPE, script
from record_kit import SESSIONS, by_hand, found, run_session, seen, session_id
from sqlalchemy import Connection, select, text, update

from moot.core.ports import SessionRecord
from moot.edge.store import tables
from moot.record.chain import SessionSnapshot
from moot.record.replay import replay


@pytest.mark.parametrize("name", SESSIONS)
def test_the_record_of_every_protocol_is_whole_and_replays(
    cli: Cli, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ran = run_session(cli, name, place, tmp_path, monkeypatch)
    session = session_id(ran)
    assert cli("audit", session, "--verify").code == 0
    told = json.loads(cli("audit", session, "--json").out)
    assert told["whole"] and [each["entry"] for each in told["timeline"]] == [*range(1, len(told["timeline"]) + 1)]
    assert sum(spend["calls"] for spend in told["spent"].values()) == json.loads(ran.out)["calls"]
    again = cli("replay", session, "--json")
    assert (again.code, json.loads(again.out)["same"]) == (0, True), again.out


HARDEN = ["harden", "app.py", "-m", "script:s.yaml", "--json", "-q"]


@pytest.fixture
def hardened(cli: Cli, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session of three questions: red, blue, red."""
    monkeypatch.setenv("MOOT_STORE", place)
    (tmp_path / "app.py").write_text(BAD)
    replies = [
        {"seat": "red", "reply": SQLI, "round": 1},
        {"seat": "blue", "reply": blue(GOOD), "round": 1},
        {"seat": "red", "reply": NOTHING, "round": 2},
    ]
    (tmp_path / "s.yaml").write_text(json.dumps(replies))
    ran = cli(*HARDEN)
    assert ran.code == 0, ran.err
    return session_id(ran)


def asks(place: str, session: str) -> list[int]:
    return [step.seq for step in seen(place, session).steps if step.name.startswith("ask ")]


# --- audit

SHOWN = (
    "started: harden", "round 1, attack: red asked of script:s.yaml", "answered by", "tokens in", "gate: approved",
    "version 1 is kept", "ended: completed, hardened", "The record is intact",
)  # fmt: skip


def test_the_timeline_shows_what_was_asked_answered_and_spent(cli: Cli, hardened: str) -> None:
    shown = cli("audit", hardened)
    assert shown.code == 0
    for words in SHOWN:
        assert words in shown.out, words
    whole = json.loads(cli("audit", hardened, "--json").out)
    (first,) = [each for each in whole["timeline"] if each["title"].startswith("round 1, attack")]
    assert any(BAD.splitlines()[1].strip() in line for line in first["lines"]), "the prompt is there as a whole"


def test_a_changed_word_is_found_and_named(cli: Cli, hardened: str, place: str) -> None:
    cli(*HARDEN)  # another session, which stays whole
    of = tables.turns
    change = update(of).where(of.c.round == 2, of.c.session_id == hardened).values(content="all is well")
    by_hand(place, lambda db: db.execute(change))
    everything = cli("audit", "--verify")
    assert everything.code == 1 and len(everything.out.splitlines()) == 1
    assert everything.out.startswith(f"{hardened}: the turn or version of step")
    assert cli("audit", hardened).code == 1 and "Changed since it was recorded" in cli("audit", hardened).out
    assert json.loads(cli("audit", hardened, "--verify", "--json").out)["whole"] is False
    assert cli("replay", hardened).code == 1
    assert cli("fork", hardened, "--at", "3").code == 3


def test_a_record_that_cannot_be_read_is_a_flaw_and_no_crash(cli: Cli, hardened: str, place: str) -> None:
    by_hand(place, lambda db: db.execute(text("UPDATE journal SET kind = 'nonsense' WHERE entry = 3")))
    ran = cli("audit", "--verify")
    assert ran.code == 1 and "cannot be read" in ran.out


def test_audit_needs_a_session_or_verify(cli: Cli) -> None:
    assert cli("audit").code == 2


# --- replay


def test_another_result_in_the_record_is_told(cli: Cli, hardened: str, place: str) -> None:
    of = tables.sessions

    def improve(db: Connection) -> None:
        told = json.dumps(db.execute(select(of.c.outcome)).scalar_one()).replace('"hardened"', '"unresolved"')
        db.execute(update(of).values(outcome=json.loads(told)))

    by_hand(place, improve)
    ran = cli("replay", hardened)
    assert ran.code == 1 and "different: " in ran.out and 'recorded: "unresolved"' in ran.out
    assert "the result was changed" in ran.out


@pytest.mark.parametrize(
    ("limit", "outcome"), [("--max-calls=2", "budget_exhausted"), ("--max-tokens=900", "budget_exhausted")]
)
def test_a_session_without_money_replays_and_resumed_too(
    cli: Cli, hardened: str, place: str, limit: str, outcome: str
) -> None:
    ran = cli(*HARDEN, limit)
    session, result = session_id(ran), json.loads(ran.out)
    assert result["outcome"] == outcome
    assert cli("replay", session).code == 0, cli("replay", session).out
    assert cli("resume", session, "--json", "-q", "--max-calls=9", "--max-tokens=90000").code == 0
    assert found(place, session) == [] and cli("replay", session).code == 0


def test_a_session_whose_provider_failed_replays_before_and_after_it_was_tried_again(
    cli: Cli, hardened: str, place: str, tmp_path: Path
) -> None:
    failing = [
        {"seat": "red", "reply": SQLI, "round": 1},
        {"seat": "blue", "error": {"kind": "auth"}, "round": 1},
    ]
    (tmp_path / "s.yaml").write_text(json.dumps(failing))
    ran = cli(*HARDEN)
    session = session_id(ran)
    assert seen(place, session).session.status == "paused"
    assert (found(place, session), cli("replay", session).code) == ([], 0)
    mended = [
        failing[0],
        {"seat": "blue", "reply": blue(GOOD), "round": 1},
        {"seat": "red", "reply": NOTHING, "round": 2},
    ]
    (tmp_path / "s.yaml").write_text(json.dumps(mended))
    assert cli("resume", session, "--json", "-q").code == 0
    assert "dropped" in [entry.kind for entry in seen(place, session).entries]
    assert (found(place, session), cli("replay", session).code) == ([], 0)
    shown = cli("audit", session).out
    assert "discarded: retried" in shown and "failed: script:s.yaml" in shown


def test_a_session_that_has_not_ended_replays_as_far_as_it_got(cli: Cli, hardened: str, place: str) -> None:
    """As after a kill -9: there are steps, and no end."""
    whole = seen(place, hardened)
    cut = next(entry.entry for entry in whole.entries if entry.name == "ask blue")

    entries = tuple(entry for entry in whole.entries if entry.entry <= cut)
    steps = tuple(step for step in whole.steps if step.seq <= next(e.seq for e in entries if e.entry == cut))
    record: SessionRecord = whole.session.model_copy(
        update={"status": "running", "outcome": None, "entries": cut, "chain": entries[-1].chain}
    )
    last = steps[-1].seq
    turns, versions = tuple(t for t in whole.turns if t.seq <= last), tuple(v for v in whole.versions if v.seq <= last)
    part = SessionSnapshot(session=record, entries=entries, steps=steps, turns=turns, versions=versions)
    again = asyncio.run(replay(part))
    assert (again.same, again.ended, again.steps, again.flaws) == (True, False, len(steps), ())


# --- fork


def test_a_fork_goes_on_with_another_model_and_pays_nothing_twice(
    cli: Cli, hardened: str, place: str, tmp_path: Path
) -> None:
    _, at, _ = asks(place, hardened)
    other = [{"seat": "blue", "reply": blue(f"# mended\n{GOOD}"), "round": 1}]
    (tmp_path / "other.yaml").write_text(json.dumps(other))
    (tmp_path / "s.yaml").write_text(
        json.dumps([{"seat": "red", "reply": SQLI, "round": 1}, {"seat": "red", "reply": NOTHING, "round": 2}])
    )
    ran = cli("fork", hardened, "--at", str(at), "--seat", "blue=script:other.yaml", "--json")
    assert ran.code == 0, ran.err
    child, result = session_id(ran), json.loads(ran.out)
    assert child != hardened and result["final_code"].startswith("# mended")
    whole, parent = seen(place, child), seen(place, hardened)
    assert whole.session.parent == hardened and whole.entries[0].value["parent"] == hardened  # type: ignore[index,call-overload]
    assert whole.entries[0].value["at"] == at  # type: ignore[index,call-overload]
    before = [step for step in parent.steps if step.seq < at]
    assert list(whole.steps[: len(before)]) == before
    assert [t for t in whole.turns if t.seq < at] == [t for t in parent.turns if t.seq < at]
    assert [v for v in whole.versions if v.seq < at] == [v for v in parent.versions if v.seq < at] != []
    assert [log for log in whole.logs if log.seq < at] == [log for log in parent.logs if log.seq < at] != []
    assert found(place, child) == [] and found(place, hardened) == []
    assert cli("replay", child).code == 0
    parted = json.loads(cli("diff", hardened, child, "--json").out)
    assert parted["at"] == f"{at}.1" and "forked from" in parted["related"]
    assert [each["path"] for each in parted["plan"]] == ["seats.blue[0]"]
    assert "final_code" in [each["path"] for each in parted["result"]]
    assert "they diverge at step" in cli("diff", hardened, child).out


def test_a_fork_with_fewer_rounds_ends_earlier(cli: Cli, hardened: str, place: str) -> None:
    _, at, _ = asks(place, hardened)
    ran = cli("fork", hardened, "--at", str(at + 1), "--set", "max_rounds=1", "--json", "-q")
    assert json.loads(ran.out)["rounds"] == 1, ran.err


def test_a_change_that_alters_an_earlier_step_is_refused_and_says_where_to_fork(
    cli: Cli, hardened: str, place: str
) -> None:
    _, _, last = asks(place, hardened)
    ran = cli("fork", hardened, "--at", str(last + 1), "--set", "min_vulnerabilities=2")
    assert ran.code == 2 and "(--at " in ran.err
    first = int(ran.err.split("(--at ")[1].split(")")[0])
    assert 1 < first <= last
    assert cli("fork", hardened, "--at", str(first), "--set", "min_vulnerabilities=2", "-q").code in (0, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--at", "99"], "has steps 1 to"),
        (["--at", "0"], "has steps 1 to"),
        (["--at", "2", "--set", "colour=red"], "no 'colour' to set"),
        (["--at", "2", "--set", "max_rounds"], "KEY=VALUE"),
        (["--at", "2", "--set", "max_rounds=none at all"], "max_rounds cannot be set"),
        (["--at", "2", "--seat", "judge=script:s.yaml"], "no seat 'judge'"),
    ],
)
def test_what_cannot_be_forked_is_said(cli: Cli, hardened: str, words: list[str], says: str) -> None:
    ran = cli("fork", hardened, *words)
    assert ran.code == 2 and says in ran.err
    assert len(json.loads(cli("list", "--json").out)) == 1, "nothing is left of it"


# --- diff


def test_a_session_and_its_like_are_the_same(cli: Cli, hardened: str) -> None:
    again = session_id(cli(*HARDEN))
    ran = cli("diff", hardened, again)
    assert ran.code == 0 and "the same plan" in ran.out and "the same result" in ran.out


def test_a_session_that_runs_on_with_new_limits_is_whole_at_every_moment(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text(SCOPE)
    model = script(tmp_path, "ABC", "AAC")
    cut = run_moot(tmp_path, "decide", "q.yaml", "-m", model, "--max-calls", "1", "--json")
    session = json.loads(cut.stdout)["session_id"]
    assert json.loads(cut.stdout)["stop_reason"] == "budget_exhausted"
    for limit in (10, 11):
        killed = run_moot(tmp_path, "resume", session, "--max-calls", str(limit), kill_after=1)
        assert killed.returncode == -signal.SIGKILL
        verified = run_moot(tmp_path, "audit", "--verify", session)
        assert (verified.returncode, verified.stdout.strip()) == (0, "intact: 1 session"), limit
    done = run_moot(tmp_path, "resume", session, "--max-calls", "20", "--json")
    assert json.loads(done.stdout)["outcome"] == "RECOMMENDED"
    assert run_moot(tmp_path, "audit", "--verify").returncode == 0
