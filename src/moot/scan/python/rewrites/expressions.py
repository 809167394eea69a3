"""Replaces `eval` of a formula or a condition by a reader that can compute and compare, and nothing else."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, imports, read_call
from moot.scan.change import Change, RewriteRefused, replace_node
from moot.scan.python.rewrites.module import function, import_at_top
from moot.scan.strings import unwrap
from moot.scan.syntax import MODULE, Source, inside

COMPUTE = '''
def compute_expression(text, names):
    """The value of an expression of numbers, texts, these names and their functions; other Python is refused."""
    plain = {each.__name__: each for each in (abs, bool, float, int, len, max, min, round, sum)}
    pairs = {
        "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mult": lambda a, b: a * b, "Div": lambda a, b: a / b,
        "FloorDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b, "Pow": lambda a, b: a ** b,
        "Eq": lambda a, b: a == b, "NotEq": lambda a, b: a != b, "Lt": lambda a, b: a < b, "LtE": lambda a, b: a <= b,
        "Gt": lambda a, b: a > b, "GtE": lambda a, b: a >= b, "In": lambda a, b: a in b,
        "NotIn": lambda a, b: a not in b, "Is": lambda a, b: a is b, "IsNot": lambda a, b: a is not b,
    }
    signs = {"UAdd": lambda a: +a, "USub": lambda a: -a, "Not": lambda a: not a}
    asked = {each.__name__: each for each in (str.startswith, str.endswith, str.lower, str.upper, str.strip)}

    def combine(kind, left, right):
        long = (str, bytes, list, tuple, set)
        if kind in ("Mult", "Mod", "Pow") and (isinstance(left, long) or isinstance(right, long)):
            raise ValueError("only numbers are multiplied")
        if kind == "Pow" and isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > 10_000:
            raise ValueError("the number would be too large")
        return pairs[kind](left, right)

    def call(node):
        given = [value(each) for each in node.args]
        if isinstance(node.func, ast.Attribute) and node.func.attr in asked:
            return asked[node.func.attr](value(node.func.value), *given)
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            raise ValueError("only named functions are called in an expression")
        return value(node.func)(*given)

    def compare(node):
        operands = [value(each) for each in (node.left, *node.comparators)]
        kinds = [type(each).__name__ for each in node.ops]
        return all(combine(kind, left, right) for kind, left, right in zip(kinds, operands, operands[1:]))

    def value(node):
        kind = type(node).__name__
        if kind == "Constant":
            return node.value
        if kind == "Name" or (kind == "Attribute" and isinstance(node.value, ast.Name)):
            word = node.id if kind == "Name" else f"{node.value.id}.{node.attr}"
            if "__" in word or not (word in names or word in plain):
                raise NameError(f"name {word!r} is not defined")
            return names[word] if word in names else plain[word]
        if kind == "BinOp" and type(node.op).__name__ in pairs:
            return combine(type(node.op).__name__, value(node.left), value(node.right))
        if kind == "UnaryOp" and type(node.op).__name__ in signs:
            return signs[type(node.op).__name__](value(node.operand))
        if kind == "BoolOp":
            result = None
            for each in node.values:
                result = value(each)
                if bool(result) == isinstance(node.op, ast.Or):
                    break
            return result
        if kind == "Compare":
            return compare(node)
        if kind == "IfExp":
            return value(node.body if value(node.test) else node.orelse)
        if kind in ("List", "Tuple", "Set"):
            return {"List": list, "Tuple": tuple, "Set": set}[kind](value(each) for each in node.elts)
        if kind == "Subscript" and not isinstance(node.slice, ast.Slice):
            return value(node.value)[value(node.slice)]
        if kind == "Call" and not node.keywords:
            return call(node)
        raise ValueError(f"{kind} cannot be used in an expression")

    return value(ast.parse(text.strip(), mode="eval").body)
'''
COMPUTES = re.compile(r"(?i)calc|comput|formula|equation|\bmath|arithm|spreadsheet|numeric|\bplot|curve|polynom")
TESTS = re.compile(r"(?i)condition|\brules?\b|predicate")
"""Words around an expression that is tested."""
CODE = re.compile(
    r"(?i)code|script|\bcmd|command|lambda|snippet|program|console|repl\b|debug|python|\bpdb|frame|statement"
)
NUMERIC = re.compile(r"(?:float|int|round|Decimal)\($")
TYPED = re.compile(r"->\s*(?:Optional\[)?(?:float|int|Decimal)\b")
EMPTY_SCOPE = re.compile(r"""\{\s*(?:["']__builtins__["']\s*:\s*(?:\{\s*\}|None|dict\(\)|\[\s*\])\s*,?\s*)?\}""")
STRIPPED = re.compile(r"""["']__builtins__["']\s*[:=\]]""")
OPEN_SCOPE = re.compile(r"\b(?:globals|locals|vars|dir)\(\)|f_globals|f_locals|__dict__|__main__")
DID = "the expression can compute and compare with the given names, and nothing else"


def compute(source: Source, node: Node) -> Iterator[Change]:
    """For an expression that may be more than a literal, where the code says that it is computed or tested."""
    call = read_call(source, node)
    if call.method != "eval" or not 1 <= len(call.args) <= 3 or call.keywords:
        raise RewriteRefused("code that is run cannot be replaced by data")
    _require_formula(source, call)
    names = _list_names(source, call)
    syntax, added = import_at_top(source, "ast")
    if syntax != "ast":
        raise RewriteRefused("the module that is needed has another name here")
    helper = function(source, "compute_expression", COMPUTE, node)
    text = source.text(call.args[0])
    yield Change((replace_node(node, f"compute_expression({text}, {names})"), *added, *helper), DID)


def _require_formula(source: Source, call: SourceCall) -> None:
    """Raises unless names, the description or the use of the result say that a formula or a condition is read."""
    scope = source.scope(call.node)
    words = [source.text(n) for n in inside(call.args[0], 60) if n.type == "identifier"]
    if scope.name != MODULE:
        words += [scope.name.replace("_", " "), *scope.parameters, _read_description(source, scope.node)]
    if any(CODE.search(word) for word in words):
        raise RewriteRefused("code that is run cannot be replaced by data")
    before = source.slice(max(0, call.node.start_byte - 12), call.node.start_byte)
    typed = TYPED.search(source.slice(scope.node.start_byte, scope.node.start_byte + 400).partition(":\n")[0])
    if any(COMPUTES.search(word) for word in words) or NUMERIC.search(before) or (typed and scope.name != MODULE):
        return
    if any(STRIPPED.search(text) for text in _list_scope_texts(source, call)):
        return
    objects = any(arg.type == "dictionary" for arg in _list_scopes(source, call))
    if objects or not any(TESTS.search(word) for word in words):
        raise RewriteRefused("nothing says that only a formula or a condition is read")


def _read_description(source: Source, function_node: Node) -> str:
    body = function_node.child_by_field_name("body")
    first = body.named_children[0] if body is not None and body.named_children else None
    text = source.text(first) if first is not None else ""
    return text if text.lstrip("rR").startswith(('"', "'")) else ""


def _list_scopes(source: Source, call: SourceCall) -> list[Node]:
    return [arg for arg in call.args[1:] if not EMPTY_SCOPE.fullmatch(source.text(arg)) and arg.type != "none"]


def _list_names(source: Source, call: SourceCall) -> str:
    """What the expression may name: the scopes that `eval` is given, else the numbers and texts that stand around."""
    scopes = _list_scopes(source, call)
    for scope in scopes:
        made = [source.text(b.value) for b in origins(source, scope) if b.value is not None] if _is_name(scope) else []
        if any(OPEN_SCOPE.search(text) for text in (source.text(scope), *made)):
            raise RewriteRefused("the expression may name everything that the program knows")
    stripped = any(STRIPPED.search(text) for text in _list_scope_texts(source, call))
    if not stripped and any(unwrap(scope).type == "attribute" for scope in scopes):
        raise RewriteRefused("the expression may name everything that the program knows")
    if len(scopes) == 1:
        return source.text(scopes[0])
    if scopes:
        return "{" + ", ".join(f"**{_bracket(source.text(scope))}" for scope in scopes) + "}"
    return "{}" if len(call.args) > 1 else _name_surroundings(source, call)


def _list_scope_texts(source: Source, call: SourceCall) -> Iterator[str]:
    for arg in call.args[1:]:
        yield source.text(arg)
        if _is_name(arg):
            yield source.text(source.scope(arg).node)


def _is_name(node: Node) -> bool:
    return unwrap(node).type == "identifier"


def _bracket(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+(?:\(.*\))?|\{.*\}", text, re.DOTALL) else f"({text})"


def _name_surroundings(source: Source, call: SourceCall) -> str:
    """Parameters and loop variables, but not the text itself: `eval` without a scope sees them."""
    taken = {source.text(n) for n in inside(call.args[0], 60) if n.type == "identifier"}
    found: list[str] = []
    outer: Node | None = call.node
    while outer is not None and outer.type != "function_definition":
        clauses = [outer, *(child for child in outer.named_children if child.type == "for_in_clause")]
        for clause in clauses if outer.type != "module" else ():
            left = clause.child_by_field_name("left") if clause.type in ("for_statement", "for_in_clause") else None
            found += [source.text(n) for n in inside(left, 50) if n.type == "identifier"] if left is not None else []
        outer = outer.parent
    scope = source.scope(call.node)
    if scope.name != MODULE:
        found += sorted(scope.parameters - {"self", "cls"})
    named = [f'"{name}": {name}' for name in dict.fromkeys(found) if name not in taken]
    if imports(source).get("math") == "math":
        named.append('**{f"math.{name}": each for name, each in vars(math).items()}')
    return "{" + ", ".join(named) + "}"


CHOICES = {"python-eval": compute}
