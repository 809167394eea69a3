"""Every option of every verb acts: it changes a prompt, a step, a file or the result, or is refused with a message.

The options come from the command line's own description: one that is added without a case fails here.
"""

import io
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Cli
from kit import trust_project
from option_worlds import OUTSIDE, VERBS, Case

from moot.surfaces.cli.app import load_entry
from moot.surfaces.cli.menu import LISTED

USAGE = 2
BARE: dict[tuple[object, ...], "Seen"] = {}
"""Sessions without the option, which many options have in common."""
NOISE = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\b(?=\w*\d)[0-9a-f]{8}\b"), "SHORT"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.+:Z]*"), "TIME"),
    (re.compile(r"\d+\.\d+ s\b"), "SPENT s"),
    (re.compile(r"(?m)^\d+:\d\d "), "ELAPSED "),
    (re.compile(r'"(?:duration|seconds|memory|milliseconds|elapsed)": [\d.]+'), "MEASURED"),
]
"""What two runs of the same session do not have in common."""


def options_of(verb: str) -> list[str]:
    """The long names of its options, as the command line itself describes them."""
    command = load_entry(verb, LISTED[verb], [])
    return [p.opts[0] for p in command.params if p.param_type_name == "option" and p.name != "help"]


@dataclass(frozen=True)
class Seen:
    """All that a person or a program sees of a run."""

    code: int
    out: str
    err: str
    asked: tuple[str, ...]
    files: tuple[str, ...]

    def refuses(self, option: str) -> bool:
        return self.code == USAGE and not self.out and not self.asked and option in self.err


class Stage:
    def __init__(self, cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cli, self.folder, self.monkeypatch = cli, folder, monkeypatch

    def play(self, verb: str, case: Case, *, with_option: bool) -> Seen:
        """The session of a case in a folder of its own, with the option or without it."""
        world = self.folder / ("with" if with_option else "without") / "world"
        world.mkdir(parents=True)
        outside = self.folder / "outside"
        outside.touch()
        (world / "test_outside.py").write_text(OUTSIDE.format(str(outside)))
        VERBS[verb].lay_out(world)
        if (world / "moot.toml").exists():
            trust_project(world)
        with self.monkeypatch.context() as patch:
            patch.chdir(world)
            given = {"MOOT_STORE": "s.db", "MOOT_VET_MEMORY": str(world.parent / "memory")}
            for name, value in {"MOOT_MODEL": "script:replies.yaml", **given, **case.env}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(case.stdin.encode())))
            words = [*(case.base or VERBS[verb].base), *(case.words if with_option else ())]
            if case.twice:
                self.cli(*words)
            ran = self.cli(*words)
            asked = tuple(self.asked())
        return Seen(ran.code, settle(ran.out, world), settle(ran.err, world), asked, left_in(world))

    def asked(self) -> list[str]:
        """Every step on record, with the prompt of each question."""
        found = []
        for record in json.loads(self.cli("list", "--json").out):
            for step in json.loads(self.cli("show", record["id"], "--json").out)["steps"]:
                call = step["value"].get("call", {}) if isinstance(step["value"], dict) else {}
                found.append(settle(f"{step['name']} {call.get('system', '')} {call.get('prompt', '')}", Path.cwd()))
        return found


def left_in(world: Path) -> tuple[str, ...]:
    """Every file with what is in it, stores by their names alone, and the branches of debates."""
    files = [path for path in sorted(world.rglob("*")) if path.is_file() and path.name != "test_outside.py"]
    branches = [f"a branch in {path.relative_to(world).parts[0]}" for path in files if path.parent.name == "debate"]
    own = [path for path in files if ".git" not in path.parts and not path.name.startswith("s.db")]
    stores = [path.name for path in own if ".db" in path.name]
    texts = [f"{path.relative_to(world)}: {settle(path.read_text(), world)}" for path in own if ".db" not in path.name]
    return (*texts, *stores, *branches)


def settle(text: str, world: Path) -> str:
    text = text.replace(str(world), "WORLD").replace(str(world.parent), "PLACE")
    for pattern, word in NOISE:
        text = pattern.sub(word, text)
    return text


@pytest.fixture
def stage(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(cli, tmp_path, monkeypatch)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_case_and_every_case_an_option(verb: str) -> None:
    assert sorted(options_of(verb)) == sorted(VERBS[verb].all_cases())


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_session_twice_looks_the_same(stage: Stage, verb: str) -> None:
    """Else a difference would prove nothing."""
    nothing = Case(())
    assert stage.play(verb, nothing, with_option=False) == stage.play(verb, nothing, with_option=True)


@pytest.mark.parametrize(("verb", "option"), [(verb, option) for verb in VERBS for option in VERBS[verb].all_cases()])
def test_an_option_acts_or_is_refused(stage: Stage, verb: str, option: str) -> None:
    case = VERBS[verb].all_cases()[option]
    assert case.words[0] == option
    bare = (verb, case.base, *case.env.items(), case.stdin, case.twice)
    without = BARE[bare] = BARE.get(bare) or stage.play(verb, case, with_option=False)
    given = stage.play(verb, case, with_option=True)
    ran = without.asked or without.refuses(option)
    assert ran, "a case shows nothing unless its session runs without the option, or is refused for want of it"
    if given.code == USAGE and not given.out and not given.asked:
        assert given.refuses(option), given.err
        return
    assert given != without, f"{option} of {verb} changes nothing"
