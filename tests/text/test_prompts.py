"""Prompts do not contradict themselves: who a seat is, what it is asked for, and the form of its answer go together."""

import re
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from moot.protocols import PROTOCOLS
from moot.protocols.debate.state import JUDGING, Work, system
from moot.protocols.debate.types import Member
from moot.teams.roles import load_shipped_roles
from moot.text.prompts import Prompts

OWN = [f"moot.protocols.{name}.prompts" for name in PROTOCOLS]
PROMPTS = {
    f"{package}/{file.name}": " ".join(file.read_text(encoding="utf-8").split())
    for package in ("moot.text.prompts", "moot.teams.roles", *OWN)
    for file in files(package).iterdir()
    if file.name.endswith(".md")
}
AT_ODDS = {
    "a word after the block": (r"then the whole solution, then|one line for each change", r"."),
    "a critic who may not agree": (r"[Aa]greeing is a failure", r"."),
    "no empty answer where one is fair": (r"Write \{\{most\}\} tests", r"."),
    "NONE for a list of JSON": (r"unclear, write NONE", r"."),
    "steps in an answer that holds nothing but the form": (
        r"step by step(?!.{0,80}before you write it)",
        r"\{\{form\}\}",
    ),
}
"""What a prompt may not say, beside what."""


def member(role: str, text: str = "") -> Member:
    return Member(seat=role, role=role, system=text or load_shipped_roles()[role].prompt)


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_no_prompt_contradicts_itself(name: str) -> None:
    text = PROMPTS[name]
    found = [why for why, (said, beside) in AT_ODDS.items() if _said(said, text) and re.search(beside, text)]
    assert found == []


def _said(pattern: str, text: str) -> bool:
    return any("in your head" not in text[max(0, m.start() - 60) : m.end()] for m in re.finditer(pattern, text))


@pytest.mark.parametrize("role", sorted(load_shipped_roles()))
def test_who_is_asked_to_solve_is_not_told_to_find_faults(role: str) -> None:
    work: tuple[Work, ...] = ("solver", "debater")
    for each in work:
        told = system(member(role), each)
        assert (load_shipped_roles()[role].prompt in told) == (role not in JUDGING)
    assert (load_shipped_roles()[role].prompt in system(member(role), "tester")) == (role == "test_agent")
    assert load_shipped_roles()[role].prompt in system(member(role)), "in its own work a role is what it is"


def test_a_role_of_your_own_keeps_its_words() -> None:
    for role in ("critic", "librarian"):
        assert system(member(role, "You are a librarian."), "solver").startswith("You are a librarian.")


def test_the_question_holds_where_a_role_asks_for_something_else() -> None:
    assert "do what the question asks" in system(member("architect"), "solver")


@pytest.mark.parametrize("package", OWN)
def test_every_protocol_keeps_its_own_prompts(package: str) -> None:
    assert any(name.startswith(f"{package}/") for name in PROMPTS)


def test_a_package_of_your_own_brings_its_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outside_prompts").mkdir()
    (tmp_path / "outside_prompts/greet.md").write_text("Hello {{who}}, {{what}}.\n", encoding="utf-8")
    (tmp_path / "outside_prompts/__init__.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        prompts = Prompts("outside_prompts")
        assert prompts.fill("greet", who="{{what}}", what="sit") == "Hello {{what}}, sit."
        for values in ({"who": "you"}, {"who": "you", "what": "sit", "why": "so"}):
            with pytest.raises(ValueError, match="has the blanks"):
                prompts.fill("greet", **values)
    finally:
        sys.modules.pop("outside_prompts", None)
