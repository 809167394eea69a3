"""Flaws of JavaScript and TypeScript that syntax alone shows; `flow.py` decides the rest."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.javascript.rules.confusion import find_confused
from moot.scan.javascript.rules.exposure import find_exposed
from moot.scan.javascript.rules.flaws import CLAIM, CONFUSION, DISCLOSURE, PROTOTYPE, UNLIMITED
from moot.scan.javascript.rules.limits import find_claims, find_unlimited
from moot.scan.rule import Rule, RuleMatch
from moot.scan.rules.book import Book
from moot.scan.rules.handlers import goes_on_failed, is_logger
from moot.scan.rules.hosts import find_weak_host_checks, make_host_rule
from moot.scan.rules.logged_secrets import find_logged_secrets, make_logged_rule
from moot.scan.rules.roles import find_client_roles, make_role_rule
from moot.scan.rules.secrets import find_hardcoded, secret_rule
from moot.scan.rules.unsigned import find_unsigned, make_unsigned_rule
from moot.scan.syntax import Source, words

SQL = Rule(
    "javascript-sql-string", "injection", "critical", 89,
    "SQL injection: query built by string formatting",
    "A value of \"' OR '1'='1\" changes what the statement selects.",
    "Pass the values as parameters of the query.", 0.85,
)  # fmt: skip
EXEC = Rule(
    "javascript-exec", "injection", "critical", 78,
    "Command injection: command line built from variables is run by a shell",
    "A value of '; rm -rf ~' runs as a command of its own.",
    "Use execFile or spawn with a list of arguments.", 0.85,
)  # fmt: skip
EVAL = Rule(
    "javascript-eval", "injection", "critical", 95,
    "Code injection: variable text is evaluated as code",
    "A value of \"process.mainModule.require('child_process').execSync('id')\" runs any command.",
    "Use JSON.parse for data, or a table of the allowed operations.", 0.8,
)  # fmt: skip
HTML = Rule(
    "javascript-html", "xss", "high", 79,
    "XSS: a variable value becomes HTML of the page",
    "A value of '<img src=x onerror=alert(1)>' runs script.",
    "Use textContent, or clean the value (DOMPurify) first.", 0.75,
)  # fmt: skip
RESPONSE = Rule(
    "javascript-response-xss", "xss", "high", 79,
    "XSS: user input is written into the response unescaped",
    "A link with '<script>…</script>' in it runs script in the visitor's browser.",
    "Escape the value or render a template that does.", 0.75,
)  # fmt: skip
PASSWORD_HASH = Rule(
    "javascript-password-hash", "auth", "high", 916,
    "Weak password hash: MD5 or SHA-1, which allow billions of guesses a second",
    "A leaked table of hashes is reversed with a word list in minutes.",
    "Use crypto.scrypt, bcrypt or argon2 with a random salt kept beside each hash.", 0.85,
)  # fmt: skip
HASH = Rule(
    "javascript-weak-hash", "auth", "low", 327,
    "Weak hash: MD5 and SHA-1 are not collision resistant",
    "Where the hash stands for the content, a second content with the same hash takes its place.",
    "Use sha256.", 0.6,
)  # fmt: skip
CIPHER = Rule(
    "javascript-weak-cipher", "auth", "high", 327,
    "Weak cipher: DES, RC4 or ECB mode, or a key derived without a salt",
    "Equal blocks stay equal under ECB; DES keys are tried out in hours.",
    "Use crypto.createCipheriv with aes-256-gcm.", 0.8,
)  # fmt: skip
RANDOM = Rule(
    "javascript-weak-random", "auth", "high", 330,
    "Insecure randomness: a secret is generated with Math.random, which is predictable",
    "After a few observed values the next tokens are known.",
    "Use crypto.randomBytes, crypto.randomUUID or crypto.getRandomValues.", 0.7,
)  # fmt: skip
TLS = Rule(
    "javascript-tls-verify", "auth", "high", 295,
    "TLS verification disabled: the server certificate is not checked",
    "Anyone on the way reads and changes the traffic with a certificate of their own.",
    "Leave certificate checks on; trust a private authority with the `ca` option.", 0.9,
)  # fmt: skip
PATH = Rule(
    "javascript-path", "injection", "high", 22,
    "Path traversal: user input controls the file path",
    "A name of '../../etc/passwd' leaves the intended folder.",
    "Take path.basename of the name, or check the resolved path against the folder.", 0.7,
)  # fmt: skip
SSRF = Rule(
    "javascript-ssrf", "injection", "high", 918,
    "SSRF: user input controls the request URL",
    "A URL of 'http://169.254.169.254/' fetches what only the server may see.",
    "Check the host against a list of allowed ones.", 0.6,
)  # fmt: skip
REDIRECT = Rule(
    "javascript-open-redirect", "injection", "medium", 601,
    "Open redirect: user input controls the redirect target",
    "A value of 'https://evil.example/' turns a link to this site into one to the attacker's page.",
    "Redirect to paths of your own only.", 0.6,
)  # fmt: skip
DESERIALISE = Rule(
    "javascript-deserialise", "injection", "critical", 502,
    "Unsafe deserialization: user input is deserialized by a reader that can run code",
    "A function put into the data runs when it is read.",
    "Use JSON.parse.", 0.8,
)  # fmt: skip
BUFFER = Rule(
    "javascript-unsafe-buffer", "overflow", "high", 119,
    "Uninitialized memory: the buffer holds whatever was in memory before",
    "Sending it out leaks keys and other people's data.",
    "Use Buffer.alloc, or Buffer.from for existing data.", 0.75,
)  # fmt: skip
SWALLOWED = Rule(
    "javascript-swallowed-error", "logic_error", "low", 390,
    "Swallowed error: every exception is caught and ignored",
    "A failed check or write goes on as if it had worked.",
    "Handle the error that is expected, and log or throw the rest.", 0.7,
)  # fmt: skip


IGNORED = re.compile(r"(?i)_|ignor|unused|rollback")


def find_swallowed(source: Source) -> Iterator[RuleMatch]:
    for clause in source.nodes("catch_clause"):
        body, error = clause.child_by_field_name("body"), clause.child_by_field_name("parameter")
        # Named `_`, or with a comment: somebody decided to ignore it.
        meant = (error is not None and IGNORED.match(source.text(error)) is not None) or _is_no_error(source, clause)
        if body is not None and not meant and all(child.type == "empty_statement" for child in body.named_children):
            yield RuleMatch(SWALLOWED, clause)


LEAVES = words("return_statement break_statement continue_statement")
CLEARS = re.compile(
    r"(?:await )?[\w.$]+\??\.(?:close|destroy|terminate|disconnect|abort)\((?:[\w.$]+(?:, [\w.$]+)*)?\);?"
    r"|(?:await )?[\w.$]+\??\.end\(\);?"
)
"""Ends something, with a reason or a code; `end(data)` writes first."""
LOADS = re.compile(r"\brequire\(|\bimport\(|\.load\(['\"]")


def _is_no_error(source: Source, clause: Node) -> bool:
    """Nothing goes on as if it had worked: what follows only runs after a failure, something is cleared away, or a
    module is used if it is there."""
    attempt = clause.parent
    body = attempt.child_by_field_name("body") if attempt is not None else None
    steps = [step for step in body.named_children if step.type != "comment"] if body is not None else []
    if not steps:
        return True
    closes = all(CLEARS.fullmatch(source.text(step)) for step in steps)
    loads = LOADS.search(source.text(steps[0])) is not None
    apart = attempt is not None and (
        goes_on_failed(source, attempt)
        or _is_announced(source, attempt)
        or _is_asked_for(source, attempt)
        or is_logger(source, attempt)
    )
    return steps[-1].type in LEAVES or closes or loads or apart


def _is_asked_for(source: Source, attempt: Node) -> bool:
    """`if (options.ignoreInvalidCookies)` around it"""
    node = attempt.parent
    while node is not None:
        test = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if test is not None and ASKS.fullmatch(source.text(test)):
            return True
        node = node.parent
    return False


ASKS = re.compile(r"(?i)\([\w.$?]*ignore\w*\)")
FAILURES = re.compile(
    r"(?i)\b(?:errors?|exceptions?|fail\w*|throws?|reject\w*|ignor\w+|best[- ]effort|catch|disabled|unsupported|invalid"
    r"|not (?:possible|supported|available))\b"
)
"""Words of a comment that expects a failure."""


def _is_announced(source: Source, attempt: Node) -> bool:
    """A comment above the `try`, above the declaration or the function around it alone, or in front of its first step
    says what fails."""
    body = attempt.child_by_field_name("body")
    said = [child for child in body.named_children[:1] if child.type == "comment"] if body is not None else []
    for node in _list_outer(attempt):
        below, before = node, node.prev_named_sibling
        while before is not None and before.type == "comment" and below.start_point[0] - before.end_point[0] <= 1:
            said.append(before)
            below, before = before, before.prev_named_sibling
        if said and before is not None and before.end_point[0] == said[-1].start_point[0]:
            said.pop()  # it belongs to the line of code in front of it
    return any(FAILURES.search(source.text(comment)) for comment in said)


def _list_outer(attempt: Node) -> Iterator[Node]:
    """The `try`, a bare declaration above it, and the statement whose function holds nothing else."""
    yield attempt
    before = attempt.prev_named_sibling
    if before is not None and before.type in ("lexical_declaration", "variable_declaration"):
        bare = all(named.child_by_field_name("value") is None for named in before.named_children)
        yield from [before] if bare else ()
    body = attempt.parent
    outer = body.parent if body is not None and body.named_child_count == 1 else None
    if outer is None or outer.type != "arrow_function":
        return
    while outer is not None and not outer.type.endswith("_statement"):
        outer = outer.parent
    yield from [outer] if outer is not None else ()


BOOK = Book(
    (),
    (
        find_swallowed,
        find_hardcoded,
        find_weak_host_checks,
        find_logged_secrets,
        find_exposed,
        find_confused,
        find_unlimited,
        find_claims,
        find_client_roles,
        find_unsigned,
    ),
    (
        SWALLOWED,
        secret_rule("javascript"),
        PROTOTYPE,
        DISCLOSURE,
        CONFUSION,
        UNLIMITED,
        CLAIM,
        make_host_rule("javascript"),
        make_role_rule("javascript"),
        make_unsigned_rule("javascript"),
        make_logged_rule("javascript"),
    ),
)
