"""Programs that do harm with an option: an operand that begins with a hyphen is one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moot.scan.engine.values import ALL, Val
from moot.scan.syntax import words


@dataclass(frozen=True)
class ProgramOptions:
    valued: frozenset[str] = frozenset()
    """Options whose value is the next word."""
    actions: frozenset[str] = frozenset()
    """The subcommands whose options do harm; empty if the program has none."""


GIT = ProgramOptions(
    words(
        "-C -c -b -n -m -o -j -u -L -S -G --git-dir --work-tree --namespace --branch --depth --message --output "
        "--format --pretty --author --date --since --until --after --before --max-count --skip --reference --template "
        "--config --origin --jobs --filter --remote --prefix --upload-pack --receive-pack --exec --grep --color "
        "--separate-git-dir"
    ),
    words("clone fetch pull push ls-remote archive log show diff blame grep rev-list shortlog bundle submodule"),
)
HG = ProgramOptions(
    words(
        "-r -R -u -b -T -l -k -d -o --rev --repository --cwd --updaterev --branch --template --limit --keyword --ssh"
    ),
    words("clone pull push log cat diff archive incoming outgoing identify update"),
)
SSH = ProgramOptions(frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopPQRSWw"))
COPY = ProgramOptions(
    words("-c -F -i -J -l -o -P -S -X -e --rsh --rsync-path --exclude --include --files-from --port --log-file")
)
CURL = ProgramOptions(
    words(
        "-o -H -X -d -u -A -b -c -e -F -m -T -x -w -r -K -E --output --header --request --data --data-binary "
        "--data-raw --user --user-agent --cookie --cookie-jar --referer --form --max-time --connect-timeout --retry "
        "--proxy --cacert --cert --key --write-out --range --limit-rate --resolve --config --url"
    )
)
WGET = ProgramOptions(
    words(
        "-O -o -a -P -U -e -t -T -w -Q --output-document --output-file --directory-prefix --user-agent --header "
        "--tries --timeout --post-data --user --password --limit-rate"
    )
)
PROGRAMS = {
    "git": GIT, "hg": HG, "ssh": SSH, "scp": COPY, "sftp": COPY, "rsync": COPY, "curl": CURL, "wget": WGET,
}  # fmt: skip
ENDS = ("--", "--end-of-options")
OUR_PLACES = re.compile(
    r"^parameter (?:(?:\w*(?:_|[a-z](?=[A-Z])))?(?i:dir|path|folder|dest|file|cwd|root|work|out|target|where|into|args"
    r"|argv|options|flags|cmd|command)(?!flow)|\w*(?:dir|path|folder|file|root|args|argv)s? )"
)
"""What a program mostly chooses itself: the place of what is made, and whole lists of options."""


def finds_option(parts: Sequence[Val]) -> bool:
    """Whether a value that anybody may choose stands where such a program reads options."""
    name = parts[0].const if parts else None
    program = PROGRAMS.get(re.split(r"[/\\]", name)[-1].removesuffix(".exe")) if isinstance(name, str) else None
    return program is not None and _reads_option(program, parts[1:])


def _reads_option(program: ProgramOptions, parts: Sequence[Val]) -> bool:
    harmful, valued = not program.actions, False
    for part in parts:
        text = part.const
        if isinstance(text, str) and not valued:
            if text in ENDS:
                return False
            if not text.startswith("-") and not harmful:
                if text not in program.actions:
                    return False
                harmful = True
            valued = text in program.valued
        elif valued:
            valued = False
        elif harmful and _is_open(part):
            return True
    return False


def _is_open(part: Val) -> bool:
    return any(not taint.ended & {"option", ALL} and not OUR_PLACES.search(taint.origin) for taint in part.taints)
