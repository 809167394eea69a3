"""Rewrites of Python code that keep what it does."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from moot.scan.calls import calls, modules, read_call
from moot.scan.change import Change, Choices, Refused, Rewrite, needed, replaced
from moot.scan.edits import Edit
from moot.scan.marks import marks
from moot.scan.rewrites.pymodule import module
from moot.scan.rewrites.pytemplate import template
from moot.scan.rewrites.pytext import fstring, literal
from moot.scan.rewrites.query import Dialect, bound_value, parameterised, sole_use
from moot.scan.shell import Word, words
from moot.scan.sql import slots
from moot.scan.strings import STRINGS, Built, Hole, build, constant_text, quotes
from moot.scan.syntax import MODULE, Source, inside

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
EXPRESSION = re.compile(
    r"(?i)expr|formula|calc|comput|equation|code|script|cmd|command|src|func|lambda|rule|condition|query|"
    r"statement|program|math|evaluat"
)
HEX_DIGEST = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}")
SALT = 'b"fixed-salt"'


def sql(source: Source, node: Node) -> Change:
    call = read_call(source, node)
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
    placeholder = "%s" if percent else "?"
    return Dialect(lambda number: placeholder, _tuple, fstring, double_percent=percent)


def _tuple(values: Sequence[str]) -> str:
    return f", ({values[0]},)" if len(values) == 1 else f", ({', '.join(values)})"


def shell(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name == "asyncio.create_subprocess_shell":
        raise Refused("create_subprocess_exec takes its arguments in another form")
    arg = needed(call.arg(0, "args"), "the call has no command")
    flag = needed(call.keywords.get("shell"), "the call has no shell argument")
    built = build(source, arg)
    command = _command(source, built, arg)
    edits = (replaced(_place(source, built, arg), command), without_argument(source, flag))
    return Change(edits, "the command is a list of arguments and no shell reads it")


def _command(source: Source, built: Built, arg: Node) -> str:
    sole_use(source, built, arg)
    return f"[{', '.join(_argument(source, word) for word in words(marks(source, built)))}]"


def _place(source: Source, built: Built, arg: Node) -> Node:
    return needed(built.home.value, "the text is not here") if built.home is not None else arg


def _argument(source: Source, word: Word) -> str:
    if len(word) == 1 and isinstance(word[0], Hole):
        hole = word[0]
        if hole.spec not in ("", "%s"):
            raise Refused(f"the value is formatted with {hole.spec!r}")
        # What was added with + is text already; what was formatted may be anything.
        return source.text(hole.node) if hole.start < 0 else f"str({source.text(hole.node)})"
    if all(isinstance(part, str) for part in word):
        text = "".join(part for part in word if isinstance(part, str))
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return fstring(source, word)


def without_argument(source: Source, value: Node) -> Edit:
    """Take a keyword argument out, with one comma beside it."""
    keyword = needed(value.parent, "the argument cannot be found")
    before, after = keyword.prev_sibling, keyword.next_sibling
    if before is not None and before.type == ",":
        start = before.prev_sibling.end_byte if before.prev_sibling is not None else before.start_byte
        return Edit(start, keyword.end_byte)
    if after is not None and after.type == "," and after.next_sibling is not None:
        end = after.next_sibling.start_byte if after.next_sibling.type != ")" else after.end_byte
        return Edit(keyword.start_byte, end)
    return replaced(keyword, "")


def os_system(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name not in ("os.system", "os.popen") or len(call.args) != 1 or call.keywords:
        raise Refused(f"there is no plain replacement for {call.name}")
    built = build(source, call.args[0])
    if built.home is not None:
        raise Refused("the command is kept in a variable")
    command = _command(source, built, call.args[0])
    local, added = module(source, "subprocess", node)
    if call.name == "os.popen":
        target, tail = _read_of(source, node), ", capture_output=True, text=True, check=False).stdout"
    else:
        alone = node.parent is not None and node.parent.type == "expression_statement"
        target, tail = node, ", check=False)" + ("" if alone else ".returncode")
    edits = (replaced(target, f"{local}.run({command}{tail}"), *added)
    return Change(edits, "subprocess.run gets a list of arguments and no shell reads it; a missing program now raises")


def _read_of(source: Source, node: Node) -> Node:
    """`os.popen(…).read()` as a whole."""
    attribute = node.parent
    whole = attribute.parent if attribute is not None else None
    if attribute is None or whole is None or not source.text(whole).endswith(".read()") or whole.type != "call":
        raise Refused("only os.popen(…).read() is rewritten")
    return whole


def evaluate(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.method != "eval" or len(call.args) != 1 or call.keywords:
        raise Refused("code that is run cannot be replaced by data")
    if build(source, call.args[0]).holes and len(build(source, call.args[0]).pieces) > 1:
        raise Refused("the text is put together as code")
    hints = [source.scope(node).name, *(source.text(n) for n in inside(call.args[0], 60) if n.type == "identifier")]
    if any(EXPRESSION.search(word) for word in hints if word != MODULE):
        raise Refused("the names say that more than a literal is wanted")
    if node.parent is not None and node.parent.type in ("attribute", "call"):
        raise Refused("the result is used as an object with behaviour")
    local, added = module(source, "ast", node)
    callee = needed(node.child_by_field_name("function"), "the call has no name")
    return Change(
        (replaced(callee, f"{local}.literal_eval"), *added), "only literals are read; anything else raises ValueError"
    )


def yaml_load(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    safe = "safe_load_all" if call.method.endswith("_all") else "safe_load"
    local, added = module(source, "yaml", node)
    callee = needed(node.child_by_field_name("function"), "the call has no name")
    edits = [replaced(callee, f"{local}.{safe}"), *added]
    if loader := call.keywords.get("Loader"):
        edits.append(without_argument(source, loader))
    elif len(call.args) == 2:
        edits.append(Edit(call.args[0].end_byte, call.args[1].end_byte))
    return Change(tuple(edits), f"yaml.{safe} builds plain data only")


def _no_stored_digest(source: Source) -> None:
    for string in source.nodes(*STRINGS):
        text = constant_text(source, string)
        if text is not None and HEX_DIGEST.fullmatch(text):
            raise Refused("the file holds a digest that the new hash would not match")


def weak_hash(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    _no_stored_digest(source)
    if call.name == "hashlib.new":
        name = needed(call.arg(0), "the algorithm is not here")
        opening, closing = quotes(source, name)
        return Change((replaced(name, f"{opening}sha256{closing}"),), "SHA-256 takes the place of the broken hash")
    if call.name not in ("hashlib.md5", "hashlib.sha1"):
        raise Refused(f"there is no plain replacement for {call.name}")
    local, added = module(source, "hashlib", node)
    callee = needed(node.child_by_field_name("function"), "the call has no name")
    return Change(
        (replaced(callee, f"{local}.sha256"), *added), "SHA-256 takes the place of the broken hash; digests are longer"
    )


def password_hash(source: Source, node: Node) -> Change:
    """scrypt with as many bytes as before: it fits the same column, and equal passwords still compare equal."""
    call = read_call(source, node)
    _no_stored_digest(source)
    if call.name not in ("hashlib.md5", "hashlib.sha1") or len(call.args) != 1 or call.keywords:
        raise Refused("only hashlib.md5(x) and hashlib.sha1(x) are rewritten")
    attribute = needed(node.parent, "the digest is taken elsewhere")
    whole = needed(attribute.parent, "the digest is taken elsewhere")
    ending = source.slice(node.end_byte, whole.end_byte)
    if whole.type != "call" or ending not in (".hexdigest()", ".digest()"):
        raise Refused("the digest is taken elsewhere")
    local, added = module(source, "hashlib", node)
    length = 16 if call.name == "hashlib.md5" else 20
    value = source.text(call.args[0])
    text = f"{local}.scrypt({value}, salt={SALT}, n=16384, r=8, p=1, dklen={length})"
    did = (
        "scrypt takes the place of the fast hash. Hashes stored before no longer match: reset those passwords. "
        "The salt is fixed so that comparing keeps working; store a random one per user"
    )
    return Change((replaced(whole, text + (".hex()" if "hex" in ending else "")), *added), did)


def mktemp(source: Source, node: Node) -> Change:
    """A fresh private folder: the name in it does not exist yet, as with mktemp, but nobody else can take it."""
    call = read_call(source, node)
    if call.name != "tempfile.mktemp":
        raise Refused(f"there is no plain replacement for {call.name}")
    local, added = module(source, "tempfile", node)
    system, more = module(source, "os", node)
    rest = [f"{key}={source.text(v)}" for key, i in (("prefix", 1), ("dir", 2)) if (v := call.arg(i, key)) is not None]
    suffix = call.arg(0, "suffix")
    text = constant_text(source, suffix)
    name = (
        '"file"'
        if suffix is None
        else f'"file{text}"'
        if text is not None and '"' not in text
        else f'"file" + {source.text(suffix)}'
    )
    new = f"{system}.path.join({local}.mkdtemp({', '.join(rest)}), {name})"
    return Change(
        (replaced(node, new), *added, *more), "the name lies in a new folder that only this user can write to"
    )


def tls(source: Source, node: Node) -> Change:
    did = "certificates are checked"
    if node.type == "assignment":
        right = needed(node.child_by_field_name("right"), "nothing is assigned")
        text = source.text(right)
        new = text.replace("CERT_NONE", "CERT_REQUIRED").replace("_create_unverified_context", "create_default_context")
        return Change((replaced(right, "True" if text == "False" else new),), did)
    call = read_call(source, node)
    if call.name == "ssl._create_unverified_context":
        local, added = module(source, "ssl", node)
        callee = needed(node.child_by_field_name("function"), "the call has no name")
        if call.args or call.keywords:
            raise Refused("the context is made with options of its own")
        return Change((replaced(callee, f"{local}.create_default_context"), *added), did)
    return Change((without_argument(source, needed(call.keywords.get("verify"), "verify is not here")),), did)


def _switch(name: str, value: str, did: str) -> Rewrite:
    """Give a keyword argument another value."""

    def rewrite(source: Source, node: Node) -> Change:
        if node.type == "assignment":
            return Change((replaced(needed(node.child_by_field_name("right"), "nothing is assigned"), value),), did)
        return Change(
            (replaced(needed(read_call(source, node).keywords.get(name), f"{name} is not here"), value),), did
        )

    return rewrite


def random_secret(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if not call.name.startswith("random."):
        raise Refused(f"there is no plain replacement for {call.name}")
    if any(seeding.name == "random.seed" for seeding in calls(source).get("seed", ())):
        raise Refused("the numbers are seeded so that they can be repeated")
    local, added = module(source, "secrets", node)
    callee = needed(node.child_by_field_name("function"), "the call has no name")
    same = {"choice": "choice", "getrandbits": "randbits", "randbytes": "token_bytes"}
    plain = same.get(call.method) if not call.keywords else None
    name = plain or f"SystemRandom().{call.method}"
    return Change((replaced(callee, f"{local}.{name}"), *added), "the system's secure random source is used")


REWRITES: dict[str, Rewrite] = {
    "python-sql-string": sql,
    "python-shell": shell,
    "python-os-system": os_system,
    "python-eval": evaluate,
    "python-yaml-load": yaml_load,
    "python-weak-hash": weak_hash,
    "python-password-hash": password_hash,
    "python-mktemp": mktemp,
    "python-tls-verify": tls,
    "python-debug": _switch("debug", "False", "the debugger is off"),
    "python-autoescape": _switch("autoescape", "True", "templates escape what is put into them"),
    "python-weak-random": random_secret,
}
CHOICES: dict[str, Choices] = {"python-sql-string": sql_again}
