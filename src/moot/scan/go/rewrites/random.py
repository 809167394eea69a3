"""Draws secrets of Go from the system's secure random source: crypto/rand takes the place of math/rand in the file."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import changes, origins
from moot.scan.calls import calls, imports, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.answers import cut_line, find_line
from moot.scan.go.rewrites.module import drop_import, is_left_unused, names, package
from moot.scan.syntax import Source, inside

PREDICTABLE = ("math/rand", "math/rand/v2")
BELOW = """

// {name} returns a number below n that nobody can predict.
func {name}(n {kind}) {kind} {{
	value, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {{
		panic(err)
	}}
	return {kind}(value.Int64())
}}
"""
WHOLE = """

// {name} returns a number of {bits} bits that nobody can predict.
func {name}() {kind} {{
	value, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), {bits}))
	if err != nil {{
		panic(err)
	}}
	return {kind}(value.Uint64())
}}
"""
SHUFFLE = """

// secureShuffle puts n things into an order that nobody can predict.
func secureShuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, secureIntn(i+1))
	}
}
"""
HELPERS = {
    **{
        method: (f"secure{method}", BELOW.format(name=f"secure{method}", kind=kind))
        for method, kind in (
            ("Intn", "int"), ("Int31n", "int32"), ("Int63n", "int64"),
            ("IntN", "int"), ("Int32N", "int32"), ("Int64N", "int64"),
        )
    },
    **{
        method: (f"secure{method}", WHOLE.format(name=f"secure{method}", kind=kind, bits=bits))
        for method, kind, bits in (
            ("Int", "int", 63), ("Int31", "int32", 31), ("Int63", "int64", 63), ("Int64", "int64", 63),
            ("Int32", "int32", 31), ("Uint32", "uint32", 32), ("Uint64", "uint64", 64),
        )
    },
    "Shuffle": ("secureShuffle", SHUFFLE),
}  # fmt: skip
"""By the function of math/rand that it takes the place of."""
OTHERS = "other numbers of math/rand are used as well"
REPEATED = "the numbers are seeded so that they can be repeated"
GENERATOR = re.compile(r"rand\.New\(\s*rand\.New(?:Source|PCG)\((?P<seed>.*)\)\s*\)", re.DOTALL)
BY_CLOCK = re.compile(r"\btime\.Now\(\)|\bos\.Getpid\(\)")


def draw_securely(source: Source, node: Node) -> Change:
    """`rand.Read` is the same in both packages; a number gets a function of its own."""
    path = next((real for real in imports(source).values() if real in PREDICTABLE), "")
    spec = next((s for s in source.nodes("import_spec") if source.text(s) == f'"{path}"'), None)
    if spec is None or imports(source).get("rand") != path:
        raise RewriteRefused(OTHERS)
    if "crypto/rand" in imports(source).values():
        raise RewriteRefused("a name that is needed means something else here")
    made = list(_find_generators(source))
    dropped = [edit for each in made for edit in _drop_generator(source, each)]
    dropped += [_drop_line(source, call.node) for call in calls(source).get("Seed", ()) if _is_seed(source, call.node)]
    drawn = _list_draws(source, made, dropped)
    needed = sorted({method for _, method in drawn if method != "Read"})
    if "Shuffle" in needed and "Intn" not in needed:
        needed.append("Intn")
    if (names(source) | source.project.defined) & {HELPERS[method][0] for method in needed}:
        raise RewriteRefused("a name that is needed means something else here")
    edits = [replace_node(n, "rand.Read" if m == "Read" else HELPERS[m][0]) for n, m in drawn] + dropped
    if is_left_unused(source, "time", edits):
        edits += drop_import(source, "time")
    return Change((*edits, *_import(source, spec, big=bool(set(needed) - {"Read"})), *_write(source, needed)),
                  "the system's secure random source is used")  # fmt: skip


def _import(source: Source, spec: Node, *, big: bool) -> Iterator[Edit]:
    """Both packages stand where math/rand stood: that keeps the imports in order."""
    more = package(source, "math/big")[1] if big else ()
    block = spec.parent is not None and spec.parent.type == "import_spec_list"
    together = '"crypto/rand"\n\t"math/big"' if block else '(\n\t"crypto/rand"\n\t"math/big"\n)'
    yield replace_node(spec, together if more else '"crypto/rand"')


def _write(source: Source, needed: list[str]) -> Iterator[Edit]:
    if needed:
        end = len(source.data.rstrip())
        yield Edit(end, len(source.data), "".join(HELPERS[method][1] for method in needed))


def _find_generators(source: Source) -> Iterator[Node]:
    """The statements that make a generator of their own: `r := rand.New(rand.NewSource(time.Now().UnixNano()))`."""
    for call in calls(source).get("New", ()):
        if call.name not in tuple(f"{path}.New" for path in PREDICTABLE):
            continue
        holder = call.node.parent
        while holder is not None and holder.type in ("expression_list", "parenthesized_expression"):
            holder = holder.parent
        if holder is None or holder.type not in ("short_var_declaration", "var_spec"):
            raise RewriteRefused("the generator is handed on")
        _require_clock(source, call.node)
        yield holder


def _require_clock(source: Source, node: Node) -> None:
    """Raises unless the seed is the time: any other is there so that the numbers can be repeated."""
    made = GENERATOR.fullmatch(source.text(node))
    seeds = [n for n in inside(node, 200) if n.type == "identifier" and made and source.text(n) == made["seed"]]
    values = [bound.value for seed in seeds for bound in origins(source, seed)]
    known = made is not None and BY_CLOCK.search(made["seed"])
    if not known and not any(value is not None and BY_CLOCK.search(source.text(value)) for value in values):
        raise RewriteRefused(REPEATED)


def _is_seed(source: Source, node: Node) -> bool:
    if read_call(source, node).name != "math/rand.Seed":
        return False
    if not BY_CLOCK.search(source.text(node)):
        raise RewriteRefused(REPEATED)
    return True


def _drop_generator(source: Source, holder: Node) -> Iterator[Edit]:
    """The statement, and the one before it that only makes the seed."""
    whole = holder.parent if holder.type == "var_spec" else holder
    yield cut_line(source, require_node(whole, OTHERS))
    made = GENERATOR.search(source.text(holder))
    scope = source.scope(holder)
    for bound in changes(source, scope, made["seed"]) if made is not None else ():
        uses = [n for n in inside(scope.node, 50_000) if n.type == "identifier" and source.text(n) == bound.name]
        if len(uses) != 2 or bound.node.type != "short_var_declaration":
            raise RewriteRefused("the seed is used for something else")
        yield cut_line(source, bound.node)


def _drop_line(source: Source, node: Node) -> Edit:
    line = find_line(node)
    if line.type != "expression_statement":
        raise RewriteRefused("the seed is set among other things")
    return cut_line(source, line)


def _list_draws(source: Source, made: list[Node], dropped: list[Edit]) -> list[tuple[Node, str]]:
    """Every use of the package and of its generators, with the method. Any other use is refused."""
    own = [(source.text(name), source.scope(each)) for each in made if (name := _name(each)) is not None]
    found: list[tuple[Node, str]] = []
    for node in source.nodes("selector_expression", "qualified_type"):
        thing, _, method = source.text(node).partition(".")
        if thing != "rand" or any(e.start <= node.start_byte < e.end for e in dropped):
            continue
        if method not in (*HELPERS, "Read"):
            raise RewriteRefused(OTHERS)
        found.append((node, method))
    for word, scope in own:
        for use in (n for n in inside(scope.node, 50_000) if n.type == "identifier" and source.text(n) == word):
            whole = use.parent
            if any(e.start <= use.start_byte < e.end for e in dropped):
                continue
            method = source.text(whole).partition(".")[2] if whole is not None else ""
            if whole is None or whole.type != "selector_expression" or method not in (*HELPERS, "Read"):
                raise RewriteRefused(OTHERS)
            found.append((whole, method))
    return found


def _name(holder: Node) -> Node | None:
    return holder.child_by_field_name("left") or holder.child_by_field_name("name")


REWRITES: dict[str, Rewrite] = {"go-weak-random": draw_securely}
