"""Queries of document databases: objects that the sender can write."""

import re

from moot.scan.engine.rulebook import Site
from moot.scan.engine.values import BUILT
from moot.scan.rules.logins import asks_for_login
from moot.scan.syntax import words

DOCUMENTS = ("pymongo", "mongoengine", "flask_pymongo", "motor", "motor.motor_asyncio")


DOCUMENT_METHODS = words(
    "find_one update_one update_many delete_one delete_many find_one_and_update count_documents replace_one"
)
"""Methods that only a collection of documents has; `find` and `aggregate` have others too."""
COLLECTION = re.compile(r"(?i)(?:^|[._])(?:db|mongo|coll(?:ection)?s?)(?:[._\[]|$)")


def query_object(site: Site) -> bool:
    """A value that the sender can make an object; form fields and path parameters are always text."""
    query = site.arg(0, "filter")
    if query is None or not _is_collection(site):
        return False
    if query.taints and not query.refs:
        return site.module(*DOCUMENTS) or any("json" in taint.origin for taint in query.taints)
    carried = site.taints_at(0, "nosql") or site.taints_at("filter", "nosql")
    return any("json" in taint.origin and "nosql" not in taint.ended for taint in carried)


def _is_collection(site: Site) -> bool:
    if site.module(*DOCUMENTS) or site.name.rpartition(".")[2] in DOCUMENT_METHODS:
        return True
    return COLLECTION.search(site.receiver.name) is not None


def is_script_query(site: Site) -> bool:
    """`{"$where": "this.name == '" + name + "'"}`"""
    code = site.setting(site.arg(0, "filter"), "$where")
    return code is not None and bool(code.taints)


def is_open_query(site: Site) -> bool:
    """A whole query that was read from a text, or a login by values that may be objects."""
    query = site.arg(0, "filter")
    if query is None or not _is_collection(site):
        return False
    parsed = bool(query.taints) and query.name in ("json.loads()", "bson.json_util.loads()")
    return parsed or asks_for_login(site, query)


def is_code_built(site: Site) -> bool:
    """JavaScript that is put together here and runs in the database."""
    return any(BUILT in value.marks for place in (0, 1) if (value := site.arg(place)) is not None)
