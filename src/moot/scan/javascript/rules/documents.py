"""Conditions of the JavaScript rules about document databases."""

import re

from moot.scan.engine.rulebook import Site, When
from moot.scan.rules.logins import asks_for_login
from moot.scan.syntax import words

DOCUMENT_METHODS = words(
    "findOne findOneAndUpdate findOneAndDelete findOneAndReplace findOneAndRemove updateOne updateMany deleteOne "
    "deleteMany replaceOne countDocuments"
)
"""Methods that the collections of document databases have, and tables only where one of these is imported."""

TABLES = (
    "typeorm",
    "@nestjs/typeorm",
    "sequelize",
    "sequelize-typescript",
    "@mikro-orm/core",
    "objection",
    "waterline",
)


def query_object(site: Site) -> bool:
    """A value that the sender can make an object; path parameters and headers are always text."""
    first = site.arg(0)
    if first is None or site.setting(first, "where") is not None:
        return False
    model = re.match(r"[A-Z]\w*\.\w+$|\?\.\w+$|(?:.*[.~])?(?:collection|models?|db)\b", site.name)
    documents = site.name.rpartition(".")[2] in DOCUMENT_METHODS and not site.module(*TABLES)
    if not (site.module("mongodb", "mongoose", "mongojs", "monk") or model or documents):
        return False
    return any(_can_be_object(taint.origin) and "nosql" not in taint.ended for taint in site.taints_at(0, "nosql"))


def login_query(site: Site) -> bool:
    documents = site.name.rpartition(".")[2] in DOCUMENT_METHODS and not site.module(*TABLES)
    return documents and asks_for_login(site, site.arg(0))


OBJECTS = ("req.body", "req.query", "req.json", "req.param", "ctx.request.body", "ctx.query", "ctx.request.query",
           "event.body", "socket.data")  # fmt: skip


def _can_be_object(origin: str) -> bool:
    return origin.startswith(OBJECTS) and not origin.startswith("req.params")


def whole_body(place: int) -> When:
    """The whole request body, unfiltered."""

    def check(site: Site) -> bool:
        value = site.arg(place)
        model = re.match(r"(?:.*[./~])?[A-Z]\w*\.\w+$|\?\.\w+$", site.name)
        return bool(model) and value is not None and value.name in ("req.body", "ctx.request.body", "req.query")

    return check
