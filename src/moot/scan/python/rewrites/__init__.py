"""Rewrites of Python code that preserve its behaviour."""

import re

from tree_sitter import Node

from moot.scan.calls import SourceCall, calls, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import module, serves_python_2
from moot.scan.python.rewrites.text import without_argument
from moot.scan.rewrites.choices import leave_choices
from moot.scan.rewrites.digests import require_shown_only
from moot.scan.strings import STRINGS, build, constant_text, quotes
from moot.scan.syntax import MODULE, Source, inside

EXPRESSION = re.compile(
    r"(?i)expr|formula|calc|comput|equation|code|script|cmd|command|src|func|lambda|rule|condition|query|"
    r"statement|program|math|evaluat"
)
LITERAL = re.compile(r"(?i)literal|list|dict|tuple|array|json|config|setting|option|value|number|data|coord|point|row")
HEX_DIGEST = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}")


def evaluate(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.method != "eval" or len(call.args) != 1 or call.keywords:
        raise RewriteRefused("code that is run cannot be replaced by data")
    if build(source, call.args[0]).holes and len(build(source, call.args[0]).pieces) > 1:
        raise RewriteRefused("the text is put together as code")
    hints = [source.scope(node).name, *(source.text(n) for n in inside(call.args[0], 60) if n.type == "identifier")]
    if any(EXPRESSION.search(word) for word in hints if word != MODULE):
        raise RewriteRefused("the names say that more than a literal is wanted")
    if not any(LITERAL.search(word) for word in hints if word != MODULE):
        raise RewriteRefused("nothing says that only a literal is wanted")
    if node.parent is not None and node.parent.type in ("attribute", "call"):
        raise RewriteRefused("the result is used as an object with behaviour")
    local, added = module(source, "ast", node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    return Change(
        (replace_node(callee, f"{local}.literal_eval"), *added, *_catch_refusal(source, node)),
        "only literals are read; anything else raises ValueError",
    )


def _catch_refusal(source: Source, node: Node) -> tuple[Edit, ...]:
    """Who caught the NameError of a word that is no literal catches the ValueError that it is now."""
    outer: Node | None = node
    while outer is not None and outer.type not in ("try_statement", "function_definition"):
        outer = outer.parent
    handlers = [n for n in outer.named_children if n.type == "except_clause"] if outer is not None else []
    for handler in handlers:
        kind = handler.named_children[0] if handler.named_children else None
        caught = re.findall(r"\w+", source.text(kind)) if kind is not None and kind.type != "block" else ["Exception"]
        if not {"ValueError", "Exception", "BaseException"}.isdisjoint(caught):
            return ()
        if kind is not None and "NameError" in caught and kind.type in ("tuple", "identifier"):
            names = source.text(kind).strip("()").rstrip(", ")
            return (replace_node(kind, f"({names}, ValueError)"),)
    return ()


def yaml_load(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    _plain_documents(source, call)
    safe = "safe_load_all" if call.method.endswith("_all") else "safe_load"
    local, added = module(source, "yaml", node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    edits = [replace_node(callee, f"{local}.{safe}"), *added]
    if loader := call.keywords.get("Loader"):
        edits.append(without_argument(source, loader))
    elif len(call.args) == 2:
        edits.append(Edit(call.args[0].end_byte, call.args[1].end_byte))
    return Change(tuple(edits), f"yaml.{safe} builds plain data only")


def _plain_documents(source: Source, call: SourceCall) -> None:
    """The program's own documents may need the full loader."""
    loader = call.arg(1, "Loader")
    named = source.text(loader) if loader is not None else ""
    if "nsafe" in named or call.method.startswith("unsafe"):
        raise RewriteRefused("the unsafe loader was asked for by name, so on purpose")
    if named and named.rpartition(".")[2].removeprefix("C") not in ("Loader", "FullLoader"):
        raise RewriteRefused("the loader is one of its own")
    if source.project.says(
        r"\badd_(?:multi_)?(?:constructor|representer|implicit_resolver)\(|\bYAMLObject\b|\byaml_tag\b"
    ):
        raise RewriteRefused("the project has tags of its own, which the safe loader does not know")
    if source.project.says(r"\byaml\.dump(?:_all)?\("):
        raise RewriteRefused(
            "the project writes documents with yaml.dump, which may name objects that the safe loader refuses"
        )


def _no_stored_digest(source: Source) -> None:
    for string in source.nodes(*STRINGS):
        text = constant_text(source, string)
        if text is not None and HEX_DIGEST.fullmatch(text):
            raise RewriteRefused("the file holds a digest that the new hash would not match")


def weak_hash(source: Source, node: Node) -> Change:
    _no_stored_digest(source)
    require_shown_only(source, node)
    return use_sha256(source, node)


def use_sha256(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name == "hashlib.new":
        name = require_node(call.arg(0), "the algorithm is not here")
        opening, closing = quotes(source, name)
        return Change((replace_node(name, f"{opening}sha256{closing}"),), "SHA-256 takes the place of the broken hash")
    if call.name not in ("hashlib.md5", "hashlib.sha1"):
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    local, added = module(source, "hashlib", node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    return Change(
        (replace_node(callee, f"{local}.sha256"), *added),
        "SHA-256 takes the place of the broken hash; digests are longer",
    )


def _switch(name: str, value: str, did: str) -> Rewrite:
    """Changes the value of a keyword argument."""

    def rewrite(source: Source, node: Node) -> Change:
        callee = node.child_by_field_name("function")
        if node.type == "call" and (callee is None or callee.type != "attribute"):
            raise RewriteRefused("what is run is not known to be an app of the framework")
        leave_choices(source, node, "the switch")
        if node.type == "assignment":
            return Change(
                (replace_node(require_node(node.child_by_field_name("right"), "nothing is assigned"), value),), did
            )
        return Change(
            (replace_node(require_node(read_call(source, node).keywords.get(name), f"{name} is not here"), value),), did
        )

    return rewrite


def random_secret(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if not call.name.startswith("random."):
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    if source.project.says(r"\brandom\.seed\(") or any(c.name == "random.seed" for c in calls(source).get("seed", ())):
        raise RewriteRefused("the numbers are seeded so that they can be repeated")
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    did = "the system's secure random source is used"
    if serves_python_2(source) and callee.type == "attribute" and call.method != "randbytes":
        local = source.text(require_node(callee.child_by_field_name("object"), "the call has no name"))
        return Change((replace_node(callee, f"{local}.SystemRandom().{call.method}"),), did)
    local, added = module(source, "secrets", node)
    same = {"choice": "choice", "getrandbits": "randbits", "randbytes": "token_bytes"}
    plain = same.get(call.method) if not call.keywords else None
    name = plain or f"SystemRandom().{call.method}"
    return Change((replace_node(callee, f"{local}.{name}"), *added), did)


REWRITES: dict[str, Rewrite] = {
    "python-eval": evaluate,
    "python-yaml-load": yaml_load,
    "python-weak-hash": weak_hash,
    "python-debug": _switch("debug", "False", "the debugger is off"),
    "python-weak-random": random_secret,
}
