"""Sessions that wait for a person: durably, without holding anything, and decided once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conftest import Cli
from kit import in_store, settled, write_trusted
from patience import PATIENCE
from solve_kit import RIGHT, WRONG, code, coder, reflection, reflector, world

from moot.core.errors import AlreadyDecided, Parked, UsageError
from moot.core.gates import GateDecision, GateRequest, GateRules, Verdict
from moot.core.types import Limits, Repair, Scan
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.protocols.harden.script import HardenInput, HardenRules
from moot.record.chain import flaws
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.runtime.runner import About, Runner, SessionPlan
from moot.surfaces.history.gates import decide, gate_of
from moot.testing import FakeScanner, FrozenClock, ScriptedModel, one_file, room

R = TypeVar("R")
APPROVED = GateDecision(verdict="approved", how="person", reviewer="ada")
REJECTED = GateDecision(verdict="rejected", how="person", reviewer="bob", reason="not like this")


class World:
    """A session of `harden` whose code is mended in round 1; gates as the test wants them."""

    def __init__(self, store: SqlStore, rules: GateRules) -> None:
        self.clock = FrozenClock()
        self.store, self.gates = store, GateStore(store)
        self.scans = 0
        scanner = FakeScanner(self.look, lambda given, marks: Repair())
        self.ports = SessionPorts(scanner=scanner, clock=self.clock, gates=self.gates)
        self.plan = SessionPlan(
            protocol="harden",
            topic="t",
            input=HardenInput(code=one_file("x = 1\n")).model_dump(mode="json"),
            rules=HardenRules(min_vulnerabilities=0, risk_threshold=0.0).model_dump(mode="json"),
            gates=rules,
        )

    def look(self, given: object) -> Scan:
        self.scans += 1
        return Scan()

    def runner(self) -> Runner:
        return Runner(self.ports, lambda name: ScriptedModel({}), self.store)


def gated(rules: GateRules | None = None) -> Coroutine[Any, Any, GateDecision]:
    return room({}, gates=rules).gate("p", "what was done")


def test_without_gates_it_is_approved_at_once_and_recorded_as_automatic() -> None:
    assert asyncio.run(gated()) == GateDecision(verdict="approved", how="automatic")


@pytest.mark.parametrize(("points", "waits"), [((), True), (("review", "p"), True), (("review",), False)])
def test_only_the_named_points_wait_and_none_named_means_each(points: tuple[str, ...], waits: bool) -> None:
    assert GateRules(enabled=True, points=points).waits_at("p") is waits
    assert not GateRules(points=points).waits_at("p")


def test_a_gate_without_a_record_to_wait_in_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a record"):
        asyncio.run(gated(rules=GateRules(enabled=True)))


def request(store: SqlStore, session: str, **more: Any) -> GateRequest:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    given = {
        "id": "11111111-1111-4111-8111-111111111111", "session_id": session, "seq": 3, "kind": "approval",
        "point": "defense", "summary": "two flaws patched", "created_at": now, "deadline": now + timedelta(minutes=30),
    }  # fmt: skip
    return GateRequest.model_validate({**given, **more})


def test_a_gate_asked_for_again_keeps_its_first_deadline_and_its_decision(place: str) -> None:
    async def work(store: SqlStore) -> None:
        world = World(store, GateRules())
        record = await world.runner().enroll(world.plan)
        first = await world.gates.request(request(store, record.id))
        later = first.deadline + timedelta(hours=1)
        again = await world.gates.request(request(store, record.id, deadline=later))
        assert again == first
        await world.gates.decide(first.id, APPROVED)
        kept = (await world.gates.request(request(store, record.id))).decision
        assert kept is not None and kept.reviewer == "ada" and kept.at is not None

    in_store(place, work)


def test_of_many_decisions_at_the_same_time_exactly_one_counts(place: str) -> None:
    async def work(store: SqlStore) -> None:
        world = World(store, GateRules())
        record = await world.runner().enroll(world.plan)
        gate = await world.gates.request(request(store, record.id))
        others = [SqlStore(place) for _ in range(4)]
        try:
            tries = [GateStore(s).decide(gate.id, d) for s in (store, *others) for d in (APPROVED, REJECTED)]
            done = await asyncio.gather(*tries, return_exceptions=True)
        finally:
            for other in others:
                await other.aclose()
        counted = [each for each in done if isinstance(each, GateRequest)]
        assert len(counted) == 1
        assert all(isinstance(each, AlreadyDecided) for each in done if each is not counted[0])
        marks = [e for e in await store.entries(record.id) if e.kind == "decided"]
        assert len(marks) == 1, "and the record has one decision"
        assert (await world.gates.gate(gate.id)).decision == counted[0].decision

    in_store(place, work)


async def parked(world: World) -> tuple[str, GateRequest]:
    record = await world.runner().enroll(world.plan, About(by="ada"))
    with pytest.raises(Parked) as waiting:
        await world.runner().resume(record.id)
    return record.id, await world.gates.gate(waiting.value.gate_id)


GATES = GateRules(enabled=True, timeout=60.0)


class Vetted(World):
    """A session of `vet` has a gate at its end, whatever its seats say."""

    def __init__(self, store: SqlStore, rules: GateRules) -> None:
        super().__init__(store, rules)
        from moot.protocols.vet.script import VetInput, VetRules

        self.plan = SessionPlan(
            protocol="vet",
            topic="t",
            input=VetInput(action="rm -rf build", stakes="low").model_dump(mode="json"),
            rules=VetRules().model_dump(mode="json"),
            gates=rules,
        )


def test_a_session_at_a_gate_is_paused_and_held_by_nobody_and_goes_on_when_approved(place: str) -> None:
    async def work(store: SqlStore) -> None:
        world = Vetted(store, GATES)
        session, gate = await parked(world)
        record = await store.session(session)
        assert (record.status, record.owner, record.waiting_on) == ("paused", "", gate.id)
        assert gate.point == "verdict" and gate.deadline == gate.created_at + timedelta(seconds=60)
        assert await world.gates.ready(world.clock.now()) == []
        with pytest.raises(Parked):  # woken too early it comes back to the same gate, and the deadline stays
            world.clock.seconds = 30
            await world.runner().resume(session)
        assert (await world.gates.gate(gate.id)).deadline == gate.deadline

        await world.gates.decide(gate.id, APPROVED)
        assert await world.gates.ready(world.clock.now()) == [session]
        result = await world.runner().resume(session)
        record = await store.session(session)
        assert record.status == "completed" and record.waiting_on is None
        assert result.session_id == session
        assert await world.gates.ready(world.clock.now()) == []
        assert not flaws(record, await store.entries(session), [], [])
        kinds = [e.kind for e in await store.entries(session) if e.kind in ("parked", "decided")]
        assert kinds == ["parked", "parked", "decided"], "once more, because it was claimed in between"

    in_store(place, work)


def test_a_rejection_ends_it_with_everything_kept(place: str) -> None:
    async def work(store: SqlStore) -> None:
        world = Vetted(store, GATES)
        session, gate = await parked(world)
        await world.gates.decide(gate.id, REJECTED)
        result = await world.runner().resume(session)
        record = await store.session(session)
        assert record.status == "cancelled" and isinstance(record.outcome, dict)
        assert record.outcome["outcome"] == "rejected"
        assert any("bob: not like this" in note for note in result.degraded)
        assert not result.resumable
        with pytest.raises(UsageError, match="cancelled"):
            await world.runner().resume(session)

    in_store(place, work)


@pytest.mark.parametrize(("policy", "status"), [("rejected", "cancelled"), ("approved", "completed")])
def test_nobody_in_time_counts_as_the_rules_say(place: str, policy: Verdict, status: str) -> None:
    async def work(store: SqlStore) -> None:
        world = Vetted(store, GateRules(enabled=True, timeout=60.0, on_timeout=policy))
        session, gate = await parked(world)
        world.clock.seconds = 61
        assert await world.gates.ready(world.clock.now()) == [session]
        await world.runner().resume(session)
        assert (await store.session(session)).status == status
        made = (await world.gates.gate(gate.id)).decision
        assert made is not None and (made.verdict, made.how) == (policy, "timeout")
        with pytest.raises(AlreadyDecided, match="timeout"):
            await world.gates.decide(gate.id, APPROVED)

    in_store(place, work)


def test_a_late_decision_is_refused_even_before_anybody_noticed_the_timeout(place: str) -> None:
    async def work(store: SqlStore) -> None:
        world = World(store, GateRules())
        record = await world.runner().enroll(world.plan)
        gate = await world.gates.request(request(store, record.id))  # its deadline was months ago
        with pytest.raises(AlreadyDecided, match="this gate expired"):
            await decide(store, gate, "approved", "ada")

    in_store(place, work)


def test_who_may_say_what_at_a_gate(place: str) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)

    async def work(store: SqlStore) -> None:
        world = World(store, GateRules())
        record = await world.runner().enroll(world.plan)
        with pytest.raises(UsageError, match="is not waiting at a gate"):
            await gate_of(store, record.id)
        gate = await world.gates.request(request(store, record.id, deadline=later))
        asked = request(store, record.id, deadline=later, kind="answers", questions=("which?", "why?"), seq=4,
                        id="22222222-2222-4222-8222-222222222222")  # fmt: skip
        asked = await world.gates.request(asked)
        for wanted, verdict, reason, answers, message in (
            (gate, "rejected", " ", (), "needs a reason"),
            (gate, "approved", "", ("x",), "no questions"),
            (asked, "approved", "", (), "give one for each"),
            (asked, "approved", "", ("1", "2", "3"), "at most 2 answers, not 3"),
        ):
            with pytest.raises(UsageError, match=message):
                await decide(store, wanted, verdict, "ada", reason, answers)  # type: ignore[arg-type]
        assert (await gate_of(store, record.id)).id == asked.id
        made = await decide(store, asked, "approved", "ada", answers=("this", ""))
        assert made.decision is not None and made.decision.answers == ("this", "")
        assert (await gate_of(store, gate.id)).id == gate.id

    in_store(place, work)


def test_questions_wait_for_a_person_and_their_answers_are_recorded_once(place: str) -> None:
    questions = ("Is 0 a number?", "Sorted how?")

    async def work(store: SqlStore) -> None:
        world = World(store, GateRules())
        record = await world.runner().enroll(world.plan)

        async def asked() -> tuple[str, ...]:
            journal = Journal(record.id, world.clock, store, await store.steps(record.id))
            rules = GateRules(answers=True, timeout=60.0)
            live = LiveRoom(world.ports, {}, journal, limits=Limits(), timeout=300.0, gates=rules)
            return await live.inquire(questions)

        with pytest.raises(Parked) as waiting:
            await asked()
        gate = await world.gates.gate(waiting.value.gate_id)
        assert (gate.kind, gate.questions) == ("answers", questions)
        await world.gates.decide(gate.id, APPROVED.model_copy(update={"answers": (" yes ",)}))
        assert await asked() == await asked() == ("yes", ""), "and the second time from the record"
        assert [step.name for step in await store.steps(record.id)] == ["inquire"]

    in_store(place, work)


def test_questions_nobody_answers_in_time_have_no_answer_and_the_session_goes_on(place: str) -> None:
    async def work(store: SqlStore) -> None:
        world = World(store, GateRules())
        record = await world.runner().enroll(world.plan)

        def live() -> LiveRoom:
            journal, rules = Journal(record.id, world.clock, store), GateRules(answers=True, timeout=60.0)
            return LiveRoom(world.ports, {}, journal, limits=Limits(), timeout=300.0, gates=rules)

        with pytest.raises(Parked):
            await live().inquire(["which?"])
        world.clock.seconds = 61
        assert await live().inquire(["which?"]) == ("",)

    in_store(place, work)


# --- through the command line, in processes of their own

COMMAND = [sys.executable, "-m", "moot"]


@contextmanager
def waiting(folder: Path, place: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A session that has come to its gate, in a process that waits there."""
    env = {**os.environ, "MOOT_STORE": place}
    program = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert program.stderr is not None
        for line in program.stderr:
            if "waits for a person" in line:
                break
        else:
            raise AssertionError(f"it never waited; exit code {program.wait()}")
        yield program
    finally:
        program.kill()
        program.communicate()


