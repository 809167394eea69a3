"""Acts that need no model: the compiler checks, the executor runs, the performance analyzer times every candidate.

Each is a turn of recorded tool calls, and what the tools say is the report."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from moot.core.tools import PlannedCall, ToolCall, ToolContext, ToolResult, ToolTurn
from moot.evidence.trials.signatures import calls_of_drafts
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.claims import entry_of
from moot.protocols.debate.phases.repair import drop
from moot.protocols.debate.phases.run_candidates import list_shared_calls, run_candidates
from moot.protocols.debate.state import DebateState, list_acting
from moot.protocols.debate.types import Candidate, Member, Phase
from moot.protocols.solve.attempts import code_of

PARSES = "the syntax is right"
LOADED = "exit status 0"
LOAD = {
    "python": "import importlib\nimportlib.import_module({module!r})\n",
    "javascript": 'await import("./{path}");\n',
}
"""Programs that load a candidate. Go is built by `check_types`; not every node loads TypeScript."""
CALLS = """import importlib, json
space = vars(importlib.import_module({module!r}))
said = []
for call in {calls!r}:
    try:
        said.append(call + " gives " + repr(eval(call, space))[:100])
    except BaseException as error:
        said.append(call + " raises " + type(error).__name__)
print()
print(json.dumps(said))
"""
TIMING = """import importlib, time
space = vars(importlib.import_module({module!r}))
codes = [compile(call, "call", "eval") for call in {calls!r}]
best = None
for _ in range(5):
    began = time.perf_counter()
    for code in codes:
        try:
            eval(code, space)
        except Exception:
            pass
    spent = time.perf_counter() - began
    best = spent if best is None else min(best, spent)
