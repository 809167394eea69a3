"""Which task is which, which error is which, what counts, what is due, and what resets it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from moot.evidence.failures import (  # fmt: skip
    EVERY_TASK,
    FailureEntry,
    entry_of,
    fingerprint,
    moment,
    next_step,
    reset_reason,
    stamp,
    standings,
    task_id,
)

NOW = datetime(2026, 1, 29, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Fix the authentication test", "2fba088a8d564d54"),
        ("fix authentication test", "2fba088a8d564d54"),
        ("  Fixing an   Authentication TEST!", "2fba088a8d564d54"),
        ("Fixed the authentication tests.", "2fba088a8d564d54"),
        ("'Fixes' the (authentication) test?", "2fba088a8d564d54"),
    ],
)
def test_the_same_task_in_other_words_has_the_same_id(text: str, same: str) -> None:
    assert task_id(text) == same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fix the authentication test", "fix the authorization test"),
        ("fix-auth", "fix auth"),
        ("fix_auth", "fix auth"),
        ("!!!", "???"),
        ("prüfe Ärger", "prüfe Zorn"),
        ("delete cache", "create cache"),
    ],
)
def test_different_tasks_have_different_ids(one: str, other: str) -> None:
    assert task_id(one) != task_id(other)


@pytest.mark.parametrize(
    ("verbs", "stem"),
    [
        ("deleting deleted deletes", "delete"), ("dropped dropping drops", "drop"), ("copied copies copying", "copy"),
        ("applied applies", "apply"), ("deployed deploys deploying", "deploy"), ("patches patched", "patch"),
        ("running runs", "run"), ("writing writes", "write"),
    ],
)  # fmt: skip
def test_verbs_are_stemmed(verbs: str, stem: str) -> None:
    assert {task_id(f"{verb} table") for verb in verbs.split()} == {task_id(f"{stem} table")}


@pytest.mark.parametrize(
    ("error", "mark"),
    [
        ("ENOENT: no such file or directory, open '/path/to/file.txt'", "enoent no such file or directory open"),
        ("ENOENT: no such file or directory, open '/other/path/file.txt'", "enoent no such file or directory open"),
        ("ENOENT: file not found", "enoent file not found"),
        ("EACCES: permission denied", "eacces permission denied"),
        ("src/app.py:12:5: error TS2304: Cannot find name 'x'", "error ts2304 cannot find name x"),
        ("lib\\win\\app.py(3,14): error TS2304: Cannot find name 'x'", "error ts2304 cannot find name x"),
        (r"cannot open C:\Users\me\x.txt: denied", "cannot open denied"),
        ("SyntaxError at line 12 in app.py", "syntaxerror in"),
        (
            'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    x()\nValueError: bad',
            "valueerror bad",
        ),
        ("Exit code 1\nEACCES: permission denied", "eacces permission denied"),
        ("fetch https://example.org/a/b?c=1 failed", "fetch failed"),
        ("x" * 80, "x" * 50),
        ("Exit code 1", ""),
        ("command failed with exit status 127", ""),
        ("", ""),
        ("  \n ", ""),
    ],
)
def test_an_error_is_known_again_by_its_words(error: str, mark: str) -> None:
    assert fingerprint(error) == mark


def fails(*errors: str, task: str = "t", session: str = "", ago: float = 0.0) -> list[FailureEntry]:
    ts = stamp(NOW - timedelta(hours=ago))
    return [FailureEntry(task, ts, attempt=n, error=e, session=session) for n, e in enumerate(errors, 1)]


def event(kind: str, task: str = "t", resolution: str = "", session: str = "") -> FailureEntry:
    entry = entry_of({"task_id": task, "event": kind, "ts": stamp(NOW), "resolution": resolution, "session": session})
    assert entry is not None
    return entry


DEBATED = event("debate", resolution="RETRY")
ESCALATED = event("debate", resolution="ESCALATE")
REJECTED = event("reject")


@pytest.mark.parametrize(
    ("entries", "stakes", "security", "due", "why"),
    [
        ([], "low", False, "nothing", ""),
        (fails("a"), "high", False, "nothing", ""),
        (fails("a"), "low", True, "nothing", ""),
        (fails("a"), "high", True, "escalate", "security"),
        (fails("a", "b"), "low", False, "debate", "failed 2 times"),
        (fails("a", "b", "c"), "low", False, "escalate", "failed 3 times"),
        ([REJECTED], "low", False, "nothing", ""),
        ([REJECTED, REJECTED], "low", False, "debate", "rejected 2 times"),
        ([*fails("a", "b"), DEBATED], "low", False, "nothing", "one more attempt"),
        ([*fails("a", "b"), DEBATED, *fails("c")], "low", False, "escalate", "failed 3 times"),
        ([REJECTED, REJECTED, DEBATED, REJECTED], "low", False, "escalate", "after the failure debate"),
        ([*fails("a", "b"), ESCALATED], "low", False, "escalate", "asked for a person"),
        ([*fails("a", "b", "c"), event("success")], "low", False, "nothing", ""),
        ([*fails("a", "b"), event("reset")], "low", False, "nothing", ""),
        ([*fails("a", "b"), event("reset"), *fails("a", "b")], "low", False, "debate", "failed 2 times"),
        ([*fails("a", "b"), event("reset", "other")], "low", False, "debate", "failed 2 times"),
        ([*fails("a", "b"), event("reset", EVERY_TASK)], "low", False, "nothing", ""),
        ([*fails("a", "b", session="s"), event("reset", EVERY_TASK, session="s")], "low", False, "nothing", ""),
        ([*fails("a", "b", session="s"), event("reset", EVERY_TASK, session="z")], "low", False, "debate", "failed"),
        ([*fails("a", "b"), event("debate", EVERY_TASK)], "low", False, "debate", "failed 2 times"),
        ([*fails("E1: x", task="u"), *fails("E1: x")], "low", False, "debate", "same error"),
        ([*fails("E1: x", task="u"), *fails("E2: x")], "low", False, "nothing", ""),
        ([*fails("", task="u"), *fails("")], "low", False, "nothing", ""),
        ([*fails("exit code 1", task="u"), *fails("exit code 1")], "low", False, "nothing", ""),
        ([*fails("E1: x", task="u"), event("success", "u"), *fails("E1: x")], "low", False, "nothing", ""),
        ([*fails("E1: x", task="u", ago=30), *fails("E1: x")], "low", False, "nothing", ""),
        ([*fails("E1: x", task="u"), *fails("E1: x", ago=30)], "low", False, "nothing", ""),
        ([REJECTED, REJECTED, DEBATED, REJECTED, DEBATED], "low", False, "nothing", "one more attempt"),
        ([*fails("E1: x", task="u"), *fails("E1: x"), DEBATED, *fails("E3")], "low", False, "escalate", "after the"),
    ],
)  # fmt: skip
def test_what_is_due(entries: list[FailureEntry], stakes: str, security: bool, due: str, why: str) -> None:
    step = next_step(standings(entries, NOW), "t", stakes=stakes, security=security)
    assert step.due == due and why in step.why


def test_time_marks_failures_stale_and_resets_them_only_where_that_is_set() -> None:
    old = fails("a", "b", ago=24)
    assert standings(old, NOW)["t"].stale and next_step(standings(old, NOW), "t").due == "debate"
    assert not standings(fails("a", "b", ago=23.9), NOW)["t"].stale
    assert "t" in standings(old, NOW, reset_after_hours=24.5)
    assert standings(old, NOW, reset_after_hours=24) == {}


def test_a_failure_whose_time_nobody_can_read_is_not_forgotten() -> None:
    unclear = [replace(entry, ts="yesterday") for entry in fails("a", "b", ago=999)]
    assert next_step(standings(unclear, NOW, reset_after_hours=1), "t").due == "debate"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start fresh", "start_fresh"),
        ("OK, let's start afresh please", "start_fresh"),
        ("Try different approach", "start_fresh"),
        ("please try a completely different approach", "start_fresh"),
        ("try another way", "start_fresh"),
        ("ignore previous attempts", "start_fresh"),
        ("Forget all the earlier failed attempts.", "start_fresh"),
        ("I fixed the database config", "environment"),
        ("I’ve just updated node to 20", "environment"),
        ("we have installed the missing package", "environment"),
        ("The server is now running", "environment"),
        ("Here's the full stack trace: …", "new_information"),
        ("More details: it only fails on Tuesdays", "new_information"),
        ("It turns out the port is taken", "new_information"),
        ("the actual cause is a wrong time zone", "new_information"),
        ("don't start fresh", None),
        ("do not ignore previous attempts", None),
        ("should I start fresh?", None),
        ("I haven't updated anything", None),
        ("if I fixed the config, would it work?", None),
        ("why does this still fail???", None),
        ("do it right this time!", None),
        ("fix the authentication test again", None),
        ("", None),
    ],
)
def test_what_a_person_says_resets_the_count_or_not(text: str, reason: str | None) -> None:
    assert reset_reason(text) == reason


def test_a_line_of_the_file_and_an_entry_are_the_same() -> None:
    seed = {"task_id": "fix-auth-test", "attempt": 1, "ts": "2026-01-29T14:30:00Z", "error": "Cannot find module",
            "approach": "updated import path"}  # fmt: skip
    entry = entry_of(seed)
    assert entry is not None and entry.line() == seed
    assert entry_of(ESCALATED.line()) == ESCALATED


@pytest.mark.parametrize("line", [{}, {"task_id": 3}, {"task_id": ""}, {"task_id": "t", "event": "party"},
                                  {"task_id": "t", "attempt": "two"}])  # fmt: skip
def test_a_line_that_says_nothing_is_no_entry(line: dict[str, object]) -> None:
    assert entry_of(line) is None


@pytest.mark.parametrize(("text", "read"), [("2026-01-29T14:30:00Z", NOW), ("2026-01-29T14:30:00", NOW), ("?", None)])
def test_times_are_read(text: str, read: datetime | None) -> None:
    assert moment(text) == read
