"""What a server is asked for beyond plain text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Features:
    """Features that a server turns out not to support are left out from then on."""

    schema: bool = True
    temperature: bool = True


def is_closed(schema: object) -> bool:
    """Whether every object in a JSON schema lists all its properties, without free-form mappings."""
    if isinstance(schema, list):
        return all(is_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and not schema.get("properties"):
        return False
    if schema.get("additionalProperties", False) is not False:
        return False
    return all(is_closed(item) for item in schema.values())


def is_strict(schema: object) -> bool:
    """Whether a server can enforce the whole schema: closed, and all properties required."""
    return is_closed(schema) and _requires_all(schema)


def _requires_all(schema: object) -> bool:
    if isinstance(schema, list):
        return all(_requires_all(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if isinstance(properties, dict):
        named = set(properties) == set(schema.get("required") or ())
        if not named or schema.get("additionalProperties") is not False:
            return False
    return all(_requires_all(item) for item in schema.values())
