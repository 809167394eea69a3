"""The file that a result is written to, where one was asked for."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from moot.core.types import Result
from moot.edge.files.outputs import check_output, write_output
from moot.runtime.runner import SessionPlan, outcome_of
from moot.text.secrets import Vault

HOW = ("out", "write_anyway", "force")
WITHHELD = {
    "unresolved": "it fails tests, or grave findings are left in it",
    "unsolved": "tests still fail",
    "rejected": "a person rejected it",
}
"""Outcomes with which nothing is written unless somebody says that it shall be."""


def split_output(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, JsonValue]]:
    """What is given to the protocol, and the notes of a plan that say where its result is written, and how."""
    rest = {name: value for name, value in given.items() if name not in HOW}
    out, force = given.get("out"), bool(given.get("force"))
    check_output(out, force=force, flag="--out")
    if not out:
        return rest, {}
    return rest, {"out": os.path.abspath(out), "write_anyway": bool(given.get("write_anyway")), "force": force}


def output_given(out: str | Path | None, *, write_anyway: bool, force: bool) -> dict[str, Any]:
    return {"out": str(out) if out else None, "write_anyway": write_anyway, "force": force}


def why_withheld(result: Result, plan: SessionPlan) -> str:
    """Why a text is not written to the file that was asked for; empty where it may be."""
    if result.resumable:
        return "the session is not at its end"
    outcome = outcome_of(result)
    if outcome in WITHHELD and not plan.notes.get("write_anyway"):
        return f"{outcome}: {WITHHELD[outcome]}; --write-anyway writes it all the same"
    return ""


def write_out(text: str, result: Result, plan: SessionPlan, vault: Vault) -> str:
    """The text into the file that was asked for; gives its path, or nothing where there is none, it is withheld, or
    more may come."""
    out = plan.notes.get("out")
    if not isinstance(out, str) or not text or why_withheld(result, plan):
        return ""
    write_output(out, vault.reveal(text).encode("utf-8"), force=bool(plan.notes.get("force")))
    return out
