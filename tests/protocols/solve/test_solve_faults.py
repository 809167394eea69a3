"""An OpenAI-compatible server that misbehaves while code is asked for: none of it passes for a solution."""

import json
from pathlib import Path

import pytest
from conftest import Cli
from fake_provider import Answer, fake_provider, openai_answer
from solve_kit import REFUSAL, RIGHT, TASK, TESTS, WRONG, code, reflection

HALF = code(RIGHT).split("default")[0]


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    monkeypatch.setenv("MOOT_RETRIES", "0")
    (tmp_path / "test_solution.py").write_text(TESTS)
    return monkeypatch


def solve(cli: Cli, openai: pytest.MonkeyPatch, *answers: Answer, more: tuple[str, ...] = ()) -> dict[str, object]:
    with fake_provider(*answers) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        flags = ("-m", "openai:any", "--json", "--call-timeout", "1", *more)
        ran = cli("solve", TASK, "--tests", "test_solution.py", *flags)
    assert "test-key-0123456789" not in ran.out + ran.err
    return {**json.loads(ran.out), "exit": ran.code, "asked": len(provider.asked)}


@pytest.mark.parametrize(
    ("answer", "said", "why"),
    [
        (openai_answer("It is easy: use max."), "unreadable", "unreadable"),
        (openai_answer(REFUSAL), "unreadable", "unreadable"),
        (openai_answer(None, refusal="I cannot do that."), "refused", "refused"),
        (openai_answer(""), "empty", "unreadable"),
        (openai_answer(HALF), "never closed", "unreadable"),
        (openai_answer(HALF, finish="length"), "cut off", "unreadable"),
        (openai_answer("```python\n```\n"), "unreadable", "unreadable"),
        (openai_answer("CODE:\nFILE: solution.py\n```\n<the complete code>\n```\n"), "unreadable", "unreadable"),
        (Answer(status=500, body={"error": {"message": "boom"}}), "unreachable", "unreachable"),
        (Answer(status=401, body={"error": {"message": "no"}}), "unreachable", "unreachable"),
        (Answer(trouble="reset"), "unreachable", "unreachable"),
        (Answer(trouble="hang"), "timeout", "timeout"),
    ],
    ids=["prose", "refusal", "refusal field", "empty", "half", "cut off", "empty fence", "form", "500", "401", "reset",
         "silence"],
)  # fmt: skip
def test_no_bad_reply_is_ever_a_solution(
    cli: Cli, openai: pytest.MonkeyPatch, answer: Answer, said: str, why: str
) -> None:
    result = solve(cli, openai, answer)
    assert (result["exit"], result["outcome"], result["best"], result["code"]) == (2, "inconclusive", None, "")
    assert any(said in note for note in result["degraded"]), result["degraded"]  # type: ignore[attr-defined]
    assert {attempt["absent"] for attempt in result["attempts"]} == {why}  # type: ignore[attr-defined]
    assert result["resumable"] is (why in ("unreachable", "timeout"))


@pytest.mark.parametrize(
    "cheat",
    [
        "import os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "class Any:\n    def __eq__(self, other):\n        return True\n\n\ndef largest(numbers):\n    return Any()\n",
        "import pytest\n\n\ndef largest(numbers):\n    pytest.skip('no need')\n",
        "print('3 passed in 0.01s')\n",
    ],
    ids=["_exit", "exit", "equal to all", "skip", "fake report"],
)
def test_code_that_cheats_solves_nothing(cli: Cli, openai: pytest.MonkeyPatch, cheat: str) -> None:
    result = solve(cli, openai, openai_answer(code(cheat)), more=("--attempts", "1"))
    assert (result["exit"], result["outcome"]) == (1, "unsolved")


def test_good_replies_between_bad_ones_go_on_and_every_weakness_is_said(cli: Cli, openai: pytest.MonkeyPatch) -> None:
    answers = [
        openai_answer("Let me think."),
        openai_answer(f"Sure!\n\n```python\n{WRONG}```\n\nUse it so:\n\n```python\nprint(largest([1]))\n```\n"),
        openai_answer(REFUSAL),
        openai_answer(f"```json\n{reflection()}\n```"),
        openai_answer(HALF, finish="length"),
        openai_answer(code(RIGHT)),
    ]
    result = solve(cli, openai, *answers)
    assert (result["outcome"], result["best"], result["calls"], result["asked"]) == ("solved", 2, 6, 6)
    assert sum("asked again" in note for note in result["degraded"]) == 3  # type: ignore[attr-defined]


def test_a_provider_that_goes_down_in_the_middle_can_be_tried_again(cli: Cli, openai: pytest.MonkeyPatch) -> None:
    down = Answer(status=503, body={"error": {"message": "maintenance"}})
    broken = solve(cli, openai, openai_answer(code(WRONG)), down)
    assert (broken["outcome"], broken["code"], broken["resumable"]) == ("inconclusive", WRONG, True)
    with fake_provider(openai_answer(reflection()), openai_answer(code(RIGHT))) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        result = json.loads(cli("resume", str(broken["session_id"]), "--json").out)
    assert (result["outcome"], result["calls"], len(provider.asked)) == ("solved", 3, 2)
