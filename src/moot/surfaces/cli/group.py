"""The commands as a group whose errors are harmless to look at."""

from typing import Any

from typer.core import TyperGroup

from moot.text.controls import clean


class CleanGroup(TyperGroup):
    """What is wrong with the arguments is said with words of theirs: names of files, as a shell puts them in."""

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        return _clean_errors(super().make_context, *arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        return _clean_errors(super().invoke, ctx)


def _clean_errors(work: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return work(*arguments, **named)
    except Exception as error:
        if isinstance(said := getattr(error, "message", None), str):
            error.message = clean(said)  # type: ignore[attr-defined]
        raise
