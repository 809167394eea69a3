"""One small world for each verb: its files, a script that answers, and for each option a case in which it acts."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from debate_script import OPEN, QUIET, TWO, says
from debates import ballot as debate_ballot
from kit import BAD, GOOD, NOTHING, SQLI, blue
from panels import COLOUR, PANEL, SCOPE, ballot, rebuttal
from review_kit import CONCERN, PROJECT, REQUIREMENTS, STATE, answers, challenge, raised, revision
from review_kit import rebuttal as review_rebuttal
from solve_kit import RIGHT, TESTS, WRONG, code, reflection
from vetkit import ACTION, claim, objection, rejoinder

Entry = Mapping[str, object]
ELSE: Entry = {"reply": "I cannot say.", "always": True}


@dataclass(frozen=True)
class Case:
    """An option with its value, and the command and environment in which it acts; empty: those of the verb."""

    words: tuple[str, ...]
    base: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    twice: bool = False
    """What it changes shows in a second run."""


def case(*words: str, base: Sequence[str] = (), stdin: str = "", twice: bool = False, **env: str) -> Case:
    return Case(words, tuple(base), env, stdin, twice)


@dataclass(frozen=True)
class Verb:
    base: tuple[str, ...]
    script: Sequence[Entry]
    files: Mapping[str, str]
    seat: str
    cases: Mapping[str, Case]
    later: Mapping[str, str] = field(default_factory=dict)
    """Files as they are changed after the commit."""

    def all_cases(self) -> dict[str, Case]:
        return {**shared(self.seat), **self.cases}

    def lay_out(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        slow = [{**entry, "delay_s": 0.02} for entry in self.script]
        for name, entries in (("replies", self.script), ("other", self.script), ("slow", slow)):
            (folder / f"{name}.yaml").write_text(json.dumps([*entries, ELSE]))
        commit(folder)
        for name, text in self.later.items():
            (folder / name).write_text(text)
        (folder / "inner").mkdir()
        (folder / "inner" / "read.me").write_text("A repository of its own.\n")
        commit(folder / "inner")


def commit(folder: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *words], check=True, capture_output=True)


def shared(seat: str) -> dict[str, Case]:
    """The options of every session."""
    return {
        "--max-calls": case("--max-calls", "1"),
        "--max-tokens": case("--max-tokens", "1"),
        "--max-usd": case("--max-usd", "0"),
        "--timeout": case("--timeout", "0.000001"),
        "--call-timeout": case("--call-timeout", "0.001", MOOT_MODEL="script:slow.yaml"),
        "--store": case("--store", "other.db"),
        "--json": case("--json"),
        "--quiet": case("--quiet"),
        "--model": case("--model", "script:other.yaml"),
        "--seat": case("--seat", f"{seat}=script:other.yaml"),
        "--gate": case("--gate", "all", MOOT_GATES_TIMEOUT="0.001"),
        "--no-llm": case("--no-llm"),
        "--estimate": case("--estimate"),
        "--yes": Case(("--yes",), env=UNPRICED),
    }


UNPRICED = {
    "MOOT_MODEL": "openai:none", "OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_API_KEY": "none",
    "MOOT_RETRIES": "0", "MOOT_ASK_ABOVE": "0",
}  # fmt: skip
"""A model whose price nobody knows, and that nobody answers for."""
OUTSIDE = "import pathlib\n\n\ndef test_outside():\n    assert pathlib.Path({!r}).exists()\n"
"""A test that passes only where no sandbox hides the file."""

SECRET_TEST = "DB_PASS = 'tr0ub4dor-3'\n\n\ndef test_secret():\n    assert len(DB_PASS) == 11\n"
"""A test that passes only with the real secret."""

WEAK = "import hashlib\n\n\ndef mark(x):\n    return hashlib.md5(x)\n"
HARDEN = Verb(
    base=("harden", "app.py"),
    script=[
        {"seat": "red", "round": 1, "reply": SQLI, "times": 2}, {"seat": "blue", "reply": blue(GOOD), "always": True},
        {"seat": "red", "reply": NOTHING, "always": True},
    ],
    files={
        "app.py": BAD, "weak.py": WEAK,
        "test_app.py": "from app import find\n\n\ndef test_it():\n    assert find\n",
        "test_secret.py": SECRET_TEST,
    },
    later={"weak.py": WEAK + "# Only a mark.\n"},
    seat="red",
    cases={
        "--diff": case("--diff", "HEAD", base=("harden", ".")),
        "--language": case("--language", "javascript"),
        "--tests": case("--tests", "test_app.py"),
        "--max-rounds": case("--max-rounds", "1"),
        "--min-vulnerabilities": case("--min-vulnerabilities", "5"),
        "--risk-threshold": case("--risk-threshold", "1", base=("harden", "weak.py")),
        "--tools": case("--tools", "run_tests"),
        "--write": case("--write"),
        "--sarif": case("--sarif", "out.sarif"),
        "--force": case("--force", base=("harden", "app.py", "--sarif", "out.sarif"), twice=True),
        "--repo": case("--repo", "inner", base=("harden", "app.py", "--branch")),
        "--branch": case("--branch"),
        "--unsafe-local": case("--unsafe-local", base=("harden", "app.py", "--tests", "test_outside.py")),
        "--python": case("--python", "no/such/python", base=("harden", "app.py", "--tests", "test_app.py")),
        "--run-with-secrets": case("--run-with-secrets", base=("harden", "app.py", "--tests", "test_secret.py")),
    },
)  # fmt: skip

SOLVE_TASK = "Write largest(numbers): the largest number of a list, or None. largest([1, 3]) -> 3"
SOLVE = Verb(
    base=("solve", SOLVE_TASK, "--tests", "test_solution.py"),
    script=[
        {"seat": "coder", "reply": code(WRONG)}, {"seat": "coder", "reply": code(RIGHT), "always": True},
        {"seat": "reflector", "reply": reflection(), "always": True},
    ],
    files={"test_solution.py": TESTS, "start.py": WRONG, "test_secret.py": SECRET_TEST},
    seat="reflector",
    cases={
        "--tests": case("--tests", "test_solution.py", base=("solve", SOLVE_TASK)),
        "--file": case("--file", "start.py"),
        "--attempts": case("--attempts", "1"),
        "--lessons": case("--lessons", "0"),
        "--tools": case("--tools", "run_tests"),
        "--language": case("--language", "javascript", base=("solve", SOLVE_TASK)),
        "--out": case("--out", "won.py"),
        "--force": case(
            "--force", base=("solve", SOLVE_TASK, "--tests", "test_solution.py", "--out", "won.py"), twice=True
        ),
        "--repo": case("--repo", "inner", base=("solve", SOLVE_TASK, "--branch")),
        "--branch": case("--branch"),
        "--write-anyway": case(
            "--write-anyway", base=("solve", SOLVE_TASK, "--tests", "test_outside.py", "--out", "won.py")
        ),
        "--unsafe-local": case("--unsafe-local", base=("solve", SOLVE_TASK, "--tests", "test_outside.py")),
        "--python": case("--python", "no/such/python"),
        "--run-with-secrets": case("--run-with-secrets", base=("solve", SOLVE_TASK, "--tests", "test_secret.py")),
    },
)  # fmt: skip

TOPIC = ("debate", "Should the service be split in two?", "--topic")
CODE = ("debate", OPEN, "--planning", "off")
POSITION = {"position": "Split it.", "arguments": ["two teams"]}
TEAM = '[[agents]]\nid = "proposer"\nrole = "proposer"\nmodel = "script:other.yaml"\n'
ROLE = "---\nfocus: salt\ntools: []\naffinities: {general: 0.9}\n---\nYou look for salt in everything, %s.\n"
DEBATE = Verb(
    base=TOPIC,
    script=[
        *says("position", {"reply": POSITION}, seat="proposer"),
        *says("position", {"reply": {**POSITION, "position": "Keep it whole."}}),
        *says("questions", {"reply": {"questions": [{"question": "How many teams are there?"}]}}),
        *QUIET, *TWO, *says("ballot", debate_ballot("B", "A")),
    ],
    files={
        "test_solution.py": "from solution import largest\n\n\ndef test_it():\n    assert largest([1, 2]) == 2\n",
        "near.py": "LIMIT = 7\n", "team.toml": TEAM, "roles/critic.md": ROLE % "critic", "index.js": "f();\n",
        "test_secret.py": SECRET_TEST,
    },
    seat="critic",
    cases={
        "--file": case("--file", "near.py"),
        "--tests": case("--tests", "test_solution.py", base=CODE),
        "--hidden-tests": case("--hidden-tests", "test_solution.py", base=CODE),
        "--language": case("--language", "javascript", base=CODE),
        "--topic": case("--topic", base=CODE),
        "--team": case("--team", "team.toml"),
        "--roles": case("--roles", "roles"),
        "--topology": case("--topology", "chain"),
        "--planning": case("--planning", "cpde"),
        "--voting": case("--voting", "borda"),
        "--rounds": case("--rounds", "1"),
        "--drafts": case("--drafts", "1"),
        "--spend": case("--spend", "fixed", base=CODE),
        "--effort": case("--effort", "2", base=CODE),
        "--phases": case("--phases", "proposal,convergence"),
        "--phase-timeout": case("--phase-timeout", "convergence=0.001", MOOT_MODEL="script:slow.yaml"),
        "--phase-calls": case("--phase-calls", "convergence=1"),
        "--least-answers": case("--least-answers", "convergence=9"),
        "--required-roles": case("--required-roles", "convergence=blue_team"),
        "--at-once": case(
            "--at-once", "convergence=1", base=(*TOPIC, "--max-tokens", "4000"), MOOT_MODEL="script:slow.yaml"
        ),
        "--adversarial": case("--adversarial", base=CODE),
        "--tools": case("--tools", "run_tests", base=CODE),
        "--ask-me": case("--ask-me", MOOT_DEBATE_CLARIFY="always", stdin="Two teams.\n" * 9),
        "--out": case("--out", "won.md"),
        "--force": case("--force", base=(*TOPIC, "--out", "won.md"), twice=True),
        "--repo": case("--repo", "inner", base=(*CODE, "--branch")),
        "--branch": case("--branch", base=CODE),
        "--write-anyway": case("--write-anyway", base=(*CODE, "--tests", "test_outside.py", "--out", "won.py")),
        "--unsafe-local": case("--unsafe-local", base=(*CODE, "--tests", "test_outside.py")),
        "--python": case("--python", "no/such/python", base=(*CODE, "--tests", "test_solution.py")),
        "--run-with-secrets": case("--run-with-secrets", base=(*CODE, "--tests", "test_secret.py")),
    },
)  # fmt: skip

FILE = ".planning/REQUIREMENTS.md"
DIFF = ("review", "--diff", "HEAD")
POINTS = [
    {"problem": f"it is {what}", "quote": "return hashlib.md5(x)", "test": "", "suggestion": "", "severity": "low"}
    for what in ("slow", "short")
]
REVIEW = Verb(
    base=("review", FILE),
    script=[
        {"seat": "adversary", "contains": "Review this change", "always": True,
         "reply": json.dumps({"comments": POINTS})},
        {"seat": "defender", "contains": "This is the change", "always": True,
         "reply": json.dumps({"answers": [{"comment": "R1", "reason": "so", "quote": "", "answer": "concede"}]})},
        {"seat": "adversary", "round": 1, "reply": raised(challenge(CONCERN)), "times": 3},
        {"seat": "adversary", "reply": review_rebuttal({"C1": "addressed"}), "always": True},
        {"seat": "defender", "contains": "whole revised", "reply": revision(), "always": True},
        {"seat": "defender", "reply": answers(C1="addressed")}, {"seat": "defender", "reply": revision()},
    ],
    files={
        FILE: REQUIREMENTS, ".planning/PROJECT.md": PROJECT, ".planning/STATE.md": STATE, "about.md": "# Elsewhere\n",
        "moot.toml": '[review.profiles]\nquality = "script:other.yaml"\n', "app.py": "x = 1\n",
    },
    later={"app.py": BAD + WEAK},
    seat="defender",
    cases={
        "--type": case("--type", "roadmap"),
        "--context": case("--context", "about.md"),
        "--defend": case("--defend", "off"),
        "--max-rounds": case("--max-rounds", "1"),
        "--write": case("--write"),
        "--fail-on": case("--fail-on", "minor"),
        "--profile": case("--profile", "quality"),
        "--diff": case("--diff", "HEAD", base=("review", "app.py", "--triage")),
        "--triage": case("--triage", base=DIFF),
        "--comments": case("--comments", "1", base=DIFF),
        "--sarif": case("--sarif", "out.sarif", base=DIFF),
        "--force": case("--force", base=(*DIFF, "--sarif", "out.sarif"), twice=True),
    },
)  # fmt: skip

FAILED = ("vet", "--failure", "Import the price list", "--attempt", "read it again", "--error", "bad byte")
VET = Verb(
    base=("vet", ACTION),
    script=[
        {"seat": "advocate", "reply": claim(), "always": True}, {"seat": "critic", "reply": objection()},
        {"seat": "critic", "reply": rejoinder("hold", "high"), "always": True},
    ],
    files={"notes.md": "The carts were moved.\n", "ask.csp": "DEBATE REQ:delete the cache ROUNDS:1 STAKES:medium\n"},
    seat="critic",
    cases={
        "--stakes": case("--stakes", "low"),
        "--rounds": case("--rounds", "2"),
        "--context": case("--context", "notes.md"),
        "--failure": case("--failure", "Import it", "--error", "bad byte"),
        "--attempt": case("--attempt", "read it as latin-1", base=FAILED),
        "--error": case("--error", "worse byte", base=FAILED),
        "--session": case("--session", "s1", twice=True),
        "--csp": case("--csp", "ask.csp"),
    },
)  # fmt: skip

ASK = ("decide", "--ask", "Do we need offline work in v1?", "--option", "A: Full", "--option", "B: None")
OWN = (
    (resources.files("moot.protocols.decide.questions") / "judges" / "risk.toml")
    .read_text()
    .replace("Risk Judge", "Cook")
)
DECIDE = Verb(
    base=("decide", "q.yaml"),
    script=[
        *({"seat": seat, "round": 1, "reply": ballot(seat, choice), "contains": "office work"}
          for seat, choice in zip(PANEL, "AAB", strict=True)),
        *({"seat": seat, "round": 1, "reply": ballot(seat, choice)} for seat, choice in zip(PANEL, "ABC", strict=True)),
        *({"seat": seat, "round": 2, "reply": rebuttal(seat, "A", "sync is hard")} for seat in PANEL),
    ],
    files={
        "q.yaml": SCOPE, "pair.yaml": SCOPE.replace("offline", "office"), "colour.yaml": COLOUR,
        "judges/risk.toml": OWN,
    },
    seat="risk",
    cases={
        "--ask": case("--ask", "Do we need it?"),
        "--option": case("--option", "C: Later", base=ASK),
        "--judges": case("--judges", "risk,value"),
        "--require-agreement": case("--require-agreement", "unanimous", base=("decide", "pair.yaml")),
        "--judges-folder": case("--judges-folder", "judges"),
        "--against": case("--against", "script:other.yaml"),
        "--feature-dir": case("--feature-dir", "specs"),
        "--force-panel": case("--force-panel", base=("decide", "colour.yaml")),
        "--yaml": case("--yaml"),
    },
)  # fmt: skip

VERBS: Mapping[str, Verb] = {
    "harden": HARDEN, "debate": DEBATE, "solve": SOLVE, "review": REVIEW, "vet": VET, "decide": DECIDE
}  # fmt: skip
