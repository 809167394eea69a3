"""A call as the rules see it."""

import re
from dataclasses import dataclass

from moot.scan.engine.ir import Span
from moot.scan.engine.lookups import taints_in
from moot.scan.engine.machine import Machine
from moot.scan.engine.state import State
from moot.scan.engine.values import Key, Taints, Val, merge_taints

MEMBER = re.compile(rb"\s*\.\s*([a-zA-Z_]\w*)")
MAKERS = re.compile(r"\bfunction\s+(\w+)\s*\(|(\w+)\s*[:=]\s*(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>\s*[{(\[]")
NEAR = 600
HOST_OPTIONS = ("url", "uri", "host", "hostname", "baseURL", "href")


@dataclass(slots=True, eq=False)
class CallSite:
    m: Machine
    state: State
    name: str
    receiver: Val
    args: list[Val]
    keywords: dict[str, Val]
    at: Span = (0, 0)

    @property
    def count(self) -> int:
        return len(self.args) + len(self.keywords)

    def arg(self, *places: int | str) -> Val | None:
        for place in places:
            if place == "self":
                return self.receiver
            if isinstance(place, int):
                if place < len(self.args):
                    return self.args[place]
            elif place in self.keywords:
                return self.keywords[place]
        return None

    def items(self, value: Val | None) -> list[Val] | None:
        if value is None:
            return None
        cells = self.m.cells(value, self.state)
        if len(cells) != 1 or cells[0][1].kind != "list" or not cells[0][1].exact:
            return None
        cell = cells[0][1]
        return [cell.items[index] for index in range(len(cell.items))]

    def variants(self, value: Val | None) -> list[list[Val]]:
        lists: list[list[Val]] = []
        for _, cell in self.m.cells(value, self.state) if value is not None else []:
            known = cell.lists()
            if not known:
                return []
            lists += [list(variant) for variant in known]
        return lists

    def setting(self, value: Val | None, key: Key) -> Val | None:
        for _, cell in self.m.cells(value, self.state) if value is not None else []:
            if key in cell.items:
                return cell.items[key]
        return None

    def module(self, *names: str) -> bool:
        return not self.m.frame.unit.imports.isdisjoint(names)

    def package_names(self) -> set[str]:
        return {path.rpartition("/")[2] for path in self.m.frame.unit.imports}

    def contains(self, word: str) -> bool:
        unit = self.m.frame.unit
        unit.asked.add(word)
        return word.encode() in unit.module.data

    def is_proved(self, origin: str, kind: str) -> bool:
        return any(kind == proved and name.startswith(origin) for name, proved in self.state.proved)

    def words(self) -> str:
        frame = self.m.frame
        return f"{frame.target} {frame.function.name if frame.function else ''}"

    def around(self) -> str:
        frame = self.m.frame
        if frame.function is None:
            return ""
        # One text for all calls of the function: what is searched in it is remembered.
        known = self.m.bodies.get(id(frame.function))
        if known is None:
            known = self.m.bodies[id(frame.function)] = frame.unit.module.text(frame.function.at)
        return known

    def maker(self) -> str:
        before = self.m.frame.unit.module.text((max(0, self.at[0] - NEAR), self.at[0]))
        found = MAKERS.findall(before)
        return next((name for name in found[-1] if name), "") if found else ""

    def text(self) -> str:
        return self.m.frame.unit.module.text(self.at)

    def line(self) -> str:
        return self.m.frame.unit.module.line_text(self.at[0])

    def member(self) -> str:
        found = MEMBER.match(self.m.frame.unit.module.data, self.at[1])
        return found[1].decode() if found is not None else ""

    def taints_at(self, place: int | str, kind: str) -> Taints:
        if place == "*":
            every = [*self.args, *self.keywords.values()]
            return tuple(t for value in every for t in taints_in(self.m, value, self.state))
        value = self.arg(place)
        if kind == "log" and value is not None and value.refs and self.m.frame.unit.in_javascript:
            return value.taints  # an object is printed with its texts quoted
        if kind == "nosql" and value is not None and value.refs:
            return self._unequal(value)
        if kind == "ssrf" and value is not None and value.refs and not value.taints:
            # Options of a request: only what names the host, not what is sent there.
            named = [self.setting(value, key) for key in HOST_OPTIONS]
            return tuple(t for part in named if part is not None for t in taints_in(self.m, part, self.state))
        if kind == "xss" and value is not None and value.refs:
            # `(body, headers)`: only the body is a page.
            parts = self.items(value)
            value = parts[0] if parts else value
        return taints_in(self.m, value, self.state) if value is not None else ()

    def _unequal(self, value: Val, depth: int = 0) -> Taints:
        """The values in a filter except those compared for equality: `{$eq: x}`."""
        taints = value.taints
        for _, cell in self.m.cells(value, self.state) if depth < 4 else []:
            inner = [held for key, held in cell.items.items() if key != "$eq"]
            for held in (*inner, *([cell.rest] if cell.rest is not None else [])):
                taints = merge_taints(taints, self._unequal(held, depth + 1))
        return taints