print("seconds", best)
"""
AS_FAST = 0.8
"""A run that takes less than a quarter longer than the fastest counts as fast: clocks are noisy."""


async def use_on_each(
    context: DebateContext, member: Member, phase: Phase, up: Sequence[Candidate], uses: Sequence[ToolCall]
) -> dict[str, list[ToolResult]]:
    """One turn of this seat: the same tools on each candidate; results by candidate."""
    state = context.state
    calls = [(c, call) for c in up for call in uses]
    planned = tuple(
        PlannedCall(call=call, context=ToolContext(code=code_of(state.task, c.code), tests=state.task.tests))
        for c, call in calls
    )
    turn = ToolTurn(seat=member.seat, role=member.role, phase=phase, round=state.round, calls=planned)
    found = dict[str, list[ToolResult]]()
    for (candidate, _), result in zip(calls, await context.room.use_tools(turn), strict=True):
        found.setdefault(candidate.id, []).append(result)
    return found


def list_unexamined(context: DebateContext, member: Member) -> list[Candidate]:
    """Candidates whose code this seat has not looked at, each code once."""
    firsts = {c.code: c for c in reversed(context.state.latest()) if c.code}
    seen = context.examined.setdefault(member.seat, set())
    new = [c for code, c in reversed(firsts.items()) if code not in seen]
    seen.update(c.code for c in new)
    return new


async def compile_candidates(context: DebateContext, phase: Phase) -> None:
    """Whether each parses and loads. One that does not parse is set aside if another does."""
    for member in list_acting(context.state, "compiler"):
        if not (up := list_unexamined(context, member)):
            continue
        results = await use_on_each(context, member, phase, up, plan_compiling(context.state))
        syntax = {c.code: results[c.id][0] for c in up}
        broken = {code: said.text for code, said in syntax.items() if said.status == "done" and said.text != PARSES}
        lines = [f"{c.id}: {'; '.join(describe_result(r) for r in results[c.id])}" for c in up]
        every = context.state.latest()
        gone = [c for c in every if c.code in broken] if any(c.code not in broken for c in every) else []
        for candidate in gone:
            drop(context, candidate.id, f"does not parse: {broken[candidate.code]}")
        text = f"set aside: {', '.join(c.id for c in gone)}" if gone else f"{len(up) - len(broken)} of {len(up)} parse"
        context.note_act(member, phase, text, "\n".join(lines))


def plan_compiling(state: DebateState) -> list[ToolCall]:
    syntax = ToolCall(name="check_syntax")
    if state.given.language == "go":
        return [syntax, ToolCall(name="check_types")]
    program = LOAD.get(state.given.language)
    return [syntax, run_program(program, state)] if program else [syntax]


def run_program(text: str, state: DebateState, calls: Sequence[str] = ()) -> ToolCall:
    path = state.given.path
    program = text.format(module=PurePosixPath(path).stem, path=path, calls=list(calls))
    return ToolCall(name="run_code", arguments={"code": program, "language": state.given.language})


def describe_result(result: ToolResult) -> str:
    text = " ".join(result.text.split())
    if result.status != "done":
        return f"{result.status}: {text}"
    return "it loads" if text.startswith(LOADED) else text


async def execute_candidates(context: DebateContext, phase: Phase) -> None:
    """Run each on the same calls, also such as nobody knows the value of, and report where they differ. Later
    candidates are run on these calls too."""
    for member in list_acting(context.state, "executor"):
        if not list_unexamined(context, member):
            continue
        calls = await add_calls(context)
        if not calls and context.state.task.tests is None:
            context.note_act(member, phase, "nothing could be called", "not run: there is nothing that could be called")
            continue
        plan = [run_program(CALLS, context.state, calls)] if calls else [ToolCall(name="run_tests")]
        every = [c for c in context.state.latest() if c.code]
        results = await use_on_each(context, member, phase, every, plan)
        outputs = {name: found[0].text for name, found in results.items()}
        report = compare_outputs(outputs) if calls else "\n".join(f"{n}: {text}" for n, text in outputs.items())
        effect = f"{len(every)} candidates run on {len(calls)} calls" if calls else f"tests run on {len(every)}"
        context.note_act(member, phase, effect, report)


async def add_calls(context: DebateContext) -> tuple[str, ...]:
    """Calls from the signatures of the candidates, besides those of examples and tests."""
    state = context.state
    if state.given.language != "python":
        return ()
    made = calls_of_drafts([c.code for c in state.latest() if c.code], entry_of(state))
    context.update(inputs=tuple(dict.fromkeys((*state.inputs, *made))))
    await run_candidates(context)
    return list_shared_calls(context.state)


def compare_outputs(outputs: Mapping[str, str]) -> str:
    """Each call on which they differ, and how many they agree on."""
    lines = {name: read_lines(text) for name, text in outputs.items()}
    failed = [f"{name}: {' '.join(outputs[name].split())}" for name, said in lines.items() if not said]
    ran = {name: said for name, said in lines.items() if said}
    rows = list(zip(*ran.values(), strict=False))
    differ = [
        " | ".join(f"{name}: {said}" for name, said in zip(ran, row, strict=True)) for row in rows if len({*row}) > 1
    ]
    alike = [f"the same on {len(rows) - len(differ)} of {len(rows)} calls"] if rows else []
    return "\n".join([*failed, *differ, *alike])


def read_lines(text: str) -> list[str]:
    """The list in the last line of a program that ended well; the code may have printed lines of its own."""
    try:
        said = json.loads(text.splitlines()[-1]) if text.startswith(LOADED) else []
    except (ValueError, RecursionError):  # what code printed there can be anything
        return []
    return [str(line) for line in said] if isinstance(said, list) else []


async def time_candidates(context: DebateContext) -> dict[str, float]:
    """How fast each is on the same calls, from 0 to 1; the fastest has 1. Nothing where nothing can be called."""
    found = dict[str, float]()
    for member in list_acting(context.state, "performance_analyzer"):
        calls = await add_calls(context)
        up = [c for c in context.state.latest() if c.code]
        if not calls or not up:
            continue
        program = run_program(TIMING, context.state, calls)
        results = await use_on_each(context, member, "review", up, [program])
        seconds = {name: spent for name, said in results.items() if (spent := read_seconds(said[0])) is not None}
        fastest = min(seconds.values(), default=0.0)
        found = {name: grade_time(spent, fastest) for name, spent in seconds.items()}
        lines = [f"{name}: {1000 * spent:.3f} ms for {len(calls)} calls" for name, spent in seconds.items()]
        context.note_act(member, "review", f"{len(seconds)} of {len(up)} candidates timed", "\n".join(lines))
    return found


def grade_time(spent: float, fastest: float) -> float:
    share = fastest / spent
    return 1.0 if share >= AS_FAST else round(share, 4)


def read_seconds(result: ToolResult) -> float | None:
    """From the last line of a program that ended well; code may print lines of its own before it."""
    word, _, number = result.text.strip().splitlines()[-1].partition(" ") if result.text.strip() else ("", "", "")
    if result.status != "done" or not result.text.startswith(LOADED) or word != "seconds":
        return None
    try:
        seconds = float(number)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None
