"""A console that obeys nothing in what it shows, whoever forgot to make that harmless."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from moot.text.controls import clean


class CleanConsole(Console):
    """Every text is made harmless just before it is drawn; rich's own codes are not text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))
