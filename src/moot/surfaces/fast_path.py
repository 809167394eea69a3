"""`moot route` and `moot hook …`, answered before anything slow is imported."""

import json
import os
import sys
from collections.abc import Iterable, Mapping

from moot.text.controls import clean, clean_json

HOOKS = ("pre-tool-use", "post-tool-use", "user-prompt")


def quick(arguments: list[str]) -> int | None:
    """The exit code if the arguments are simple enough, else None."""
    match arguments:
        case ["route", *rest] if set(r for r in rest if r.startswith("-")) <= {"--json", "--stdin"}:
            texts = [word for word in rest if not word.startswith("-")]
            if ("--stdin" in rest) == (not texts) and len(texts) <= 1:
                return route_command(texts[0] if texts else None, as_json="--json" in rest)
        case ["hook", name, "--client", client, *rest] if name in HOOKS and set(rest) <= {"--strict"}:
            return hook_command(name, client, strict="--strict" in rest)
    return None


def hook_command(name: str, client: str = "", *, strict: bool) -> int:
    from moot.surfaces.hooks.apart import answer_apart

    reply = answer_apart(name, client, strict=strict)
    sys.stderr.write(reply.err.encode("ascii", "backslashreplace").decode())
    sys.stdout.write(reply.out)
    sys.stdout.flush()
    return reply.code


def route_command(text: str | None, *, as_json: bool) -> int:
    """Without a text, routes every line of standard input."""
    lines = [text] if text is not None else _lines(sys.stdin.buffer)
    for line in lines:
        reply = render_route(line, os.environ, as_json=as_json, alone=text is not None)
        if as_json:
            reply = clean_json(reply, sys.stdout.encoding)
        sys.stdout.write(clean(reply) if sys.stdout.isatty() and not as_json else reply)
    sys.stdout.flush()
    return 0


def _lines(raw: Iterable[bytes]) -> Iterable[str]:
    return (line.rstrip(b"\r\n").decode("utf-8", "replace") for line in raw)


def render_route(text: str, env: Mapping[str, str], *, as_json: bool, alone: bool = True) -> str:
    from moot.routing.router import route
    from moot.routing.switch import find_off_switch

    found = route(text)
    if switch := find_off_switch(env):
        found = found.waive(f"debates are switched off by {switch}")
    if as_json:
        whole = {
            "class": found.kind, "stakes": found.stakes, "bypass": found.bypass, "reason": found.reason,
            "triggers": list(found.triggers), "security": found.security,
        }  # fmt: skip
        return json.dumps(whole, ensure_ascii=False) + "\n"
    debate = "no debate" if found.bypass or found.stakes == "low" else "debate first"
    first = f"{found.kind}, stakes {found.stakes}, {debate}: {found.reason}"
    if not alone:
        return f"{first}\n"
    return "\n".join([first, *(f"  {trigger}" for trigger in found.triggers)]) + "\n"
