"""An estimate is a bound: no session makes more calls, whatever its models say."""

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import BAD, CLEAN, make_ports
from sample_tasks import LARGE_ISSUES, SMALL

from moot.core.errors import ModelError
from moot.core.types import Answer, Code, ModelCall, Probing, SuiteRun, TestOutcome, Tests
from moot.evidence.artefacts.values import Artefact
from moot.protocols import PROTOCOLS
from moot.protocols.debate.types import DebateInput, DebateRules, Member
from moot.protocols.decide.questions.contexts import parse_spoken_question
from moot.protocols.decide.questions.panel import load_shipped_judges
from moot.protocols.decide.script import DecideInput, DecideRules
from moot.protocols.harden.script import HardenInput, HardenRules
from moot.protocols.review.script import Reviewed, ReviewInput, ReviewRules
from moot.protocols.solve.script import SolveInput, SolveRules
from moot.protocols.vet.script import VetInput, VetRules
from moot.runtime.room import LiveRoom
from moot.runtime.runner import SessionPlan
from moot.surfaces.session.estimates import estimate_plan
from moot.testing import ActingModel, FakeSandbox, Line, one_file, room

DOCUMENT = "# Plan\n\nStore the sessions in memory.\nShip it on Friday.\n"
ROLES = ("proposer", "critic", "reviewer", "optimizer", "moderator", "validator")
TEAM = tuple(Member(seat=role, role=role, model="script:x") for role in ROLES)
WORDS = [
    *"AB12",
    "f(1) == 2",
    "f(2) == 4",
    "keep",
    "yield",
    "Store the sessions in memory.",
    "C1",
    "a1",
    *ROLES,
    "none",
]
Case = Callable[[random.Random], tuple[str, Any, Any]]


def make_value(schema: dict[str, Any], defs: dict[str, Any], chance: random.Random) -> Any:
    """Any value that fits a schema."""
    if "$ref" in schema:
        return make_value(defs[schema["$ref"].rpartition("/")[2]], defs, chance)
    if "enum" in schema or "const" in schema:
        return chance.choice(schema.get("enum") or [schema["const"]])
    if "anyOf" in schema:
        return make_value(chance.choice(schema["anyOf"]), defs, chance)
    match schema.get("type"):
        case "object":
            known = schema.get("properties") or {word: {"type": "string"} for word in chance.sample(WORDS, 3)}
            return {name: make_value(each, defs, chance) for name, each in known.items()}
        case "array":
            return [make_value(schema["items"], defs, chance) for _ in range(chance.randint(0, 8))]
        case "number" | "integer":
            return chance.choice([0, 1])
        case "boolean":
            return chance.random() < 0.5
        case _:
            return chance.choice(WORDS)


def say_anything(chance: random.Random) -> Callable[[ModelCall], Line]:
    def say(call: ModelCall) -> Line:
        luck = chance.random()
        if luck < 0.1:
            return "hm"
        if luck < 0.13:
            return ModelError("gone", kind="timeout")
        if call.json_schema is None:
            return f"because\n\nNONE\n\n```python\ndef f(x):\n    return x + {chance.randint(0, 2)}\n```\n"
        return json.dumps(make_value(call.json_schema, dict(call.json_schema.get("$defs") or {}), chance))  # type: ignore[call-overload]

    return say


def sandbox_of(chance: random.Random) -> FakeSandbox:
    def judge(code: Code, tests: Tests) -> SuiteRun:
        return SuiteRun(outcomes=(TestOutcome(name="t", status=chance.choice(["passed", "failed"])),))

    def answer(code: Code, calls: Sequence[str]) -> Probing:
        return Probing(answers=tuple(Answer(kind="value", text=str(chance.randint(1, 3))) for _ in calls))

    return FakeSandbox(judge, judge_calls=answer)


def harden(chance: random.Random) -> tuple[str, Any, Any]:
    code = one_file(chance.choice([BAD, CLEAN]))
    return "harden", HardenInput(code=code), HardenRules(max_rounds=chance.randint(1, 4))


def decide(chance: random.Random) -> tuple[str, Any, Any]:
    asked = [parse_spoken_question(text, ["A: all", "B: none"]) for text in ("Do we need it?", "What colour is it?")]
    asked = [question.model_copy(update={"id": f"Q{n}"}) for n, question in enumerate(asked)]
    judges = tuple(load_shipped_judges()[name] for name in ("risk", "value", "effort"))
    given = DecideInput(questions=tuple(asked), judges=judges, force_panel=chance.random() < 0.5)
    return "decide", given, DecideRules(max_rounds=chance.randint(1, 2))


