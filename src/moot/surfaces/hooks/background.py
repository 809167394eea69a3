"""Background review: hardens what an agent has just committed, and wakes the agent if flaws remain.

Claude Code runs such a hook beside the agent (`asyncRewake`). Exit code 2 wakes it with the text on stderr.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from moot.core.report import count_things
from moot.edge.files.sources import UNCHANGED
from moot.edge.git import GitError, git
from moot.routing.patterns import Lazy
from moot.surfaces.hooks.clients import read_call
from moot.surfaces.hooks.wire import BadInput, HookReply

COMMITS = Lazy(r"\bgit\b(?P<options>[^|;&\n]*?)\scommit\b")
ELSEWHERE = Lazy(r"\s(?:-C|--git-dir|--work-tree)\b")
REVIEWED = "moot-reviewed"
"""A file among git's own that names the commit that was reviewed last."""
SECONDS = 540.0
SHOWN = 5
WAKES = 2


def review_commit(raw: bytes, client: str) -> HookReply:
    """Wakes the agent if the last commit has flaws. An error is reported and wakes nobody."""
    try:
        call = read_call(raw, client)
    except BadInput as problem:
        return HookReply(err=f"moot: {problem}\n", code=1)
    commit = COMMITS.search(str(call.given.get("command", "")))
    if commit is None:
        return HookReply()
    if ELSEWHERE.search(commit["options"]):
        return HookReply(err="moot: the commit is in another folder and was not reviewed\n", code=1)
    folder = Path(call.folder or ".")
    try:
        head, *before = git(folder, "rev-list", "--max-count=2", "HEAD").decode().split()
        mark = folder / os.fsdecode(git(folder, "rev-parse", "--git-path", REVIEWED)).strip()
    except (GitError, ValueError) as problem:
        return HookReply(err=f"moot: {problem}\n", code=1)
    if mark.is_file() and mark.read_text() == head:
        return HookReply()  # the command made no commit, or it was reviewed already
    message = _review(folder, ["--diff", "HEAD~1"] if before else ["."])
    if message.code in (0, WAKES):
        mark.write_text(head)
    return message


def _review(folder: Path, what: list[str]) -> HookReply:
    command = [sys.executable, "-P", "-m", "moot", "harden", *what, "--quiet", "--json"]
    said = ""
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        said = ran.stderr.strip()
        if UNCHANGED in said:
            return HookReply()
        result = json.loads(ran.stdout)
        found = result["attack_reports"][0]["vulnerabilities"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, IndexError, TypeError) as problem:
        return HookReply(err=f"moot: the commit could not be reviewed: {said or problem}\n", code=1)
    if not found:
        return HookReply()
    lines = [f"- {each['severity']}: {each['file']}:{each['line']}: {each['description']}" for each in found[:SHOWN]]
    more = [f"- and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    patch = f"`moot harden {' '.join(what)} --write` applies Moot's patch." if result.get("diff") else ""
    message = [f"Moot reviewed the commit you just made: {count_things(len(found), 'finding')}.", *lines, *more]
    return HookReply(err="\n".join([*message, *([patch] if patch else [])]) + "\n", code=WAKES)
