"""Queries with names, lists, conditions and templates find the same rows after the repair, and no others."""

import sqlite3
from collections.abc import Callable

import pytest
from samples import repaired

HEAD = "import sqlite3\n\n\n"
SHAPES = {
    "a checked column": (
        'COLUMNS = ("name", "role")\n\n\n'
        "def find(db: sqlite3.Connection, value, column='name'):\n    if column not in COLUMNS:\n"
        "        raise ValueError(column)\n"
        "    return db.execute(f\"SELECT id FROM users WHERE {column} = '{value}' ORDER BY id\").fetchall()\n"
    ),
    "an order": (
        "def find(db: sqlite3.Connection, value, sort='id', descending=False):\n"
        "    direction = 'DESC' if descending else 'ASC'\n"
        "    sql = f\"SELECT id FROM users WHERE name = '{value}' ORDER BY {sort} {direction}\"\n"
        "    return db.execute(sql).fetchall()\n"
    ),
    "conditions of a dictionary": (
        "def find(db: sqlite3.Connection, value, key='name'):\n    parts = []\n"
        "    for field, wanted in {key: value}.items():\n        parts.append(f\"{field} = '{wanted}'\")\n"
        '    query = "SELECT id FROM users WHERE " + " AND ".join(parts)\n    return db.execute(query).fetchall()\n'
    ),
    "conditions that begin with one": (
        'def find(db: sqlite3.Connection, value, least=0):\n    where = [f"id >= {least}", "role != \'\'"]\n'
        "    if value:\n        where.append(f\"name = '{value}'\")\n"
        "    return db.execute(f\"SELECT id FROM users WHERE {' AND '.join(where)} AND id > {least}\").fetchall()\n"
    ),
    "a list": (
        "def find(db: sqlite3.Connection, value, role='user'):\n    names = [value, 'zoe']\n"
        "    if not names:\n        return []\n    listed = ', '.join(f\"'{name}'\" for name in names)\n"
        "    return db.execute(f\"SELECT id FROM users WHERE name IN ({listed}) AND role = '{role}'\").fetchall()\n"
    ),
    "a template": (
        'QUERY = """\n    SELECT id FROM users\n    WHERE name = \'{name}\' AND role = \'{role}\'\n"""\n\n\n'
        "def find(db: sqlite3.Connection, value, role='user'):\n"
        "    sql = QUERY.format(name=value, role=role)\n    return db.execute(sql).fetchall()\n"
    ),
    "a template with percents": (
        "QUERY = \"SELECT id FROM users WHERE name = '%s' AND role = '%s'\"\n\n\n"
        "def find(db: sqlite3.Connection, value, role='user'):\n"
        "    return db.execute(QUERY % (value, role)).fetchall()\n"
    ),
}
ATTACKS = ("x' OR '1'='1", "x' OR 1=1 --", "x') OR 1=1 --", "x' UNION SELECT 9 --")


def read(text: str) -> Callable[..., list[tuple[int]]]:
    space: dict[str, object] = {}
    exec(text, space)
    found = space["find"]
    assert callable(found)
    return found


def table() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE users (id INTEGER, name TEXT, role TEXT)")
    database.executemany(
        "INSERT INTO users VALUES (?, ?, ?)", [(1, "ann", "admin"), (2, "bob", "user"), (3, "eve", "user")]
    )
    return database


def rows(find: Callable[..., list[tuple[int]]], value: str, **more: object) -> list[tuple[int]]:
    database = table()
    try:
        return find(database, value, **more)
    finally:
        database.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_query_finds_the_same_rows_and_no_others(shape: str) -> None:
    text, repair = repaired("python", HEAD + SHAPES[shape])
    assert repair.fixed and not repair.left, repair
    before, after = read(HEAD + SHAPES[shape]), read(text)
    assert rows(after, "bob") == rows(before, "bob") == [(2,)]
    assert rows(after, "o'hara") == []
    assert any(attack_works(before, value) for value in ATTACKS)
    assert not any(attack_works(after, value) for value in ATTACKS)


def attack_works(find: Callable[..., list[tuple[int]]], value: str) -> bool:
    try:
        return bool(rows(find, value))
    except sqlite3.Error:
        return False


def test_an_order_may_only_be_a_name() -> None:
    find = read(repaired("python", HEAD + SHAPES["an order"])[0])
    for sort in ("id", "users.id", "name desc, id", "role ASC,name"):
        assert rows(find, "bob", sort=sort) == [(2,)]
    for sort in ("(SELECT 1)", "id; DROP TABLE users", "id, (CASE WHEN 1 THEN id END)", "id UNION SELECT 9"):
        with pytest.raises(ValueError, match="not a name"):
            rows(find, "bob", sort=sort)


def test_conditions_take_names_only() -> None:
    find = read(repaired("python", HEAD + SHAPES["conditions of a dictionary"])[0])
    assert rows(find, "user", key="role") == [(2,), (3,)]
    with pytest.raises(ValueError, match="not a name"):
        rows(find, "x", key="1=1 OR name")


@pytest.mark.parametrize(
    "query",
    [
        "f\"SELECT id FROM users {where} AND name = '{value}'\"",
        "f\"SELECT {columns} FROM users WHERE name = '{value}'\"",
        "f\"SELECT id FROM users WHERE {condition} AND name = '{value}'\"",
    ],
)
def test_parts_of_a_statement_are_no_names(query: str) -> None:
    text = (
        f"{HEAD}def find(db: sqlite3.Connection, value, where, columns, condition):\n    return db.execute({query})\n"
    )
    after, repair = repaired("python", text)
    assert after == text and repair.left


def test_a_list_that_can_be_read_only_once_is_left() -> None:
    text = (
        f"{HEAD}def find(db: sqlite3.Connection, names):\n    listed = ', '.join(f\"'{{name}}'\" for name in names)\n"
        '    return db.execute(f"SELECT id FROM users WHERE name IN ({listed})").fetchall()\n'
    )
    after, repair = repaired("python", text)
    assert after == text and repair.left


def test_a_template_that_others_use_is_left() -> None:
    text = (
        f"{HEAD}QUERY = \"SELECT id FROM users WHERE name = '{{name}}'\"\nprint(QUERY)\n\n\n"
        "def find(db: sqlite3.Connection, name):\n    return db.execute(QUERY.format(name=name)).fetchall()\n"
    )
    after, repair = repaired("python", text)
    assert after == text and repair.left
