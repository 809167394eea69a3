"""Switches settings of Python libraries to safe values."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import member, module
from moot.scan.python.rewrites.text import with_argument, without_argument
from moot.scan.rewrites.choices import is_chosen_by, leave_announced, leave_choices, leave_configured
from moot.scan.strings import constant_text, unwrap
from moot.scan.syntax import Source, inside

OLD_TLS = re.compile(r"\.PROTOCOL_(?:SSLv\d+|TLSv1(?:_1)?)$")
CHECKED = "certificates are checked"
LOCAL = re.compile(r"\blocalhost\b|127\.0\.0\.1|\[::1\]")
UNVERIFIED = re.compile(r"(?i)unverif|unsafe|peek|inspect|without")
SHARED_KEY = re.compile(r"(?i)(?:^|_)(?:secret(?:_?key)?|(?:jwt|signing|shared|app|verify|hmac|token)_?key|key)$")
CONSTANT = re.compile(r"(?m)^([A-Z_][A-Z0-9_]*)(?:\s*:[^=\n]+)?\s*=(?!=)")
PUBLIC = re.compile(r"(?i)public|pem|cert|jwk|rsa|ecdsa")
UNCHECKED = re.compile(r"\{\s*[\"']verify_signature[\"']\s*:\s*False\s*,?\s*\}")
SWITCHES = ("verify", "ssl", "verify_ssl")


def whole(call: SourceCall) -> SourceCall:
    """Refuses a call with `*args` or `**kwargs`."""
    if any(arg.type in ("dictionary_splat", "list_splat") for arg in call.args):
        raise RewriteRefused("the options are given elsewhere")
    return call


def archive(source: Source, node: Node) -> Change:
    """Uses Python's `data` filter: nothing outside the folder, no devices, no links that lead out."""
    call = whole(read_call(source, node))
    if call.method not in ("extractall", "extract") or "filter" in call.keywords:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    if is_chosen_by(source, node, r"extraction_filter|data_filter|version_info"):
        raise RewriteRefused("this runs where Python knows no filters")
    did = "members that lead out of the folder raise; owners and special permissions are not restored"
    return Change((with_argument(source, node, 'filter="data"'),), did)


def autoescape(source: Source, node: Node) -> Change:
    call, did = whole(read_call(source, node)), "templates of pages escape what is put into them"
    if "autoescape" in call.keywords:
        raise RewriteRefused("escaping was switched off on purpose: the templates may be no pages")
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    added: tuple[Edit, ...] = ()
    if callee.type == "attribute" and call.name.startswith("jinja2.") and call.name.count(".") == 1:
        select = f"{source.text(callee).rpartition('.')[0]}.select_autoescape"
    else:
        select, added = member(source, "jinja2", "select_autoescape", node)
    return Change((with_argument(source, node, f"autoescape={select}()"), *added), did)


