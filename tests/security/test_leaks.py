"""What a model is never shown: where files lie, whose they are, and what other sessions said."""

import getpass
import json
import re
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD
from review_kit import FILE, NONE, project
from solve_kit import RIGHT, TASK, TESTS, code

OTHER = "the-secret-of-another-session"
VERBS: dict[str, tuple[str, ...]] = {
    "harden": ("harden", "{home}/app.py"),
    "solve": ("solve", TASK, "--tests", "{home}/test_solution.py", "--file", "{home}/app.py", "--attempts", "1"),
    "debate": ("debate", TASK, "--file", "{home}/app.py", "--max-calls", "6"),
    "review": ("review", "{home}/" + FILE),
    "vet": ("vet", "delete the folder {home}/data", "--stakes", "high"),
    "decide": ("decide", "--ask", "Which features are in scope?", "--option", "all", "--option", "the core"),
}


def list_prompts(cli: Cli) -> list[str]:
    """All that the newest session asked its models."""
    newest = json.loads(cli("list", "--json").out)[0]["id"]
    steps = json.loads(cli("show", newest, "--json").out)["steps"]
    calls = [step["value"]["call"] for step in steps if step["name"].startswith("ask ")]
    return [f"{call['system']}\n{call['prompt']}" for call in calls]


@pytest.mark.parametrize("verb", VERBS)
def test_prompts_hold_no_path_of_this_machine_and_nothing_of_other_sessions(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    home = tmp_path / "home" / "a-private-name"
    home.mkdir(parents=True)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    project(home)
    (home / "app.py").write_text(BAD)
    (home / "test_solution.py").write_text(TESTS)
    replies = [{"reply": f"{NONE}\n{code(RIGHT)}\n{OTHER}", "always": True}]
    (here / "replies.yaml").write_text(json.dumps(replies))
    earlier = cli("decide", "--ask", f"Is {OTHER} in?", "--option", "a", "--option", "b", "-m", "script:replies.yaml")
    assert OTHER in earlier.out
    words = [word.format(home=home) if verb != "vet" else word.format(home="~") for word in VERBS[verb]]
    (here / "own.yaml").write_text(json.dumps([{"reply": f"{NONE}\n{code(RIGHT)}", "always": True}]))
    cli(*words, "-m", "script:own.yaml", "-q")
    prompts = list_prompts(cli)
    assert prompts
    for prompt in prompts:
        assert str(tmp_path) not in prompt and "a-private-name" not in prompt and OTHER not in prompt
        assert not re.search(rf"(?:/home/|/root\b|/Users/{re.escape(getpass.getuser())})", prompt), prompt
