"""What would weaken the guard itself: settings of Moot and the coding clients, gates, rights and switches."""
# ruff: noqa: E501 - tables: one row a line

import re
from itertools import pairwise
from posixpath import basename, join, normpath

from moot.routing.answer import GUARD, Sight
from moot.routing.patterns import Lazy, can_match, names, shorten_path
from moot.routing.rules import CommandCall, has_option
from moot.routing.script import HOLE, Word

HINTS = (
    "moot",
    "claude",
    "codex",
    "cursor",
    "gemini",
    "copilot",
    "hooks",
    "vscode",
    "mcp.json",
    "code/user",
    ".code-workspace",
)
"""Every guarded path contains one of these: most words need no closer look."""
OWN = r"moot\.toml|\.moot(?:/.*)?|\.config/moot(?:/.*)?|\.local/(?:share|state)/moot(?:/.*)?|library/application support/moot(?:/.*)?|appdata/(?:roaming|local)/moot(?:/.*)?"
CLIENTS = (
    r"\.claude/settings[\w.-]*\.json|\.claude/(?:hooks|skills|agents|plugins)(?:/.*)?|\.claude-plugin(?:/.*)?|\.claude\.json|managed-settings\.json|\.mcp\.json|\.codex/(?:[\w.-]*config\.toml|hooks\.json|(?:hooks|rules)/.*|requirements\.toml)|\.github/hooks(?:/.*)?|"
    r"\.copilot/(?:hooks(?:/.*)?|config\.json|mcp-config\.json)|\.cursor/(?:hooks\.json|hooks/.*|mcp\.json|cli\.json|cli-config\.json|permissions\.json)|\.gemini/(?:settings\.json|(?:hooks|extensions|policies)/.*)|\.vscode/(?:settings|mcp)\.json|code/user/(?:settings|mcp)\.json|[^/]*\.code-workspace"
)
OWN_PATH = Lazy(rf"(?:.*/)?(?:{OWN})", re.IGNORECASE | re.DOTALL)
CLIENT_PATH = Lazy(rf"(?:.*/)?(?:{CLIENTS})", re.IGNORECASE | re.DOTALL)
FOLDERS = names(".claude .codex .copilot .cursor .gemini .moot")
SAMPLES = (
    "moot.toml", ".moot/x", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x", ".claude.json", ".mcp.json",
    ".codex/config.toml", ".codex/hooks.json", ".github/hooks/x.json", ".copilot/hooks/x", ".cursor/hooks.json", ".cursor/mcp.json",
    ".gemini/settings.json", ".vscode/settings.json", ".config/moot/x", ".local/share/moot/x",
)  # fmt: skip
"""Paths that a pattern such as `.claude/s*` may match."""
DECIDES = names("approve reject answer choose allow trust")
"""Moot commands that decide for a person."""
SETTINGS = names(
    "hook:install hook:uninstall hook:allow hook:user-prompt hook:post-tool-use token:create token:revoke track:reset "
    "store:restore config:set"
)
URL = Lazy(
    r".*/v1/(?:debates/[^/\s]+/(?:approve|reject|answers?|choice|allow)\b|gates\b|allowances?\b|tokens?\b).*", re.DOTALL
)
NAMES = Lazy(
    r"MOOT_(?!DATA$|TEST_)\w+|DISABLE_DEBATE|CLAUDE_CONFIG_DIR|CODEX_HOME|COPILOT_HOME|GEMINI_CLI_SYSTEM_SETTINGS_PATH"
)
"""Variables that choose the judge, switch it off, or redirect a coding client's settings."""
EVERYWHERE = names("""
    rm rmdir unlink shred srm trash trash-put remove-item del erase rd truncate tee mv move move-item rename ren chmod chown
    chattr setfacl patch ed ex vi vim nvim nano emacs sponge dos2unix set-content add-content clear-content out-file
    new-item crudini dasel ln link rimraf
""")
"""Programs that change every file they are given."""
LAST = names("cp install rsync scp copy copy-item ditto xcopy robocopy")
"""Programs that change the last file they are given."""
UNPACKERS = names("tar gtar bsdtar unzip")
IN_PLACE = names("sed gsed perl ruby yq")
GIT_WRITES = names("checkout restore rm mv reset stash apply")
OUTPUT = Lazy(r"(?:--?(?:output|out|outfile|target-directory)|of)=(.*)", re.DOTALL)
OUTPUTS = names("-o -O --output --out --output-document --outfile --output-file -t --target-directory -OutFile")
CLIENT_COMMANDS = names("claude codex gemini copilot cursor-agent")


