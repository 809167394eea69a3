"""git options that make it run other programs."""
# ruff: noqa: E501 - tables: one row a line

import re
from itertools import pairwise

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy
from moot.routing.rules import CommandCall
from moot.routing.runners.inside import Judge
from moot.routing.runners.launchers import judge_named_command, values_of

RUNS = (
    r"core\.(?:sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)|pager\.\w+|diff\.external|diff\.[^=]+\.(?:command|textconv)|"
    r"(?:diff|merge)tool\.[^=]+\.(?:cmd|path)|merge\.[^=]+\.driver|sequence\.editor|gpg\.(?:\w+\.)?program|interactive\.difffilter|"
    r"remote\.[^=]+\.(?:uploadpack|receivepack)|uploadpack\.packobjectshook|trailer\.[^=]+\.(?:command|cmd)|browser\.[^=]+\.cmd|man\.[^=]+\.cmd|sendemail\.\w*cmd|web\.browser"
)
CHANGES = r"alias\.[^=]+|core\.(?:hookspath|fsmonitor|worktree|attributesfile)|credential[^=]*|filter\.[^=]+|include[^=]*|url\.[^=]+|protocol\.[^=]*allow|init\.templatedir|submodule\.[^=]+\.update"
RUN_SETTING = Lazy(rf"(?:-c|--config|--config-env)=(?:{RUNS})=(.*)", re.IGNORECASE | re.DOTALL)
CHANGE_SETTING = Lazy(
    rf"(?:-c|--config|--config-env)=(?:{CHANGES}|http\.sslverify=(?:false|0))(?:=.*)?", re.IGNORECASE | re.DOTALL
)
ADDRESS = Lazy(r"ext::(.*)|(?:ssh|git|https?)://-.*", re.DOTALL)


def git_sights(called: CommandCall, judge: Judge) -> list[Sight]:
    """Settings, helpers and addresses that make git run other programs, and skipped checks."""
    sights = []
    given = [f"{a.text}={b.text}" for a, b in pairwise(called.args) if a.text in ("--config", "-c", "--config-env")]
    for option in dict.fromkeys((*called.options, *given)):
        if found := RUN_SETTING.fullmatch(option):
            value = found[1].removeprefix("!")
            if inner := judge_named_command(value, "it changes what git itself runs", judge):
                sights += [*inner, Sight("high", "security", option, "it changes what git itself runs")]
        elif CHANGE_SETTING.fullmatch(option) or option.startswith("--exec-path="):
            sights.append(Sight("high", "security", option, "it changes what git itself runs"))
    if "--no-verify" in called.options:
        sights.append(Sight("medium", "security", called.excerpt, "it leaves the checks out"))
    for text in helpers(called):
        sights += judge_named_command(text, f"`{called.excerpt}` runs {text[:40]!r}", judge)
    for word in called.args:
        if found := ADDRESS.fullmatch(word.text):
            command = (found[1] or "").replace("% ", " ")
            sights += [
                Sight("high", "security", called.excerpt, "the address is a command"),
                *(judge(command) if command else []),
            ]
    return sights


HELPERS = {
    "clone": ("-u",),
    "difftool": ("-x",),
    "rebase": ("-x", "--exec"),
    "push": ("--exec",),
    "archive": ("--exec",),
}
OPENED_BY = Lazy(r"(?:-O|--open-files-in-pager=)(.+)", re.DOTALL)


def helpers(called: CommandCall) -> list[str]:
    """Commands in the options of some git commands."""
    verb = called.rest[0] if called.rest else ""
    if verb == "grep":  # a separate word after -O is the pattern
        return [found[1] for word in called.args if (found := OPENED_BY.fullmatch(word.text))]
    return values_of(called, frozenset(HELPERS.get(verb, ())))
