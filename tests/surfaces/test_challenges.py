"""The challenges drive the running product: each passes, and fails for its own reason once its feature is off.

Here two are switched off; `make challenges` switches off all, every week in CI: each takes as long as with its feature.
"""

import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "challenges"
NAMES = sorted(file.stem for file in FOLDER.glob("*.sh") if file.stem != "lib")
FEATURES = {
    *("adversarial-dynamics", "approval-gate", "benchmark-integration", "condorcet-voting", "deadlock-detection"),
    *("dehallucination", "git-integration", "persistence", "provenance-audit", "reflexion", "self-evolvement"),
    "tree-topology",
}


def test_every_feature_has_its_challenge() -> None:
    assert set(NAMES) == FEATURES


@pytest.mark.parametrize("name", NAMES)
def test_a_challenge_passes(name: str) -> None:
    run_challenge(name)


@pytest.mark.parametrize("name", ["condorcet-voting", "tree-topology"])
def test_a_challenge_fails_without_its_feature(name: str) -> None:
    run_challenge("--off", name)


def run_challenge(*how: str) -> None:
    ran = subprocess.run([str(FOLDER / "run"), *how], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.rstrip().endswith("1 passed, 0 failed")