def guard_sight(path: str, folder: str = "") -> Sight | None:
    """The stakes of changing a file or folder, if it belongs to Moot or to a coding client's settings."""
    plain = shorten_path(path.replace("\\", "/").rstrip("/"))
    lowered = plain.lower()
    if not plain or not (folder or any(hint in lowered for hint in HINTS)):
        return None
    whole = normpath(join(folder, plain)) if not plain.startswith(("~", "$")) else normpath(plain)
    if OWN_PATH.fullmatch(whole):
        return Sight("high", GUARD, _shorten_text(path), f"{_shorten_text(path)} belongs to Moot, which judges this")
    if CLIENT_PATH.fullmatch(whole):
        return Sight("high", GUARD, _shorten_text(path), f"{_shorten_text(path)} says what a coding agent may do")
    return None


def word_guard_sight(word: Word, folder: str = "") -> Sight | None:
    """The same for a word of a command, which may be a pattern."""
    if found := guard_sight(word.text, folder):
        return found
    parts = normpath(join(folder, word.text)).split("/")
    if word.glob and any(can_match(parts, sample) for sample in SAMPLES):
        shown = _shorten_text(word.text)
        return Sight("high", GUARD, shown, f"{shown} may mean the settings of Moot or of a coding client")
    return None


def _shorten_text(text: str) -> str:
    return text.replace(HOLE, "…")[:60]


def guard_sights(called: CommandCall, folder: str) -> list[Sight]:
    """What a program would do to the guard, by its arguments."""
    if called.name == "moot":
        return own_sights(called)
    if called.name in CLIENT_COMMANDS:
        return client_sights(called)
    if called.name == "unset":
        return [s for name in called.rest if (s := variable_guard(name))]
    found = [
        s for word in find_written_words(called) if (s := word_guard_sight(word, folder) or _whole_folder(called, word))
    ]
    return found[:3]


def find_written_words(called: CommandCall) -> list[Word]:
    """The arguments that are written, moved or deleted."""
    files = [word for word in called.args if not word.text.startswith("-")]
    written = [b for a, b in pairwise(called.args) if a.text in OUTPUTS]
    written += [Word(found[1]) for word in called.args if (found := OUTPUT.fullmatch(word.text))]
    if called.name in EVERYWHERE or edits_in_place(called):
        written += files
    elif called.name == "git" and called.rest[:1] and called.rest[0] in GIT_WRITES:
        written += files[1:]
    elif called.name == "find" and {"-delete", "-exec", "-execdir"} & {word.text for word in called.args}:
        written += files
    elif called.name in LAST and len(files) > 1:
        written += files[-1:]
    if called.name in UNPACKERS:
        folders = [b.text for a, b in pairwise(called.args) if a.text in ("-C", "-d", "--directory")]
        written += [Word(join(folder, name)) for folder in folders for name in ("settings.json", "config.toml")]
    if len(files) > 1 and called.name in (*LAST, "mv", "move", "ln"):
        written += inside(files[-1].text, files[:-1])
    return written


def inside(folder: str, files: list[Word]) -> list[Word]:
    """Where files land if the target is a folder. A copy of `moot.toml` kept elsewhere is not a setting."""
    here = folder.rstrip("/") in (".", "..")
    named = any(hint in folder.lower() for hint in HINTS)
    kept = [basename(file.text) for file in files]
    return [Word(join(folder, name)) for name in kept if here or (named and not guard_sight(name))]


def edits_in_place(called: CommandCall) -> bool:
    if called.name in ("awk", "gawk"):
        return any(word.text == "inplace" for word in called.args)
    return called.name in IN_PLACE and any(re.match(r"-[A-Za-z]*i|-I|--in-?place", o) for o in called.options)


