"""Where in a page a value stands, and what makes it harmless there."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import imports
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.functions import list_parameters, read_name
from moot.scan.javascript.rewrites.module import function
from moot.scan.rewrites.markup import UNCLOSED, is_text_place
from moot.scan.strings import constant_text, unwrap
from moot.scan.syntax import Source

TEXT, ADDRESS = "text", "address"
ESCAPER = """const escapeHtml = ({value}) =>
  String(value).replace(/[&<>"']/g, (mark) => `&#${{mark.charCodeAt(0)}};`);
"""
WEB_ADDRESS = """const webAddress = ({value}) => {{
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(String(value).replace(/[\\u0000-\\u0020]/g, ""));
  return scheme && !/^(?:https?|mailto|tel|ftp)$/i.test(scheme[1]) ? "#" : escapeHtml(value);
}};
"""
IN_ADDRESS = re.compile(
    r"""(?is)<(?P<tag>[a-z][\w-]*)(?=\s)[^<>]*\s(?:href|src|action)\s*=\s*\\?(?P<quote>["'])(?P<begun>[^"'<>]*)$"""
)
RUNS = frozenset({"script", "iframe", "object", "embed", "base", "link", "frame"})
"""Tags whose address is loaded as a part of the page."""
FIXED = re.compile(r"(?i)(?!javascript|data|vbscript)[^:]*[/?#]|(?:https?|mailto|tel|ftp):")
MARKUP_NAMES = re.compile(r"(?i)html|markup|fragment|render|template|escape|quoted|json|svg|\bsafe|_safe")
PART_NAMES = re.compile(
    r"(?i)(?:^|\.)(?:children|inner|slot|partial|widget|icons?|badges?|banner|footer|nav|menu|sidebar|rows|cells|items|"
    r"options|links|lists?|elements?|main|wrapper|layout|sections?|head|foot|logo|tbody|thead|tags|buttons?|controls)$"
)
"""What pages are put together from; several of them in one place were joined before."""
MARKED_TABLES = re.compile(r"(?i)(?:^|[._])(?:icon|badge|partial|widget|template|button|snippet)s?$")
WRITTEN_NAMES = re.compile(r"(?i)body|page|content|quote")
"""What somebody wrote, as text or with tags."""
PHRASE = re.compile(
    r"(?is)<(?:p|span|h[1-6]|b|i|em|strong|title|label|option|button|a|small|code|textarea|caption)\b[^<>]*>[^<>]*$"
)
"""An open tag that holds no blocks: what stands there is a text."""
ESCAPERS = re.compile(r"(?i)^(?:escape_?html|html_?escape|encode_?html|esc|escape)$")
MARKS = ("&", "<", ">", '"')
ENTITIES = ("&#38;", "&#60;", "&#62;", "&#34;", "&#39;", "&amp;", "&lt;", "&gt;", "&quot;")


@dataclass(frozen=True)
class Escaper:
    """The functions to use, by place, and what adds them to the file."""

    names: dict[str, str]
    added: tuple[Edit, ...]


def find_place(before: str) -> str | None:
    """What a value that stands behind this text needs; None where escaping is not enough."""
    if is_text_place(before):
        return TEXT
    found = IN_ADDRESS.search(before)
    if found is None or UNCLOSED.search(before) or found["tag"].lower() in RUNS:
        return None
    if not found["begun"]:
        return ADDRESS
    return TEXT if FIXED.match(found["begun"]) else None


def may_be_markup(text: str, before: str) -> bool:
    """By the name of a value; what somebody wrote is a text where no other markup may stand."""
    plain = re.sub(r"\b(?:req|request)\.body\b|\[[^\]]*\]", "", text)
    named = MARKED_TABLES if plain.rstrip() != text.rstrip() else PART_NAMES
    if MARKUP_NAMES.search(plain) or named.search(plain):
        return True
    return WRITTEN_NAMES.search(plain) is not None and PHRASE.search(before) is None


def keeps_entities(source: Source, pattern: Node) -> bool:
    """Whether what is replaced is the same in a text and in the escaped text."""
    pattern = unwrap(pattern)
    if pattern.type == "identifier":
        found = origins(source, pattern)
        value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
        pattern = unwrap(value) if value is not None else pattern
    constant = constant_text(source, pattern)
    if constant is not None:
        written = re.escape(constant.replace("\\n", "\n").replace("\\r", "\r"))
    elif pattern.type == "regex":
        written = re.sub(r"^/|/[a-z]*$", "", source.text(pattern))
    else:
        return False
    try:
        return not any(re.search(f"(?:{written})", entity) for entity in ENTITIES) and not re.search(
            "[<>&\"']", written
        )
    except re.error:
        return False


def choose_escaper(source: Source, *, addresses: bool) -> Escaper:
    """The file's own function if it has one that is good enough, else a new one."""
    value = "value: unknown" if source.language == "typescript" else "value"
    own = _find_own(source)
    added = () if own else function(source, "escapeHtml", ESCAPER.format(value=value))
    names = {TEXT: own or "escapeHtml"}
    if addresses:
        written = WEB_ADDRESS.format(value=value).replace("escapeHtml", names[TEXT])
        added = (*added, *function(source, "webAddress", written))
        names[ADDRESS] = "webAddress"
    return Escaper(names, added)


def _find_own(source: Source) -> str:
    """An escaping function that is imported, or written here and complete."""
    for alias, real in imports(source).items():
        if ESCAPERS.match(alias) or real in ("escape-html", "lodash.escape", "he.encode", "he.escape"):
            return alias
    for scope in source.functions:
        name, holder = read_name(source, scope.node)
        text = source.text(scope.node)
        whole = scope.node.parent is not None and all(mark in text for mark in MARKS) and "replace" in text
        known = holder in ("variable_declarator", "function_declaration") and len(list_parameters(scope.node)) == 1
        if ESCAPERS.match(name) and known and whole and text.count("/g") + text.count("replaceAll") > 0:
            return name
    return ""
