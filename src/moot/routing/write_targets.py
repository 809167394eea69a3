"""Write targets: redirections, copies, editors."""

import re
from itertools import pairwise

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy
from moot.routing.rules import CommandCall
from moot.routing.runners.inside import Inside
from moot.routing.script import HOLE, Command, Redirect
from moot.routing.secrets import place_sight, secret_sights
from moot.routing.self_protection import word_guard_sight
from moot.routing.tasks import judge_task

NETWORK = Lazy(r"/dev/(?:tcp|udp)/([^/]*)/?")
HERE = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def redirect_sights(redirect: Redirect, command: Command) -> list[Sight]:
    target = redirect.target.text
    if found := NETWORK.match(target):
        if found[1].lower() in HERE:
            return [Sight("low")]
        return [Sight("high", "security", target.replace(HOLE, "…"), "it opens a connection to another machine")]
    if redirect.sign in ("<", "<>"):
        return secret_sights("<", [target], [])
    if redirect.sign not in (">", ">>", ">|", "&>", "&>>", ">&") or re.fullmatch(r"\d+-?|-", target):
        return []
    if guarded := word_guard_sight(redirect.target, command.folder):
        return [guarded]
    if HOLE in target:
        return [Sight("low")]
    place = place_sight(target)
    if place.level == "low" and ">>" not in redirect.sign and _says_nothing(command):
        return [Sight("high", "destructive", f"> {target}", f"it empties {target}")]
    return [place]


def _says_nothing(command: Command) -> bool:
    texts = [word.text for word in command.words]
    return (
        not texts
        or texts in ([":"], ["true"], ["cat", "/dev/null"])
        or (texts[0] in ("echo", "printf") and not "".join(texts[1:]).replace("-n", ""))
    )


def judge_write(called: CommandCall, inside: Inside) -> list[Sight]:
    """`tee` and editors may write every file they are given."""
    return [place_sight(path) for path in called.rest] or [Sight("read" if called.name == "tee" else "low")]


def judge_copy(called: CommandCall, inside: Inside) -> list[Sight]:
    """The target of a copy is written; the source of a move is missing afterwards."""
    places = called.rest if called.name == "mv" else called.rest[-1:] if len(called.rest) > 1 else ()
    places = () if from_example(called.name, called.rest) else places
    return [*judge_task(called), *(place_sight(path) for path in places)]


def from_example(name: str, rest: tuple[str, ...]) -> bool:
    return name in ("cp", "mv") and bool(rest) and bool(re.search(r"\.(?:example|sample|template|dist)$", rest[0]))


SHORT_OUTPUTS = {"wget": "-O", **dict.fromkeys(("curl", "sort", "gcc", "cc", "clang", "g++", "go", "shuf"), "-o")}


def outputs(called: CommandCall) -> list[str]:
    named = (
        "--output",
        "--out",
        "--outfile",
        "--output-document",
        "-OutFile",
        SHORT_OUTPUTS.get(called.name, "--output"),
    )
    texts = [word.text for word in called.args]
    found = [b for a, b in pairwise(texts) if a in named]
    found += [text.partition("=")[2] for text in texts if text.startswith(("--output=", "--out=", "--outfile="))]
    return found + [f"{b}/x" for a, b in pairwise(texts) if called.name == "wget" and a in ("-P", "--directory-prefix")]
