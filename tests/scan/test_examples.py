"""The examples do what they are there for: they run, they are flawed, and most of it can be mended."""

import subprocess
import sys
from pathlib import Path

import pytest

from moot.core.types import Code, Language, SourceFile
from moot.scan import StaticTeam

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES: dict[str, Language] = {
    "service.py": "python",
    "store.go": "go",
    "app.js": "javascript",
    "client.ts": "typescript",
}


def example(name: str) -> Code:
    return Code(files=(SourceFile(path=name, language=FILES[name], text=(EXAMPLES / name).read_text()),))


@pytest.mark.parametrize("name", FILES)
def test_most_flaws_are_mended_and_some_are_left(name: str) -> None:
    team, code = StaticTeam(), example(name)
    before = team.scan(code)
    repair = team.repair(code, [finding.fingerprint for finding in before.findings])
    after = team.scan(code.with_texts(repair.texts))
    assert before.not_analysed == after.not_analysed == ()
    assert len(repair.fixed) > len(repair.left) > 0
    # A repair may change the line of a finding that stays, and so its fingerprint.
    rule_of = {finding.fingerprint: finding.rule for finding in before.findings}
    assert sorted(finding.rule for finding in after.findings) == sorted(rule_of[left] for left in repair.left)
    for path, names in before.public_names.items():  # a rewrite may add a function of its own
        assert set(names) <= set(after.public_names[path])


def test_the_service_behaves_the_same_after_hardening(tmp_path: Path) -> None:
    team, code = StaticTeam(), example("service.py")
    repair = team.repair(code, [finding.fingerprint for finding in team.scan(code).findings])
    for folder, text in (("before", code.files[0].text), ("after", repair.texts["service.py"])):
        home = tmp_path / folder
        home.mkdir()
        (home / "service.py").write_text(text)
        (home / "test_service.py").write_text((EXAMPLES / "tests" / "test_service.py").read_text())
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(home)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=home)
        assert done.returncode == 0, done.stdout
