"""What a person sees while a session runs. The clock is a number here: nobody waits."""

import io
from threading import Event as Flag

from rich.console import Console

from moot.core.events import Asked, Exchanged, SessionStarted, Told, TurnTaken
from moot.core.types import Spend
from moot.surfaces.cli.progress import QUIET_SECONDS, ProgressDisplay, keep_ticking


class Watched:
    """Progress of a session without a terminal, its clock, and its lines."""

    def __init__(self) -> None:
        self.now, self.file = 100.0, io.StringIO()
        self.progress = ProgressDisplay(Console(file=self.file, width=200), None, lambda: self.now)

    def lines(self) -> list[str]:
        return self.file.getvalue().splitlines()

    def ask(self, seq: int, seat: str) -> None:
        self.progress(Asked(seq=seq, seat=seat, phase="attack", round=1, model="m:x"))

    def answer(self, seq: int, seat: str, text: str) -> None:
        base = {"seq": seq, "seat": seat, "phase": "attack", "round": 1, "model": "x"}
        self.progress(Exchanged.model_validate({**base, "part": 1, "provider": "m", "text": text}))
        self.progress(TurnTaken.model_validate({**base, "usage": {"m:x": Spend(calls=1, input_tokens=7)}}))


def test_lines_say_when_who_and_what() -> None:
    watched = Watched()
    watched.progress(SessionStarted(session_id="s1", protocol="harden", topic="app.py"))
    watched.ask(1, "red")
    watched.now += 72
    watched.answer(1, "red", '{"vulnerabilities": [{"description": "SQL injection in [find]. More."}]}')
    assert watched.lines() == ["0:00 session s1: harden app.py", "1:12   red: SQL injection in [find]."]


def test_a_log_gets_a_line_every_thirty_seconds_and_no_more() -> None:
    watched = Watched()
    watched.ask(1, "red")
    watched.ask(2, "blue")
    for _ in range(int(3 * QUIET_SECONDS)):
        watched.now += 1
        watched.progress.tick()
    waiting = "still asking red (m:x), attack, round 1 and 1 other | 0 calls, 0 tokens"
    assert watched.lines() == [f"{at}   {waiting}" for at in ("0:30", "1:00", "1:30")]


def test_a_line_of_the_session_starts_the_thirty_seconds_anew() -> None:
    watched = Watched()
    watched.now += QUIET_SECONDS - 1
    watched.progress(Told(headline="round 1"))
    watched.now += QUIET_SECONDS - 1
    watched.progress.tick()
    assert watched.lines() == ["0:29   round 1"]


def test_a_session_at_a_gate_waits_and_does_not_start() -> None:
    watched = Watched()
    watched.progress.wait_at_gate()
    watched.now += QUIET_SECONDS
    watched.progress.tick()
    assert watched.lines() == ["0:30   still waiting at a gate | 0 calls, 0 tokens"]


def test_who_gave_no_answer_is_named() -> None:
    watched = Watched()
    turn = {"seq": 1, "seat": "red", "phase": "attack", "round": 1, "model": "x", "usage": {}}
    watched.progress(TurnTaken.model_validate({**turn, "absent": "timeout"}))
    assert watched.lines() == ["0:00   red: no usable answer (timeout)"]


def test_ticks_go_on_until_the_session_ends() -> None:
    """Each tick comes after one wait; the wait here takes no time, and says when the end has come."""
    watched, waits, enough = Watched(), [], Flag()

    def wait(ended: Flag, seconds: float) -> bool:
        waits.append(seconds)
        watched.now += QUIET_SECONDS
        if len(waits) == 3:
            enough.set()
            return ended.wait()
        return False

    with keep_ticking(watched.progress, wait):
        enough.wait()
    assert waits == [1.0, 1.0, 1.0] and len(watched.lines()) == 2


def test_one_thing_is_not_several() -> None:
    watched = Watched()
    watched.progress(Told(headline="critique, round 1: 1 points, 0 breaking tests, 11 drafts"))
    assert watched.lines() == ["0:00   critique, round 1: 1 point, 0 breaking tests, 11 drafts"]
