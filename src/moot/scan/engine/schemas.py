"""Validation schemas at run time: zod, joi, yup. What they accept is known per field."""

import re

from moot.scan.engine import facts
from moot.scan.engine.lookups import item
from moot.scan.engine.machine import Machine
from moot.scan.engine.sites import CallSite
from moot.scan.engine.state import HeapCell
from moot.scan.engine.values import ALL, ANY, Facts, Key, Val, const, ending
from moot.scan.syntax import words

LIBRARIES = re.compile(r"^(?:zod|joi|@hapi/joi|yup|Joi)\b")
CHECKS = words("parse parseAsync safeParse safeParseAsync validate validateSync validateAsync attempt cast")
STRICT = re.compile(
    r"\.(?:number|boolean|bool|bigint|date|enum|nativeEnum|literal|uuid|regex|alphanum|guid|hex|valid|oneOf|datetime|"
    r"cuid|cuid2|ulid|matches|pattern|isodate|objectId)\(\)"
)
TEXT = re.compile(r"\.string\(\)")


def is_schema(site: CallSite) -> bool:
    return LIBRARIES.match(site.name) is not None


def refine_schema(site: CallSite) -> Val:
    """`.strict()`, `.min(1)`: the same schema with another constraint."""
    return site.receiver._replace(name=f"{site.name}()")


def check_schema(m: Machine, site: CallSite, last: str) -> Val:
    subject = site.arg(0) or ANY
    fields = [cell for _, cell in m.cells(site.setting(site.receiver, 0) or ANY, site.state)]
    proved: set[tuple[str, str]] = set()
    if fields:
        held: dict[Key, Val] = {}
        for key, schema in fields[0].items.items():
            held[key] = _let_through(schema.name, item(m, subject, const(key), site.state, site.at), proved)
        result = m.allocate(site.state, HeapCell("dict", held))
    else:
        result = _let_through(site.receiver.name, subject, proved)
    proof = frozenset(proved)
    if last.startswith("safeParse"):
        success = Val(facts=Facts(true=proof))
        return m.allocate(site.state, HeapCell("dict", {"success": success, "data": result, "error": _error(proof)}))
    if last == "validate" and not site.name.startswith("yup"):
        return m.allocate(site.state, HeapCell("dict", {"error": _error(proof), "value": result}))
    site.state.proved |= proof
    return result


def _error(proof: facts.Proofs) -> Val:
    return Val(facts=Facts(false=proof))


def _let_through(schema: str, value: Val, proved: set[tuple[str, str]]) -> Val:
    if STRICT.search(schema):
        proved.update(facts.about(value.taints, ALL))
        return ANY
    if TEXT.search(schema):
        proved.update(facts.about(value.taints, "nosql"))
        return value._replace(taints=ending(value.taints, frozenset({"nosql"})))
    return value