def solved(folder: Path) -> list[str]:
    script = [*coder(code(WRONG), code(RIGHT)), *reflector(reflection())]
    return world(folder, *script)


def test_another_terminal_approves_and_the_session_goes_on(cli: Cli, tmp_path: Path, place: str) -> None:
    command = [*solved(tmp_path), "--gate", "attempt", "--json"]
    with waiting(tmp_path, place, *command) as program:
        (gate,) = json.loads(cli("gates", "--json", "--store", place).out)
        assert gate["point"] == "attempt" and gate["summary"].startswith("attempt 1: 3 of 4 tests")
        assert "max(numbers)" in gate["artefacts"]["code"]
        listed = cli("gates", "--store", place).out
        assert gate["session_id"][:8] in listed and "open until" in listed
        approved = cli("approve", gate["session_id"][:8], "--reason", "go on", "--store", place)
        assert approved.code == 0 and "approved by" in approved.out and "go on" in approved.out
        again = cli("approve", gate["id"], "--store", place)
        assert again.code == 2 and "already decided" in again.err
        assert program.stderr is not None
        for line in program.stderr:  # the second attempt has its own gate
            if "waits for a person" in line:
                break
        assert cli("approve", gate["session_id"], "--store", place).code == 0
        out, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 0, err
    assert json.loads(out)["outcome"] == "solved"
    assert "no gates" in cli("gates", "--store", place).out
    assert cli("gates", gate["session_id"], "--all", "--store", place).out.count("approved by") == 2


