"""The advice of every rule belongs to its class of flaw."""

import re

import pytest

from moot.scan.catalogue import catalogue
from moot.scan.rule import Rule

WORDS: dict[int, str] = {
    22: r"path|folder|name|filter=|filepath", 78: r"argument|shell|constant", 79: r"escape|textContent|template|html",
    89: r"parameter|argument", 90: r"[Ee]scape|objects", 95: r"literal|JSON|json|table", 113: r"line break|list",
    117: r"line break|repr|%q|structured", 190: r"limits", 208: r"compare|Equal|timingSafe|ConstantTime",
    295: r"certificate|TLS|host key", 326: r"bits", 327: r"AES|aes|sha256|TLS|ECDHE|another|ssl\.",
    328: r"sha256", 329: r"fresh|random", 330: r"secrets|crypto", 338: r"crypto/rand", 347: r"[Vv]erif|key|Method",
    377: r"mkstemp|mkdtemp|Temp", 502: r"json|JSON|safe_load", 601: r"[Rr]edirect", 611: r"entit", 614: r"[Ss]ecure",
    643: r"constant|variable", 732: r"owner", 760: r"random", 798: r"environment", 916: r"scrypt|bcrypt",
    918: r"host|address", 943: r"plain text|\$where", 1004: r"(?i)httponly", 1204: r"rand", 1321: r"entries",
    1333: r"repetition|[Ee]scape", 1336: r"constant",
}  # fmt: skip
FOREIGN = {
    r"parameters of (?:the query|execute)|arguments of the query": {89},
    r"escape_filter_chars|EscapeFilter": {90},
    r"execFile|exec\.Command|subprocess\.run": {78},
    r"html/template|textContent|markupsafe": {79},
    r"safe_load": {502},
    r"bcrypt|scrypt|argon2": {916},
    r"list of allowed ones": {918},
    r"line breaks": {93, 113, 117},
}
"""Advice that only these classes may give."""
RULES = [listed.rule for listed in catalogue()]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_advice_speaks_of_the_flaw(rule: Rule) -> None:
    assert re.search(WORDS.get(rule.cwe or 0, r"\w"), rule.fix), rule.fix


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_advice_is_that_of_another_class(rule: Rule) -> None:
    for words, classes in FOREIGN.items():
        assert rule.cwe in classes or not re.search(words, rule.fix), (rule.cwe, rule.fix)
