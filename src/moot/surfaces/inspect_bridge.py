"""Inspect runs Moot: the solver `moot/session` and the scorer `moot/tests`. Inspect loads this by an entry point; it
needs `pip install 'moot[inspect]'`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from inspect_ai.model import ModelOutput, ModelUsage
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from moot.core.errors import UsageError
from moot.core.types import Code, Result, SourceFile, Tests
from moot.edge.sandbox import find_sandbox
from moot.protocols import PROTOCOLS
from moot.surfaces.bench.judges import judge_run
from moot.surfaces.library.given import session_flags
from moot.surfaces.session.conversations import Message, plan_conversation, read_conversation
from moot.surfaces.session.request_bodies import language_of, tests_of
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import run_plan
from moot.text.render import fence_text
from moot.text.replies.fences import blocks
from moot.text.report_markdown import render_markdown
from moot.text.secrets import Vault

SOLUTION, TESTS = "solution.py", "test_solution.py"


def solve_in_session(
    protocol: str = "debate",
    model: str | Sequence[str] | None = None,
    rules: Mapping[str, Any] | None = None,
    store: str | None = None,
    keep: bool = True,
) -> Solver:
    """Put each sample's input to a protocol; a session that ends without an answer answers with its report.

    Args:
        protocol: The protocol: debate, solve, decide …
        model: Models of the seats, by Moot's names; default: those of Moot's settings. Inspect's model is not asked.
        rules: Rules of the protocol, by name.
        store: Where sessions are kept; default: as in Moot's settings.
        keep: Whether they are kept at all.
    """
    if protocol not in PROTOCOLS:
        raise UsageError(f"unknown protocol {protocol!r}; known are {', '.join(PROTOCOLS)}")
    said = {f"{protocol}.{name}": value for name, value in (rules or {}).items()}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        settings, vault = (
            Settings.load({**session_flags(model, None, store, None), **said}).with_pick(),
            Vault(os.environ),
        )
        talk = read_conversation([Message(role=each.role, content=each.text) for each in state.messages])
        plan = plan_conversation(protocol, talk, settings, vault)
        result = await run_plan(settings=settings, plan=plan, vault=vault, keep=keep)
        state.output = make_output(result, protocol)
        state.messages.append(state.output.message)
        state.metadata["moot"] = describe_session(result, protocol)
        return state

    return solve


def make_output(result: Result, protocol: str) -> ModelOutput:
    output = ModelOutput.from_content(f"moot/{protocol}", render_answer(result, protocol))
    spent = result.usage.values()
    read, written = sum(each.input_tokens for each in spent), sum(each.output_tokens for each in spent)
    output.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
    output.time = result.duration
    return output


def render_answer(result: Result, protocol: str) -> str:
    """The code or the text that was found; without one, the report says why."""
    code, text = getattr(result, "code", ""), getattr(result, "text", "")
    if isinstance(code, str) and code:
        return fence_text(code, language_of(getattr(result, "path", "")) or "python")
    return text if isinstance(text, str) and text else render_markdown(PROTOCOLS[protocol].report(result))


def describe_session(result: Result, protocol: str) -> dict[str, Any]:
    usage = {name: spend.model_dump() for name, spend in result.usage.items()}
    return {
        "protocol": protocol,
        "session_id": result.session_id,
        "outcome": getattr(result, "outcome", ""),
        "calls": result.calls,
        "calls_failed": result.calls_failed,
        "usage": usage,
        "degraded": [*result.degraded],
    }


def score_by_tests(field: str = "tests") -> Scorer:
    """Run the sample's tests on the answer, in Moot's sandbox.

    Args:
        field: Where the sample's metadata has its tests: the text of one file, or texts by path. Without it, the
            target is the text. `entry_point` names the function that a `check(candidate)` tests, `path` the file of the
            solution.
    """

    async def score(state: TaskState, target: Target) -> Score:
        about, completion = state.metadata, state.output.completion
        path = str(about.get("path") or SOLUTION)
        tests = read_sample_tests(about.get(field) or target.text, str(about.get("entry_point") or ""))
        answer = find_code(completion)
        if not answer.strip():
            return Score(value=INCORRECT, answer="", explanation="there is no code in the answer")
        code = Code(files=(SourceFile(path=path, language=language_of(path) or "python", text=answer),))
        verdict = judge_run(await find_sandbox().run(code, tests))
        value = NOANSWER if verdict.right is None else CORRECT if verdict.right else INCORRECT
        return Score(value=value, answer=answer, explanation=verdict.why)

    return score


def read_sample_tests(given: object, entry: str) -> Tests:
    files = {TESTS: given} if isinstance(given, str) else given
    if not isinstance(files, dict) or not all(isinstance(text, str) and text.strip() for text in files.values()):
        raise UsageError("a sample's tests are the text of a file, or texts by path; this one has none that can be run")
    tests = tests_of({str(PurePosixPath(path)): text for path, text in files.items()}, entry)
    if tests is None:
        raise UsageError("a sample has no tests")
    return tests


def find_code(completion: str) -> str:
    """The longest closed block of an answer; an answer without any is code as a whole."""
    found = blocks(completion.split("\n"))
    closed = ["\n".join(block.lines) + "\n" for block in found if block.closed]
    return max(closed, key=len, default="") if found else completion


session = solver(name="session")(solve_in_session)
tests = scorer(metrics=[accuracy(), stderr()], name="tests")(score_by_tests)
