"""Scripts of a `package.json` that npm, yarn, pnpm and bun run by name."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from moot.routing.patterns import names
from moot.routing.rules import CommandCall

NAMED = {"test": "test", "t": "test", "tst": "test", "start": "start", "stop": "stop", "restart": "restart"}
INSTALLS = names("install i ci add")
INSTALLED = ("preinstall", "install", "postinstall", "prepare")
OWN = names("""
    install i ci add remove rm uninstall un update upgrade up audit publish pack link unlink init create exec dlx x
    config cache login logout whoami view info list ls outdated why version help root bin prefix set get dedupe prune
    workspaces workspace global import store rebuild fund doctor search owner team token access dist-tag node
""")
"""Commands of a package manager itself, whatever the scripts are called."""


class WantedScripts(NamedTuple):
    scripts: tuple[str, ...]
    """The first of them must exist if `named`."""
    named: bool
    workspace: str = ""


def find_wanted_scripts(called: CommandCall) -> WantedScripts | None:
    """The scripts that a call runs by name; None if it runs none."""
    rest = list(called.rest)
    verb = rest[0] if rest else ("install" if called.name in ("yarn", "npm") and not called.rest else "")
    workspace = ""
    for option in called.options:
        name, _, value = option.partition("=")
        if name in ("-w", "--workspace", "--filter", "-F"):
            workspace = value
    if verb in ("run", "run-script", "rum", "urn"):
        return WantedScripts((rest[1],), True, workspace) if len(rest) > 1 else None
    if verb in NAMED:
        name = NAMED[verb]
        return WantedScripts(("stop", "start", "restart") if name == "restart" else (name,), False, workspace)
    if verb in INSTALLS:
        return WantedScripts(INSTALLED, False, workspace)
    if called.name in ("yarn", "pnpm", "bun") and verb and verb not in OWN:
        return WantedScripts((verb,), False, workspace)
    return None


def scripts_in(text: str) -> Mapping[str, str] | None:
    """The table of scripts; None if the file is malformed."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    table = found.get("scripts", {}) if isinstance(found, dict) else None
    if not isinstance(table, dict):
        return None
    return {name: line for name, line in table.items() if isinstance(line, str)}


def lines_of(table: Mapping[str, str], wanted: WantedScripts) -> list[tuple[str, str]]:
    """Name and shell line of everything that runs, including pre and post hooks."""
    found = []
    for name in wanted.scripts:
        for one in (f"pre{name}", name, f"post{name}"):
            if one in table and (one, table[one]) not in found:
                found.append((one, table[one]))
    return found
