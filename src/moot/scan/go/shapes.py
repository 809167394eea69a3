"""Types of expressions in a Go function, as far as the file and the standard library tell."""

from moot.scan.engine.ir import (
    Attr,
    Binary,
    Call,
    Compare,
    Concat,
    Const,
    Cut,
    Expr,
    Function,
    Hole,
    Item,
    Logic,
    Many,
    Name,
    Opaque,
    Unary,
    Wait,
)
from moot.scan.go.program import TEXT, Program, Shape, callee_word, parameter, results, shape
from moot.scan.syntax import words

INT, INT64, UINT64 = Shape("int"), Shape("int64"), Shape("uint64")
BASIC = words("int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune string float32 float64")
LIBRARY: dict[str, tuple[Shape | None, ...]] = {
    "strconv.Atoi": (INT, None),
    "strconv.ParseInt": (INT64, None),
    "strconv.ParseUint": (UINT64, None),
    "strconv.Itoa": (TEXT,),
    "strings.Split": (Shape("list", TEXT),),
    **{f"math/rand{v}.{n}": (INT,) for v in ("", "/v2") for n in ("Int", "Intn", "IntN", "N")},
    **{f"math/rand{v}.{n}": (INT64,) for v in ("", "/v2") for n in ("Int63", "Int63n", "Int64", "Int64N")},
    **{f"math/rand{v}.{n}": (Shape("int32"),) for v in ("", "/v2") for n in ("Int31", "Int31n", "Int32", "Int32N")},
    **{f"math/rand{v}.{n}": (Shape("uint32"),) for v in ("", "/v2") for n in ("Uint32", "Uint32N")},
    **{f"math/rand{v}.{n}": (UINT64,) for v in ("", "/v2") for n in ("Uint64", "Uint64N")},
}
METHODS = {"Unix": INT64, "UnixNano": INT64, "UnixMilli": INT64, "Size": INT64}


class Shapes:
    """Types of a function's variables; filled as its statements are read."""

    def __init__(self, program: Program, function: Function | None = None) -> None:
        self.program = program
        known = program.memo.get("shapes")
        self.names: dict[str, Shape] = dict(known) if isinstance(known, dict) else self._of_package()
        if function is not None:
            for param in function.params:
                self.learn(param.name, parameter(program, param))

    def _of_package(self) -> dict[str, Shape]:
        """The package's variables: the same for all functions."""
        self.names = {}
        for name, stmt in self.program.variables.items():
            self.learn(name, shape(self.program, stmt.annotation) or self.of(stmt.value))
        self.program.memo["shapes"] = dict(self.names)
        return self.names

    def learn(self, name: str, found: Shape | None) -> None:
        if found is not None:
            self.names[name] = found
        else:
            self.names.pop(name, None)

    def of(self, expr: Expr | None, depth: int = 0) -> Shape | None:
        if depth > 20:
            return None
        match expr:
            case Name(id=name):
                return self.names.get(name)
            case Attr(base=base, name=name):
                return self._field(self.of(base, depth + 1), name)
            case Item(base=holder) | Wait(value=holder):
                return self._element(self.of(holder, depth + 1))
            case Hole(value=inner) | Unary(op="-" | "+" | "~", value=inner):
                return self.of(inner, depth + 1)
            case Call():
                found = self.results(expr, depth)
                return found[0] if len(found) == 1 else None
            case Opaque(word="type_assertion_expression", parts=(_, kind)):
                return shape(self.program, kind)
            case _:
                return self._infer_shape(expr, depth)

    def _infer_shape(self, expr: Expr | None, depth: int) -> Shape | None:
        match expr:
            case Const(value=str()) | Concat():
                return TEXT
            case Cut(base=base):
                found = self.of(base, depth + 1)
                return found._replace(size=None) if found is not None else None
            case Binary(op="<<" | ">>", left=left):
                return self.of(left, depth + 1)
            case Binary(left=left, right=right):
                return self.of(left, depth + 1) or self.of(right, depth + 1)
            case Compare() | Logic():
                return Shape("bool")
            case Many(items=items):
                return Shape("list", self.of(items[0], depth + 1) if items else None)
        return None

    def results(self, call: Call, depth: int = 0) -> tuple[Shape | None, ...]:
        """The result types of a call."""
        word, origin = callee_word(call), self.program.origin(call.func)
        if origin in LIBRARY:
            return LIBRARY[origin]
        if call.new:
            return (shape(self.program, call.func),)
        if isinstance(call.func, Name):
            return self._by_name(call, word, depth)
        if isinstance(call.func, Attr):
            owner = self.of(call.func.base, depth + 1)
            method = self._method(owner, word) if owner is not None else None
            if method is not None:
                return tuple(shape(self.program, note) for note in results(method))
            if word in METHODS:
                return (METHODS[word],)
        return ()

    def _by_name(self, call: Call, word: str, depth: int) -> tuple[Shape | None, ...]:
        converted = self.conversion(call)
        if converted is not None:
            return (converted,)
        if word in ("len", "cap", "copy"):
            return (INT,)
        if word in ("make", "new") and call.args:
            return (shape(self.program, call.args[0]),)
        if word in ("append", "min", "max"):
            shapes = [self.of(arg, depth + 1) for arg in call.args]
            return (next((found for found in shapes if found is not None), None),)
        own = self.program.functions.get(word)
        return tuple(shape(self.program, note) for note in results(own)) if own is not None else ()

    def conversion(self, call: Call) -> Shape | None:
        """The target type of a conversion `T(x)`; None for a call."""
        if not isinstance(call.func, Name) or len(call.args) != 1 or call.new:
            return None
        word = call.func.id
        if word in BASIC or (word in self.program.types and word not in self.program.functions):
            return shape(self.program, call.func)
        if word == "[]byte":
            return Shape("list", Shape("uint8"))
        return Shape("list", Shape("int32")) if word == "[]rune" else None

    def _field(self, owner: Shape | None, name: str) -> Shape | None:
        if owner is None:
            return None
        return next(
            (shape(self.program, note) for word, note, _ in self.program.fields(owner.word) if word == name), None
        )

    def _method(self, owner: Shape, name: str) -> Function | None:
        return self.program.methods(owner.word).get(name)

    @staticmethod
    def _element(holder: Shape | None) -> Shape | None:
        if holder is None:
            return None
        return Shape("uint8") if holder.word == "string" else holder.holds
