"""Shells, scripting languages and database clients, and the code they are given."""

import re

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy, names
from moot.routing.rules import CommandCall
from moot.routing.runners.inside import Judge
from moot.routing.runners.launchers import tcl_sights
from moot.routing.runners.printed import find_printed_text
from moot.routing.script import HOLE, Command
from moot.routing.secrets import place_sight
from moot.routing.self_protection import code_guard
from moot.routing.statements import code_sights, shell_strings, sql_sights, strings_in, targets_in
from moot.routing.tasks import judge_task_name
from moot.routing.web import FETCHERS

SHELLS = names("sh bash zsh dash ksh ash fish csh tcsh pwsh powershell cmd rbash")
LANGUAGES = Lazy(
    r"(?:python|pypy|node|perl|ruby|php|lua|deno|bun|osascript|Rscript|julia|groovy|tclsh|guile|elixir|swift|ts-node|tsx|ipython|nodejs|luajit|wish|R|octave|scala|racket|sbcl|clojure|clj|jrunscript|jshell|iex|erl|ocaml|crystal|raku|gjs|qjs|bpython|ghc|runghc)(?:\d[\d.]*)?w?"
)
DATABASES = names("""
    psql mysql mariadb sqlite3 sqlite sqlcmd usql pgcli mycli duckdb clickhouse-client cqlsh snowsql influx
    cockroach litecli bq impala-shell hive beeline trino
""")
DOCUMENTS = names("mongosh mongo")
CODE_OPTIONS = Lazy(
    r"-[A-Za-z]*[ceEr]|--(?:eval|execute|command|print|code|query|statement)|-p|-Command|-EncodedCommand|/[cC]"
)
SQL_OPTIONS = Lazy(r"-[ceqQ]|--(?:command|execute|query|eval|sql|cmd)|-[A-Za-z]{1,4}[ce]")
FILE_OPTIONS = Lazy(r"-f|--file|-i|--input-file")
INPUTS = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
DECODERS = names("base64 base32 xxd openssl gunzip zcat rev tr uudecode gpg bzip2 xz hex")
MONGO_READS = Lazy(
    r"\.(?:find|findOne|count\w*|aggregate|distinct|stats|getIndexes|explain|getCollectionNames|serverStatus|status|hello|runCommand\(\{\s*ping)\b|^\s*(?:show|db\s*$)|\bprint\b"
)
MONGO_DELETES = Lazy(r"\.(?:remove|delete\w*|drop\w*|findOneAndDelete)\s*\(")
MONGO_CHANGES = Lazy(r"\b(?:update|insert|replace|create|save|rename|bulkWrite|findOneAndUpdate|set)\w*\s*\(")

UNKNOWN_CODE = Sight("high", "unclear", "code made while it runs", "what it runs is only known when it runs")


def option_values(called: CommandCall, options: Lazy) -> list[str]:
    """Values of options such as `-c`, joined or separate."""
    found, texts = [], [word.text for word in called.args]
    for at, text in enumerate(texts):
        if options.fullmatch(text) and at + 1 < len(texts):
            found.append(texts[at + 1])
        elif (joined := re.fullmatch(r"(--[\w-]+)=(.*)", text, re.DOTALL)) and options.fullmatch(joined[1]):
            found.append(joined[2])
    return found


def find_input_texts(command: Command) -> list[str] | None:
    """Texts that reach a command's input, if the script contains all of them; else None."""
    texts: list[str] = []
    for redirect in command.redirects:
        if redirect.document is not None:
            texts.append(redirect.document.body)
        elif redirect.sign == "<<<":
            texts.append(redirect.target.text)
        elif redirect.sign == "<":
            return None
    if command.fed_by:
        nearest = command.fed_by[-1]
        said = find_printed_text(nearest)
        if said is None or len(command.fed_by) > 1:
            return None
        texts.append(said)
    return texts


