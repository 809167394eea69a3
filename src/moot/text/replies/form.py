"""Format instructions for prompts, written only here."""

from collections.abc import Sequence
from functools import lru_cache

from pydantic import BaseModel

from moot.text.replies.shape import Slot, blank_of, slots

JSON = """Answer with one JSON object in this form and nothing else. Fill in each <…>. A list holds as many entries as
you have; if there are none, write []. Write " inside a text as \\"."""
LABELLED = """Answer in this form, with these labels, and nothing else. Fill in each <…>. Write one line for each entry
of a list; where there is nothing to list, write NONE. Give each file its own FILE line and its own fence."""


@lru_cache(maxsize=64)
def instructions(shape: type[BaseModel]) -> str:
    """JSON for plain data; labelled text and a fenced block for code."""
    if any(slot.kind == "code" for slot in slots(shape)):
        return _render_labelled_form(shape)
    return "\n".join([JSON, "", *_json_object(shape, "")])


def code_form(shape: type[BaseModel], language: str, path: str, without: Sequence[str] = ()) -> str:
    """A line for each field, then the code in one unlabelled fence: small models write that best. Fields `without` are
    read where a reply has them, but not asked for."""
    asked = [slot for slot in slots(shape) if slot.kind != "code" and slot.name not in without]
    lines = [f"{slot.name.upper()}: {blank_of(slot)}" for slot in asked]
    return "\n".join([*lines, *([""] if lines else []), f"```{language}", f"<the complete code of {path}>", "```"])


def _json_object(shape: type[BaseModel], indent: str) -> list[str]:
    """The form of one object; its first line has no indent because it follows a key or a bracket."""
    inner = indent + "  "
    lines = ["{"]
    for slot in slots(shape):
        if slot.kind in ("items", "item") and slot.shape:
            body = _json_object(slot.shape, inner)
            body[-1] += "]" if slot.kind == "items" else ""
            lines.append(f'{inner}"{slot.name}": {"[" if slot.kind == "items" else ""}{body[0]}')
            lines += body[1:]
        else:
            lines.append(f'{inner}"{slot.name}": {_json_blank(slot)}')
        lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    return [*lines, f"{indent}}}"]


def _json_blank(slot: Slot) -> str:
    match slot.kind:
        case "number" | "whole" | "yesno":
            return blank_of(slot)
        case "texts":
            return f'["{blank_of(slot)}"]'
        case "mapping":
            return "{" + ", ".join(f'"{key}": "{blank_of(slot)}"' for key in slot.keys) + "}"
        case _:
            return f'"{blank_of(slot)}"'


def _render_labelled_form(shape: type[BaseModel]) -> str:
    parts = ["\n".join(_render_labelled_slot(slot)) for slot in slots(shape)]
    return "\n\n".join([LABELLED, *parts])


def _render_labelled_slot(slot: Slot) -> list[str]:
    label = slot.name.upper()
    match slot.kind:
        case "code":
            return [f"{label}:", "FILE: <path>", "```", blank_of(slot), "```"]
        case "items" if slot.shape:
            return [f"{label}:", *(line for part in slots(slot.shape) for line in _render_labelled_slot(part)), "---"]
        case "item" if slot.shape:
            return [f"{label}:", *(line for part in slots(slot.shape) for line in _render_labelled_slot(part))]
        case "texts":
            return [f"{label}:", f"- {blank_of(slot)}"]
        case "mapping":
            return [f"{label}:", *(f"{key}: {blank_of(slot)}" for key in slot.keys)]
        case _:
            return [f"{label}: {blank_of(slot)}"]
