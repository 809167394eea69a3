"""How a reply should look: the one place that writes format instructions into prompts."""

from functools import lru_cache

from pydantic import BaseModel

from moot.replies.shape import Slot, slots


@lru_cache(maxsize=64)
def instructions(shape: type[BaseModel]) -> str:
    """JSON where the reply is only data; labelled text and a fenced block where it holds code."""
    if any(slot.kind == "code" for slot in slots(shape)):
        return _labelled_form(shape)
    return "\n".join(["Answer with one JSON object and nothing else, in this form:", "", *_json_object(shape, "")])


@lru_cache(maxsize=64)
def native_schema(shape: type[BaseModel]) -> dict[str, object] | None:
    """The schema for providers that can enforce one; None where the reply holds code."""
    if any(slot.kind == "code" for slot in slots(shape)):
        return None
    return shape.model_json_schema()


def _json_object(shape: type[BaseModel], indent: str) -> list[str]:
    inner = indent + "  "
    lines = [f"{indent}{{"]
    wanted = slots(shape)
    for number, slot in enumerate(wanted, start=1):
        comma = "," if number < len(wanted) else ""
        if slot.kind in ("items", "item") and slot.shape:
            body = _json_object(slot.shape, inner + "  ")
            many = slot.kind == "items"
            lines.append(f'{inner}"{slot.name}": {"[" if many else ""}')
            lines += body
            lines.append(f"{inner}{', … or [] if there are none]' if many else ''}{comma}")
        else:
            lines.append(f'{inner}"{slot.name}": {_json_blank(slot)}{comma}')
    lines.append(f"{indent}}}")
    return lines


def _json_blank(slot: Slot) -> str:
    about = slot.about or slot.name.replace("_", " ")
    match slot.kind:
        case "word":
            return f"<one of: {' | '.join(slot.words)}>"
        case "number":
            return f"<number: {about}>"
        case "whole":
            return f"<whole number: {about}>"
        case "yesno":
            return f"<true or false: {about}>"
        case "texts":
            return f"[<{about}>, …]"
        case "mapping":
            return f"{{<name>: <{about}>, …}}"
        case _:
            return f"<text: {about}>"


def _labelled_form(shape: type[BaseModel]) -> str:
    lines = ["Answer in this form, with these labels, and nothing else:", ""]
    for slot in slots(shape):
        lines += _labelled_slot(slot)
        lines.append("")
    return "\n".join(lines).rstrip()


def _labelled_slot(slot: Slot) -> list[str]:
    label, about = slot.name.upper(), slot.about or slot.name.replace("_", " ")
    match slot.kind:
        case "code":
            return [
                f"{label}:",
                "FILE: <path>",
                "```",
                f"<{about}>",
                "```",
                "(one such block for each file; if the code itself holds ``` lines, fence it with ````)",
            ]
        case "items" if slot.shape:
            blanks = [f"{inner.name.upper()}: {_blank(inner)}" for inner in slots(slot.shape)]
            return [f"{label}:", *blanks, "---", "(one such block for each, with --- between them; or the word NONE)"]
        case "texts":
            return [f"{label}:", f"- <{about}>", "(one line each; or the word NONE)"]
        case "mapping":
            return [f"{label}:", f"<name>: <{about}>", "(one line each; or the word NONE)"]
        case _:
            return [f"{label}: {_blank(slot)}"]


def _blank(slot: Slot) -> str:
    about = slot.about or slot.name.replace("_", " ")
    return f"<one of: {' | '.join(slot.words)}>" if slot.kind == "word" else f"<{about}>"
