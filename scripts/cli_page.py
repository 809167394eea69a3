"""Write docs/cli.md from the commands' own help, so that the two cannot differ."""

import contextlib
import io
import os
import re
import sys

# Read by the libraries that lay out the help, as soon as they are imported.
os.environ |= {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "LINES": "200"}

from moot.__main__ import run

VET = ("vet", "track", "track fail", "track success", "track reject", "track reset", "track show")
BRANCH = ("branch list", "branch diff", "branch history", "branch blame", "branch clean")
KEPT = ("list", "show", "resume", "export", "delete", "lessons list", "lessons show", "lessons add", "lessons import")
STORE = ("store migrate", "store check", "store backup", "store restore", "store copy")
RECORD = ("audit", "replay", "fork", "diff", "import", "key show", "clean")
SERVED = ("serve", "token create", "token list", "token revoke")
COMMANDS = (
    *("harden", "debate", "solve", "scan", "decide", "classify", "choose", *VET, "review", "run", "quality", "ci"),
    *("tools", "tools use", "vote", "team show", "team build"),
    *(*KEPT, *RECORD, "gates", "approve", "reject", "answer", *SERVED, "worker", "fleet"),
    *(*BRANCH, *STORE, "models", "doctor", "config show"),
)


def help_of(command: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = run([*command.split(), "--help"], debug=False)
    assert code == 0, f"moot {command} --help ended with {code}"
    return "\n".join(line.rstrip() for line in said.getvalue().strip("\n").splitlines())


def page() -> str:
    parts = ["# The command line", "", "Written by `make docs` from `--help`; do not edit.", ""]
    parts += ["```text", help_of(""), "```", ""]
    for command in COMMANDS:
        parts += [f"## moot {command}", "", "```text", help_of(command), "```", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


if __name__ == "__main__":
    sys.stdout.write(page())
