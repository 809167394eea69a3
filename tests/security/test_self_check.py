"""Moot on Moot: the short form of `make self-check`, and that it fails where it must."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import Cli
from repositories import git, repository

from moot.core.types import SUFFIXES, Code, SourceFile
from moot.scan import StaticTeam

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "tests" / "security" / "baseline.json"
SILENCED = re.compile(r"moot: ignore\[([\w, -]+)\] *(.*)")
OWN = [ROOT / "src" / "moot", ROOT / "scripts", ROOT / "challenges"]
QUIET = "def double(number):\n    return 2 * number\n"
FLAWED = "import os\nimport sys\n\n\ndef show():\n    os.system(sys.argv[1])\n"
PLAN = "# Requirements\n\n## v1 Requirements\n\n- [ ] **AB-01**: A person can list the files of a folder\n"


def list_silenced() -> list[Path]:
    files = [file for folder in OWN for file in sorted(folder.rglob("*")) if file.suffix in SUFFIXES]
    about = ("suppressions.py", "examples.py")  # they speak of the comment
    return [file for file in files if file.name not in about and SILENCED.search(file.read_text())]


def scan_shown(files: list[Path], judged: Path) -> set[str]:
    """The rules that find something in the judged file while nothing in it is silenced."""
    texts = {file: file.read_text() for file in files}
    texts[judged] = texts[judged].replace("moot: ignore[", "moot: shown[")
    sources = [
        SourceFile(path=str(file.relative_to(ROOT)), language=SUFFIXES[file.suffix], text=text)
        for file, text in texts.items()
    ]
    found = StaticTeam().scan(Code(files=tuple(sources))).findings
    return {finding.rule for finding in found if finding.file == str(judged.relative_to(ROOT))}


def list_callers(file: Path) -> list[Path]:
    imported = re.compile(rf"^from \S*\b{file.stem} import", re.MULTILINE)
    return [other for other in sorted(OWN[0].rglob("*.py")) if imported.search(other.read_text())]


@pytest.mark.parametrize("file", list_silenced(), ids=lambda file: file.name)
def test_every_silenced_finding_of_ours_is_one_and_says_why(file: Path) -> None:
    asked = SILENCED.findall(file.read_text())
    assert all(len(reason.split()) >= 4 for _, reason in asked), asked
    named = {rule.strip() for rules, _ in asked for rule in rules.split(",")}
    shown = scan_shown([file], file)
    if not named <= shown and file.suffix == ".py":
        shown |= scan_shown([file, *list_callers(file)], file)
    assert named <= shown, f"{named - shown} would not be found: drop the comment"


def test_the_baseline_lists_what_is_found_and_nothing_else(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted flaw that the scan no longer finds is as bad as a new one."""
    monkeypatch.chdir(ROOT)
    told = json.loads(cli("scan", "examples", "--json").out)
    listed = json.loads(BASELINE.read_text())
    assert {row["fingerprint"] for row in listed} == {finding["fingerprint"] for finding in told["findings"]}
    assert all(row["reason"].strip() for row in listed) and told["not_analysed"] == []
    assert cli("scan", "examples", "--baseline", str(BASELINE)).code == 0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project that is laid out as this one."""
    home = repository(tmp_path / "r", {"src/moot/app.py": QUIET, "planning/REQUIREMENTS.md": PLAN})
    for name in ("scripts", "challenges", "examples", "tests/security"):
        (home / name).mkdir(parents=True)
    shutil.copy2(ROOT / "scripts" / "self-check", home / "scripts")
    for name in ("scripts", "challenges", "examples"):
        (home / name / "quiet.py").write_text(QUIET)
    (home / BASELINE.relative_to(ROOT)).write_text("[]")
    git(home, "add", "-A")
    git(home, "commit", "-qm", "begin")
    (home / "src" / "moot" / "app.py").write_text(f"{QUIET}\n\n{QUIET.replace('double', 'twice')}")
    git(home, "commit", "-qam", "more")
    return home


def check(project: Path) -> tuple[int, str]:
    env = {**os.environ, "MOOT": str(ROOT / ".venv" / "bin" / "moot")}
    ran = subprocess.run(
        [project / "scripts" / "self-check", "HEAD^"], env=env, capture_output=True, text=True, timeout=120
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_a_clean_project_passes(project: Path) -> None:
    code, said = check(project)
    assert code == 0 and "0 findings in 4 files" in said and "no_findings" in said and "nothing found" in said, said


def test_a_new_finding_or_a_gap_fails(project: Path) -> None:
    (project / "src" / "moot" / "app.py").write_text(FLAWED)
    (project / "planning" / "REQUIREMENTS.md").write_text(f"{PLAN}- [ ] **AB-01**: It is fast\n")
    code, said = check(project)
    assert code == 1, said
    assert re.findall("self-check: moot (\\w+) ended with (\\d)", said) == [
        ("scan", "1"),
        ("harden", "1"),
        ("review", "1"),
    ]
    git(project, "checkout", "-q", ".")
    (project / "scripts" / "quiet.py").write_text("def broken(:\n")
    code, said = check(project)
    assert code == 1 and "self-check: moot scan ended with 2" in said, said


def test_ci_runs_it_with_the_history_it_needs() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    steps = jobs["self-check"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0 and steps[-1]["run"] == "make self-check"
    assert re.search(r"^self-check: setup", (ROOT / "Makefile").read_text(), re.MULTILINE)