def review(chance: random.Random) -> tuple[str, Any, Any]:
    files = [Artefact(path=f"{n}.md", type="plan", guessed="", text=DOCUMENT) for n in range(chance.randint(1, 3))]
    rules = ReviewRules(max_rounds=chance.randint(1, 5), defend=chance.random() < 0.8)
    return "review", ReviewInput(artefacts=tuple(Reviewed(artefact=file) for file in files)), rules


def solve(chance: random.Random) -> tuple[str, Any, Any]:
    tests = Tests(files=(("test_a.py", "assert f(1) == 2"),)) if chance.random() < 0.8 else None
    start = CLEAN if chance.random() < 0.5 else None
    return "solve", SolveInput(task=SMALL[0], tests=tests, start=start), SolveRules(attempts=chance.randint(1, 4))


def vet(chance: random.Random) -> tuple[str, Any, Any]:
    kind, stakes = chance.choice(["planning", "failure"]), chance.choice(["low", "medium", "high"])
    given = {"kind": kind, "action": "drop the table", "stakes": stakes, "errors": ("it failed",)}
    return "vet", VetInput.model_validate(given), VetRules(rounds=chance.randint(1, 3))


def debate(chance: random.Random) -> tuple[str, Any, Any]:
    task, kind = chance.choice([*SMALL[:7], *LARGE_ISSUES[:2]]), chance.choice(["code", "code", "topic"])
    given = DebateInput.model_validate({"task": task, "kind": kind, "team": TEAM[: chance.randint(1, len(TEAM))]})
    rules = {
        "max_rounds": chance.randint(1, 3), "drafts": chance.randint(1, 4), "reserve": chance.randint(0, 2),
        "voices": chance.randint(2, 4), "refinements": chance.randint(0, 3), "anew": chance.randint(0, 2),
        "attempts": chance.randint(1, 3), "adversarial": chance.random() < 0.3,
        "clarify": chance.choice(["auto", "always"]), "planning": chance.choice(["off", "auto", "cpde", "dpde"]),
        "topology": chance.choice(["auto", "chain", "star", "tree"]),
    }  # fmt: skip
    return "debate", given, DebateRules.model_validate(rules)


def seats_of(given: Any, name: str) -> set[str]:
    team = {member.seat for member in given.team} if name == "debate" else set(PROTOCOLS[name].seats)
    return team | {"red", "blue"} if name == "debate" else team


async def run_protocol(name: str, told: Any, rules: Any, live: LiveRoom) -> None:
    await PROTOCOLS[name].run(told, rules, live)


@pytest.mark.parametrize("case", [harden, decide, review, solve, vet, debate], ids=lambda case: case.__name__)
def test_no_session_makes_more_calls_than_its_estimate(case: Case) -> None:
    most = list[float]()
    for seed in range(8):
        chance = random.Random(seed)
        name, told, rules = case(chance)
        seats = {seat for seat in sorted(seats_of(told, name)) if chance.random() < 0.9}
        plan = SessionPlan(
            protocol=name, topic="", input=told.model_dump(mode="json"), rules=rules.model_dump(mode="json"),
            seats=dict.fromkeys(sorted(seats), ("script:x",)),
        )  # fmt: skip
        estimate = estimate_plan(plan)
        model = ActingModel(say_anything(chance))
        live = room(dict.fromkeys(sorted(seats), model), make_ports(sandbox=sandbox_of(chance)), timeout=1e9)
        asyncio.run(run_protocol(name, told, rules, live))
        assert estimate.calls.most is not None and live.ledger.calls <= estimate.calls.most
        assert estimate.usd.most == 0.0
        most.append(live.ledger.calls / max(estimate.calls.most, 1))
    assert max(most) > 0.2, f"a bound that nothing comes near says nothing: {max(most):.2f}"


def test_the_command_says_what_it_would_cost_and_asks_nobody(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    given = ["vet", "drop the table of users", "--stakes", "high", "-m", "openai:gpt-5.4-mini"]
    told = json.loads(cli(*given, "--estimate", "--json").out)
    assert (told["least_calls"], told["calls"]) == (2, {"usual": 3, "most": 6})
    assert 0 < told["usd"]["usual"] < told["usd"]["most"] < 1
    shown = cli(*given, "--estimate", "--max-calls", "2", "--max-usd", "0.01")
    assert (shown.code, shown.err) == (0, "") and "cost: about $0.0091, at most $0.0100" in shown.out
    monkeypatch.setenv("MOOT_ASK_ABOVE", "0.05")
    refused = cli(*given)
    assert refused.code == 2 and "--yes" in refused.err and "--max-usd 0.05" in refused.err
    unknown = cli(*given[:-1], "openai:unheard-of")
    assert unknown.code == 2 and "an amount that cannot be estimated" in unknown.err
    assert json.loads(cli("list", "--json").out) == []
    Path("app.py").write_text(CLEAN)
    assert "costs nothing" in cli("harden", "app.py", "--no-llm", "--estimate").out
