"""Debates in JavaScript, TypeScript and Go: run, compared and tested by the rules that Python has."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import QUIET, Entry, says
from debate_script import world as fixed_world
from debates import ballot, blind, held, points, team, wrote
from test_debate_cli import calls

from moot.edge.sandbox.go.toolchain import find_go
from moot.protocols.debate.types import DebateRules

NODE = pytest.mark.skipif(not shutil.which("node"), reason="not run: no Node.js")
GO = pytest.mark.skipif(find_go() is None, reason="not run: no Go toolchain")


@dataclass(frozen=True)
class Drafts:
    """A task in one language, and code for it: right, the last of a list, the first of it."""

    language: str
    function: str
    right: str
    last: str
    first: str
    small: str
    """A call that `last` gets wrong, as the language writes it, and its value."""
    alone: str
    sign: str = "=="

    @property
    def path(self) -> str:
        return f"solution.{ {'javascript': 'js', 'typescript': 'ts', 'go': 'go'}[self.language] }"

    def code(self, text: str) -> str:
        return f"APPROACH: a loop\n\nCODE:\nFILE: {self.path}\n```{self.language}\n{text}```\n"

    @property
    def bare(self) -> str:
        return f"Write {self.function}(numbers): the largest number of a list of integers that is not empty."


JAVASCRIPT = Drafts(
    "javascript", "largest",
    "function largest(numbers) {\n  return Math.max(...numbers);\n}\n",
    "function largest(numbers) {\n  return numbers[numbers.length - 1];\n}\n",
    "function largest(numbers) {\n  return numbers[0];\n}\n",
    "largest([3, 1])", "largest([7])", "===",
)  # fmt: skip
TYPESCRIPT = Drafts(
    "typescript", "largest",
    "export function largest(numbers: number[]): number {\n  return Math.max(...(numbers as number[]));\n}\n",
    "export function largest(numbers: number[]): number {\n  return numbers[numbers.length - 1]!;\n}\n",
    "export const largest = (numbers: readonly number[]): number => numbers[0];\n",
    "largest([3, 1])", "largest([7])", "===",
)  # fmt: skip
GOLANG = Drafts(
    "go", "Largest",
    "package main\n\nfunc Largest(numbers []int) int {\n\tbest := numbers[0]\n\tfor _, each := range numbers {\n"
    "\t\tif each > best {\n\t\t\tbest = each\n\t\t}\n\t}\n\treturn best\n}\n",
    "package main\n\nfunc Largest(numbers []int) int {\n\treturn numbers[len(numbers)-1]\n}\n",
    "package main\n\nfunc Largest(numbers []int) int {\n\treturn numbers[0]\n}\n",
    "Largest([]int{3, 1})", "Largest([]int{7})",
)  # fmt: skip
EVERY = [
    pytest.param(JAVASCRIPT, marks=NODE, id="javascript"),
    pytest.param(TYPESCRIPT, marks=NODE, id="typescript"),
    pytest.param(GOLANG, marks=GO, id="go"),
]


def debated(
    cli: Cli, folder: Path, of: Drafts, *answers: list[Entry], spend: str = "auto", task: str = "", **kind: Any
) -> dict[str, Any]:
    more = ("--json", "-l", of.language, *kind.pop("more", ()))
    ran = cli(*fixed_world(folder, *answers, more=more, spend=spend, task=task or of.bare, **kind))
    assert ran.out, ran.err
    return {**json.loads(ran.out), "exit": ran.code}


@pytest.mark.parametrize("of", EVERY)
def test_blind_tests_and_behaviour_choose_the_draft(cli: Cli, tmp_path: Path, of: Drafts) -> None:
    drafts = [*says("code", of.code(of.last), seat="proposer"), *says("code", of.code(of.right))]
    tests = says("tests", wrote(f"{of.small} {of.sign} 3", f"{of.alone} {of.sign} 7"))
    result = debated(cli, tmp_path, of, drafts, tests)
    assert (result["code"], result["grade"], result["stop_reason"]) == (of.right, "agreed", "evidence")
    assert result["exit"] == 4 and 0.5 < result["sure"] <= 0.9 and not result["tested"]
    best = result["ratings"][0]
    assert best["met"] == best["of"] > 0 and best["alike"] > best["drafts"] / 2
    answers = result["candidates"][0]["checked"]["answers"]
    assert answers[of.small] == {"kind": "value", "text": "1", "detail": ""}, "the last one, by its own runner"
    asked = [call["prompt"] for call in calls(cli, result) if call["prompt"].startswith("Write tests")]
    literals = {"go": "Go literals", "typescript": "TypeScript literals"}.get(of.language, "JavaScript literals")
    assert asked and all(f"{of.function}(2) {of.sign} 4" in prompt and literals in prompt for prompt in asked)
    shown = " ".join(cli("show", result["session_id"]).out.split())
    assert "cases like this, measured on Python only" in shown


@pytest.mark.parametrize("of", EVERY)
def test_examples_in_the_task_are_run(cli: Cli, tmp_path: Path, of: Drafts) -> None:
    wrong = [{**entry, "always": False} for entry in says("code", of.code(of.last), of.code(of.first))]
    several = {"go": "[]int{2, 9, 4}"}.get(of.language, "[2, 9, 4]")
    task = f"{of.bare} For example, {of.small} returns 3 and {of.function}({several}) -> 9."
    result = debated(cli, tmp_path, of, [*wrong, *says("code", of.code(of.right))], task=task)
    assert (result["exit"], result["grade"], result["code"]) == (0, "tested", of.right)
    assert (result["passed"], result["of"], result["calls"]) == (2, 2, 3)


@pytest.mark.parametrize("of", EVERY)
def test_a_breaking_test_beats_a_majority(cli: Cli, tmp_path: Path, of: Drafts) -> None:
    drafts = [*says("code", of.code(of.right), seat="proposer"), *says("code", of.code(of.last))]
    answers = [
        *drafts, *says("points", points(breaking=[f"{of.small} {of.sign} 3"])), *says("blind", blind(n1="3")),
        *says("merge", of.code(of.last)), *says("ballot", ballot("B", "A")), *QUIET,
    ]  # fmt: skip
    result = debated(cli, tmp_path, of, answers, spend="fixed", more=("--rounds", "1"))
    (claim,) = [claim for claim in result["claims"] if claim["origin"] == "breaking"]
    assert (claim["call"], claim["expected"], claim["status"]) == (of.small, "3", "agreed")
    failed = {c["id"]: c["checked"]["failed"] for c in result["candidates"]}
    assert result["code"] == of.right and (failed["A"], failed["B"], failed["C"]) == ([], ["T1"], ["T1"])
    assert any(of.small in prompt for prompt in (c["prompt"] for c in calls(cli, result)) if "must these" in prompt)


@pytest.mark.parametrize("of", EVERY)
def test_a_near_tie_is_asked_about_without_values(of: Drafts) -> None:
    turns = [of.last, of.first, of.last, of.first, of.first, of.last]
    said = {"code": [of.code(text) for text in turns], "tests": "TESTS: NONE", "blind": blind(n1="1")}
    rules = DebateRules(lessons=0, effort=11, planning="off")
    done = held(said, rules=rules, task=of.bare, seats=team("proposer"), language=of.language, path=of.path)
    asked = [call.prompt for call in done.asked if call.prompt.startswith("What must these")]
    assert asked and done.result.claims[-1].call in asked[0] and "return numbers" not in asked[0]


@NODE
def test_the_first_edition_goes_on_without_comparing() -> None:
    of = JAVASCRIPT
    rules = DebateRules(lessons=0, planning="off", spend="adaptive", edition=1)
    done = held({"code": of.code(of.right)}, rules=rules, task=of.bare, seats=team("proposer", "critic"),
                language="javascript", path="solution.js")  # fmt: skip
    assert not any(candidate.checked.answers for candidate in done.result.candidates) and done.result.grade == "opinion"


@GO
def test_a_signature_that_no_plain_value_fits_is_said(cli: Cli, tmp_path: Path) -> None:
    tree = "package main\n\ntype Node struct{ Next *Node }\n\nfunc Depth(node *Node) int {\n\treturn 1\n}\n"
    result = debated(
        cli, tmp_path, GOLANG, says("code", GOLANG.code(tree)), says("tests", "TESTS: NONE"), task="Write Depth(node).",
        more=("--effort", "5"),
    )  # fmt: skip
    assert result["grade"] == "opinion" and result["sure"] is None
    assert (
        "no inputs could be made from the drafts' signatures: only predicted calls are compared" in result["degraded"]
    )
