"""A console that escapes control characters and markup in everything it prints."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from moot.text.controls import clean


class CleanConsole(Console):
    """Escapes every text just before it is drawn; rich's own codes are left alone."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))
