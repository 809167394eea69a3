"""Makes Go values fit where they are used: secrets, random numbers, modes of files, sizes, addresses."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import calls, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.answers import find_comment, find_line, refuse, write_check
from moot.scan.go.rewrites.module import drop_import, is_left_unused, names, package
from moot.scan.go.rewrites.types import is_text
from moot.scan.rewrites.choices import leave_own_host
from moot.scan.rewrites.modes import keep_to_owner
from moot.scan.strings import constant_text
from moot.scan.syntax import Source, inside

LOCAL = """

// localAddress returns the address if it stays on this host, else the start page.
func localAddress(address, host string) string {
	clean := strings.ReplaceAll(strings.TrimSpace(address), "\\\\", "/")
	target, err := url.Parse(clean)
	if err != nil || target.Opaque != "" {
		return "/"
	}
	if target.Host == host && (target.Scheme == "http" || target.Scheme == "https") {
		return clean
	}
	if target.Host != "" || target.Scheme != "" || strings.HasPrefix(clean, "//") {
		return "/"
	}
	return clean
}
"""
HOSTS = re.compile(r"https?://\w|(?i:allowed|trusted|whitelist|allow_?list)|\.Host(?:name\(\))?\s*[!=]=")
"""Hosts that the function names, or asks for."""
END = "the host ends where the text does: a path must follow"
LIMITS = {
    "int8": "math.MinInt8 math.MaxInt8", "int16": "math.MinInt16 math.MaxInt16", "int32": "math.MinInt32 math.MaxInt32",
    "uint8": "0 math.MaxUint8", "byte": "0 math.MaxUint8", "uint16": "0 math.MaxUint16", "uint32": "0 math.MaxUint32",
}  # fmt: skip
SIGNED = frozenset({"strconv.Atoi", "strconv.ParseInt"})


def compare_secret(source: Source, node: Node) -> Change:
    subtle, added = package(source, "crypto/subtle")
    did = "the comparison takes the same time wherever the two differ"
    if node.type == "call_expression" and read_call(source, node).name == "bytes.Equal":
        left, right = read_call(source, node).args
        new = f"{subtle}.ConstantTimeCompare({source.text(left)}, {source.text(right)}) == 1"
        edits = (replace_node(node, f"({new})"),)
        unused = drop_import(source, "bytes") if is_left_unused(source, "bytes", edits) else ()
        return Change((*edits, *added, *unused), did)
    left, right = (require_node(node.child_by_field_name(side), "nothing is compared") for side in ("left", "right"))
    operator = source.text(require_node(node.child_by_field_name("operator"), "nothing is compared"))
    if operator not in ("==", "!=") or not (is_text(source, left) or is_text(source, right)):
        raise RewriteRefused("it cannot be told whether texts are compared")
    sides = f"[]byte({source.text(left)}), []byte({source.text(right)})"
    return Change((replace_node(node, f"{subtle}.ConstantTimeCompare({sides}) {operator} 1"), *added), did)


def _at_end(source: Source, text: str) -> Edit:
    end = len(source.data.rstrip())
    return Edit(end, len(source.data), text)


def fill_nonce(source: Source, node: Node) -> Change:
    """A nonce that travels with the message can be drawn afresh: whoever reads the message takes it from there."""
    for name in (n for n in inside(node, 200) if n.type == "identifier"):
        found = origins(source, name)
        if len(found) == 1 and found[0].value is not None and _is_empty_bytes(source, found[0].value):
            word, line = source.text(name), find_line(found[0].node)
            break
    else:
        raise RewriteRefused("the nonce is made elsewhere")
    body = source.text(source.scope(node).node)
    sent = rf"\bSeal\(\s*{word}\s*,\s*{word}\b|\bappend\(\s*{word}\s*,|\breturn [^\n]*\b{word}\b[^\n(]*,"
    if not re.search(sent, body) or re.search(rf"\bcopy\(\s*{word}\b|\bReadFull\([^,]*,\s*{word}\b", body):
        raise RewriteRefused("the nonce does not travel with the message, so the other side could not read it")
    rand, added = package(source, "crypto/rand")
    answer = refuse(source, node, "err")
    check = write_check(source, line, f"_, err := {rand}.Read({word}); err != nil", answer, after=True)
    return Change((check, *added), "the nonce is drawn afresh for each message")


def _is_empty_bytes(source: Source, node: Node) -> bool:
    return node.type == "call_expression" and source.text(node).startswith("make([]byte,")


def restrict_mode(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    about = find_comment(source, node)
    if call.name == "os.Create" and len(call.args) == 1:
        keep_to_owner(source, node, 0o666, about)
        system, path = source.text(node).partition(".")[0], source.text(call.args[0])
        new_call = f"{system}.OpenFile({path}, {system}.O_RDWR|{system}.O_CREATE|{system}.O_TRUNC, 0o600)"
        return Change((replace_node(node, new_call),), "the mode is 600")
    given = require_node(call.args[-1] if call.args else None, "the mode is not here")
    if given.type != "int_literal":
        raise RewriteRefused("the mode is not written here")
    new = keep_to_owner(source, node, int(source.text(given).replace("0o", "0"), 8), about)
    prefix = "0o" if "0o" in source.text(given) else "0"
    return Change((replace_node(given, f"{prefix}{new:o}"),), f"the mode is {new:o}")


def check_size(source: Source, node: Node) -> Change:
    """A number that does not fit is refused before it is converted."""
    call = read_call(source, node)
    value = require_node(call.args[0] if len(call.args) == 1 else None, "the number is not here")
    limits = LIMITS.get(call.name)
    bound = origins(source, value)[-1:] if value.type == "identifier" else []
    origin = bound[0].value if bound else None
    if limits is None or origin is None or origin.type != "call_expression":
        raise RewriteRefused("the number is worked out elsewhere")
    if read_call(source, origin).name not in SIGNED:
        raise RewriteRefused("the number is worked out elsewhere")
    low, high = limits.split()
    _, added = package(source, "math")
    test = f"{source.text(value)} < {low} || {source.text(value)} > {high}"
    check = write_check(source, find_line(node), test, refuse(source, node, "strconv.ErrRange"))
    return Change((check, *added), f"a number that does not fit into {call.name} is refused")


SENT = re.compile(r"\.(?:FormValue|PostFormValue|PathValue|Query|QueryParam|Param|Referer|Get|Cookie|Vars)\(|\.Form\[")


def stay_local(source: Source, node: Node) -> Change:
    target, request = _find_target(source, node)
    if HOSTS.search(source.text(source.scope(node).node)):
        raise RewriteRefused("other hosts are named here, and visitors may be sent there")
    known = LOCAL.strip().encode() in source.data
    if not known and "localAddress" in names(source) | source.project.defined:
        raise RewriteRefused("'localAddress' means something else here")
    leave_own_host(source, target)
    bound = origins(source, target) if target.type == "identifier" else []
    if not any(SENT.search(source.text(value)) for value in (target, *(each.value for each in bound if each.value))):
        raise RewriteRefused("nothing here reads the address from a request")
    _, first = package(source, "net/url")
    _, second = package(source, "strings")
    written = () if known else (*first, *second, _at_end(source, LOCAL))
    new = replace_node(target, f"localAddress({source.text(target)}, {request}.Host)")
    return Change((new, *written), "visitors are only sent to pages of the same host")


def _find_target(source: Source, node: Node) -> tuple[Node, str]:
    """The address, and the name of the request: its host is ours."""
    call = read_call(source, node)
    if call.name == "net/http.Redirect" and len(call.args) == 4:
        return call.args[2], source.text(call.args[1])
    parameters = source.scope(node).node.child_by_field_name("parameters")
    given = re.search(r"(\w+) \*\w+\.Request\b", source.text(parameters)) if parameters is not None else None
    if call.method not in ("Set", "Add") or len(call.args) != 2 or given is None:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    return call.args[1], given[1]


def end_host(source: Source, node: Node) -> Iterator[Change]:
    """`strings.HasPrefix(to, "https://our.example")` lets `https://our.example.evil` through: a path must follow."""
    target, _ = _find_target(source, node)
    scope = source.scope(node)
    for call in calls(source).get("HasPrefix", ()):
        wanted = constant_text(source, call.args[1]) if len(call.args) == 2 else None
        mine = source.scope(call.node) is scope and source.text(call.args[0]) == source.text(target)
        if mine and wanted is not None and re.fullmatch(r"https?://[\w.-]+(?::\d+)?", wanted):
            end = call.args[1].end_byte - 1
            yield Change((replace_node(call.args[0], f'{source.text(target)}+"/"'), Edit(end, end, "/")), END)


REWRITES: dict[str, Rewrite] = {
    "go-timing": compare_secret,
    "go-static-iv": fill_nonce,
    "go-file-mode": restrict_mode,
    "go-private-mode": restrict_mode,
    "go-integer-overflow": check_size,
    "go-open-redirect": stay_local,
}
CHOICES: dict[str, Choices] = {"go-open-redirect": end_host}
