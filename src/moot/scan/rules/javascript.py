"""What the red team looks for in JavaScript and TypeScript."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import CALLS, Call, read_call
from moot.scan.rule import CallRule, Check, Condition, Match, Rule, on
from moot.scan.rules.when import (
    PASSWORD,
    SECRET_USE,
    about,
    always,
    built,
    built_sql,
    either,
    every,
    from_outside,
    not_about,
    text_is,
    varying,
)
from moot.scan.strings import unwrapped
from moot.scan.syntax import Source
from moot.scan.values import SAFE, constant

SQL = Rule(
    "javascript-sql-string", "injection", "critical", 89,
    "An SQL text is put together from strings and values before it is sent.",
    "A value of \"' OR '1'='1\" changes what the statement selects.",
    "Pass the values as parameters of the query.", 0.85,
)  # fmt: skip
EXEC = Rule(
    "javascript-exec", "injection", "critical", 78,
    "A command line that is not constant goes through a shell.",
    "A value of '; rm -rf ~' runs as a command of its own.",
    "Use execFile or spawn with a list of arguments.", 0.85,
)  # fmt: skip
EVAL = Rule(
    "javascript-eval", "injection", "critical", 95,
    "Text that is not constant is evaluated as code.",
    "A value of \"process.mainModule.require('child_process').execSync('id')\" runs any command.",
    "Use JSON.parse for data, or a table of the allowed operations.", 0.8,
)  # fmt: skip
HTML = Rule(
    "javascript-html", "xss", "high", 79,
    "A value that is not constant becomes HTML of the page.",
    "A value of '<img src=x onerror=alert(1)>' runs script.",
    "Use textContent, or clean the value (DOMPurify) first.", 0.75,
)  # fmt: skip
RESPONSE = Rule(
    "javascript-response-xss", "xss", "high", 79,
    "Request data is put into the answer as it came.",
    "A link with '<script>…</script>' in it runs script in the visitor's browser.",
    "Escape the value or render a template that does.", 0.75,
)  # fmt: skip
PASSWORD_HASH = Rule(
    "javascript-password-hash", "auth", "high", 916,
    "A password is hashed with MD5 or SHA-1, which can be tried billions of times a second.",
    "A leaked table of hashes is reversed with a word list in minutes.",
    "Use crypto.scrypt, bcrypt or argon2 with a random salt kept beside each hash.", 0.85,
)  # fmt: skip
HASH = Rule(
    "javascript-weak-hash", "auth", "low", 327,
    "MD5 and SHA-1 are broken: two inputs with the same hash can be made.",
    "Where the hash stands for the content, a second content with the same hash takes its place.",
    "Use sha256.", 0.6,
)  # fmt: skip
CIPHER = Rule(
    "javascript-weak-cipher", "auth", "high", 327,
    "The cipher or its mode is broken (DES, RC4, ECB), or its key is derived without a salt.",
    "Equal blocks stay equal under ECB; DES keys are tried out in hours.",
    "Use crypto.createCipheriv with aes-256-gcm.", 0.8,
)  # fmt: skip
RANDOM = Rule(
    "javascript-weak-random", "auth", "high", 330,
    "A secret is made with Math.random, whose output can be predicted.",
    "After a few observed values the next tokens are known.",
    "Use crypto.randomBytes, crypto.randomUUID or crypto.getRandomValues.", 0.7,
)  # fmt: skip
TLS = Rule(
    "javascript-tls-verify", "auth", "high", 295,
    "The certificate of the other side is not checked.",
    "Anyone on the way reads and changes the traffic with a certificate of their own.",
    "Leave certificate checks on; trust a private authority with the `ca` option.", 0.9,
)  # fmt: skip
PATH = Rule(
    "javascript-path", "injection", "high", 22,
    "Request data decides which file is used.",
    "A name of '../../etc/passwd' leaves the intended folder.",
    "Take path.basename of the name, or check the resolved path against the folder.", 0.7,
)  # fmt: skip
SSRF = Rule(
    "javascript-ssrf", "injection", "high", 918,
    "Request data decides which address the server asks.",
    "A URL of 'http://169.254.169.254/' fetches what only the server may see.",
    "Check the host against a list of allowed ones.", 0.6,
)  # fmt: skip
REDIRECT = Rule(
    "javascript-open-redirect", "injection", "medium", 601,
    "Request data decides where the visitor is sent.",
    "A link to this site ends on the attacker's page.",
    "Redirect to paths of your own only.", 0.6,
)  # fmt: skip
DESERIALISE = Rule(
    "javascript-deserialise", "injection", "critical", 502,
    "Outside data is turned into objects by a reader that can run code.",
    "A function put into the data runs when it is read.",
    "Use JSON.parse.", 0.8,
)  # fmt: skip
BUFFER = Rule(
    "javascript-unsafe-buffer", "overflow", "high", 119,
    "The buffer is not cleared: it holds whatever was in memory before.",
    "Sending it out leaks keys and other people's data.",
    "Use Buffer.alloc, or Buffer.from for existing data.", 0.75,
)  # fmt: skip
SWALLOWED = Rule(
    "javascript-swallowed-error", "logic_error", "medium", 390,
    "Every error is caught and thrown away.",
    "A failed check or write goes on as if it had worked.",
    "Handle the error that is expected, and log or throw the rest.", 0.7,
)  # fmt: skip


def _clean(source: Source, node: Node) -> bool:
    """Constant, or the result of something that escapes."""
    node = unwrapped(node)
    return constant(source, node) or (node.type in CALLS and bool(SAFE.search(read_call(source, node).name)))


def unclean(index: int) -> Condition:
    """The argument can hold markup of somebody else."""

    def check(source: Source, call: Call) -> bool:
        arg = call.arg(index)
        return arg is not None and not _clean(source, arg)

    return check


def _raw_size(source: Source, call: Call) -> bool:
    return len(call.args) == 1 and unwrapped(call.args[0]).type not in ("string", "template_string", "array")


FILES = (
    "fs.readFile fs.readFileSync fs.writeFile fs.writeFileSync fs.createReadStream fs.createWriteStream fs.unlink "
    "fs.unlinkSync fs.readdir fs.readdirSync fs.appendFile fs.rm fs.rmSync fs.promises.readFile "
    "fs/promises.readFile fs.promises.writeFile fs.open fs.openSync fs.stat fs.statSync fs.access res.sendFile "
    "res.download response.sendFile reply.sendFile res.render"
)


def _not_in_sink(source: Source, call: Call) -> bool:
    """`fs.readFile(path.join(…))` is one flaw, told at the outer call."""
    outer = call.node.parent.parent if call.node.parent is not None else None
    return outer is None or outer.type not in CALLS or read_call(source, outer).name not in FILES.split()


SWITCHES = ("rejectUnauthorized", "strictSSL")
WEAK = text_is(0, r"(?i)md4|md5|sha-?1|ripemd160")

CALL_RULES: tuple[CallRule, ...] = (
    on(
        SQL,
        ".query .execute .raw .$queryRawUnsafe .$executeRawUnsafe .all .get .run .each .exec .prepare .unsafe "
        ".manyOrNone .oneOrNone .any .none .one .whereRaw .literal",
        built_sql(0),
    ),
    on(EXEC, "child_process.exec child_process.execSync shelljs.exec", varying(0)),
    on(
        EXEC,
        "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync",
        from_outside(0),
    ),
    on(
        EVAL,
        "eval window.eval global.eval globalThis.eval new:Function Function",
        lambda s, c: bool(c.args) and not constant(s, c.args[-1]),
    ),
    on(
        EVAL,
        "setTimeout setInterval setImmediate window.setTimeout window.setInterval",
        every(built(0), lambda s, c: _is_text(s, c.args[0])),
    ),
    on(
        EVAL, "vm.runInNewContext vm.runInThisContext vm.runInContext vm.compileFunction new:vm.Script", from_outside(0)
    ),
    on(HTML, "document.write document.writeln window.document.write", unclean(0)),
    on(HTML, ".insertAdjacentHTML", unclean(1)),
    on(
        RESPONSE,
        ".send .write .end",
        every(built(0), from_outside(0), lambda s, c: c.name.split(".")[0] in ("res", "response", "reply", "ctx")),
    ),
    on(PASSWORD_HASH, "crypto.createHash", every(WEAK, about(PASSWORD))),
    on(HASH, "crypto.createHash", every(WEAK, not_about(PASSWORD))),
    on(CIPHER, "crypto.createCipher crypto.createDecipher", always),
    on(CIPHER, "crypto.createCipheriv crypto.createDecipheriv", text_is(0, r"(?i)(?:des|rc4|rc2|bf).*|.*-ecb")),
    on(RANDOM, "Math.random", about(SECRET_USE)),
    on(PATH, FILES, from_outside(0)),
    on(PATH, "path.join path.resolve", every(from_outside(), _not_in_sink)),
    on(
        SSRF,
        "axios axios.get axios.post axios.request axios.put fetch node-fetch got got.get request request.get "
        "request.post http.get https.get http.request https.request needle.get superagent.get",
        from_outside(0),
    ),
    on(
        REDIRECT, "res.redirect response.redirect reply.redirect ctx.redirect", either(from_outside(0), from_outside(1))
    ),
    on(DESERIALISE, "node-serialize.unserialize serialize-to-js.deserialize js-yaml.load", from_outside(0)),
    on(BUFFER, "Buffer.allocUnsafe Buffer.allocUnsafeSlow", always),
    on(BUFFER, "new:Buffer Buffer", _raw_size),
)


def _is_text(source: Source, node: Node) -> bool:
    return unwrapped(node).type in ("string", "template_string", "binary_expression", "identifier", "member_expression")


def html_assigned(source: Source) -> Iterator[Match]:
    for node in source.nodes("assignment_expression", "augmented_assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type != "member_expression":
            continue
        member = left.child_by_field_name("property")
        if (
            member is not None
            and source.text(member) in ("innerHTML", "outerHTML", "srcdoc")
            and not _clean(source, right)
        ):
            yield Match(HTML, node)


def html_in_jsx(source: Source) -> Iterator[Match]:
    for node in source.nodes("pair"):
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        if (
            key is not None
            and value is not None
            and source.text(key).strip("'\"") == "__html"
            and not _clean(source, value)
        ):
            yield Match(HTML, node)


def tls_off(source: Source) -> Iterator[Match]:
    for node in source.nodes("pair"):
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        if key is None or value is None:
            continue
        if source.text(key).strip("'\"") in SWITCHES and source.text(value) in ("false", "0"):
            yield Match(TLS, node)
    for node in source.nodes("assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type not in ("member_expression", "subscript_expression"):
            continue
        off = source.text(right).strip("'\"`") in ("0", "false")
        if off and re.search(r"NODE_TLS_REJECT_UNAUTHORIZED|\.rejectUnauthorized$", source.text(left)):
            yield Match(TLS, node)


def swallowed(source: Source) -> Iterator[Match]:
    for clause in source.nodes("catch_clause"):
        body = clause.child_by_field_name("body")
        if body is not None and all(child.type in ("comment", "empty_statement") for child in body.named_children):
            yield Match(SWALLOWED, clause)


CHECKS: tuple[Check, ...] = (html_assigned, html_in_jsx, tls_off, swallowed)
