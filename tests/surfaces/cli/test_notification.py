"""The end of a long session is told to a terminal, and to nothing else."""

import io
import sys

import pytest

from moot.surfaces.cli.notification import notify_end, render_notification


@pytest.mark.parametrize(
    ("env", "sequence"),
    [
        ({"TERM": "xterm-kitty"}, "\x1b]9;harden, done\a"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "\x1b]9;harden, done\a"),
        ({"TERM": "foot-extra"}, "\x1b]777;notify;Moot;harden, done\a"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "\x1b]777;notify;Moot;harden, done\a"),
        ({"TERM": "xterm-256color"}, "\a"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/t", "TERM_PROGRAM": "WezTerm"}, "\a"),
    ],
)
def test_each_terminal_has_its_sequence(env: dict[str, str], sequence: str) -> None:
    assert render_notification("harden; done", env) == sequence


def test_the_words_of_others_end_no_sequence() -> None:
    said = render_notification("a\a\x1b]0;title\x1b\\b\n", {"TERM": "xterm-kitty"})
    assert said.startswith("\x1b]9;") and said.count("\x1b") == said.count("\a") == 1 and said.count(";") == 1


class Screen(io.StringIO):
    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize(
    ("tty", "seconds", "wanted", "term", "told"),
    [
        (True, 61.0, True, "xterm", "\a"),
        (False, 61.0, True, "xterm", ""),
        (True, 59.0, True, "xterm", ""),
        (True, 61.0, False, "xterm", ""),
        (True, 61.0, True, "dumb", ""),
    ],
)
def test_only_a_terminal_is_told_and_only_of_long_sessions(
    tty: bool, seconds: float, wanted: bool, term: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen(tty=tty))
    for name in ("TERM_PROGRAM", "VTE_VERSION", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", term)
    notify_end("harden: hardened", seconds, wanted=wanted)
    assert screen.getvalue() == told
