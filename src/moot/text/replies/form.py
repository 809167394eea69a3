"""How a reply should look: the one place that writes format instructions into prompts."""

import re
from functools import lru_cache

from pydantic import BaseModel

from moot.text.replies.shape import Slot, label_key, slots

JSON = """Answer with one JSON object in this form and nothing else. Fill in each <…>. A list holds as many entries as
you have; if there are none, write []. Write " inside a text as \\"."""
LABELLED = """Answer in this form, with these labels, and nothing else. Fill in each <…>. Write one line for each entry
of a list; where there is nothing to list, write NONE. Give each file its own FILE line and its own fence."""
LONGEST_BLANK = 200
BLANK = re.compile(r"<(?:the|an?|how|what|why|from|your|one of|number|yes or no)\b[^<>=]*>", re.IGNORECASE)


@lru_cache(maxsize=64)
def instructions(shape: type[BaseModel]) -> str:
    """JSON where the reply is only data; labelled text and a fenced block where it holds code."""
    if any(slot.kind == "code" for slot in slots(shape)):
        return _labelled_form(shape)
    return "\n".join([JSON, "", *_json_object(shape, "")])


@lru_cache(maxsize=64)
def native_schema(shape: type[BaseModel]) -> dict[str, object] | None:
    """The schema for providers that can enforce one; None where the reply holds code. It asks for every field, in the
    order of the form: a model that may skip a field does, and gives its choice without the reasons."""
    if any(slot.kind == "code" for slot in slots(shape)):
        return None
    schema = shape.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["required"] = list(part["properties"])
    return schema


def code_form(shape: type[BaseModel], language: str, path: str) -> str:
    """A line for each field, then the code in one fenced block without a label: small models write it best that way."""
    lines = [f"{slot.name.upper()}: {blank_of(slot)}" for slot in slots(shape) if slot.kind != "code"]
    return "\n".join([*lines, *([""] if lines else []), f"```{language}", f"<the complete code of {path}>", "```"])


def is_blank(slot: Slot, text: str) -> bool:
    """Whether a reply only copies the form: `<what is wrong>`, also that of another field, or the words without
    their brackets. A tag such as `<a href=x>` is content."""
    if len(text) > LONGEST_BLANK:
        return False
    return bool(BLANK.fullmatch(text.strip())) or label_key(text) in (
        label_key(blank_of(slot)),
        label_key(_about(slot)),
    )


def _json_object(shape: type[BaseModel], indent: str) -> list[str]:
    """The form of one object; its first line has no indent, for it follows a key or a bracket."""
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


def _labelled_form(shape: type[BaseModel]) -> str:
    parts = ["\n".join(_labelled_slot(slot)) for slot in slots(shape)]
    return "\n\n".join([LABELLED, *parts])


def _labelled_slot(slot: Slot) -> list[str]:
    label = slot.name.upper()
    match slot.kind:
        case "code":
            return [f"{label}:", "FILE: <path>", "```", blank_of(slot), "```"]
        case "items" if slot.shape:
            return [f"{label}:", *(line for part in slots(slot.shape) for line in _labelled_slot(part)), "---"]
        case "item" if slot.shape:
            return [f"{label}:", *(line for part in slots(slot.shape) for line in _labelled_slot(part))]
        case "texts":
            return [f"{label}:", f"- {blank_of(slot)}"]
        case "mapping":
            return [f"{label}:", *(f"{key}: {blank_of(slot)}" for key in slot.keys)]
        case _:
            return [f"{label}: {blank_of(slot)}"]


def blank_of(slot: Slot) -> str:
    match slot.kind:
        case "word":
            return f"<one of: {' | '.join(slot.words)}>"
        case "yesno":
            return f"<yes or no: {_about(slot)}>" if slot.about else "<yes or no>"
        case "number" | "whole":
            return f"<number: {_about(slot)}>"
        case _:
            return f"<{_about(slot)}>"


def _about(slot: Slot) -> str:
    return slot.about or slot.name.replace("_", " ")
