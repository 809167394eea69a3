"""Profiles of a review: built in for a provider, or your own; and its command in the GSD flow."""

import json
import re
import shutil
from pathlib import Path

import pytest
from conftest import Cli
from genai_prices import Usage, calc_price

from moot.edge.models.catalog import list_providers

ROOT = Path(__file__).parents[3]
COMMAND = ROOT / "plugin/commands/gsd-review.md"


@pytest.fixture
def planning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples/planning", tmp_path / ".planning")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("MOOT_RETRIES", "0")
    return tmp_path


def adversary(cli: Cli, *flags: str) -> str:
    """The model that was asked to challenge, from the record; nobody answers for it."""
    ran = cli("review", ".planning/ROADMAP.md", "--json", "--yes", *flags)
    assert ran.out, ran.err
    told = json.loads(cli("show", json.loads(ran.out)["session_id"], "--json").out)
    (log,) = {log["model"] for log in told["logs"] if log["role"] == "adversary"}
    return str(log)


def test_a_built_in_profile_uses_the_provider_of_your_model(cli: Cli, planning: Path) -> None:
    usual = ("-m", "openai:gpt-5.4-mini")
    assert adversary(cli, *usual, "--profile", "quality").endswith("gpt-5.4")
    assert adversary(cli, *usual, "--profile", "budget").endswith("gpt-5.4-nano")
    assert adversary(cli, *usual).endswith("gpt-5.4-mini")
    assert adversary(cli, *usual, "--profile", "quality", "--seat", "adversary=openai:mine").endswith("mine")


def test_your_own_profile_of_the_same_name_wins(cli: Cli, planning: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_REVIEW_PROFILES_QUALITY", "openai:mine")
    monkeypatch.setenv("MOOT_REVIEW_PROFILE", "quality")
    assert adversary(cli, "-m", "openai:gpt-5.4-mini").endswith("mine")


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("-m", "script:x.yaml", "--profile", "budget"), "script brings none; set review.profiles.budget"),
        (("--profile", "budget"), "no model says which provider you use"),
        (("-m", "openai:x", "--profile", "cheap"), "unknown profile 'cheap': set review.profiles.cheap"),
    ],
)
def test_a_profile_that_nobody_brings_is_said(
    cli: Cli, planning: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], why: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    ran = cli("review", ".planning/ROADMAP.md", *flags)
    assert ran.code == 2 and why in " ".join(ran.err.split())


def test_a_profile_does_not_matter_without_a_model(cli: Cli, planning: Path) -> None:
    assert cli("review", ".planning/ROADMAP.md", "--no-llm", "--profile", "quality").code == 0


def test_the_models_of_built_in_profiles_have_a_price() -> None:
    brought = {provider.name: provider.profiles for provider in list_providers() if provider.profiles}
    assert brought.keys() == {"openai", "anthropic"}
    for name, profiles in brought.items():
        assert list(profiles) == ["quality", "balanced", "budget"]
        usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
        prices = [calc_price(usage, model, provider_id=name).total_price for model in profiles.values()]
        assert prices == sorted(prices, reverse=True) and len(set(prices)) == 3


def test_the_command_of_the_flow_runs_at_all_four_checkpoints(cli: Cli, planning: Path) -> None:
    text = COMMAND.read_text()
    commands = dict(
        re.findall(r"^\| (requirements|roadmap|plan|verification) \|.*?\| `(moot review [^`]+)`", text, re.M)
    )
    places = {"plan": "01-booking/01-01-PLAN.md", "verification": "01-booking/01-VERIFICATION.md"}
    assert list(commands) == ["requirements", "roadmap", "plan", "verification"]
    for kind, command in commands.items():
        words = re.sub(r"phases/PHASE/(?:PLAN|VERIFICATION)", f"phases/{places.get(kind, '')}", command).split()
        ran = cli(*words[1:], "--no-llm", "--json")
        (artefact,) = json.loads(ran.out)["artefacts"]
        assert artefact["type"] == kind and ran.code in (0, 1), ran.err


def test_a_checkpoint_that_the_project_disables_is_switched_off(cli: Cli, planning: Path) -> None:
    config = {"workflow": {"adversary": True}, "adversary": {"checkpoints": ["plans"]}}
    (planning / ".planning/config.json").write_text(json.dumps(config))
    ran = cli("review", ".planning/ROADMAP.md", "--json", "--yes", "-m", "openai:x")
    assert json.loads(ran.out)["outcome"] == "switched_off" and "`switched_off`" in COMMAND.read_text()
