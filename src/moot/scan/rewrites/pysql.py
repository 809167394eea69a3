"""SQL in Python: the values travel beside the text, in the way of the driver."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from moot.scan.calls import Call, modules, read_call
from moot.scan.change import Change, Choices, Refused, Rewrite, replaced
from moot.scan.edits import Edit
from moot.scan.marks import marks
from moot.scan.rewrites.pytemplate import template
from moot.scan.rewrites.pytext import fstring, literal, with_argument
from moot.scan.rewrites.query import Dialect, bound_value, parameterised
from moot.scan.sql import slots
from moot.scan.strings import build
from moot.scan.syntax import Source

PERCENT_DRIVERS = frozenset(
    {
        "psycopg",
        "psycopg2",
        "MySQLdb",
        "pymysql",
        "mysql",
        "aiomysql",
        "aiopg",
        "mariadb",
        "django",
        "pymssql",
        "flask_mysqldb",
    }
)
QUESTION_DRIVERS = frozenset({"sqlite3", "aiosqlite", "pyodbc"})
OTHER_DRIVERS = frozenset(
    {"sqlalchemy", "asyncpg", "cx_Oracle", "oracledb", "flask_sqlalchemy", "databases", "peewee", "pandas"}
)
TEXTS = frozenset({"sqlalchemy.text", "sqlalchemy.sql.text", "sqlalchemy.sql.expression.text"})
FRAMES = frozenset({"pandas.read_sql", "pandas.read_sql_query"})


def sql(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name in TEXTS:
        return _named(source, call)
    if call.name in FRAMES:
        return _frame(source, call)
    if call.name.endswith(".objects.raw") and len(call.args) == 1 and not call.keywords:
        return parameterised(source, call, call.args[0], _percent(_list))
    if call.method != "execute" or len(call.args) != 1 or call.keywords:
        raise Refused("only execute() with the SQL text alone is rewritten")
    return parameterised(source, call, call.args[0], _dialect(source))


def sql_again(source: Source, node: Node) -> Iterator[Change]:
    """A text that others read too stays as it is; the query is written out with its values where it is executed."""
    call = read_call(source, node)
    if call.method != "execute" or len(call.args) != 1 or call.keywords:
        raise Refused("only execute() with the SQL text alone is rewritten")
    dialect, built = _dialect(source), template(source, call.args[0])
    places = {slot.first: slot for slot in slots(built.marks)}
    values = [bound_value(source, slot, dialect) for slot in places.values()]
    text, index = "", 0
    while index < len(built.marks):
        slot, mark = places.get(index), built.marks[index]
        percent = slot is None and mark.text == "%" and dialect.double_percent
        text += "%%" if percent else dialect.placeholder(1) if slot is not None else mark.text
        index = slot.last + 1 if slot is not None else index + 1
    end = call.args[0].end_byte
    edits = (replaced(built.home, literal(text)), Edit(end, end, dialect.arguments(values)))
    yield Change(edits, f"bound {', '.join(values)} as parameters of the query")


def _dialect(source: Source) -> Dialect:
    found = modules(source)
    percent, question = bool(found & PERCENT_DRIVERS), bool(found & QUESTION_DRIVERS)
    if found & OTHER_DRIVERS or (percent and question):
        raise Refused("the driver's placeholder cannot be told from the imports")
    return _percent(_tuple) if percent else Dialect(lambda number: "?", _tuple, fstring)


def _percent(arguments: Callable[[Sequence[str]], str]) -> Dialect:
    return Dialect(lambda number: "%s", arguments, fstring, double_percent=True)


def _list(values: Sequence[str]) -> str:
    return f", [{', '.join(values)}]"


def _nothing(values: Sequence[str]) -> str:
    return ""


def _named(source: Source, call: Call) -> Change:
    """SQLAlchemy's text() binds by name, whatever the database is."""
    if len(call.args) != 1 or call.keywords:
        raise Refused("only text() with the SQL text alone is rewritten")
    dialect = Dialect(lambda number: f":value_{number}", _nothing, fstring)
    change, values = _bound(source, call, dialect)
    given = ", ".join(f"value_{number}={value}" for number, value in enumerate(values, start=1))
    end = call.node.end_byte
    return replace(change, edits=(*change.edits, Edit(end, end, f".bindparams({given})")))


def _frame(source: Source, call: Call) -> Change:
    """pandas hands the values to the driver."""
    drivers = modules(source) & (PERCENT_DRIVERS | QUESTION_DRIVERS)
    if not call.args or "params" in call.keywords or len(call.args) > 2 or not drivers:
        raise Refused("the driver's placeholder cannot be told from the imports")
    asked = bool(drivers & QUESTION_DRIVERS)
    if (asked and drivers & PERCENT_DRIVERS) or "sqlalchemy" in modules(source):
        raise Refused("the driver's placeholder cannot be told from the imports")
    dialect = Dialect(lambda number: "?", _nothing, fstring) if asked else _percent(_nothing)
    change, values = _bound(source, call, dialect)
    added = with_argument(source, call.node, f"params={_tuple(values).removeprefix(', ')}")
    return replace(change, edits=(*change.edits, added))


def _bound(source: Source, call: Call, dialect: Dialect) -> tuple[Change, list[str]]:
    found = marks(source, build(source, call.args[0]))
    if any(mark.text == ":" for mark in found):
        raise Refused("a colon in the SQL text would be taken for a parameter")
    values = [bound_value(source, slot, dialect) for slot in slots(found)]
    return parameterised(source, call, call.args[0], dialect), values


def _tuple(values: Sequence[str]) -> str:
    return f", ({values[0]},)" if len(values) == 1 else f", ({', '.join(values)})"


REWRITES: dict[str, Rewrite] = {"python-sql-string": sql}
CHOICES: dict[str, Choices] = {"python-sql-string": sql_again}
