"""Placeholders are those of the driver, which is known from the call, the file or the project; else nothing changes."""

import pytest
from samples import repaired, repaired_files

QUERY = "    cur.execute(f\"SELECT * FROM t WHERE n = '{name}'\")\n"
PERCENT = '    cur.execute("SELECT * FROM t WHERE n = %s", (name,))\n'
QUESTION = '    cur.execute("SELECT * FROM t WHERE n = ?", (name,))\n'
USERS = "from db import cursor\ndef find(name: str):\n    cur = cursor()\n"

HERE = [
    ("import psycopg2\ndef find(name: str):\n    cur = psycopg2.connect('x').cursor()\n", PERCENT),
    ("def find(name: str):\n    import psycopg2\n    cur = psycopg2.connect('x').cursor()\n", PERCENT),
    ("def find(name: str):\n    conn = psycopg2.connect('x')\n    cur = conn.cursor()\n", PERCENT),
    ("import pymysql.cursors\ndef find(cur, name: str):\n", PERCENT),
    ("import mysql.connector\ndef find(cur, name: str):\n", PERCENT),
    ("import sqlite3\ndef find(cur, name: str):\n", QUESTION),
    ("import sqlite3\ndef find(cur: sqlite3.Cursor, name: str):\n", QUESTION),
    ("import sqlite3, psycopg2\ndef find(name: str):\n    cur = psycopg2.connect('x').cursor()\n", PERCENT),
    ("import sqlite3, psycopg2\ndef find(cur: sqlite3.Cursor, name: str):\n", QUESTION),
    ("import sqlite3, psycopg2\ndef find(name: str):\n  with sqlite3.connect('x') as cur:\n", "  " + QUESTION[2:]),
    ("import sqlite3, psycopg2\ndef make():\n    return sqlite3.connect('x')\ndef find(name: str):\n    cur = make()\n",
     QUESTION),
    ("import sqlite3, psycopg2\nc = psycopg2.connect('x')\ndef find(name: str):\n    cur = c.cursor()\n", PERCENT),
]  # fmt: skip


@pytest.mark.parametrize(("head", "query"), HERE)
def test_the_file_tells_the_driver(head: str, query: str) -> None:
    text, repair = repaired("python", head + QUERY)
    assert (text, repair.left) == (head + query, {})


LEFT = [
    "def find(cur, name: str):\n",
    "from db import cursor\ndef find(name: str):\n    cur = cursor()\n",
    "import sqlite3, psycopg2\ndef find(cur, name: str):\n",
    "import sqlite3\nimport sqlalchemy\ndef find(cur, name: str):\n",
    "import asyncpg\ndef find(cur, name: str):\n",
]


@pytest.mark.parametrize("head", LEFT)
def test_an_unknown_driver_gets_advice_and_no_rewrite(head: str) -> None:
    text, repair = repaired("python", head + QUERY)
    assert (text, repair.fixed) == (head + QUERY, {})
    (why,) = repair.left.values()
    assert "driver" in why and "parameters of execute()" in why


def test_a_project_that_has_its_own_execute_is_not_given_a_second_argument() -> None:
    own = "import sqlite3\nclass Store:\n    def execute(self, text):\n        return self.db.execute(text)\n"
    texts, repair = repaired_files({"store.py": own, "users.py": "def find(cur, name: str):\n" + QUERY})
    assert texts["users.py"] == "def find(cur, name: str):\n" + QUERY
    assert any("execute" in why for why in repair.left.values())


PROJECTS = [
    ({"db.py": "import psycopg2\ndef cursor():\n    return psycopg2.connect('x').cursor()\n"}, (), PERCENT),
    ({"db.py": "import pymysql\ndef cursor():\n    return pymysql.connect().cursor()\n"}, (), PERCENT),
    ({"app/db.py": "import sqlite3\ndef cursor():\n    return sqlite3.connect('x').cursor()\n"}, (), QUESTION),
    ({"settings.py": "DSN = 'postgresql://db/users'\n"}, (), PERCENT),
    ({"main.py": "import MySQLdb\nimport users\nusers.find(input())\n"}, (), PERCENT),
    ({}, ("psycopg2-binary",), PERCENT),
    ({}, ("flask", "PyMySQL"), PERCENT),
    ({}, ("aiosqlite",), QUESTION),
]  # fmt: skip


