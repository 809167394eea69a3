"""Flaws of Go that syntax alone shows; `flow.py` decides the rest."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.go.checks import structure
from moot.scan.go.rules import flaws as flaw
from moot.scan.go.rules import structure as golang_structure
from moot.scan.go.rules.claims import find_claims, find_handler_races
from moot.scan.rule import CallRule, Rule, RuleMatch, on
from moot.scan.rules.book import Book
from moot.scan.rules.error_reasons import UNDONE, read_comment
from moot.scan.rules.errors import DISCARDED, find_discarded
from moot.scan.rules.hosts import find_weak_host_checks, make_host_rule
from moot.scan.rules.logged_secrets import find_logged_secrets, make_logged_rule
from moot.scan.rules.roles import find_client_roles, make_role_rule
from moot.scan.rules.secrets import find_hardcoded, secret_rule
from moot.scan.rules.timing import find_compared, make_timing_rule
from moot.scan.rules.unsigned import find_unsigned, make_unsigned_rule
from moot.scan.syntax import Source, nth

SQL = Rule(
    "go-sql-string", "injection", "critical", 89,
    "SQL injection: query built by string formatting",
    "A value of \"' OR '1'='1\" changes what the statement selects.",
    "Pass the values as arguments of the query.", 0.85,
)  # fmt: skip
EXEC = Rule(
    "go-exec", "injection", "critical", 78,
    "Command injection: command line built from variables, or user input chooses the program",
    "A value of '; rm -rf ~' runs as a command of its own.",
    "Call exec.Command with the program and its arguments, without a shell.", 0.85,
)  # fmt: skip
PASSWORD_HASH = Rule(
    "go-password-hash", "auth", "high", 916,
    "Weak password hash: MD5 or SHA-1, which allow billions of guesses a second",
    "A leaked table of hashes is reversed with a word list in minutes.",
    "Use golang.org/x/crypto/bcrypt, scrypt or argon2.", 0.85,
)  # fmt: skip
HASH = Rule(
    "go-weak-hash", "auth", "low", 328,
    "Weak hash: MD5 and SHA-1 are not collision resistant",
    "Where the hash stands for the content, a second content with the same hash takes its place.",
    "Use crypto/sha256.", 0.6,
)  # fmt: skip
CIPHER = Rule(
    "go-weak-cipher", "auth", "high", 327,
    "Weak cipher: DES or RC4",
    "DES keys are tried out in hours; RC4 output leaks the key stream.",
    "Use crypto/aes with cipher.NewGCM.", 0.85,
)  # fmt: skip
TLS = Rule(
    "go-tls-verify", "auth", "high", 295,
    "TLS verification disabled: the server certificate is not checked",
    "Anyone on the way reads and changes the traffic with a certificate of their own.",
    "Leave certificate checks on; trust a private authority with RootCAs.", 0.9,
)  # fmt: skip
RANDOM = Rule(
    "go-weak-random", "auth", "high", 338,
    "Insecure randomness: a secret is generated with math/rand, which is predictable",
    "After a few observed values the next tokens are known.",
    "Use crypto/rand.", 0.7,
)  # fmt: skip
HTML = Rule(
    "go-template-html", "xss", "high", 79,
    "XSS: a variable value is marked as safe HTML",
    "A value of '<script>…</script>' runs in the visitor's browser.",
    "Pass the plain string; html/template escapes it.", 0.8,
)  # fmt: skip
RESPONSE = Rule(
    "go-response-xss", "xss", "high", 79,
    "XSS: user input is written into the response unescaped",
    "A link with '<script>…</script>' in it runs script in the visitor's browser.",
    "Use html/template or html.EscapeString.", 0.7,
)  # fmt: skip
PATH = Rule(
    "go-path", "injection", "high", 22,
    "Path traversal: user input controls the file path",
    "A name of '../../etc/passwd' leaves the intended folder.",
    "Take filepath.Base of the name, or use os.Root / filepath.IsLocal.", 0.7,
)  # fmt: skip
SSRF = Rule(
    "go-ssrf", "injection", "high", 918,
    "SSRF: user input controls the request URL",
    "A URL of 'http://169.254.169.254/' fetches what only the server may see.",
    "Check the host against a list of allowed ones.", 0.6,
)  # fmt: skip
REDIRECT = Rule(
    "go-open-redirect", "injection", "medium", 601,
    "Open redirect: user input controls the redirect target",
    "A value of 'https://evil.example/' turns a link to this site into one to the attacker's page.",
    "Redirect to paths of your own only.", 0.6,
)  # fmt: skip
UNSAFE = Rule(
    "go-unsafe", "overflow", "low", 119,
    "Memory safety: package unsafe bypasses type and bounds checks",
    "A wrong length or offset reads or overwrites other memory.",
    "Use slices, encoding/binary or math.Float64bits.", 0.8,
)  # fmt: skip

CALL_RULES: tuple[CallRule, ...] = (
    on(
        UNSAFE,
        "unsafe.Pointer unsafe.Slice unsafe.String unsafe.StringData unsafe.SliceData unsafe.Add",
        lambda source, call: True,
    ),
)


OWN_CHECK = re.compile(r"(?i)verif\w* (?:func|is done|below|ourselves|manually)|\b(?:own|custom) verif")
"""A comment says where the certificate is checked instead."""


def _is_checked_elsewhere(comment: str) -> bool:
    return OWN_CHECK.search(comment) is not None and not UNDONE.search(comment)


def _read_comment_above(source: Source, node: Node) -> str:
    return read_comment(source.slice(max(0, node.start_byte - 1000), node.start_byte).split("\n")[:-1])


def tls_off(source: Source) -> Iterator[RuleMatch]:
    for node in source.nodes("keyed_element"):
        key, value = nth(node, 0), nth(node, 1)
        if (
            key is not None
            and value is not None
            and source.text(key) == "InsecureSkipVerify"
            and source.text(value) == "true"
            and not _is_checked_elsewhere(_read_comment_above(source, node))
        ):
            yield RuleMatch(TLS, node)
    for node in source.nodes("assignment_statement"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and _is_switched_on(source, left, right):
            yield RuleMatch(TLS, node)


def _is_switched_on(source: Source, left: Node, right: Node) -> bool:
    short = left.end_byte - left.start_byte < 200
    return short and source.text(left).endswith(".InsecureSkipVerify") and source.text(right) == "true"


BOOK = Book(
    CALL_RULES,
    (
        tls_off,
        find_discarded,
        find_hardcoded,
        structure,
        find_compared,
        find_weak_host_checks,
        find_logged_secrets,
        find_claims,
        find_client_roles,
        find_unsigned,
        find_handler_races,
    ),
    (
        TLS,
        DISCARDED,
        secret_rule("go"),
        make_timing_rule("go"),
        make_host_rule("go"),
        make_role_rule("go"),
        make_unsigned_rule("go"),
        make_logged_rule("go"),
        flaw.CLAIM,
        flaw.HANDLER_RACE,
        flaw.ORIGIN,
        flaw.HOST_KEY,
        *golang_structure.RULES,
    ),
)
