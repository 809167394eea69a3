"""A real OpenAI-compatible server that misbehaves: none of it ever passes for success, all of it is said."""

import json
from pathlib import Path

import pytest
from conftest import Cli
from fake_provider import Answer, fake_provider, openai_answer
from kit import BAD, CLEAN, GOOD, NOTHING, SQLI, blue

STUCK = "def run(request):\n    exec(request.body)\n"
HALF = SQLI[: len(SQLI) // 2]
REFUSAL = "I'm sorry, but I cannot assist with attacking software."


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    return monkeypatch


@pytest.mark.parametrize("code", [CLEAN, STUCK], ids=["clean", "flawed"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (openai_answer("Your code looks quite good overall, well done."), "unreadable"),
        (openai_answer(REFUSAL), "unreadable"),
        (openai_answer(""), "empty"),
        (openai_answer(HALF), "unreadable"),
        (openai_answer(HALF, finish="length"), "cut off"),
        (Answer(status=500, body={"error": {"message": "boom"}}), "unreachable"),
        (Answer(status=401, body={"error": {"message": "no"}}), "unreachable"),
        (Answer(body="<html>not an api</html>"), "unreachable"),
        (Answer(trouble="reset"), "unreachable"),
        (Answer(trouble="hang"), "timeout"),
    ],
    ids=["prose", "refusal", "empty", "half", "cut-off", "500", "401", "html", "reset", "silence"],
)
def test_no_bad_reply_ever_makes_code_hardened(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch, code: str, answer: Answer, said: str
) -> None:
    (tmp_path / "app.py").write_text(code)
    openai.setenv("MOOT_RETRIES", "0")
    patience = "0.5" if said == "timeout" else "60"
    with fake_provider(answer) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        ran = cli("harden", "app.py", "-m", "openai:any", "--json", "--call-timeout", patience, "--max-rounds", "1")
    result = json.loads(ran.out)
    answered = said not in ("unreachable", "timeout")  # then the scanner's finding stands, and nobody mended it
    ended = ("unresolved", 1) if code == STUCK and answered else ("inconclusive", 2)
    assert (result["outcome"], ran.code, result["all_resolved"]) == (*ended, False)
    assert any(said in note for note in result["degraded"]), result["degraded"]
    assert "test-key-0123456789" not in ran.out + ran.err


def test_429_then_success_goes_on_and_is_said(cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").write_text(BAD)
    busy = Answer(status=429, headers={"retry-after": "0"}, body={"error": {"message": "slow down"}})
    answers = (busy, openai_answer(SQLI), openai_answer(blue(GOOD)), openai_answer(NOTHING))
    with fake_provider(*answers) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("harden", "app.py", "-m", "openai:any", "--json").out)
    assert (result["outcome"], result["final_code"], result["calls"]) == ("hardened", GOOD, 3)
    assert any("answered after 1 failed try" in note for note in result["degraded"])
    assert len(provider.asked) == 4
    assert result["usage"]["openai:any"]["usd"] is None, "an unknown price is unknown, never 0"


def test_a_provider_that_goes_down_in_the_middle_can_be_tried_again(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.py").write_text(BAD)
    openai.setenv("MOOT_RETRIES", "0")
    down = Answer(status=503, body={"error": {"message": "maintenance"}})
    with fake_provider(openai_answer(SQLI), down) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        ran = cli("harden", "app.py", "-m", "openai:any", "--json")
    broken = json.loads(ran.out)
    assert (ran.code, broken["outcome"], broken["calls"]) == (2, "inconclusive", 1)
    assert f"moot resume {broken['session_id']}" in ran.err
    assert json.loads(cli("list", "--json").out)[0]["status"] == "paused"
    with fake_provider(openai_answer(blue(GOOD)), openai_answer(NOTHING)) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        again = cli("resume", broken["session_id"], "--json")
    result = json.loads(again.out)
    assert (again.code, result["outcome"], result["calls"], result["final_code"]) == (0, "hardened", 3, GOOD)
    assert len(provider.asked) == 2, "red's first answer was not asked for again"


def test_a_fallback_model_takes_over_and_that_is_said(cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").write_text(BAD)
    entries = [
        {"seat": "red", "round": 1, "reply": SQLI},
        {"seat": "blue", "reply": blue(GOOD)},
        {"seat": "red", "reply": NOTHING},
    ]
    (tmp_path / "replies.yaml").write_text(json.dumps(entries))
    with fake_provider(Answer(status=401, body={"error": {"message": "no"}})) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        ran = cli("harden", "app.py", "-m", "openai:any", "-m", "script:replies.yaml", "--json")
    result = json.loads(ran.out)
    assert (result["outcome"], list(result["usage"])) == ("hardened", ["script:replies.yaml"])
    assert len(provider.asked) == 1 and any("failed try" in note for note in result["degraded"])


def test_the_provider_gets_the_schema_the_code_and_no_secret(
    cli: Cli, tmp_path: Path, openai: pytest.MonkeyPatch
) -> None:
    secret = "AKIA" + "ABCDEFGH12345678"
    (tmp_path / "app.py").write_text(CLEAN + f'KEY = "{secret}"\n')
    with fake_provider(openai_answer(NOTHING)) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        cli("harden", "app.py", "-m", "openai:any", "--max-calls", "1")
    body = json.dumps(provider.asked[0].body)
    assert "json_schema" in body and "def add(a, b)" in body and secret not in body and "REDACTED_AWS_KEY" in body
