"""Passwords and keys that are written to a log, in JavaScript and Go."""

import re
from collections.abc import Iterator

from moot.core.secret_patterns import LOGGED
from moot.core.types import Language
from moot.scan.calls import SourceCall, calls
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source, words

SECRET = re.compile(LOGGED)
TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
HIDDEN = re.compile(
    r"(?i)mask|redact|hash|encrypt|hide|obfus|scrub|\blen\(|\.length|typeof|!!|\b(?:is|has|needs?)_?[A-Z]"
)
METHODS = words(
    "log info warn error debug trace Print Printf Println Fatal Fatalf Fatalln Panicf Infof Info Warnf Warn Errorf "
    "Error Debugf Debug"
)
LOGGERS = re.compile(r"(?i)^(?:console|log|slog|\w*log(?:ger|rus)?|winston|pino|zap|glog|klog|fmt)$")


def make_logged_rule(language: Language) -> Rule:
    language = "javascript" if language == "typescript" else language
    return Rule(
        f"{language}-logged-secret", "other", "medium", 532,
        "Secret in the log: a password or key is logged in clear text",
        "Whoever reads the log, a backup of it or the service it is sent to has the secret.",
        "Leave it out, or log that it is set.", 0.6,
    )  # fmt: skip


def find_logged_secrets(source: Source) -> Iterator[RuleMatch]:
    rule = make_logged_rule(source.language)
    found = calls(source)
    for method in sorted(METHODS & found.keys()):
        for call in found[method]:
            if _is_logger(source, call) and any(_shows_secret(source.text(arg)) for arg in call.args):
                yield RuleMatch(rule, call.node)


def _is_logger(source: Source, call: SourceCall) -> bool:
    base = call.name.rpartition(".")[0].rpartition("/")[2].rpartition(".")[2].strip("()")
    if base == "fmt":
        return call.method.startswith("Print") and source.language == "go"
    return bool(LOGGERS.search(base)) and call.node.end_byte - call.node.start_byte < 2000


def _shows_secret(text: str) -> bool:
    if HIDDEN.search(text) or text.startswith(("func", "(")) or "=>" in text:
        return False
    bare = " ".join(re.findall(r"\$\{([^{}]*)\}", text)) if text.startswith("`") else TEXT.sub("", text)
    return SECRET.search(bare) is not None
