"""Conditions of the Go rules about SQL."""

import re
from collections.abc import Callable

from moot.scan.engine.rulebook import Site
from moot.scan.engine.values import VALUED
from moot.scan.go.rules.when import MEDIUM

SQL_MODULES = (
    "database/sql", "github.com/jmoiron/sqlx", "github.com/jackc/pgx", "github.com/jackc/pgx/v4",
    "github.com/jackc/pgx/v5", "gorm.io/gorm", "github.com/jinzhu/gorm", "github.com/jackc/pgx/v5/pgxpool",
    "github.com/go-xorm/xorm", "xorm.io/xorm", "github.com/go-pg/pg", "github.com/uptrace/bun",
    "github.com/Masterminds/squirrel", "github.com/huandu/go-sqlbuilder", "github.com/go-gorp/gorp/v3",
    "github.com/doug-martin/goqu/v9", "github.com/upper/db/v4", "github.com/gocraft/dbr/v2",
)  # fmt: skip

PREPARED = re.compile(r"(?i)stmt(?:\[\])?$|\.Prepare\w*\(\)(?:\[\])?$")
"""A statement that is prepared already: what it is given are values."""

SECOND_ARGUMENT = (
    "github.com/jackc/pgx", "github.com/jackc/pgx/v4", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v4/pgxpool",
    "github.com/jackc/pgx/v5/pgxpool", "github.com/jmoiron/sqlx", "github.com/go-pg/pg", "github.com/go-pg/pg/v10",
)  # fmt: skip
"""Libraries whose statement comes after a context or a target."""

ORMS = ("gorm.io/gorm", "github.com/jinzhu/gorm", "xorm.io/xorm", "github.com/go-xorm/xorm", "github.com/uptrace/bun")

CONTEXT = re.compile(r"(?:^|\.)(?:[cC]tx|[cC]ontext)$|\.Context\(\)$|^context\.\w+\(\)")

DATABASE = re.compile(r"(?i)(?:^|[._])(?:db|tx|conn|pool|dbx|sqldb|database|engine)(?:\[\])?$")


def is_built(place: int) -> Callable[[Site], bool]:
    """Certainly untrusted, or a string built here: a bare parameter may be a whole statement of ours."""

    def check(site: Site) -> bool:
        value = site.arg(place)
        sure = value is not None and any(taint.strength >= MEDIUM for taint in value.taints)
        prepared = PREPARED.search(site.receiver.name) is not None
        if value is None or prepared or not (is_database(site) or "sql" in value.marks):
            return False
        return sure or not value.name

    return check


def is_database(site: Site) -> bool:
    return site.module(*SQL_MODULES) or bool(DATABASE.search(site.receiver.name))


def comes_second(site: Site) -> bool:
    """The statement stands behind a context, or behind what is filled in."""
    first, second = site.arg(0), site.arg(1)
    follows = first is not None and CONTEXT.search(first.name) is not None
    return site.module(*SECOND_ARGUMENT) or follows or (second is not None and "sql" in second.marks)


def is_orm(site: Site) -> bool:
    """By the import; in an excerpt, by the name of the database and SQL with a value in it."""
    text = site.arg(0)
    built = text is not None and bool({VALUED, "sql"} & text.marks) and DATABASE.search(site.receiver.name) is not None
    return site.module(*ORMS) or built