def test_a_rejection_from_another_terminal_ends_it(cli: Cli, tmp_path: Path) -> None:
    place = str(tmp_path / "s.db")
    with waiting(tmp_path, place, *solved(tmp_path), "--gate", "all") as program:
        (gate,) = json.loads(cli("gates", "--json", "--store", place).out)
        assert cli("reject", gate["session_id"], "--store", place).code == 2, "a reason is asked for"
        assert cli("reject", gate["session_id"], "--reason", "no", "--store", place).code == 0
        out, _ = program.communicate(timeout=PATIENCE)
    result = json.loads(out)
    assert (program.returncode, result["outcome"], len(result["attempts"])) == (2, "rejected", 1)
    (listed,) = json.loads(cli("list", "--json", "--store", place).out)
    assert (listed["status"], listed["outcome"]) == ("cancelled", "rejected")
    assert cli("resume", listed["id"], "--store", place).code == 2


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_killed_at_the_gate_it_resumes_after_the_decision_to_the_same_result(
    cli: Cli, tmp_path: Path, end: signal.Signals
) -> None:
    place = str(tmp_path / "s.db")
    undisturbed = cli(*solved(tmp_path), "--json", "--store", str(tmp_path / "other.db"))
    with waiting(tmp_path, place, *solved(tmp_path), "--gate", "attempt") as program:
        program.send_signal(end)
        assert program.stderr is not None
        err = program.stderr.read()
        program.wait(timeout=PATIENCE)
    if end == signal.SIGINT:
        assert program.returncode == 130 and "moot resume" in err
    (gate,) = json.loads(cli("gates", "--json", "--store", place).out)
    assert cli("approve", gate["session_id"], "--store", place).code == 0
    with waiting(tmp_path, place, "resume", gate["session_id"], "--json") as program:  # at its second gate
        assert cli("approve", gate["session_id"], "--store", place).code == 0
        out, _ = program.communicate(timeout=PATIENCE)
    assert settled(out) == settled(undisturbed.out)


