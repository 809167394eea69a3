"""Which driver runs a query: by the receiver's constructor, else by the file's imports, else by the
project; else unknown."""

import re
from collections.abc import Iterable

from moot.scan.change import RewriteRefused
from moot.scan.project import ScanProject, list_python_imports
from moot.scan.syntax import Source, words

PERCENT = words(
    "psycopg psycopg2 psycopg2cffi MySQLdb pymysql mysql aiomysql aiopg mariadb django pymssql "
    "flask_mysqldb pg8000 asyncmy"
)
QUESTION = words("sqlite3 aiosqlite pyodbc aioodbc apsw duckdb pysqlite3 sqlcipher3 ibm_db_dbi")
OTHER = words(
    "sqlalchemy asyncpg cx_Oracle oracledb flask_sqlalchemy sqlmodel databases peewee cassandra "
    "clickhouse_driver snowflake pyspark trino prestodb tortoise"
)
"""Drivers with another placeholder style."""
MYSQL = words("MySQLdb pymysql mysql aiomysql mariadb flask_mysqldb asyncmy django")
"""Drivers that quote text, which MySQL does not accept as a number after LIMIT."""
POSTGRES = words("psycopg psycopg2 psycopg2cffi aiopg pg8000 postgres postgresql django pg pg-promise")
"""Databases in which double quotes delimit names, never text."""
SCRIPT_NUMBERED = frozenset({"pg", "postgres", "pg-promise", "@neondatabase/serverless"})
SCRIPT_QUESTION = frozenset({"mysql", "mysql2", "mysql2/promise", "sqlite3", "sqlite", "mariadb", "promise-mysql"})
SCRIPT_OTHER = frozenset({"sequelize", "knex", "typeorm", "mssql", "tedious", "oracledb", "@prisma/client", "kysely"})
GO_NUMBERED = ("github.com/lib/pq", "github.com/jackc/pgx")
GO_QUESTION = (
    "github.com/go-sql-driver/mysql", "github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/glebarez/",
    "github.com/ncruces/go-sqlite3",
)  # fmt: skip
GO_OTHER = (
    "github.com/denisenkom/go-mssqldb", "github.com/microsoft/go-mssqldb", "github.com/godror/", "gorm.io/",
    "github.com/sijms/go-ora", "github.com/jinzhu/gorm", "github.com/ClickHouse/",
)  # fmt: skip
GO_NAMES = {"postgres": "$", "pgx": "$", "mysql": "?", "sqlite3": "?", "sqlite": "?"}
SIGNS = {
    "$": re.compile(
        r"(?i:[=<>(,]|\b(?:like|ilike|limit|offset|and))\s*\$[1-9]|\bILIKE\b|\w::(?:text|int\w*|jsonb?|uuid|date|timestamp\w*)\b"
        r"|(?i:postgres|cockroach|\bpgx?\b)"
    ),
    "?": re.compile(
        r"(?:[=<>(,]|\b(?:LIKE|LIMIT|OFFSET|AND))\s*\?[\s,)\"`;]|\.LastInsertId\(\)|\bON DUPLICATE KEY\b"
        r"|\bINSERT (?:OR )?(?:IGNORE|REPLACE)\b|\bREPLACE INTO\b|(?i:\bAUTO_?INCREMENT\b|\bGROUP_CONCAT\(|\bIFNULL\()"
        r"|\bPRAGMA \w|(?i:mysql|mariadb|sqlite)"
    ),
    "other": re.compile(
        r"[=<>(,]\s*(?:@p\d|:\d)|\bSELECT TOP\b|\bGETDATE\(\)|(?i:mssql|sql ?server|\boracle\b|clickhouse)"
    ),
}
"""What a file shows of its database where nothing imports a driver: placeholders of other queries, words of one
dialect, methods that only some drivers have, the name. PostgreSQL's drivers have no LastInsertId."""
POOL = re.compile(r"(?i)pool|conn(?:ection)?$|mysql|(?:^|\.)db$")
UNKNOWN = "which database driver runs the query is not known here, so how it writes placeholders is not known either"
SEVERAL = "the project uses several database drivers, and which one runs the query is not known here"