@pytest.mark.parametrize(("others", "needs", "query"), PROJECTS)
def test_the_project_tells_the_driver(others: dict[str, str], needs: tuple[str, ...], query: str) -> None:
    texts, repair = repaired_files({**others, "users.py": USERS + QUERY}, needs)
    assert texts["users.py"] == USERS + query, repair


MIXED = [
    ({"a.py": "import psycopg2\n", "b.py": "import sqlite3\n"}, ()),
    ({"a.py": "import sqlite3\n"}, ("psycopg2",)),
    ({"a.py": "from sqlalchemy import create_engine\n"}, ()),
    ({}, ("SQLAlchemy", "psycopg2")),
]


@pytest.mark.parametrize(("others", "needs"), MIXED)
def test_a_project_with_several_drivers_tells_nothing(others: dict[str, str], needs: tuple[str, ...]) -> None:
    texts, repair = repaired_files({**others, "users.py": USERS + QUERY}, needs)
    assert texts["users.py"] == USERS + QUERY and "driver" in " ".join(repair.left.values())


def test_the_driver_of_a_file_counts_more_than_those_of_others() -> None:
    head = "import sqlite3\ndef find(cur, name: str):\n"
    texts, repair = repaired_files({"a.py": "import psycopg2\n", "users.py": head + QUERY})
    assert texts["users.py"] == head + QUESTION, repair


GO = 'package a\n\nimport (\n\t"database/sql"\n)\n\nfunc F(db *sql.DB, n string) (*sql.Rows, error) {\n'
GO_QUERY = '\treturn db.Query("SELECT * FROM t WHERE n = \'" + n + "\'")\n}\n'


@pytest.mark.parametrize(
    ("other", "needs", "placeholder"),
    [
        ('package a\n\nimport _ "github.com/lib/pq"\n', (), "$1"),
        ('package a\n\nimport _ "github.com/go-sql-driver/mysql"\n', (), "?"),
        ('package a\n\nfunc open() { sql.Open("sqlite3", "x") }\n', (), "?"),
        ("package a\n", ("github.com/jackc/pgx/v5",), "$1"),
        ("package a\n", (), ""),
        ('package a\n\nimport (\n\t_ "github.com/lib/pq"\n\t_ "modernc.org/sqlite"\n)\n', (), ""),
        ('package a\n\nimport _ "github.com/microsoft/go-mssqldb"\n', (), ""),
    ],
)
def test_a_query_in_go_needs_a_known_driver(other: str, needs: tuple[str, ...], placeholder: str) -> None:
    texts, repair = repaired_files({"b.go": other, "a.go": GO + GO_QUERY}, needs)
    expected = f'\treturn db.Query("SELECT * FROM t WHERE n = {placeholder}", n)\n}}\n' if placeholder else GO_QUERY
    assert texts["a.go"] == GO + expected
    assert placeholder or "driver" in " ".join(repair.left.values())


SHOWN = [
    ('db.Exec("DELETE FROM t WHERE id = ?", 1)', "?"),
    ('db.Exec("DELETE FROM t WHERE id = $1", 1)', "$1"),
    ("id, err := res.LastInsertId()", "?"),
    ("db.Query(\"SELECT a FROM t WHERE n ILIKE 'a%'\")", "$1"),
    ("// the table lies in SQLite", "?"),
    ("// in Postgres", "$1"),
    ("// in Postgres and in MySQL", ""),
    ('db.Exec("DELETE FROM t WHERE id = @p1", 1)', ""),
    ('regexp.MustCompile("(?:a)")', ""),
    ('strings.Contains(n, "?")', ""),
]


