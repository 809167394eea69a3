"""Decides whether a text is a command or a request, and routes it."""

import re

from moot.routing.answer import ORDER, Route, Sight, action
from moot.routing.command import command_route, command_sights
from moot.routing.interpreters import DATABASES, DOCUMENTS, LANGUAGES, SHELLS
from moot.routing.patterns import Lazy, names
from moot.routing.request import drop_greeting, request_route
from moot.routing.rules import is_known
from moot.routing.runners.carriers import CARRIERS
from moot.routing.runners.tools import SPECIAL
from moot.routing.statements import LOOKS_SQL, sql_sights
from moot.routing.web import FETCHERS

FENCED = Lazy(r"\s*```(?:\w+)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
SPAN = Lazy(r"(?<!`)`([^`\n]{2,400})`(?!`)")
PROMPT = Lazy(r"\s*(?:\$|%|>|❯|➜)\s+(?=\S)")
RUN = Lazy(
    r"(?:run|execute|exec|do|try|type|issue)"
    r"(?:\s+(?:the\s+)?(?:following(?:\s+command)?|command|this(?:\s+command)?|shell command))?\s*:?\s+",
    re.IGNORECASE,
)
# Programs whose names are English words too: only their arguments tell.
ENGLISH = names("""
    find make kill cut sort test split join watch touch cat less more date time which who install set read write
    open start stop head tail echo drop move copy format mount sleep wait look convert patch link screen top
    free apply go yes strings file type diff export ping let help history service at batch fold node dig host
    vet git docker python code last column paste fast task just rake serve migrate pass op age script say rename
    clear reset expect trash unlink shred wipe net route hash break continue return exit wall alias source jobs
    base security invoke ant flow next buck cap rush fetch command exec eval hugo pip npm halt reboot shutdown
    log status list show build deploy publish cp mv render copilot turbo pants fab mix stack lens black dart
    swift flask celery parcel babel ninja configure logger info man users factor spell env timeout nice fuser
    skill do if for while case until select function in erase w k sc ts sl as ld ed ex dot pv port mage nix cf
    eb exo
""")
FUNCTION_WORDS = names("""
    the a an my our your their his its this that these those please all every everything any some it them me us
    you we i to of with is are was were should so and or for in on from by about into how what why when where if
    not sure there then as but be can will would new old more than out up
""")
SHELLISH = Lazy(
    r"(?:^|\s)--?[A-Za-z][\w-]*(?:[=\s]|$)|\||&&|\|\||;\s|;$|\$\(|\$\{?\w|>>?\s*\S|<\(|<<<?\s*\S|(?:^|\s)\+\s*(?:''|[\d/!:])|(?:^|\s)(?:\.{1,2}|~)?/[\w.*-]|(?:^|\s)\.(?:\s|$)|\*\.\w|\s-\d|(?:^|\s)\*(?:\s|$)"
)
STRUCTURE = Lazy(
    r"(?:for|select)\s+\w+\s+in\s.*?(?:;|\n)\s*do\b|(?:while|until)\s.*?(?:;|\n)\s*do\b|if\s.*?(?:;|\n)\s*then\b|case\s.*?\sin\b.*?\)|function\s+\w+\s*(?:\(\))?\s*\{|[\w:.-]+\s*\(\)\s*\{|\(\s*[\w./]+[^)]*\)\s*(?:&&|\||;|$|&)|\{\s+[\w./].*;\s*\}|\[\[?\s+-?\S+.*\]|!\s+\w+\s|>\s*[\w./~-]+\s*$|:\s*>",
    re.DOTALL,
)
PATHLIKE = Lazy(r"(?:\.{1,2}|~)?/[\w./+@~-]+|[\w./-]+\.(?:sh|bash|py|pl|rb|js|ps1|bat|exe)")
SETTING = Lazy(r"[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\$\([^)]*\)|[^\s;&|]*)")


def route(text: str, *, own_words: bool = False) -> Route:
    """The class, the stakes and the bypass of a text or a command.

    With `own_words` the text is what the person typed, so "just do it" counts. The words of an action never do.
    """
    text = text.replace("\0", "").strip()
    if not text:
        return Route("ANSWER", "low", True, "there is nothing to do")
    if (command := command_in(text)) is not None:
        return command_route(command)
    if LOOKS_SQL.match(text[:5000]) and not re.search(r"\b(?:please|the|from the|our|my)\b", text[:200], re.IGNORECASE):
        return action(sql_sights(text))
    return with_spans(request_route(text, own_words=own_words), text)


def with_spans(asked: Route, text: str) -> Route:
    """A request that quotes commands is at least as serious as they are, unless it only asks about them."""
    if asked.kind == "ANSWER" or "`" not in text:
        return asked
    fenced = [m[1] for m in FENCED.finditer(text[:100_000])]
    spans = [m[1] for m in SPAN.finditer(text[:20_000])][:40]
    meant = [c for c in (*fenced, *spans) if command_in(c) is not None]
    if not meant or not re.search(
        r"\b(?:run|execute|do|use|try|apply|call|with|via|start|issue)\b", text[:2000], re.IGNORECASE
    ):
        return asked
    inner = action([s for c in meant for s in command_sights(c)] or [Sight("read")])
    if ORDER[inner.stakes] > ORDER[asked.stakes]:
        return Route("ACTION", inner.stakes, False, inner.reason, inner.triggers, inner.security or asked.security)
    return asked


def command_in(text: str) -> str | None:
    if fence := FENCED.fullmatch(text):
        return drop_prompts(fence[1])
    if span := SPAN.fullmatch(text):
        return drop_prompts(span[1])
    if (prompt := PROMPT.match(text)) and (prompt[0].strip() != ">" or is_quoted_command(text[prompt.end() :])):
        return drop_prompts(text)
    rest = drop_greeting(text[:5000])
    if (found := RUN.match(rest)) and len(text) < 5000:
        named = rest[found.end() :].strip().strip("`'\"").rstrip(".")
        if named and is_command(named):
            return named
    return text if is_command(text) else None


def is_quoted_command(text: str) -> bool:
    """After `>`: a command behind a prompt, or the one file that is written."""
    return len(text.split()) > 1 and is_command(text)


def drop_prompts(text: str) -> str:
    """`$ ` at the beginning of lines is the prompt; lines without it are output."""
    lines = text.splitlines()
    prompted = [PROMPT.sub("", line, count=1) for line in lines if PROMPT.match(line)]
    return "\n".join(prompted) if prompted and PROMPT.match(lines[0]) else text


def is_command(text: str) -> bool:
    head = text[:4000]
    if STRUCTURE.match(head):
        return True
    rest = head
    while setting := SETTING.match(rest):
        rest = rest[setting.end() :].lstrip(" \t\n;&")
        if not rest:
            return True
    word = re.match(r"\\?[\"']?([^\s;|&<>()\"']+)", rest)
    if not word or BUILT_NAME.match(rest):
        return bool(BUILT_NAME.match(rest) or re.match(r"[(<>&{$]", rest))
    return names_command(word[1], rest[word.end() :], rest)


BUILT_NAME = Lazy(r"[\"']?(?:\$['({\w]|`)|[\w./-]*\$\{?IFS\b")
"""A program name assembled by the shell."""


def names_command(name: str, arguments: str, whole: str) -> bool:
    """Whether the first word is a program and the rest looks like its arguments."""
    if PATHLIKE.fullmatch(name):
        return not reads_as_english(arguments)
    base = name.rsplit("/", 1)[-1]
    base = base.lower() if "-" in base else base  # PowerShell ignores case
    if base.isupper() and is_program(base.lower()) and re.search(r"\s[/-]\w", whole):  # Windows ignores case
        return not reads_as_english(arguments)
    if not is_program(base):
        if re.fullmatch(r"[a-z]+-[a-z-]+", name) and len(whole.split()) <= 4 and not reads_as_english(whole):
            return True
        shellish = re.search(r"\|\s*(?:sh|bash|xargs|sudo)\b|&&|\s--?[a-z][\w-]+", whole)
        return bool(shellish) and not reads_as_english(whole) and name.islower()
    if base in ENGLISH or len(base) == 1:
        return reads_as_shell(base, arguments, whole)
    return not reads_as_english(arguments, sure=True) or bool(SHELLISH.search(drop_quotes(arguments)))


def is_program(name: str) -> bool:
    return (
        is_known(name) or name in CARRIERS or name in SPECIAL or name in SHELLS or name in DATABASES
        or name in DOCUMENTS or name in FETCHERS or LANGUAGES.fullmatch(name) is not None
    )  # fmt: skip


def drop_quotes(text: str) -> str:
    return re.sub(r"\"[^\"]*\"|'[^']*'", " '' ", text)


def plain_words(text: str) -> list[str]:
    """Words of letters only, perhaps with a comma or a full stop; `if=/dev/zero` is not one."""
    return [w.rstrip(".,:;!?").lower() for w in text.split() if re.fullmatch(r"[A-Za-z']+[.,:;!?]*", w)]


def reads_as_english(text: str, *, sure: bool = False) -> bool:
    """Reads like a sentence: several small words outside quotes, or a question mark at the end."""
    found = plain_words(drop_quotes(text)[:600])
    small = sum(1 for w in found if w in FUNCTION_WORDS)
    pointing = any(w in ("the", "my", "our", "your", "this", "these", "those", "please") for w in found)
    few = small == 1 and len(found) <= 4 and (pointing or not sure)
    return (small >= 2 and (pointing or not sure or small > 3)) or few or bool(re.search(r"[a-z]\?\s*$", text))


def reads_as_shell(base: str, arguments: str, whole: str) -> bool:
    """For names that are English words: `find . -name x` and `make deploy`, but not `find all users`."""
    bare = drop_quotes(arguments)
    following = bare.split()
    if not following:
        return base not in NEVER_ALONE
    small = [w for w in plain_words(bare) if w in FUNCTION_WORDS]
    if base == "make" and len(following) <= 2 and not set(following) & (FUNCTION_WORDS - {"all", "up", "new"}):
        return True
    if SHELLISH.search(bare):
        return len(small) < 2 or (bool(re.search(r"(?:^|\s)-[A-Za-z]|\||&&|\$\(", bare)) and len(small) < 5)
    if small or whole.rstrip().endswith("?"):
        return False
    first = following[0]
    if is_program(first) and (base in CARRIERS or base == "which"):
        return True
    if base in TERSE:
        return len(following) <= TERSE[base]
    return bool(re.fullmatch(r"\d+|%\d+|[\w.-]*\.\w+|[\w.-]+[=:/@]\S*|\S*[*?]\S*", first)) and len(following) <= 6


NEVER_ALONE = names("""
    go just help test start stop look open drop move less more free yes next expect do deploy build publish
    security patch sure pass
""")
"""Words that do nothing in a shell alone."""
FEW_WORDS = """
0 vet
1 sleep type unlink wipe
2 code file history just man reboot sort which
3 date diff head kill make port service shred source tail task
4 black cap dart export fab flask host invoke pass ping render shutdown swift touch
5 eb hugo mix turbo
6 alias cat cf dig net rake security
8 cp mv op
12 celery go k nix
20 invoke-webrequest node npm pip python
30 command env exec nice time timeout watch
40 docker git
60 echo eval
"""
"""How many plain words may follow a name before it reads like a sentence."""
TERSE = {name: int(row.split()[0]) for row in FEW_WORDS.strip().splitlines() for name in row.split()[1:]}
