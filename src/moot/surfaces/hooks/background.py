"""Background review: hardens what an agent has just committed, and wakes the agent if flaws remain.

Claude Code runs such a hook beside the agent (`asyncRewake`). Exit code 2 wakes it with the text on stderr.
"""

import json
import subprocess
import sys
from pathlib import Path

from moot.core.report import count_things
from moot.edge.git import GitError, git
from moot.routing.patterns import Lazy
from moot.surfaces.hooks.clients import read_call
from moot.surfaces.hooks.wire import BadInput, HookReply

COMMITS = Lazy(r"\bgit\b[^|;&\n]*\bcommit\b")
SECONDS = 540.0
SHOWN = 5
WAKES = 2


def review_commit(raw: bytes, client: str) -> HookReply:
    """Wakes the agent if the last commit has flaws. An error is reported and wakes nobody."""
    try:
        call = read_call(raw, client)
    except BadInput as problem:
        return HookReply(err=f"moot: {problem}\n", code=1)
    if not COMMITS.search(str(call.given.get("command", ""))):
        return HookReply()
    folder = Path(call.folder or ".")
    try:
        first = len(git(folder, "rev-list", "--max-count=2", "HEAD").split()) == 1
    except GitError as problem:
        return HookReply(err=f"moot: {problem}\n", code=1)
    return _review(folder, ["."] if first else ["--diff", "HEAD~1"])


def _review(folder: Path, what: list[str]) -> HookReply:
    command = [sys.executable, "-P", "-m", "moot", "harden", *what, "--quiet", "--json"]
    said = ""
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        said = ran.stderr.strip()
        result = json.loads(ran.stdout)
        found = result["attack_reports"][0]["vulnerabilities"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, IndexError, TypeError) as problem:
        return HookReply(err=f"moot: the commit could not be reviewed: {said or problem}\n", code=1)
    if not found:
        return HookReply()
    lines = [f"- {each['severity']}: {each['file']}:{each['line']}: {each['description']}" for each in found[:SHOWN]]
    more = [f"- and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    patch = f"`moot harden {' '.join(what)} --write` applies Moot's patch." if result.get("diff") else ""
    told = [f"Moot reviewed the commit you just made: {count_things(len(found), 'finding')}.", *lines, *more]
    return HookReply(err="\n".join([*told, *([patch] if patch else [])]) + "\n", code=WAKES)
