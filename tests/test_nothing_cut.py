"""Nothing is cut silently: every function of a protocol that takes a part of something is known, and why it may."""

import ast
from collections.abc import Iterator
from pathlib import Path

import moot

PROTOCOLS = Path(moot.__file__).parent / "protocols"
KNOWN = {
    "debate/phases/adaptive.py choose_kept": "the dropped ones say why",
    "debate/phases/adaptive.py why_dropped": "parts of a rank, nothing shown",
    "debate/context.py reinforce": "who is asked",
    "debate/phases/clarify.py choose_answering": "one seat answers",
    "debate/phases/clarify.py dehallucination": "one seat asks, one answers; the result names the rest",
    "debate/phases/converge.py ask_person": "the result names the rest",
    "debate/phases/critique.py take": "the result names the rest",
    "debate/phases/critique.py weigh_claims": "who is asked",
    "debate/phases/drafts.py drafters": "a rule of the session",
    "debate/phases/objections.py render_objections": "those that are shown, for the record",
    "debate/phases/evolve.py list_testers": "a rule of the session",
    "debate/phases/evolve.py specify_and_doubt": "who is asked",
    "debate/phases/optimize.py _merge": "the prompt names the rest",
    "debate/phases/optimize.py optimization": "one seat does it",
    "debate/phases/optimize.py render_contrast": "the prompt counts the rest",
    "debate/phases/shape.py give_shape": "one seat gives it, and the acts name the others",
    "debate/phases/planning.py one_plans": "one seat plans",
    "debate/phases/repair.py repair_candidates": "a rule of the session",
    "debate/script.py repeats_itself": "the last two votes",
    "debate/phases/review.py review": "the result names the rest",
    "debate/report.py _ratings": "the result has them all",
    "debate/phases/run_candidates.py put_calls": "filled up, not cut",
    "debate/script.py render_for_gate": "of the winner, which is the first",
    "decide/questions/classify.py questions_in": "the classification notes the other questions",
    "decide/questions/contexts.py _short": "the line ends with …",
    "decide/questions/letters.py find_favoured": "nothing is shown",
    "decide/questions/letters.py option_named": "nothing is shown",
    "decide/report.py _question": "a label, not a text",
    "harden/attack.py number_findings": "earlier reports; nothing is shown",
    "harden/patches.py _without_drawn_lines": "lines that a model draws around its patch",
    "harden/report.py _worst": "the table above lists all findings",
    "harden/script.py may_rewrite_first": "nothing is shown",
    "harden/script.py reason_to_stop": "nothing is shown",
    "solve/attempts.py reflect_on_failure": "the last attempt is shown apart",
    "solve/report.py _failures": "the JSON result and the record hold the rest",
    "vet/synthesis.py matches_errors": "a rule of the verdict; nothing is shown",
    "vet/verdict.py brief": "the line ends with …",
    "review/changes.py review_change": "a rule of the session; the rest is held back, and named",
}
"""All other material goes through `moot.text.excerpts`."""


def cutting() -> set[str]:
    """Every function with an `x[:n]` or an `x[-n:]`, as `file function`."""
    found = set()
    for path in PROTOCOLS.rglob("*.py"):
        found |= {f"{path.relative_to(PROTOCOLS)} {name}" for name in _within(ast.parse(path.read_text()))}
    return found


def _within(tree: ast.AST, function: str = "") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and _cuts(node.slice):
            yield inner
        yield from _within(node, inner)


def _cuts(part: ast.Slice) -> bool:
    return part.upper is not None or isinstance(part.lower, ast.UnaryOp)


def test_every_cut_in_a_protocol_is_known() -> None:
    assert cutting() == set(KNOWN), "show it by moot.text.excerpts, or say here why nothing is lost"
