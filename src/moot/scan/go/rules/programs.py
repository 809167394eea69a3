"""Conditions of the Go rules about programs that are run."""

import re
from collections.abc import Callable

from moot.scan.engine.rulebook import Site
from moot.scan.go.rules.when import MEDIUM, SURE, is_const
from moot.scan.rules.operands import finds_option

SHELLS = re.compile(r"(?:^|/)(?:(?:ba|z|da|k)?sh|cmd(?:\.exe)?|powershell|pwsh|python3?|perl|ruby|node)$")


def is_shell_script(start: int) -> Callable[[Site], bool]:
    """`exec.Command("sh", "-c", …)`"""

    def check(site: Site) -> bool:
        program = site.arg(start)
        return program is not None and isinstance(program.const, str) and bool(SHELLS.search(program.const))

    return check


def names_shell(site: Site) -> bool:
    """`exec.Cmd{Path: "/bin/sh", Args: …}`"""
    program = site.arg("Path")
    return program is not None and isinstance(program.const, str) and bool(SHELLS.search(program.const))


def is_line_built(site: Site) -> bool:
    line = site.arg(0)
    return line is not None and (not line.name or any(taint.strength >= MEDIUM for taint in line.taints))


def takes_option(start: int) -> Callable[[Site], bool]:
    """After `--` nothing is an option. What a caller chooses counts where options of the program do harm."""
    shell = is_shell_script(start)

    def check(site: Site) -> bool:
        given = [value for place in range(start, site.count) if (value := site.arg(place)) is not None]
        sure = any(taint.strength >= SURE for place in range(start + 1, site.count)
                   for taint in site.taints_at(place, "option"))  # fmt: skip
        return (sure or finds_option(given)) and not shell(site) and not _ends_options(site, start)

    return check


def _ends_options(site: Site, start: int) -> bool:
    """Among the arguments, or in a list of them that the function puts together."""
    return any(is_const(site.arg(place), "--") for place in range(start, start + 8)) or '"--"' in site.around()


EXECS = "os/exec.Command golang.org/x/sys/execabs.Command"

CONTEXT_EXECS = "os/exec.CommandContext golang.org/x/sys/execabs.CommandContext"
