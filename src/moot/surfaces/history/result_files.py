"""Writes a result to the file that was asked for."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import JsonValue

from moot.core.protocol import Option
from moot.core.types import Result, Value
from moot.edge.files.outputs import check_output, write_output
from moot.runtime.runner import SessionPlan, outcome_of
from moot.surfaces.extensions import Delivery
from moot.text.secrets import Vault

FORCE = "Overwrite the output file if it exists."


class OutOptions(Value):
    out: Annotated[str | None, Option(short="-o", help="Write the result to this file.")] = None
    write_anyway: Annotated[bool, Option(help="Write --out even if tests fail or serious findings remain.")] = False
    force: Annotated[bool, Option(help=FORCE)] = False


HOW = tuple(OutOptions.model_fields)
WITHHELD = {
    "unresolved": "it fails tests or has serious findings",
    "unsolved": "tests still fail",
    "rejected": "a person rejected it",
}
"""Outcomes that are not written unless asked for."""


def split_output(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, JsonValue]]:
    """Splits the arguments into protocol input and the plan's output notes."""
    rest = {name: value for name, value in given.items() if name not in HOW}
    out, force = given.get("out"), bool(given.get("force"))
    check_output(out, force=force, flag="--out")
    if not out:
        return rest, {}
    return rest, {"out": os.path.abspath(out), "write_anyway": bool(given.get("write_anyway")), "force": force}


def output_given(out: str | Path | None, *, write_anyway: bool, force: bool) -> dict[str, Any]:
    return {"out": str(out) if out else None, "write_anyway": write_anyway, "force": force}


def why_withheld(result: Result, plan: SessionPlan) -> str:
    """Why the result is not written; empty if it may be."""
    if result.resumable:
        return "the session has not ended"
    outcome = outcome_of(result)
    if outcome in WITHHELD and not plan.notes.get("write_anyway"):
        return f"{outcome}: {WITHHELD[outcome]}; --write-anyway writes it anyway"
    return ""


def deliver_text(text: str, doubt: str, code: int, result: Result, plan: SessionPlan, vault: Vault) -> Delivery:
    """Writes the text and says how far to trust it, or why nothing was written."""
    if written := write_out(text, result, plan, vault):
        return Delivery(code, (f"written: {written}" + (f" ({doubt}: do not rely on it)" if code else ""),))
    if not plan.notes.get("out"):
        return Delivery(code)
    why = (why_withheld(result, plan) if result.resumable or text else "") or "there is no result"
    return Delivery(code, (f"nothing was written: {why}",))


def write_out(text: str, result: Result, plan: SessionPlan, vault: Vault) -> str:
    """Writes the text; returns its path, or "" if there is no file, it is withheld, or more may come."""
    out = plan.notes.get("out")
    if not isinstance(out, str) or not text or why_withheld(result, plan):
        return ""
    write_output(out, vault.reveal(text).encode("utf-8"), force=bool(plan.notes.get("force")))
    return out