@pytest.mark.parametrize(("shown", "placeholder"), SHOWN)
def test_the_rest_of_a_go_file_tells_the_driver(shown: str, placeholder: str) -> None:
    more = f"\nfunc other() {{\n\t{shown}\n}}\n"
    text, repair = repaired("go", GO + GO_QUERY + more)
    expected = f'\treturn db.Query("SELECT * FROM t WHERE n = {placeholder}", n)\n}}\n' if placeholder else GO_QUERY
    assert text == GO + expected + more, repair


@pytest.mark.parametrize(
    ("other", "needs", "placeholder"),
    [
        ("import { Pool } from 'pg';\nexport const db = new Pool();\n", (), "$1"),
        ("const mysql = require('mysql2');\nmodule.exports = mysql.createPool({});\n", (), "?"),
        ("export const x = 1;\n", ("mysql2",), "?"),
        ("export const x = 1;\n", (), ""),
        ("export const x = 1;\n", ("mysql2", "pg"), ""),
    ],
)
def test_a_query_in_a_script_needs_a_known_driver(other: str, needs: tuple[str, ...], placeholder: str) -> None:
    before = "import { db } from './db';\nexport const find = (n) => db.query(`SELECT * FROM t WHERE n = '${n}'`);\n"
    value = "String(n)" if placeholder == "?" else "n"
    after = before.replace("'${n}'`", f"{placeholder}`, [{value}]")
    texts, repair = repaired_files({"db.js": other, "a.js": before}, needs)
    assert texts["a.js"] == (after if placeholder else before)
    assert placeholder or "driver" in " ".join(repair.left.values())


VALUES = [
    ("def f(name):\n    cur.execute(f\"SELECT * FROM t WHERE n = '{name}'\")\n", 'n = ?", (str(name),))'),
    ("def f(name: str):\n    cur.execute(f\"SELECT * FROM t WHERE n = '{name}'\")\n", 'n = ?", (name,))'),
    ('def f(age):\n    cur.execute(f"SELECT * FROM t WHERE a = {age}")\n', 'a = ?", (age,))'),
    ('def f(n):\n    cur.execute(f"SELECT * FROM t LIMIT {n}")\n', 'LIMIT ?", (n,))'),
]


@pytest.mark.parametrize(("before", "after"), VALUES)
def test_a_value_in_quotes_stays_the_text_it_was(before: str, after: str) -> None:
    """`'{value}'` is text whatever the value is; a bound number or UUID is none, and some drivers refuse it."""
    text, _ = repaired("python", "import sqlite3\n" + before)
    assert after in text


TRADED = [
    ("sqlite3", 'n = "\'" + n + "\'"', "SELECT * FROM t WHERE n = {n}", "twice"),
    ("sqlite3", "n = literal(n)", "SELECT * FROM t WHERE n = '{n}'", "twice"),
    ("sqlite3", "pass", "DELETE FROM t WHERE n = '{escape(n)}'", "twice"),
    ("sqlite3", "pass", "DELETE FROM t WHERE n = {n_column}", "part of the statement"),
    ("sqlite3", "pass", "DELETE FROM t WHERE n IS {n}", "IS"),
    ("pymysql", "pass", "SELECT * FROM t LIMIT {n}", "wants a number"),
    ("psycopg2", "pass", 'SELECT * FROM t WHERE n = \\"{n}\\"', "mean a name"),
]


@pytest.mark.parametrize(("driver", "first", "query", "why"), TRADED)
def test_a_value_that_would_mean_something_else_is_left(driver: str, first: str, query: str, why: str) -> None:
    before = f'import {driver}\ndef f(n, n_column):\n    {first}\n    cur.execute(f"{query}")\n'
    text, repair = repaired("python", before)
    assert (text, repair.fixed) == (before, {})
    assert why in " ".join(repair.left.values())