def shell_sights(called: CommandCall, command: Command, judge: Judge) -> list[Sight]:
    texts = [word.text for word in called.args]
    encoded = r"-e(?:c|n\w*)?" if called.name in POWERSHELLS else r"-enc\w*"
    if any(re.fullmatch(encoded, text, re.IGNORECASE) for text in texts):
        return [Sight("high", "unclear", called.excerpt, "the command is hidden in an encoding")]
    code = powershell_code(called) if called.name in POWERSHELLS else option_values(called, CODE_OPTIONS)
    if code:
        return [s for text in code[:1] for s in (judge(text) if text.strip(HOLE + " ") else [UNKNOWN_CODE])]
    scripts = [r for r in called.rest if r not in INPUTS and "-s" not in called.options]
    if any(o in ("--version", "--help", "-n") for o in called.options):
        return [Sight("read")]
    if scripts:
        if HOLE in scripts[0]:
            return [UNKNOWN_CODE]
        return [Sight("low"), judge_task_name(scripts[0].rsplit("/", 1)[-1], called.excerpt)]
    return judge_input_texts(command, judge)


POWERSHELLS = ("pwsh", "powershell")
POWERSHELL_VALUED = Lazy(
    r"-(?:ex\w*|ep|v\w*|w\w*|ps\w*|configurationname|inputformat|outputformat|settingsfile)", re.IGNORECASE
)


def powershell_code(called: CommandCall) -> list[str]:
    """`-Command` or the first non-option begins the code; `-File` names a script."""
    texts = [word.text for word in called.args]
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        if re.fullmatch(r"-(?:f|fi|fil|file)", texts[at], re.IGNORECASE):
            return []
        if re.fullmatch(r"-c\w*", texts[at], re.IGNORECASE):
            at += 1
            break
        at += 2 if POWERSHELL_VALUED.fullmatch(texts[at]) else 1
    block = re.sub(r"^\s*&?\s*\{(.*)\}\s*$", r"\1", " ".join(texts[at:]), flags=re.DOTALL)
    return [re.sub(r"^\s*&\s*", "", block)] if block.strip() and not block.lower().endswith(".ps1") else []


def judge_input_texts(command: Command, judge: Judge) -> list[Sight]:
    """A shell that reads its commands from a pipe."""
    names = [c.words[0].text.rsplit("/", 1)[-1] for c in command.fed_by if c.words]
    if any(name in FETCHERS for name in names):
        return [Sight("high", "security", "download | shell", "it runs what the network sends, unread")]
    if any(name in DECODERS for name in names):
        return [Sight("high", "unclear", "decoded | shell", "the commands are hidden in an encoding")]
    texts = find_input_texts(command)
    if texts is None:
        return [Sight("high", "unclear", "input | shell", "the commands come from elsewhere and cannot be read")]
    return [s for text in texts for s in judge(text)] or [Sight("low")]


def language_sights(called: CommandCall, command: Command, judge: Judge) -> list[Sight]:
    codes = option_values(called, CODE_OPTIONS) if has_inline_code(called) else []
    if called.rest[:1] == ("eval",) and called.name in ("deno", "bun", "crystal"):
        codes += called.rest[1:2]
    if called.name.startswith(("perl", "ruby")) and any(re.match(r"-\w*i", option) for option in called.options):
        if any(word.glob for word in called.args):
            return [
                Sight("medium", "bulk", called.excerpt, f"`{called.excerpt}` edits everything that matches in place")
            ]
        return [Sight("low"), *(s for code in codes for s in language_code(code, judge, called))]
    if any(o in ("--version", "-V", "-v", "--help") for o in called.options[:1]) and not called.rest:
        return [Sight("read")]
    scripts = [r for r in called.rest if r != "-"]
    if any(re.match(r"https?://|npm:|jsr:", script) for script in scripts[:2]) and not codes:
        return [Sight("high", "security", called.excerpt, f"`{called.excerpt}` runs what the network sends, unread")]
    if scripts and not codes:
        return [Sight("low"), judge_task_name(scripts[0].rsplit("/", 1)[-1], called.excerpt)]
    if not codes:
        texts = find_input_texts(command)
        if texts is None:
            return [unreadable_input(command)]
        codes = texts
    return [Sight("low"), *(s for code in codes for s in language_code(code, judge, called))]


