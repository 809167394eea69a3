"""Notifies the terminal at the end of a long session."""

import os
import sys
from collections.abc import Mapping

from moot.text.controls import clean

LONG_SECONDS = 60.0
BELL = "\a"
BY_PROGRAM = ("iTerm.app", "WezTerm", "ghostty")
BY_TERM = {"xterm-kitty": 9, "xterm-ghostty": 9, "foot": 777, "rxvt": 777}


def notify_end(text: str, seconds: float, *, wanted: bool) -> None:
    """Does nothing without a terminal, or after a short session."""
    if wanted and seconds >= LONG_SECONDS and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        sys.stderr.write(render_notification(text, os.environ))
        sys.stderr.flush()


def render_notification(text: str, env: Mapping[str, str]) -> str:
    """The notification sequence of this terminal; for others the bell."""
    plain = clean(text).replace(";", ",").replace("\n", " ")
    term = env.get("TERM", "")
    kind = next((number for name, number in BY_TERM.items() if term.startswith(name)), 0)
    if env.get("TMUX") or term.startswith(("screen", "tmux")):
        return BELL  # terminals ignore unknown sequences
    if kind == 9 or env.get("TERM_PROGRAM") in BY_PROGRAM:
        return f"\x1b]9;{plain}{BELL}"
    if kind == 777 or env.get("VTE_VERSION"):
        return f"\x1b]777;notify;Moot;{plain}{BELL}"
    return BELL
