"""What is sent to a function to attack it, by class of flaw, and what shows that the attack worked."""

import re
from dataclasses import dataclass
from typing import Literal

Effect = Literal["leak", "made", "shown", "query", "line", "slow"]
SECRET, OUTSIDE, OWNED = "moot-secret", "moot-outside.txt", "moot-owned"
TOUCH = f"touch {{made}}/{OWNED}"


@dataclass(frozen=True)
class AttackClass:
    payloads: tuple[str, ...]
    effect: Effect
    """leak: the secret comes back; made: a file appears or vanishes outside of its folder; shown: the payload comes
    back as it is; query: the payload is in the text of a query; line: it begins a line; slow: it takes seconds."""
    marks: tuple[str, ...] = ()
    """What must not be in the answer, where that is not the whole payload."""


PATHS = AttackClass((f"../{OUTSIDE}", f"sub/../../{OUTSIDE}", f"{{base}}/../{OUTSIDE}"), "leak")
COMMANDS = AttackClass(
    (f"x; touch {{made}}/{OWNED}", f"$(touch {{made}}/{OWNED})", f"x | touch {{made}}/{OWNED}"), "made"
)
PAGES = AttackClass(("<script>moot</script>", '"><img src=x>'), "shown", ("<script>", "<img"))
QUERIES = AttackClass(("x' OR '1'='1", "1 OR 1=1"), "query")
LINES = AttackClass(("moot\nforged entry", "moot\r\nX-Forged: 1"), "line", ("\nforged", "\nX-Forged"))
SLOW = AttackClass(tuple(letter * 34 + "!" for letter in ("a", "0", " ", "a ", "a.", "a-")), "slow")
ADDRESSES = AttackClass(("https://evil.example/", "//evil.example/"), "shown", ("evil.example",))
BY_CWE: dict[int, AttackClass] = {
    22: PATHS, 23: PATHS, 36: PATHS, 73: PATHS, 77: COMMANDS, 78: COMMANDS, 79: PAGES, 80: PAGES, 89: QUERIES,
    93: LINES, 113: LINES, 117: LINES, 400: SLOW, 601: ADDRESSES, 1333: SLOW,
}  # fmt: skip
CODE: dict[str, AttackClass] = {
    "python": AttackClass((f"open('{{made}}/{OWNED}', 'w').close()",), "made"),
    "javascript": AttackClass((f"require('fs').writeFileSync('{{made}}/{OWNED}', '')",), "made"),
}
DOCUMENTS = AttackClass((f"!!python/object/apply:os.system ['touch {{made}}/{OWNED}']",), "made")
FOLDER = re.compile(r"(?i)dir|root|base|folder|dest|prefix")
DATABASE = re.compile(r"(?i)^(?:db|conn|connection|cursor|cur|database|session|client|pool)$")
LOGGER = re.compile(r"(?i)^(?:log|logger)$")


def name_stand_in(name: str, kind: AttackClass) -> str:
    """What a parameter of this name gets while another one is attacked; "" if it is as good as any."""
    if DATABASE.search(name) or LOGGER.search(name):
        return "<recorder>"
    return "<base>" if kind.effect == "leak" and FOLDER.search(name) else ""


def find_class(cwe: int | None, language: str) -> AttackClass | None:
    if cwe in (94, 95):
        return CODE.get(language)
    if cwe == 502:
        return DOCUMENTS if language == "python" else None
    return BY_CWE.get(cwe or 0)
