"""Dependency cycles."""

from collections.abc import Mapping, Sequence


def cycles(needs: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Each cycle once, beginning with its first name in the given order; names not in `needs` are ignored."""
    order = {name: place for place, name in enumerate(needs)}
    found: dict[tuple[str, ...], None] = {}
    done: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            name, at = stack.pop()
            if at == 0:
                if name in done:
                    continue
                path[name] = None
            following = [n for n in needs[name] if n in order]
            if at < len(following):
                stack.append((name, at + 1))
                other = following[at]
                if other in path:
                    way = list(path)
                    found.setdefault(_rotate_cycle(way[way.index(other) :], order))
                else:
                    stack.append((other, 0))
            else:
                done.add(name)
                path.pop(name)
    return list(found)


def _rotate_cycle(cycle: Sequence[str], order: Mapping[str, int]) -> tuple[str, ...]:
    first = min(range(len(cycle)), key=lambda at: order[cycle[at]])
    return (*cycle[first:], *cycle[:first])
