"""curl, wget and the like: requests to another machine."""

import re

from moot.routing.answer import Level, Sight
from moot.routing.patterns import Lazy, names
from moot.routing.rules import CommandCall, has_option
from moot.routing.script import Command
from moot.routing.self_protection import url_guard

FETCHERS = names("""
    curl wget http https aria2c xh httpie fetch lynx w3m invoke-webrequest iwr invoke-restmethod irm
""")
LOCAL = Lazy(
    r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)(?:[:/].*)?", re.IGNORECASE
)
READS = ("GET", "HEAD", "OPTIONS")
SENDS = (
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--post-data",
    "--post-file",
    "--body-data",
)
WRITES = ("-o", "-O", "--output", "--remote-name", "-J", "--output-document", "-OJ")
METADATA = Lazy(r".*169\.254\.169\.254.*|.*metadata\.google\.internal.*")
OPTION_METHOD = Lazy(r"(?:-[a-zA-Z]{0,6}X|--request=|--method=)([A-Za-z]+)")
NAMES_METHOD = Lazy(r"-[a-zA-Z]{0,6}X|--request|--method|-Method")
OVERRIDE = Lazy(r"X-(?:HTTP-)?Method(?:-Override)?:\s*(\w+)", re.IGNORECASE)
DELETES = Lazy(
    r"(?:^|[^a-z])(?:delete|destroy|purge|truncate|terminate|wipe|drop)(?![a-z]*d\b)|[a-z](?:Delete|Destroy|Purge|Remove|Terminate)\b"
)
"""Words in an address or a body that ask another machine to delete something."""


def web_sights(called: CommandCall) -> list[Sight]:
    texts = [word.text for word in called.args]
    urls = [t for t in texts if re.match(r"https?://|localhost|127\.|\w[\w.-]*\.\w+/", t)]
    local = bool(urls) and all(LOCAL.fullmatch(url) for url in urls)
    method = _method(called, texts)
    if any(METADATA.fullmatch(text) for text in texts):
        return [Sight("high", "security", called.excerpt, f"`{called.excerpt}` asks the machine for its credentials")]
    sights = [_by_method(method, called, local=local)]
    if method not in READS and (guarded := url_guard(texts)):
        sights.append(guarded)
    if method not in (*READS, "DELETE") and any(DELETES.search(text) for text in texts):
        level: Level = "medium" if local else "high"
        sights.append(
            Sight(level, "destructive", called.excerpt, f"`{called.excerpt}` asks for something to be deleted")
        )
    if not local and any(has_option(called, o) for o in ("-k", "--insecure", "--no-check-certificate", "--verify=no")):
        sights.append(Sight("high", "security", called.excerpt, "it does not check who answers"))
    if called.name == "wget" and not any(t in ("-", "-O-", "-qO-", "--spider") for t in texts):
        sights.append(Sight("low"))
    if any(has_option(called, option) for option in WRITES) and "-" not in texts and "/dev/null" not in texts:
        sights.append(Sight("low"))
    return sights


def _method(called: CommandCall, texts: list[str]) -> str:
    for before, text in zip(["", *texts], texts, strict=False):
        if NAMES_METHOD.fullmatch(before):
            return text.upper()
        if found := OVERRIDE.fullmatch(text):
            return found[1].upper()
        if found := OPTION_METHOD.fullmatch(text):
            return found[1].upper()
        if called.name in ("http", "https", "xh", "httpie") and text.upper() in (
            "POST",
            "PUT",
            "PATCH",
            "DELETE",
            "GET",
            "HEAD",
        ):
            return text.upper()
    sends = any(has_option(called, option) for option in SENDS if len(option) > 2) or any(
        re.match(r"-(?:d|F|T)", t) for t in texts
    )
    if has_option(called, "-G") or has_option(called, "--get"):
        return "GET"
    return "POST" if sends else "GET"


def _by_method(method: str, called: CommandCall, *, local: bool) -> Sight:
    if method == "DELETE":
        level, why = ("medium", "deletes something here") if local else ("high", "deletes something elsewhere")
        return Sight(level, "destructive", called.excerpt, f"`{called.excerpt}` {why}")  # type: ignore[arg-type]
    if method in READS:
        return Sight("read")
    if local:
        return Sight("low")
    return Sight("medium", "change", called.excerpt, f"`{called.excerpt}` sends something to another machine")


def runs_download(commands: tuple[Command, ...]) -> bool:
    """`curl -o x URL && sh x`: a downloaded file is run."""
    fetched: set[str] = set()
    for command in commands:
        texts = [word.text for word in command.words]
        if texts and _base(texts[0]) in FETCHERS:
            fetched |= {_base(t.rstrip("/")) for t in texts[1:] if not t.startswith("-") and len(t) > 1}
            fetched |= {_base(r.target.text) for r in command.redirects if r.sign in (">", ">|")}
        elif find_started_file(texts) in fetched:
            return True
    return False


def find_started_file(texts: list[str]) -> str:
    """The file that is run: `./x`, `sh x`, `sudo sh x`."""
    plain = [text for text in texts if not text.startswith("-")]
    while plain and _base(plain[0]) in STARTERS:
        plain = plain[1:]
    began = len(plain) < len([t for t in texts if not t.startswith("-")])
    return _base(plain[0]) if plain and (began or "/" in plain[0]) else ""


def _base(text: str) -> str:
    return text.rsplit("/", 1)[-1]


STARTERS = names("sh bash zsh dash ksh source . python python3 node perl ruby php sudo exec nohup env")
