"""What was rewritten is scanned again, with all rules of ours and with bandit's: no example gains a finding."""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import test_rewrites_flow
import test_rewrites_python
from samples import repaired, rules

from moot.core.types import Language
from moot.scan.catalogue import examples
from moot.scan.plugin_rules import LANGUAGES

OF_EVERY_SUBPROCESS = frozenset({"B404", "B603", "B607"})
"""What bandit says, at its lowest severity, of every use of subprocess: a list of arguments is the way it asks for."""
FLAWED: dict[Language, list[str]] = {language: [e.fires for e in examples(language)] for language in LANGUAGES}
FLAWED["python"] += [before for before, _ in (*test_rewrites_python.SQLITE, *test_rewrites_python.OTHERS)]
FLAWED["python"] += [before for before, _ in test_rewrites_flow.MENDED]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_rewritten_example_gains_a_finding_of_ours(language: Language) -> None:
    rewritten = 0
    for before in FLAWED[language]:
        after, _ = repaired(language, before)
        rewritten += after != before
        assert Counter(rules(language, after)) <= Counter(rules(language, before)), after
    assert rewritten >= 10


@pytest.mark.skipif(importlib.util.find_spec("bandit") is None, reason="not run: bandit is not installed")
def test_no_rewritten_example_gains_a_finding_of_bandit(tmp_path: Path) -> None:
    for number, before in enumerate(FLAWED["python"]):
        after, _ = repaired("python", before)
        for folder, text in (("before", before), ("after", after)):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{number}.py").write_text(text, encoding="utf-8", newline="")
    old, new = (_bandit(tmp_path / folder) for folder in ("before", "after"))
    gained = {name: found - old[name] for name, found in new.items() if found - old[name]}
    assert {
        name: [(test, FLAWED["python"][int(name.removesuffix(".py"))]) for test in found]
        for name, found in gained.items()
        if found.keys() - OF_EVERY_SUBPROCESS
    } == {}


def _bandit(folder: Path) -> dict[str, Counter[str]]:
    command = [sys.executable, "-m", "bandit", "-q", "-f", "json", "-r", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    found: dict[str, Counter[str]] = {path.name: Counter() for path in folder.iterdir()}
    for result in json.loads(done.stdout)["results"]:
        found[Path(result["filename"]).name][result["test_id"]] += 1
    return found