def python_drivers(source: Source, made_by: Iterable[str]) -> frozenset[str]:
    """The drivers that may run a call, all with one placeholder style: by the receiver's constructor, else by the
    file's imports, else by the project."""
    project = source.project
    makers = {name.split(".")[0] for name in made_by}
    known = PERCENT | QUESTION | OTHER
    if makers and makers <= known:
        return _agree_on_style(makers)
    found = list_python_imports(source.data.decode("utf-8", "replace")) & known or project.packages & known
    if not found and project.opened & {"postgres", "postgresql", "mysql", "mariadb"} and not project.mapped:
        found = project.opened & {"postgres", "postgresql", "mysql", "mariadb"}
    if "execute" in project.defined:
        raise RewriteRefused("the project has an execute() of its own, and which one is called here is not known")
    return _agree_on_style(found)


def _agree_on_style(names: Iterable[str]) -> frozenset[str]:
    found = frozenset(names)
    if not found:
        raise RewriteRefused(UNKNOWN)
    styles = {"?" if name in QUESTION else "other" if name in OTHER else "%s" for name in found}
    if styles == {"other"}:
        raise RewriteRefused(f"the driver {min(found)} takes the values of a query in a way of its own")
    if len(styles) > 1:
        raise RewriteRefused(SEVERAL)
    return found


def script_driver(project: ScanProject, imported: Iterable[str]) -> str:
    """`pg` or another driver with numbered placeholders, or one that takes `?`: by the file's imports, else by the
    project."""
    known = SCRIPT_NUMBERED | SCRIPT_QUESTION | SCRIPT_OTHER
    found = sorted(frozenset(imported) & known or project.packages & known)
    if not found:
        raise RewriteRefused(UNKNOWN)
    if len({name in SCRIPT_NUMBERED for name in found}) > 1 or any(name in SCRIPT_OTHER for name in found):
        raise RewriteRefused(SEVERAL)
    return found[0]


def infer_script_driver(method: str, receiver: str, statement: str, around: str, *, has_callback: bool) -> str:
    """The driver whose calls look like this, where no import names one. `receiver` is what is asked, `statement` the
    statement of the call, `around` its function."""
    if re.search(r"(?i)sequelize|knex|orm|prisma|sql`", receiver):
        raise RewriteRefused(UNKNOWN)
    if method in ("get", "all", "each", "run") and has_callback:
        return "sqlite3"
    if method in ("query", "execute"):
        if POOL.search(receiver) and re.match(
            r"(?:const|let|var)\s+\[\s*\w+\s*(?:,\s*\w+\s*)?\]\s*=\s*await\b", statement
        ):
            return "mysql2"
        named = re.match(r"(?:const|let|var)\s+(\w+)\s*=\s*await\b", statement)
        taken = re.match(r"(?:const|let|var)\s+\{[^}]*\b(?:rows|rowCount)\b[^}]*\}\s*=\s*await\b", statement)
        if method == "query" and (taken or (named and re.search(rf"\b{named[1]}\.(?:rows|rowCount)\b", around))):
            return "pg"
    raise RewriteRefused(UNKNOWN)


def go_placeholder(project: ScanProject, text: str) -> str:
    """`$` with numbers, or `?`: by the project, else by the file."""
    found = {GO_NAMES.get(name, "other") for name in project.opened}
    for package in project.packages:
        if package.startswith(GO_OTHER):
            found.add("other")
        elif package.startswith(GO_NUMBERED):
            found.add("$")
        elif package.startswith(GO_QUESTION):
            found.add("?")
    found = found or {style for style, sign in SIGNS.items() if sign.search(text)}
    if not found:
        raise RewriteRefused(UNKNOWN)
    if len(found) > 1 or found == {"other"}:
        raise RewriteRefused(SEVERAL)
    return found.pop()
