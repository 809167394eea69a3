"""Against a provider on loopback that mixes good replies with bad ones: no consent is made up, weaknesses are said."""

import json
from pathlib import Path

import pytest
from conftest import Cli
from fake_provider import Answer, fake_provider, openai_answer
from vetkit import ACTION, blind_spot, claim, diagnosis, objection, rejoinder

GOOD, CALM, GRAVE = openai_answer(claim()), openai_answer(objection("low", "")), openai_answer(objection())
EMPTY, REFUSAL = openai_answer(""), openai_answer("I'm sorry, but I can't help with that request.")
FILTERED = openai_answer("", finish="content_filter")
SAYS_NO = openai_answer(None, refusal="I will not take part in this.")
CUT = openai_answer(objection()[:40], finish="length")
NEVER = Answer(trouble="hang")
GONE = Answer({"error": {"message": "overloaded"}}, status=503)
BOTH = openai_answer(objection("low or high", ""))
PROSE = openai_answer(
    "**OBJECTION:** The carts are in that table.\n**RISKS:**\n- lost carts\n"
    "**COUNTER:** Copy the carts first, then drop it.\n**SEVERITY:** High"
)
FENCED = openai_answer(f"Here is my view:\n\n```json\n{objection('low', '')}\n```\nI hope this helps!")
ECHO = openai_answer(objection("low", "", "Sessions are cheap to rebuild"))

CASES: list[tuple[str, list[Answer], str, str]] = [
    # replies in the order they are asked for -> resolution at high stakes, a word of what is said about it
    ("all is well", [GOOD, CALM], "PROCEED", ""),
    ("labelled prose", [GOOD, PROSE], "MODIFY", ""),
    ("JSON between pleasantries", [GOOD, FENCED], "PROCEED", ""),
    ("an empty critic, then a good one", [GOOD, EMPTY, CALM], "PROCEED", "first reply unreadable"),
    ("an empty critic twice", [GOOD, EMPTY, EMPTY], "ESCALATE", "critic is absent"),
    ("a critic who refuses in words", [GOOD, REFUSAL, REFUSAL], "ESCALATE", "critic is absent"),
    ("a critic who refuses by flag", [GOOD, SAYS_NO, SAYS_NO], "ESCALATE", "critic is absent"),
    ("a filtered critic", [GOOD, FILTERED, FILTERED], "ESCALATE", "critic is absent"),
    ("a critic cut off", [GOOD, CUT, CUT], "ESCALATE", "critic is absent"),
    ("a critic who cannot choose", [GOOD, BOTH, BOTH], "ESCALATE", "critic is absent"),
    ("a critic who never answers", [GOOD, NEVER], "ESCALATE", "absent, timeout"),
    ("a critic who is gone", [GOOD, GONE], "ESCALATE", "absent, unreachable"),
    ("a critic who echoes", [GOOD, ECHO], "ESCALATE", "echoes the advocate"),
    ("an absent advocate, a calm critic", [EMPTY, EMPTY, CALM], "ESCALATE", "advocate is absent"),
    ("an absent advocate, a remedy", [REFUSAL, REFUSAL, GRAVE], "MODIFY", "advocate is absent"),
    ("nobody at all", [EMPTY] * 4, "ESCALATE", "advocate is absent"),
]


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"STORE": str(tmp_path / "s.db"), "VET_MEMORY": str(tmp_path / "m"), "RETRIES": "0"}.items():
        monkeypatch.setenv(f"MOOT_{name}", value)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def patience(answers: list[Answer]) -> tuple[str, str]:
    """Short only where somebody never answers: a busy machine may keep the others waiting."""
    return "--call-timeout", "3" if NEVER in answers else "60"


@pytest.mark.parametrize(("answers", "resolution", "weakness"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_bad_replies_never_look_like_consent(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, answers: list[Answer], resolution: str, weakness: str
) -> None:
    with fake_provider(*answers) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        ran = cli("vet", ACTION, "-m", "openai:gpt-4o", *patience(answers), "--json", "-q")
    result = json.loads(ran.out)
    assert (result["resolution"], ran.code) == (resolution, {"PROCEED": 0, "MODIFY": 1, "ESCALATE": 2}[resolution])
    assert any(weakness in note for note in result["degraded"]) if weakness else result["degraded"] == []


def test_an_advocate_who_echoes_the_critic_wins_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = openai_answer(claim(1.0, "Carts are stored in that table"))
    with fake_provider(GOOD, openai_answer(objection("medium", "")), echo) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("vet", ACTION, "--rounds", "2", "-m", "openai:gpt-4o", "--json").out)
        assert len(provider.asked) == 3
    assert result["resolution"] == "ESCALATE" and any("only echoes the critic" in n for n in result["degraded"])


def test_a_critic_who_answers_the_rejoinder_with_prose_holds(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [GOOD, GRAVE, openai_answer(claim(0.9, "Carts were moved")), openai_answer("Fair enough!")]
    with fake_provider(*answers) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("vet", ACTION, "--rounds", "2", "-m", "openai:gpt-4o", "--json").out)
    assert result["resolution"] == "MODIFY" and any("the objection stands" in n for n in result["degraded"])
    with fake_provider(*answers[:3], openai_answer(rejoinder("withdraw", "low"))) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        assert json.loads(cli("vet", ACTION, "--rounds", "2", "-m", "openai:gpt-4o", "--json").out)["resolution"] == (
            "PROCEED"
        )


@pytest.mark.parametrize(
    ("answers", "resolution"),
    [
        ([openai_answer(diagnosis()), openai_answer(blind_spot())], "RETRY"),
        ([openai_answer(diagnosis()), EMPTY, EMPTY], "ESCALATE"),
        ([openai_answer(diagnosis()), NEVER], "ESCALATE"),
        ([EMPTY, EMPTY, openai_answer(blind_spot("x", "NONE", "Ask them"))], "PIVOT"),
        ([REFUSAL, REFUSAL, openai_answer(blind_spot())], "ESCALATE"),
    ],
)
def test_bad_replies_about_a_failure_go_to_a_person(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, answers: list[Answer], resolution: str
) -> None:
    with fake_provider(*answers) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        tries = ("--attempt", "a", "--error", "E1", "--attempt", "b", "--error", "E2")
        ran = cli("vet", "--failure", "load it", *tries, "-m", "openai:gpt-4o", *patience(answers), "--json")
    assert json.loads(ran.out)["resolution"] == resolution


def test_a_critic_who_was_gone_can_be_asked_again(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_provider(GOOD, GONE) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        first = cli("vet", ACTION, "-m", "openai:gpt-4o", "--json")
        provider.answers = [CALM]
        assert "moot resume" in first.err
        resumed = cli("resume", json.loads(first.out)["session_id"], "--json")
        assert len(provider.asked) == 3, "the advocate is not paid for twice"
    assert (resumed.code, json.loads(resumed.out)["resolution"]) == (0, "PROCEED")
