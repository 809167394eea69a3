"""Constructs that hide code from the scan: dynamic lookups, generated code, suppressions.

Given code may contain some. A patch may not add any: hiding a flaw from the scan does not fix it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from tree_sitter import Node

from moot.core.types import Language, ScanBlindSpot
from moot.scan.calls import CALLS, MEMBERS, SourceCall, imports, qualify_name, read_call
from moot.scan.engine.rules import BOOKS
from moot.scan.strings import STRINGS
from moot.scan.suppressions import COMMENT
from moot.scan.syntax import Source, words

MAX_SPOTS = 2000
MAX_TEXT = 160
Found = tuple[Node, str]

MADE = "code is made of text while it runs"
LOOKED_UP = "a name is looked up by a value"
LOADED = "a module is named by a value"
HANDED_ON = "a function that can do harm is handed on as a value"
INSIDES = "it reaches into the language's own tables"
NATIVE = "it calls code that the scan cannot read"
REPLACED = "a part of a library is replaced"
MADE_UP = "attributes are made up when they are asked for"
STAR = "names are imported that are not written down"
SPELLED = "a name is spelled so that readers and the scan take it for another"
UNSEEN = "characters that cannot be seen"
SILENCED = "a finding is suppressed"
ENCODED = "the file says that it is written in another alphabet"

PYTHON_MADE = words(
    "exec eval compile execfile builtins.exec builtins.eval builtins.compile types.FunctionType types.CodeType "
    "code.InteractiveInterpreter code.InteractiveConsole code.interact codeop.compile_command runpy.run_path "
    "runpy.run_module timeit.timeit timeit.repeat timeit.Timer cProfile.run profile.run pdb.run pdb.runeval "
    "marshal.loads marshal.load pickle.loads pickle.load dill.loads dill.load cloudpickle.loads jsonpickle.decode "
    "imp.load_source imp.load_module importlib.util.spec_from_file_location importlib.util.module_from_spec "
    "importlib.machinery.SourceFileLoader typing.get_type_hints doctest.run_docstring_examples"
)
PYTHON_LOOKS = {
    **dict.fromkeys(words("getattr setattr delattr inspect.getattr_static object.__getattribute__"), 1),
    **dict.fromkeys(words("operator.attrgetter operator.methodcaller operator.itemgetter"), 0),
}
PYTHON_LOADS = words("__import__ importlib.import_module importlib.__import__ importlib.reload pkgutil.resolve_name")
PYTHON_TABLES = words("globals locals vars dir")
PYTHON_INSIDES = words(
    "__globals__ __builtins__ __subclasses__ __code__ __closure__ __getattribute__ __mro__ __bases__ __loader__ "
    "__reduce__ __reduce_ex__ f_globals f_locals f_builtins gi_frame cr_frame tb_frame func_globals __wrapped__"
)
PYTHON_NATIVE = words("ctypes cffi _posixsubprocess _ctypes gc sys.settrace sys.setprofile sys._getframe sys.meta_path")
PYTHON_BUILTINS = words("getattr setattr eval exec compile __import__ globals locals vars")
MAKERS = words("__getattr__ __getattribute__ __class_getitem__ __missing__ __init_subclass__ __set_name__")
JS_MADE = words(
    "eval Function new:Function window.eval global.eval globalThis.eval vm.runInThisContext vm.runInNewContext "
    "vm.runInContext vm.compileFunction new:vm.Script new:Worker process.binding process.dlopen "
    "new:WebAssembly.Module WebAssembly.instantiate WebAssembly.compile v8.deserialize"
)
JS_LOADS = words("require import module.require process.mainModule.require process.getBuiltinModule")
JS_TABLES = words("globalThis global window self process module exports require")
JS_INSIDES = words("constructor __proto__ mainModule getBuiltinModule createRequire __defineGetter__ caller callee")
GO_NATIVE = words("plugin unsafe C")
GO_LOOKS = words("MethodByName FieldByName Call CallSlice Method")
HARM = frozenset({"shell", "code", "deserialise", "template"})
COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
ODD = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b\x0e-\x1f\x7f\u2028\u2029]")
ODD_NAME = re.compile(rb"(?<!\w)\w*+(?:[\x80-\xff]|\\u)[\w\x80-\xff\\{}]*")
LINK = re.compile(r"^//(?:go:linkname|export|go:build\s+ignore)\b")


def blind_spots(source: Source) -> tuple[ScanBlindSpot, ...]:
    reader = {"python": _python, "go": _go}.get(source.language, _javascript)
    found = [*reader(source), *_everywhere(source)]
    ordered = sorted(found, key=lambda spot: (spot[0].start_byte, spot[1]))
    unique = {(node.start_byte, node.end_byte, what): (node, what) for node, what in ordered}
    return tuple(_spot(source, node, what) for node, what in list(unique.values())[:MAX_SPOTS])


def _spot(source: Source, node: Node, what: str) -> ScanBlindSpot:
    text = what if node.id == source.root.id else " ".join(source.text(node).split())[:MAX_TEXT]
    return ScanBlindSpot(file=source.path, line=node.start_point[0] + 1, what=what, text=text)


def _everywhere(source: Source) -> Iterator[Found]:
    for node in source.nodes("comment"):
        text = source.text(node)
        if COMMENT.search(text):
            yield node, SILENCED
        elif source.language == "go" and LINK.match(text):
            yield node, NATIVE
    if ODD.search(source.data.decode("utf-8", "replace")[1:]):
        yield source.root, UNSEEN
    yield from _values(source)


def _values(source: Source) -> Iterator[Found]:
    """Dangerous functions used as values, and names that were rebound."""
    values, known = _harmful(source.language), imports(source)
    lasts = {name.rpartition(".")[2] for name in values}
    for node in source.nodes(*(kind for kind in MEMBERS if kind != "qualified_type")):
        member = node.child_by_field_name(MEMBERS[node.type][1])
        if (
            member is not None
            and source.text(member) in lasts
            and _is_value(node)
            and qualify_name(source, node) in values
        ):
            yield node, HANDED_ON
    local = {word for word, origin in known.items() if origin in values} | {name for name in values if "." not in name}
    local |= PYTHON_BUILTINS if source.language == "python" else set()
    wanted = re.compile(rb"(?<![\w.\\])(?:" + b"|".join(re.escape(w.encode()) for w in sorted(local)) + rb")(?!\w)")
    for match in wanted.finditer(source.data) if local else ():
        word = _identifier(source, match.start(), match.end())
        if word is not None and _is_value(word):
            yield word, HANDED_ON
    for match in ODD_NAME.finditer(source.data):
        word = _identifier(source, match.start(), match.end())
        if word is not None and _is_misspelled(source.text(word)):
            yield word, SPELLED


def _identifier(source: Source, start: int, end: int) -> Node | None:
    """The identifier at exactly this span; None inside a string or comment."""
    node = source.root.descendant_for_byte_range(start, end)
    return node if node is not None and node.type.endswith("identifier") and not node.child_count else None


def _is_misspelled(word: str) -> bool:
    return "\\" in word or unicodedata.normalize("NFKC", word) != word


def _is_value(node: Node) -> bool:
    """Whether a function is referenced as a value: not called, not a receiver, not imported or defined here."""
    around = node.parent
    if around is None or around.type in IMPORTING or around.type in MEMBERS:
        return False
    if around.type in CALLS and _same(around.child_by_field_name("function"), node):
        return False
    if around.type == "new_expression" and _same(around.child_by_field_name("constructor"), node):
        return False
    if around.type == "arguments" and _is_promised(around):
        return False
    return not any(_same(around.child_by_field_name(field), node) for field in ("name", "left", "key", "property"))


def _is_promised(given: Node) -> bool:
    """`const run = promisify(execFile)`: the scan follows the function under its new name."""
    call = given.parent
    maker = call.child_by_field_name("function") if call is not None else None
    named = maker is not None and re.fullmatch(rb"(?:util\.)?promisify", maker.text or b"") is not None
    kept = call.parent if call is not None else None
    return named and kept is not None and kept.type == "variable_declarator"


IMPORTING = words(
    "dotted_name aliased_import import_statement import_from_statement import_specifier namespace_import import_clause "
    "import_spec package_clause parameters formal_parameters lambda_parameters typed_parameter default_parameter "
    "parameter_declaration global_statement nonlocal_statement keyword_argument_name type qualified_type"
)


def _same(left: Node | None, right: Node) -> bool:
    return left is not None and left.start_byte == right.start_byte and left.end_byte == right.end_byte


@cache
def _harmful(language: Language) -> frozenset[str]:
    """Full names of the functions that are sinks."""
    return frozenset(
        name
        for name, sinks in BOOKS[language].sinks.items()
        if not name.startswith(".") and "(" not in name and any(sink.kind in HARM for sink in sinks)
    )


def _is_literal(node: Node | None) -> bool:
    """A string literal without interpolation."""
    if node is None or node.type not in STRINGS:
        return False
    return not any(child.type in ("interpolation", "template_substitution") for child in node.named_children)


def _calls(source: Source) -> Iterator[SourceCall]:
    for node in source.nodes(*CALLS):
        yield read_call(source, node)


# Python.


def _python(source: Source) -> Iterator[Found]:
    for line in source.data.split(b"\n", 2)[:2]:
        cookie = COOKIE.match(line)
        if cookie and cookie[1].lower().replace(b"_", b"-") not in (b"utf-8", b"utf8", b"ascii", b"us-ascii"):
            yield source.root, ENCODED
    yield from _python_uses(source)
    yield from _python_names(source)
    yield from _find_replaced(source, "assignment", "augmented_assignment")


def _python_uses(source: Source) -> Iterator[Found]:
    for call in _calls(source):
        if what := _python_call(call):
            yield call.node, what
    for node in source.nodes("subscript"):
        if _is_table(source, node):
            yield node, LOOKED_UP
    for node in source.nodes("attribute"):
        name = node.child_by_field_name("attribute")
        if name is not None and source.text(name) in PYTHON_INSIDES:
            yield node, INSIDES


def _python_names(source: Source) -> Iterator[Found]:
    for node in source.nodes("import_from_statement"):
        if any(child.type == "wildcard_import" for child in node.named_children):
            yield node, STAR
    for node in source.nodes("import_statement", "import_from_statement"):
        if any(name.split(".")[0] in PYTHON_NATIVE for name in _list_imports(source, node)):
            yield node, NATIVE
    for node in source.nodes("function_definition"):
        name = node.child_by_field_name("name")
        if name is not None and source.text(name) in MAKERS:
            yield name, MADE_UP


def _list_imports(source: Source, node: Node) -> list[str]:
    module = node.child_by_field_name("module_name")
    return [source.text(part) for part in ([module] if module is not None else node.children_by_field_name("name"))]


def _python_call(call: SourceCall) -> str:
    name = call.name
    if name in PYTHON_MADE:
        return MADE
    if name in PYTHON_LOOKS and not _is_literal(call.arg(PYTHON_LOOKS[name])):
        return LOOKED_UP
    if call.method == "__getattribute__" and not _is_literal(call.args[-1] if call.args else None):
        return LOOKED_UP
    if name in PYTHON_LOADS and not _is_literal(call.arg(0, "name")):
        return LOADED
    return NATIVE if name in PYTHON_NATIVE or name.split(".")[0] in PYTHON_NATIVE else ""


def _is_table(source: Source, node: Node) -> bool:
    """`globals()[name]`, `vars(os)[name]`, `os.__dict__[name]`, `sys.modules[name]` with a computed name."""
    base, keys = node.child_by_field_name("value"), node.children_by_field_name("subscript")
    if base is None or (len(keys) == 1 and _is_literal(keys[0])):
        return False
    name = qualify_name(source, base)
    called = base.type == "call" and name in PYTHON_TABLES
    return called or name.endswith(".__dict__") or name in ("sys.modules", "__builtins__")


def _find_replaced(source: Source, *kinds: str) -> Iterator[Found]:
    """`shlex.quote = …`: the scan relies on what the library function does."""
    known = imports(source)
    for node in source.nodes(*kinds):
        left = node.child_by_field_name("left")
        if left is None or left.type not in (*MEMBERS, "subscript", "subscript_expression"):
            continue
        base: Node | None = left
        while base is not None and base.type in (*MEMBERS, "subscript", "subscript_expression"):
            base = base.child_by_field_name(MEMBERS.get(base.type, ("value",))[0]) or base.child_by_field_name("object")
        own = base is not None and base.type == "identifier"
        name = source.text(base) if own and base is not None else ""
        if own and (name in known or name in ("builtins", "__builtins__")) and not _is_setting(source, left):
            yield left, REPLACED


def _is_setting(source: Source, left: Node) -> bool:
    """`module.exports = …`, `os.environ["A"] = …`: assignments that are normal."""
    return bool(re.match(r"(?:module\.)?exports\b|os\.environ\b|process\.env\b|[\w.]*\bsettings\b", source.text(left)))


# JavaScript.


def _javascript(source: Source) -> Iterator[Found]:
    known = imports(source)
    for call in _calls(source):
        if what := _javascript_call(source, call, known):
            yield call.node, what
    yield from _javascript_members(source, known)
    for node in source.nodes("spread_element"):
        inner = node.named_children[0] if node.named_child_count else None
        if inner is not None and inner.type == "identifier" and source.text(inner) in known:
            yield node, HANDED_ON
    yield from ((node, LOOKED_UP) for node in source.nodes("with_statement"))
    yield from _find_replaced(source, "assignment_expression", "augmented_assignment_expression")


def _javascript_call(source: Source, call: SourceCall, known: dict[str, str]) -> str:
    name = call.name
    if name.startswith(("Reflect.", "new:Proxy")):
        return LOOKED_UP
    if name in JS_MADE or (call.method in ("setTimeout", "setInterval") and _is_built(call.arg(0))):
        return MADE
    if (name in JS_LOADS or _is_import(call.node)) and not _is_literal(call.arg(0)):
        return LOADED
    copies = call.method in ("assign", "entries", "values", "create")
    return HANDED_ON if copies and _names_module(source, call, known) else ""


def _javascript_members(source: Source, known: dict[str, str]) -> Iterator[Found]:
    for node in source.nodes("subscript_expression"):
        base, key = node.child_by_field_name("object"), node.child_by_field_name("index")
        head = qualify_name(source, base).split(".")[0] if base is not None else ""
        module = base is not None and (source.text(base) in known or head in JS_TABLES or base.type in CALLS)
        if module and not _is_literal(key) and (key is None or key.type != "number"):
            yield node, LOOKED_UP
        elif _is_literal(key) and key is not None and source.text(key)[1:-1] in JS_INSIDES:
            yield node, INSIDES
    for node in source.nodes("member_expression"):
        name_node = node.child_by_field_name("property")
        if name_node is None:
            continue
        word = source.text(name_node)
        if "\\" in word:
            yield node, SPELLED
        if word in JS_INSIDES and not source.text(node).startswith("this."):
            yield node, INSIDES


def _is_import(node: Node) -> bool:
    called = node.child_by_field_name("function")
    return called is not None and called.type == "import"


def _is_built(node: Node | None) -> bool:
    return node is not None and (node.type in STRINGS or node.type == "binary_expression")


def _names_module(source: Source, call: SourceCall, known: dict[str, str]) -> bool:
    return call.name.startswith("Object.") and any(
        arg.type == "identifier" and source.text(arg) in known for arg in call.args
    )


# Go.


def _go(source: Source) -> Iterator[Found]:
    for node in source.nodes("import_spec"):
        path = node.child_by_field_name("path")
        if path is not None and source.text(path).strip('"`') in GO_NATIVE:
            yield node, NATIVE
        name = node.child_by_field_name("name")
        if name is not None and name.type == "dot":
            yield node, STAR
    reflects = any(origin == "reflect" for origin in imports(source).values())
    for call in _calls(source):
        if reflects and call.method in GO_LOOKS:
            yield call.node, LOOKED_UP
        callee = call.node.child_by_field_name("function")
        holder = callee.child_by_field_name("operand") if callee is not None else None
        if holder is not None and holder.type == "parenthesized_expression" and source.text(holder).startswith("(*"):
            yield call.node, LOOKED_UP
    yield from _find_replaced(source, "assignment_statement")
