"""Parses a sed script for programs it runs and files it writes."""

import re

ADDRESS = re.compile(r"\s*(?:\d+(?:~\d+)?|\$|\+\d+|~\d+|[\s,;}!])")
FLAGS = re.compile(r"[gpiIMm\d]*")
TEXT_COMMANDS = "aic"
LABELS = ":btT"
FILES = {"w": "write", "W": "write", "r": "", "R": ""}


def script_parts(script: str) -> list[tuple[str, str]]:
    """`("run", command)` for the command `e` and the flag `e` of `s`; `("write", path)` for `w`."""
    parts: list[tuple[str, str]] = []
    at = 0
    while at < len(script):
        if step := ADDRESS.match(script, at):
            at = step.end()
            continue
        sign, at = script[at], at + 1
        if sign == "/" or (sign == "\\" and at < len(script)):
            delimiter = sign if sign == "/" else script[at]
            at = _skip(script, at + (sign != "/"), delimiter)
            at = re.compile(r"[IM]*").match(script, at).end()  # type: ignore[union-attr]
        elif sign in "sy" and at < len(script):
            at = _substitution(script, at, sign, parts)
        elif sign == "e" or sign in FILES or sign in TEXT_COMMANDS:
            end = script.find("\n", at)
            end = len(script) if end < 0 else end
            kind = "run" if sign == "e" else FILES.get(sign, "")
            if kind:
                parts.append((kind, script[at:end].strip().rstrip("}")))
            at = end
        elif sign in LABELS:
            at = re.compile(r"[^;\n}]*").match(script, at).end()  # type: ignore[union-attr]
    return parts


def _skip(script: str, at: int, delimiter: str) -> int:
    """The position after the next delimiter that is not escaped or in brackets."""
    while at < len(script) and script[at] != delimiter:
        at += 2 if script[at] == "\\" else 1
    return at + 1


def _substitution(script: str, at: int, sign: str, parts: list[tuple[str, str]]) -> int:
    delimiter = script[at]
    middle = _skip(script, at + 1, delimiter)
    end = _skip(script, middle, delimiter)
    replacement = script[middle : end - 1]
    while sign == "s" and end < len(script):
        end = FLAGS.match(script, end).end()  # type: ignore[union-attr]
        if script.startswith("e", end):
            parts.append(("run", replacement.replace("&", "x")))
            end += 1
        elif script.startswith("w", end):
            stop = script.find("\n", end)
            stop = len(script) if stop < 0 else stop
            parts.append(("write", script[end + 1 : stop].strip()))
            return stop
        else:
            break
    return end