GIVEN = {
    "harden": ["app.py"], "debate": ["Write f(x). f(1) -> 1"], "solve": ["Write f(x). f(1) -> 1"],
    "review": ["PLAN.md", "--type", "plan"], "vet": ["drop the table users"],
    "decide": ["--ask", "Do we need it in v1?", "--option", "A: yes", "--option", "B: no", "--force-panel"],
}  # fmt: skip
NOT_ASKED = '[{"reply": "nobody may be asked", "always": true}]'


@pytest.mark.parametrize("verb", GIVEN)
@pytest.mark.parametrize("by", ["flag", "file"])
def test_an_unknown_gate_is_refused_before_anything_is_spent(cli: Cli, tmp_path: Path, verb: str, by: str) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    (tmp_path / "PLAN.md").write_text("# Plan\n")
    (tmp_path / "r.yaml").write_text(NOT_ASKED)
    if by == "file":
        write_trusted(tmp_path, '[gates]\nenabled = true\npoints = ["nowhere"]\n')
    more = ["--gate", "nowhere"] if by == "flag" else []
    ran = cli(verb, *GIVEN[verb], "-m", "script:r.yaml", *more)
    assert (ran.code, ran.out) == (2, "") and f"{verb} has no gate 'nowhere'; its gates are " in ran.err
    assert json.loads(cli("list", "--json").out) == []


def test_gates_of_other_verbs_may_stand_in_a_file(cli: Cli, tmp_path: Path) -> None:
    write_trusted(tmp_path, '[gates]\nenabled = true\npoints = ["convergence"]\n')
    (tmp_path / "app.py").write_text("x = 1\n")
    assert cli("harden", "app.py").code == 0


def test_a_gate_of_a_fork_must_be_one(cli: Cli, tmp_path: Path) -> None:
    ran = cli(*solved(tmp_path), "--json")
    forked = cli("fork", json.loads(ran.out)["session_id"], "--at", "1", "--set", "gates.points=nowhere")
    assert forked.code == 2 and "solve has no gate 'nowhere'" in forked.err


def test_all_gates_by_flag_go_before_the_gates_of_a_file(cli: Cli, tmp_path: Path) -> None:
    write_trusted(tmp_path, '[gates]\npoints = ["convergence"]\n')
    with waiting(tmp_path, str(tmp_path / "s.db"), *solved(tmp_path), "--gate", "all"):
        (gate,) = json.loads(cli("gates", "--json", "--store", str(tmp_path / "s.db")).out)
        assert gate["point"] == "attempt"


def test_a_gate_that_is_not_there_cannot_be_approved(cli: Cli) -> None:
    assert cli("approve", "11111111-1111-4111-8111-111111111111").code == 2