def key_size(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name == "cryptography.hazmat.primitives.asymmetric.ec.generate_private_key":
        return _curve(source, require_node(call.arg(0, "curve"), "the curve is not here"))
    size = call.arg(1 if "cryptography" in call.name and ".dsa." not in call.name else 0, "key_size", "bits")
    if size is not None and size.type == "identifier":
        size = _find_default(source, size)
    if size is None or size.type != "integer":
        raise RewriteRefused("the size is not written here")
    return Change((replace_node(size, "2048"),), "the key has 2048 bits; making it takes longer")


def _find_default(source: Source, name: Node) -> Node | None:
    """The default of a parameter that nothing changes: whoever names no size gets it."""
    found = origins(source, name)
    given = source.scope(name).node.child_by_field_name("parameters")
    if len(found) != 1 or found[0].kind != "parameter" or given is None:
        return None
    for parameter in given.named_children:
        label = parameter.child_by_field_name("name")
        if label is not None and source.text(label) == source.text(name):
            return parameter.child_by_field_name("value")
    return None


def _curve(source: Source, curve: Node) -> Change:
    """A new key on the curve that every library knows."""
    made = curve.child_by_field_name("function") if curve.type == "call" else curve
    name = made.child_by_field_name("attribute") if made is not None else None
    if name is None:
        raise RewriteRefused("the curve is chosen elsewhere")
    return Change((replace_node(name, "SECP256R1"),), "the key lies on a curve of 256 bits")


def tls_version(source: Source, node: Node) -> Change:
    """TLS 1.2 or later if the context has a name, else TLS 1.2."""
    leave_choices(source, node, "the version")
    call = read_call(source, node)
    version = call.arg(0, "ssl_version", "protocol")
    if call.name != "ssl.SSLContext" or version is None or not OLD_TLS.search(source.text(version)):
        raise RewriteRefused("only the version of an ssl.SSLContext is rewritten")
    statement, holder = source.statement(node), node.parent
    local = source.text(version).rpartition(".")[0]
    left = holder.child_by_field_name("left") if holder is not None and holder.type == "assignment" else None
    did = "TLS 1.2 is the lowest version"
    if left is not None and left.type in ("identifier", "attribute") and statement is not None:
        line = source.data.rfind(b"\n", 0, statement.start_byte) + 1
        indent = source.slice(line, statement.start_byte)
        if not indent.strip():
            lowest = f"\n{indent}{source.text(left)}.minimum_version = {local}.TLSVersion.TLSv1_2"
            return Change(
                (replace_node(version, f"{local}.PROTOCOL_TLS"), Edit(node.end_byte, node.end_byte, lowest)), did
            )
    if "SSLv23" in source.text(version):
        raise RewriteRefused("the lowest version is set where the context has a name")
    return Change((replace_node(version, f"{local}.PROTOCOL_TLSv1_2"),), "TLS 1.2 is spoken")


def host_key(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    policy = require_node(call.arg(0, "policy"), "the policy is not here")
    name = policy.child_by_field_name("function") or policy
    word = name.child_by_field_name("attribute")
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    client = require_node(callee.child_by_field_name("object"), "the client has no name")
    if word is None or source.text(word) not in ("AutoAddPolicy", "WarningPolicy") or client.type == "call":
        raise RewriteRefused("the policy is not written here")
    if not any(name in calls(source) for name in ("load_system_host_keys", "load_host_keys")):
        raise RewriteRefused("the program loads no list of known hosts, so every host would be refused")
    return Change((replace_node(word, "RejectPolicy"),), "a host must be among the known ones; others are refused")


def token(source: Source, node: Node) -> Iterator[Change]:
    """Verifies the signature with the key given; drops `none` if other algorithms are listed."""
    call = whole(read_call(source, node))
    leave_choices(source, node, "whether the signature is checked")
    if UNVERIFIED.search(source.scope(node).name):
        raise RewriteRefused("the name says that the token is read unchecked on purpose")
    if call.method != "decode":
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    key = call.arg(1, "key")
    if key is None or source.text(key) in ("None", '""', "''"):
        yield _give_key(source, call, key)
        return
    did = "the signature of the token is checked"
    named = unwrap(call.keywords["algorithms"]) if "algorithms" in call.keywords else None
    if named is not None and named.type == "list":
        kept = [n for n in named.named_children if (constant_text(source, n) or "").lower() != "none"]
        if kept and len(kept) < len(named.named_children):
            new = f"[{', '.join(source.text(n) for n in kept)}]"
            yield Change((replace_node(named, new),), "a token without a signature is refused")
            return
    if named is None and len(call.args) < 3:
        yield from _name_algorithms(source, call, key, did)
        return
    switched = [Change((edit,), did) for edit in _switch_on(source, call, named is not None)]
    if not switched:
        raise RewriteRefused("it cannot be told which algorithms are meant")
    yield from switched


def _give_key(source: Source, call: SourceCall, empty: Node | None) -> Change:
    """The secret that the function was given and does nothing with."""
    if call.name != "jwt.decode" or len(call.args) != 1 + (empty is not None and empty in call.args):
        raise RewriteRefused("the key to check the signature with is not here")
    scope = source.scope(call.node)
    block = scope.node.child_by_field_name("body")
    body = source.text(block) if block is not None else ""
    named = [word for word in sorted(scope.parameters) if SHARED_KEY.search(word)]
    used = [word for word in named if re.search(rf"\b{word}\b", re.sub(r'\A"""(?s:.*?)"""', "", body))]
    if not body or used or len(named) > 1:
        raise RewriteRefused("the key to check the signature with is not here")
    named = named or _find_signing_key(source, call)
    if "algorithms" in call.keywords:
        raise RewriteRefused("it cannot be told which algorithms are meant")
    listed = f"algorithms=[{', '.join(_list_families(source, named[0]))}]"
    options = call.keywords.get("options")
    if options is not None and not UNCHECKED.fullmatch(source.text(options)):
        raise RewriteRefused("the options say more than whether the signature is checked")
    key = named[0] if empty is None else ""
    edits = [replace_node(empty, named[0])] if empty is not None else []
    if options is None:
        edits.append(with_argument(source, call.node, ", ".join(part for part in (key, listed) if part)))
    else:
        keyword = require_node(options.parent, "none")
        edits.append(replace_node(keyword, listed))
        if key:
            edits.append(Edit(call.args[0].end_byte, call.args[0].end_byte, f", {key}"))
    return Change(tuple(edits), f"the signature of the token is checked with {named[0]}")


def _find_signing_key(source: Source, call: SourceCall) -> list[str]:
    """The one key that tokens are signed with in this file, if it is kept where this function reads it too."""
    signed = [other.arg(1, "key") for other in calls(source).get("encode", ()) if other.name == "jwt.encode"]
    keys = {source.text(key) for key in signed if key is not None}
    if not signed:
        keys = {name for name in CONSTANT.findall(source.text(source.root)) if SHARED_KEY.search(name)}
    key = keys.pop() if len(keys) == 1 else ""
    constant = re.search(rf"(?m)^{re.escape(key)}(?:\s*:[^=\n]+)?\s*=", source.text(source.root)) is not None
    if re.fullmatch(r"[A-Z_][A-Z0-9_]*", key) and constant:
        return [key]
    own = re.fullmatch(r"self\.\w+", key) is not None and "self" in source.scope(call.node).parameters
    classes = {_find_class(other.node) for other in calls(source).get("encode", ()) if other.name == "jwt.encode"}
    if own and classes == {_find_class(call.node)}:
        return [key]
    raise RewriteRefused("the key to check the signature with is not here")


def _find_class(node: Node) -> int:
    """Where the class around it begins; -1 outside of classes."""
    outer: Node | None = node
    while outer is not None and outer.type != "class_definition":
        outer = outer.parent
    return outer.start_byte if outer is not None else -1


def _list_families(source: Source, key: str) -> list[str]:
    if PUBLIC.search(key) or re.search(rb"\b[REP]S(?:256|384|512)\b", source.data):
        raise RewriteRefused("it cannot be told which algorithms are meant")
    made = sorted(set(re.findall(r"\bHS(?:256|384|512)\b", source.data.decode("utf-8", "replace"))))
    return [f'"{name}"' for name in made or ("HS256", "HS384", "HS512")]


def _name_algorithms(source: Source, call: SourceCall, key: Node, did: str) -> Iterator[Change]:
    """The family of the key: one secret for both sides, unless a name or the file speaks of a public key. A key of
    another kind is refused by the library, so no forged token passes."""
    if call.name.split(".")[0] != "jwt":
        raise RewriteRefused("it cannot be told which algorithms are meant")
    listed = ", ".join(_list_families(source, source.text(key)))
    options = call.keywords.get("options")
    switches = [edit for edit in _switch_on(source, call, True)]
    if options is not None and UNCHECKED.fullmatch(source.text(options)):
        switches = [Edit(require_node(options.parent, "none").start_byte, options.end_byte, f"algorithms=[{listed}]")]
    else:
        switches.append(with_argument(source, call.node, f"algorithms=[{listed}]"))
    yield Change(tuple(switches), did)


def _switch_on(source: Source, call: SourceCall, with_algorithms: bool) -> Iterator[Edit]:
    options = call.keywords.get("options")
    for pair in options.named_children if options is not None and options.type == "dictionary" else ():
        name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if value is not None and constant_text(source, name) == "verify_signature" and with_algorithms:
            yield replace_node(value, "True")
    given = call.keywords.get("verify")
    if given is not None:
        yield without_argument(source, given)


def tls(source: Source, node: Node) -> Change:
    leave_choices(source, node, "whether certificates are checked")
    leave_announced(source, node, "the check of certificates")
    leave_configured(source, node)
    if LOCAL.search(source.text(node)):
        raise RewriteRefused("a server on the same machine has seldom a certificate that can be checked")
    if node.type == "assignment":
        right = require_node(node.child_by_field_name("right"), "nothing is assigned")
        text = source.text(right)
        new = text.replace("CERT_NONE", "CERT_REQUIRED").replace("_create_unverified_context", "create_default_context")
        edits = (*_host_checks(source, node), *_load_authorities(source, node, right))
        return Change((replace_node(right, "True" if text == "False" else new), *edits), CHECKED)
    call = read_call(source, node)
    if call.name == "ssl._create_unverified_context":
        local, added = module(source, "ssl", node)
        callee = require_node(node.child_by_field_name("function"), "the call has no name")
        if call.args or call.keywords:
            raise RewriteRefused("the context is made with options of its own")
        return Change((replace_node(callee, f"{local}.create_default_context"), *added), CHECKED)
    if (demand := call.keywords.get("cert_reqs")) is not None:
        return Change((replace_node(demand, '"CERT_REQUIRED"'),), CHECKED)
    given = next((call.keywords[name] for name in SWITCHES if name in call.keywords), None)
    return Change((without_argument(source, require_node(given, "verify is not here")),), CHECKED)


def _load_authorities(source: Source, node: Node, right: Node) -> Iterator[Edit]:
    """A bare context knows no authority, so it would refuse every certificate."""
    left = require_node(node.child_by_field_name("left"), "nothing is assigned")
    thing, statement = left.child_by_field_name("object"), source.statement(node)
    if thing is None or statement is None or not source.text(left).endswith(".verify_mode"):
        return
    name, around = re.escape(source.text(thing)), source.text(source.scope(node).node)
    if re.search(rf"\b{name}\s*=\s*(?:ssl\.)?SSLContext\(", around) and not re.search(rf"\b{name}\.load_\w+", around):
        line = source.data.rfind(b"\n", 0, statement.start_byte) + 1
        indent = source.slice(line, statement.start_byte)
        yield Edit(right.end_byte, right.end_byte, f"\n{indent}{source.text(thing)}.load_default_certs()")


def _host_checks(source: Source, node: Node) -> Iterator[Edit]:
    """A verified certificate must also match the host."""
    left = require_node(node.child_by_field_name("left"), "nothing is assigned")
    thing = left.child_by_field_name("object")
    if thing is None or not source.text(left).endswith(".verify_mode"):
        return
    wanted = f"{source.text(thing)}.check_hostname"
    for other in inside(source.scope(node).node, 50_000):
        if other.type != "assignment":
            continue
        name, value = other.child_by_field_name("left"), other.child_by_field_name("right")
        if name is not None and value is not None and source.text(name) == wanted and source.text(value) == "False":
            yield replace_node(value, "True")


REWRITES: dict[str, Rewrite] = {
    "python-archive": archive,
    "python-autoescape": autoescape,
    "python-key-size": key_size,
    "python-tls-version": tls_version,
    "python-ssh-host-key": host_key,
    "python-tls-verify": tls,
}
CHOICES: dict[str, Choices] = {"python-jwt": token}