def has_inline_code(called: CommandCall) -> bool:
    """Whether an option with code precedes the script; later arguments are the script's own."""
    before = ""
    for word in called.args:
        if CODE_OPTIONS.fullmatch(word.text) or re.match(r"--(?:eval|execute|print)=", word.text):
            return True
        if not word.text.startswith("-") and not before.startswith("-"):
            return False
        before = word.text
    return False


def unreadable_input(command: Command) -> Sight:
    if any(c.words and c.words[0].text in (*FETCHERS, *DECODERS) for c in command.fed_by):
        return Sight("high", "security", "download | interpreter", "it runs what comes in, unread")
    return Sight("medium", "unclear", "input | interpreter", "the code comes from elsewhere and cannot be read")


def language_code(code: str, judge: Judge, called: CommandCall) -> list[Sight]:
    if HOLE in code and not code.strip(HOLE + " "):
        return [UNKNOWN_CODE]
    sights = [
        *code_sights(code),
        *code_guard(code, strings_in(code)),
        *(place_sight(path) for path in targets_in(code)),
    ]
    if called.name.startswith(("tclsh", "wish")):
        sights += tcl_sights(called, code, judge)
    if called.name.startswith("julia") and re.search(r"(?<![.\w])(?:rm|mv)\s*\(", code):
        sights.append(Sight("high", "destructive", "rm(", "the code deletes files"))
    strings = shell_strings(
        code, backticks=not called.name.startswith(("node", "deno", "bun", "ts", "gjs", "qjs", "lua"))
    )
    if strings is not None:
        sights.append(Sight("medium", "unclear", "code that starts programs", "the code starts programs"))
    for text in strings or ():
        if re.match(r"[\w./~-]+(?:\s|$)", text):
            sights += [s for s in judge(text) if s.group != "unclear"]
    return sights


def database_sights(called: CommandCall, command: Command) -> list[Sight]:
    codes = option_values(called, SQL_OPTIONS)
    if called.rest[:1] and called.rest[0] in ("delete", "drop", "rm"):
        return [Sight("high", "destructive", called.excerpt, f"`{called.excerpt}` throws data away")]
    if any(o in ("-l", "--list", "--version", "-V") for o in called.options):
        return [Sight("read")]
    if called.name in ("sqlite3", "sqlite", "duckdb"):
        codes += called.rest[1:]
    if option_values(called, FILE_OPTIONS) or any(r.sign == "<" for r in command.redirects):
        return [
            Sight("medium", "unclear", called.excerpt, "the statements are in a file that was not read"),
            *[s for c in codes for s in sql_sights(c)],
        ]
    texts = find_input_texts(command)
    if texts is None:
        return [Sight("medium", "unclear", called.excerpt, "the statements come from elsewhere and cannot be read")]
    codes += texts
    if any(HOLE in code and not code.strip(HOLE + " ") for code in codes):
        return [UNKNOWN_CODE]
    return [s for code in codes for s in sql_sights(code)] or [Sight("low")]


def document_sights(called: CommandCall, command: Command) -> list[Sight]:
    """mongosh: JavaScript about collections."""
    codes = option_values(called, CODE_OPTIONS) + (find_input_texts(command) or [])
    sights = [s for code in codes for s in code_sights(code)]
    for code in codes:
        if MONGO_DELETES.search(code):
            sights.append(Sight("high", "destructive", called.excerpt, f"`{called.excerpt}` throws data away"))
        if MONGO_CHANGES.search(code):
            sights.append(Sight("medium", "change", called.excerpt, f"`{called.excerpt}` changes data"))
    if codes and all(s.level == "low" for s in sights) and all(MONGO_READS.search(code) for code in codes):
        return [Sight("read")]
    return sights or [Sight("low")]
