"""Disables external entities in XML parsers."""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import calls, read_call
from moot.scan.change import Change, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.text import with_argument
from moot.scan.strings import unwrap
from moot.scan.syntax import Source

DID = "the parser leaves external entities alone"
OFF = {"resolve_entities": "False", "no_network": "True"}
LXML = frozenset({"lxml.etree", "lxml.objectify"})
FEATURES = ("feature_external_ges", "feature_external_pes", "external-general-entities", "external-parameter-entities")


def close_parser(source: Source, node: Node) -> Iterator[Change]:
    call = read_call(source, node)
    if call.method == "XMLParser":
        yield Change(_options(source, node), DID)
        return
    parser = call.arg(1, "parser") or (_receiver(node) if call.name.rpartition(".")[0] not in LXML else None)
    if parser is None or (call.method == "iterparse" and call.name.startswith("lxml.")):
        yield Change((_own_parser(source, node),), DID)
    elif unwrap(parser).type == "call":
        yield Change(_options(source, unwrap(parser)), DID)
    else:
        yield Change(_set_options(source, unwrap(parser)), DID)


def _receiver(node: Node) -> Node | None:
    callee = node.child_by_field_name("function")
    return callee.child_by_field_name("object") if callee is not None else None


def _own_parser(source: Source, node: Node) -> Edit:
    """Adds a parser from the call's own module to a call without one."""
    call, etree = read_call(source, node), _receiver(node)
    if call.name.rpartition(".")[0] != "lxml.etree" or etree is None:
        raise RewriteRefused("the parser is made elsewhere")
    if call.method == "iterparse":
        return with_argument(source, node, "resolve_entities=False")
    return with_argument(source, node, f"parser={source.text(etree)}.XMLParser(resolve_entities=False)")


def _options(source: Source, made: Node) -> tuple[Edit, ...]:
    call = read_call(source, made)
    if call.method != "XMLParser" or any(arg.type == "dictionary_splat" for arg in call.args):
        raise RewriteRefused("the option is set in another way")
    edits = [replace_node(call.keywords[key], value) for key, value in OFF.items() if key in call.keywords]
    if "resolve_entities" not in call.keywords:
        edits.append(with_argument(source, made, "resolve_entities=False"))
    return tuple(edits)


def _set_options(source: Source, name: Node) -> tuple[Edit, ...]:
    """The options of a parser in a local variable."""
    found = origins(source, name) if name.type == "identifier" else []
    if len(found) != 1 or found[0].value is None or source.scope(found[0].node) is not source.scope(name):
        raise RewriteRefused("the parser is made elsewhere")
    made = unwrap(found[0].value)
    if made.type == "call" and read_call(source, made).method == "XMLParser":
        return _options(source, made)
    switched = [edit for call in calls(source).get("setFeature", ()) for edit in _switch_off(source, call.node, name)]
    if not switched:
        raise RewriteRefused("the option is set in another way")
    return tuple(switched)


def _switch_off(source: Source, node: Node, name: Node) -> Iterator[Edit]:
    thing, call = _receiver(node), read_call(source, node)
    ours = thing is not None and source.text(thing) == source.text(name) and source.scope(node) is source.scope(name)
    if ours and len(call.args) == 2 and source.text(call.args[0]).strip("'\"").endswith(FEATURES):
        yield replace_node(call.args[1], "False")