def _whole_folder(called: CommandCall, word: Word) -> Sight | None:
    """`rm -rf .claude` deletes the settings too."""
    if called.name not in EVERYWHERE or basename(word.text.replace("\\", "/").rstrip("/")) not in FOLDERS:
        return None
    return Sight(
        "high",
        GUARD,
        _shorten_text(word.text),
        f"{_shorten_text(word.text)} holds settings of Moot or of a coding client",
    )


def own_sights(called: CommandCall) -> list[Sight]:
    """Moot commands that decide gates, grant rights, or change the guard; the others only look or debate."""
    words = [*called.rest, "", ""]
    pair = f"{words[0]}:{words[1]}"
    if "--help" in called.options:
        return []
    if words[0] in DECIDES or (words[0] == "gates" and words[1] in DECIDES):
        return [Sight("high", GUARD, called.excerpt, f"`{called.excerpt}` decides what a person should decide")]
    if pair in SETTINGS and not (pair == "hook:install" and has_option(called, "--print")):
        return [Sight("high", GUARD, called.excerpt, f"`{called.excerpt}` changes what Moot allows")]
    if words[0] in ("serve", "worker") and _opens(called):
        return [Sight("high", GUARD, called.excerpt, f"`{called.excerpt}` lets others decide")]
    if any(re.match(r"(?:.*=)?cmd:", word.text, re.DOTALL) for word in called.args):
        return [Sight("high", GUARD, called.excerpt, f"`{called.excerpt}` runs a command as a model")]
    if words[0] in ("delete", "clean"):
        return [Sight("high", "destructive", called.excerpt, f"`{called.excerpt}` deletes what is on record")]
    return []


def _opens(called: CommandCall) -> bool:
    texts = [word.text for word in called.args]
    hosts = [b for a, b in pairwise(texts) if a == "--host"]
    hosts += [text.removeprefix("--host=") for text in texts if text.startswith("--host=")]
    return has_option(called, "--no-token") or any(host not in ("127.0.0.1", "localhost", "::1") for host in hosts)


def client_sights(called: CommandCall) -> list[Sight]:
    """`claude mcp add`, `codex --settings …`: a coding client with other settings or without its hooks."""
    words = [*called.rest, "", ""]
    if words[0] in ("mcp", "config", "plugin", "plugins", "hooks", "extensions") and words[1] in CHANGES_CLIENT:
        return [Sight("high", GUARD, called.excerpt, f"`{called.excerpt}` changes the settings of a coding client")]
    if any(
        re.search(r"disableAllHooks|hooks\s*=|--no-hooks|--bare\b|setting-sources", word.text) for word in called.args
    ):
        return [Sight("high", GUARD, called.excerpt, f"`{called.excerpt}` leaves the hooks of a coding client out")]
    return []


CHANGES_CLIENT = names(
    "add add-json add-from-claude-desktop remove rm set unset install uninstall enable disable update import"
)


def variable_guard(name: str) -> Sight | None:
    if not NAMES.fullmatch(name):
        return None
    return Sight("high", GUARD, name, f"{name} changes how Moot or a coding client decides")


def url_guard(texts: list[str]) -> Sight | None:
    """A request to Moot's own server that decides a gate or grants rights."""
    found = next((text for text in texts if URL.fullmatch(text)), None)
    if found is None:
        return None
    return Sight("high", GUARD, _shorten_text(found), "it decides a gate or hands out rights by itself")


def code_guard(code: str, strings: list[str]) -> list[Sight]:
    """Code that writes to guarded files or asks Moot's server to decide."""
    paths = [*strings, *(join(a, b) for a, b in pairwise(strings))]  # `Path.home() / ".claude" / "settings.json"`
    found = [s for path in paths if (s := guard_sight(path))] if CODE_WRITES.search(code) else []
    decided = url_guard(strings) if re.search(r"post|put|urlopen|fetch|request", code, re.IGNORECASE) else None
    return [*found[:2], *([decided] if decided else [])]


CODE_WRITES = Lazy(
    r"['\"][rbt]*[wax][bt+]*['\"]|write|rename|replace|unlink|remove|rmtree|\brm\w*\b|copy|move|truncate|symlink|link|delete|put_contents|\bdump\b|chmod|spew|mode\s*=",
    re.IGNORECASE,
)
