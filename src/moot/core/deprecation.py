"""What a later version will remove, and what replaces it. Every surface announces it in the same words."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Deprecation:
    since: str
    """The version that announced it."""
    removal: str
    """The version without it, which begins with a new major number."""
    instead: str
    """What to do now: "use `max_rounds`"."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Mark the field that is annotated with it in the OpenAPI document."""
        return {**handler(schema), "deprecated": True}

    def describe(self, name: str) -> str:
        return f"{name} is deprecated since {self.since} and will be removed in {self.removal}: {self.instead}"
