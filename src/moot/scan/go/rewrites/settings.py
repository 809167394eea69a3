"""Switches settings of Go libraries to safe values: versions, sizes, limits, flags, hashes."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import imports, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.module import package, swap_import
from moot.scan.rewrites.choices import READ, leave_plain_cookie
from moot.scan.rewrites.digests import require_shown_only
from moot.scan.syntax import Source, nth

IN_SCRIPT = re.compile(rb"(?is)<script\b(?:(?!</script).)*?[=:(,\[]\s*\{\{")
WAIT = "10 * {time}.Second"
DIGEST = re.compile(r'"(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40})"')
FIXED_SIZE = re.compile(r"\[(?:16|20|md5\.Size|sha1\.Size)\]|\b(?:md5|sha1)\.(?:Size|BlockSize)\b")


def fields(source: Source, literal: Node) -> dict[str, Node]:
    """Values of a struct literal by field."""
    body = require_node(literal.child_by_field_name("body"), "the literal is not here")
    found: dict[str, Node] = {}
    for element in (child for child in body.named_children if child.type != "comment"):
        key, value = nth(element, 0), nth(element, 1)
        if element.type != "keyed_element" or key is None or value is None:
            raise RewriteRefused("the fields have no names")
        found[source.text(key)] = value
    return found


def with_field(source: Source, literal: Node, name: str, value: str) -> Edit:
    """Adds a field, on its own line if the others have one."""
    body = require_node(literal.child_by_field_name("body"), "the literal is not here")
    known = fields(source, literal)
    if name in known:
        return replace_node(known[name], value)
    inner = [child for child in body.named_children if child.type != "comment"]
    if not inner:
        return Edit(body.start_byte + 1, body.start_byte + 1, f"{name}: {value}")
    last = inner[-1]
    line = source.data.rfind(b"\n", 0, last.start_byte) + 1
    indent = source.slice(line, last.start_byte)
    if indent.strip() or line <= body.start_byte:
        return Edit(last.end_byte, last.end_byte, f", {name}: {value}")
    end = source.data.find(b"\n", last.end_byte)
    if re.match(r",\s*//", source.slice(last.end_byte, max(end, last.end_byte))):  # the comment is about that field
        return Edit(end, end, f"\n{indent}{name}: {value},")
    return Edit(last.end_byte, last.end_byte, f",\n{indent}{name}: {value}")


def header_timeout(source: Source, node: Node) -> Change:
    _is_literal(node)
    time, added = package(source, "time")
    edit = with_field(source, node, "ReadHeaderTimeout", WAIT.format(time=time))
    return Change((edit, *added), "a client has ten seconds to send its headers")


def serve(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    local = call.name.rpartition(".")[0].rpartition("/")[2]
    if (
        call.name not in ("net/http.ListenAndServe", "net/http.ListenAndServeTLS")
        or imports(source).get(local) != "net/http"
    ):
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    time, added = package(source, "time")
    address, handler = source.text(call.args[0]), source.text(call.args[-1])
    rest = ", ".join(source.text(arg) for arg in call.args[1:-1])
    server = [f"Addr: {address}", *([] if handler == "nil" else [f"Handler: {handler}"])]
    server.append(f"ReadHeaderTimeout: {WAIT.format(time=time)}")
    new = f"(&{local}.Server{{{', '.join(server)}}}).{call.method}({rest})"
    return Change((replace_node(node, new), *added), "a client has ten seconds to send its headers")


def tls_version(source: Source, node: Node) -> Change:
    tls = next((alias for alias, real in imports(source).items() if real == "crypto/tls"), "")
    new, did = f"{tls}.VersionTLS12", "TLS 1.2 is the lowest version"
    if node.type == "assignment_statement":
        left = require_node(node.child_by_field_name("left"), "the target is not here")
        if not tls or not source.text(left).endswith(".MinVersion"):
            raise RewriteRefused("only the lowest version is rewritten")
        return Change(
            (replace_node(require_node(node.child_by_field_name("right"), "the value is not here"), new),), did
        )
    _is_literal(node)
    if not tls or "MaxVersion" in fields(source, node):
        raise RewriteRefused("the highest version is set as well")
    return Change((with_field(source, node, "MinVersion", new),), did)


def cookie(source: Source, node: Node) -> Iterator[Change]:
    """Only the flags that the finding asks for."""
    _is_literal(node)
    leave_plain_cookie(source, node)
    if "Name" in (given := fields(source, node)) and READ.search(source.text(given["Name"])):
        raise RewriteRefused("the name says that it is no session and that scripts of the page read it")
    http = next((alias for alias, real in imports(source).items() if real == "net/http"), "http")
    flags = {"Secure": "true", "HttpOnly": "true", "SameSite": f"{http}.SameSiteLaxMode"}
    known = fields(source, node)
    missing = {name: value for name, value in flags.items() if name not in known or source.text(known[name]) == "false"}
    for name in ("Secure", "HttpOnly"):
        if name in missing:
            yield Change((with_field(source, node, name, "true"),), f"the cookie is {name}")
    edits = [with_field(source, node, name, value) for name, value in missing.items()]
    texts = "".join(edit.new for edit in edits if edit.start == edit.end)
    places = [edit for edit in edits if edit.start == edit.end][:1]
    together = [Edit(edit.start, edit.end, texts) for edit in places]
    yield Change((*together, *(edit for edit in edits if edit.start < edit.end)), "the cookie has its flags")


def rsa_bits(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    size = require_node(call.args[-1] if call.args else None, "the size is not here")
    if size.type == "identifier" and len(found := origins(source, size)) == 1 and found[0].value is not None:
        size = found[0].value
    if call.method != "GenerateKey" or size.type != "int_literal":
        raise RewriteRefused("the size is not written here")
    return Change((replace_node(size, "2048"),), "the key has 2048 bits; making it takes longer")


def weak_hash(source: Source, node: Node) -> Change:
    new = use_sha256(source, node)
    require_shown_only(source, node)
    return new


def use_sha256(source: Source, node: Node) -> Change:
    text = source.data.decode("utf-8", "replace")
    if DIGEST.search(text) or FIXED_SIZE.search(text):
        raise RewriteRefused("the file counts on the size or the digests of the old hash")
    call = read_call(source, node)
    old = call.name.rpartition(".")[0]
    new = {"Sum": "Sum256", "New": "New"}.get(call.method)
    if old not in ("crypto/md5", "crypto/sha1") or new is None:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    edits = (replace_node(callee, f"sha256.{new}"),)
    did = "SHA-256 takes the place of the broken hash; digests are longer"
    return Change((*edits, *swap_import(source, old, "crypto/sha256", edits)), did)


def html_template(source: Source, node: Node) -> Change:
    """html/template has the API of text/template and escapes by context."""
    spec = next((s for s in source.nodes("import_spec") if source.text(s) == '"text/template"'), None)
    if spec is None or "html/template" in imports(source).values():
        raise RewriteRefused("the import has a name of its own, or the other package is imported as well")
    if not re.search(rb"text/html|\.html\b|<(?:html|body|p|div|h\d|b|i|a|ul|li|table|span)\b", source.data):
        raise RewriteRefused("nothing says that the templates are pages")
    if IN_SCRIPT.search(source.data):
        raise RewriteRefused("a value stands in a script, where it would become a text in quotes")
    return Change((replace_node(spec, '"html/template"'),), "html/template escapes what is put into the page")


def _is_literal(node: Node) -> None:
    if node.type != "composite_literal":
        raise RewriteRefused("only a literal is rewritten")


REWRITES: dict[str, Rewrite] = {
    "go-read-header-timeout": header_timeout,
    "go-serve-no-timeout": serve,
    "go-tls-version": tls_version,
    "go-rsa-bits": rsa_bits,
    "go-weak-hash": weak_hash,
    "go-text-template": html_template,
}
CHOICES: dict[str, Choices] = {"go-cookie": cookie, "go-cookie-script": cookie}
