"""CSP/1: the lines in which other tools request a debate and read its result."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from moot.core.errors import UsageError

MODE = "CSP/1 MODE;!prose;DATA ONLY"
STAKES = ("low", "medium", "high")
RESOLUTIONS = ("PROCEED", "MODIFY", "RETRY", "PIVOT", "ESCALATE")
KEYS = ("REQ", "ROUNDS", "STAKES", "ATTEMPTS", "ERRORS")


@dataclass(frozen=True)
class PlanRequest:
    proposal: str
    rounds: int = 1
    stakes: str = ""


@dataclass(frozen=True)
class FailureRequest:
    task: str
    attempts: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


Request = PlanRequest | FailureRequest


@dataclass(frozen=True)
class Synthesis:
    resolution: str
    rationale: str = ""
    modifications: tuple[str, ...] = ()
    next_approach: str = ""
    escalate_to: str = ""
    next_attempt_limit: int | None = None


# --- requests


def write_request(request: Request) -> str:
    if isinstance(request, PlanRequest):
        stakes = f" STAKES:{request.stakes}" if request.stakes else ""
        return f"DEBATE REQ:{_text(request.proposal)} ROUNDS:{request.rounds}{stakes}"
    attempts, errors = _list(request.attempts), _list(request.errors)
    return f"DEBATE_FAILURE REQ:{_text(request.task)} ATTEMPTS:{attempts} ERRORS:{errors}"


def read_request(text: str) -> Request:
    """Parse a request; errors name what is missing or impossible."""
    said = "\n".join(line for line in text.splitlines() if not line.strip().upper().startswith("CSP/1")).strip()
    verb = re.match(r"(DEBATE(?:_FAILURE)?)\b\s*", said)
    if not verb:
        raise UsageError("a CSP/1 request begins with 'DEBATE REQ:' or 'DEBATE_FAILURE REQ:'")
    values = _fields(said[verb.end() :])
    asked = _untext(values.get("REQ", ""))
    if not asked.strip():
        raise UsageError("the CSP/1 request has nothing after 'REQ:'")
    if verb[1] == "DEBATE_FAILURE":
        return FailureRequest(asked, _unlist(values.get("ATTEMPTS", "[]")), _unlist(values.get("ERRORS", "[]")))
    rounds, stakes = values.get("ROUNDS", "1").strip(), values.get("STAKES", "").strip().lower()
    if rounds not in ("1", "2", "3"):
        raise UsageError(f"ROUNDS must be 1, 2 or 3 in a CSP/1 request, not {rounds!r}")
    if stakes and stakes not in STAKES:
        raise UsageError(f"STAKES must be low, medium or high in a CSP/1 request, not {stakes!r}")
    return PlanRequest(asked, int(rounds), stakes)


def _fields(text: str) -> dict[str, str]:
    """`KEY:value` pairs; a key inside quotes or brackets is text."""
    found: dict[str, str] = {}
    key, begin, at = "", 0, 0
    while at < len(text):
        name = KEY.match(text, at) if at == 0 or text[at - 1].isspace() else None
        if name and name[1] not in found and name[1] != key:
            found |= {key: text[begin:at]} if key else {}
            key, begin = name[1], name.end()
            at = _skip_value(text, begin)
        else:
            at += 1
    return found | ({key: text[begin:]} if key else {})


KEY = re.compile(rf"({'|'.join(KEYS)}):")


def _skip_value(text: str, at: int) -> int:
    """The position after a quoted text or a list that begins here."""
    if text[at : at + 1] == '"':
        return _end_of_quote(text, at) or at
    if text[at : at + 1] == "[":
        here = at + 1
        while here < len(text) and text[here] != "]":
            here = (_end_of_quote(text, here) or here + 1) if text[here] == '"' else here + 1
        return here if here < len(text) else at
    return at


# --- results


def write_synthesis(synthesis: Synthesis) -> str:
    lines = [f"RESOLUTION {synthesis.resolution}"]
    lines += [f"RATIONALE {_text(synthesis.rationale)}"] if synthesis.rationale else []
    lines += [f"MODIFICATIONS {_list(synthesis.modifications)}"] if synthesis.modifications else []
    lines += [f"NEXT_APPROACH {_text(synthesis.next_approach)}"] if synthesis.next_approach else []
    lines += [f"ESCALATE_TO {_text(synthesis.escalate_to)}"] if synthesis.escalate_to else []
    limit = synthesis.next_attempt_limit
    return "\n".join([*lines, *([f"NEXT_ATTEMPT_LIMIT {limit}"] if limit is not None else [])])


def read_synthesis(text: str) -> Synthesis:
    known = {field.name.upper() for field in fields(Synthesis)}
    values: dict[str, str] = {}
    for line in text.split("\n"):
        key, _, value = line.strip().partition(" ")
        if key in known:
            if key in values:
                raise UsageError(f"{key} appears twice in the CSP/1 lines")
            values[key] = value
    resolution, limit = values.get("RESOLUTION", "").strip(), values.get("NEXT_ATTEMPT_LIMIT", "").strip()
    if resolution not in RESOLUTIONS:
        raise UsageError(f"RESOLUTION must be one of {', '.join(RESOLUTIONS)} in CSP/1 lines, not {resolution!r}")
    if limit and not re.fullmatch(r"\d{1,3}", limit):
        raise UsageError(f"NEXT_ATTEMPT_LIMIT must be a number in CSP/1 lines, not {limit!r}")
    return Synthesis(
        resolution,
        _untext(values.get("RATIONALE", "")),
        _unlist(values.get("MODIFICATIONS", "[]")),
        _untext(values.get("NEXT_APPROACH", "")),
        _untext(values.get("ESCALATE_TO", "")),
        int(limit) if limit else None,
    )


# --- values

PLAIN = re.compile(r"[^\s\"\[\],:](?:[^\"\n\r\v\f\x1c-\x1e\x85\u2028\u2029\[\],:]*[^\s\"\[\],:])?")


def _text(text: str) -> str:
    """Unquoted if that can be parsed back, else a JSON string."""
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(_text(text) for text in texts)}]"


def _untext(said: str) -> str:
    said = said.strip()
    end = _end_of_quote(said, 0) if said.startswith('"') else None
    return str(json.loads(said)) if end == len(said) else said


def _unlist(said: str) -> tuple[str, ...]:
    """`[a, b]`; an entry with a comma or a bracket is quoted. Without brackets it is one entry."""
    said = said.strip()
    inner = said[1:-1] if said.startswith("[") and said.endswith("]") else None
    if inner is None:
        return (_untext(said),) if said else ()
    parts, begin, at = [], 0, 0
    while at < len(inner):
        fresh = not inner[begin:at].strip()
        end = _end_of_quote(inner, at) if inner[at] == '"' and fresh else None
        if inner[at] == ",":
            parts.append(inner[begin:at])
            begin = at + 1
        at = end or at + 1
    last = [inner[begin:]] if inner[begin:].strip() or parts else []
    return tuple(_untext(part) for part in (*parts, *last))


def _end_of_quote(text: str, at: int) -> int | None:
    """The end of the JSON string that begins here; None if it is not closed."""
    try:
        _, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        return None
    return int(end)
