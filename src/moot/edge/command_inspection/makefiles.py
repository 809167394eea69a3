"""Parses a Makefile as far as needed to find the commands of a target: rules, prerequisites, plain variables,
includes."""

import re
from collections.abc import Callable, Mapping, Sequence

from moot.routing.patterns import Lazy

NAMES = ("GNUmakefile", "makefile", "Makefile")
MOST_TARGETS = 100
DEEPEST = 20
MOST_EXPANSIONS = 5000
LONGEST = 20_000
"""Characters of one expanded line."""
ASSIGNED = Lazy(r"(?:export\s+|override\s+)*([\w.-]+)\s*(::?:?=|\?=|\+=|!=|=)\s*(.*)", re.DOTALL)
RULE = Lazy(r"([^:=#\t][^:=#]*?)\s*::?(?!=)\s*([^;]*?)(?:;(.*))?", re.DOTALL)
INCLUDE = Lazy(r"(-include|sinclude|include)\s+(.*)")
DIRECTIVE = Lazy(r"(?:ifeq|ifneq|ifdef|ifndef|else|endif|export|unexport|vpath|undefine)\b.*", re.DOTALL)
REFERENCE = Lazy(r"\$(?:\$|\(([^()]*)\)|\{([^{}]*)\}|([^({]))")
SHELL_CALL = Lazy(r"\$[({]shell\s+((?:[^()]|\([^()]*\))*)[)}]")
NAME = re.compile(r"[A-Za-z_]\w*")
DOLLAR = "\ue004"
"""A dollar sign that make passes to the shell."""
UNKNOWN = f"{DOLLAR}?"
"""For what only make knows: the shell parser takes it as unknown."""


class MakeRule:
    def __init__(self) -> None:
        self.prerequisites: list[str] = []
        self.recipe: list[tuple[int, str]] = []
        """Lines and their numbers."""


Read = Callable[[str], str | None]
"""The text of an included file; None if unreadable, which the reader has noted."""


class Makefile:
    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self.rules: dict[str, MakeRule] = {}
        self.first = ""
        self._left = MOST_EXPANSIONS
        self.called: list[tuple[int, str]] = []
        """Commands of `$(shell …)`, which run when the file is read."""

    def take_in(self, text: str, read: Read, given: Mapping[str, str], depth: int = 0) -> None:
        """Add a file. `given`: variables of the command line, which no file changes."""
        current: list[MakeRule] = []
        defining = ""
        for number, line in join_lines(text):
            if defining:
                defining = "" if line.strip() == "endef" else defining
                continue
            if line.startswith("\t") and current:
                for rule in current:
                    rule.recipe.append((number, line[1:]))
                continue
            bare = line.split("#", 1)[0].rstrip() if "#" in line else line.rstrip()
            if not bare.strip():
                continue
            self.called += [(number, m[1]) for m in SHELL_CALL.finditer(bare)]
            if found := re.match(r"define\s+(\S+)", bare):
                defining = found[1]
            elif found := INCLUDE.fullmatch(bare.strip()):
                current = []
                self.include(found[1], self.expand(found[2]), read, given, depth)
            elif found := ASSIGNED.fullmatch(bare.strip()):
                current = []
                self.assign(found[1], found[2], found[3], given)
            elif not DIRECTIVE.fullmatch(bare.strip()) and (found := RULE.fullmatch(bare)):
                current = self.add_rule(number, found[1], found[2] or "", found[3] or "")

    def include(self, word: str, names: str, read: Read, given: Mapping[str, str], depth: int) -> None:
        for name in names.split():
            text = read(name if word == "include" else f"-{name}") if depth < DEEPEST else None
            if text is not None:
                self.take_in(text, read, given, depth + 1)

    def assign(self, name: str, sign: str, value: str, given: Mapping[str, str]) -> None:
        if name in given or (sign == "?=" and name in self.values):
            return
        if sign == "!=":
            self.called.append((0, value))
            value = UNKNOWN
        elif sign.endswith(":="):
            value = self._expand_variables(value, {}, (name,))
        self.values[name] = f"{self.values.get(name, '')} {value}".strip() if sign == "+=" else value

    def add_rule(self, number: int, targets: str, prerequisites: str, command: str) -> list[MakeRule]:
        current = []
        for target in self.expand(targets).split():
            rule = self.rules.setdefault(target, MakeRule())
            before = re.sub(r"^[^:]*:(?!=)", "", prerequisites) if ":" in prerequisites else prerequisites
            rule.prerequisites += [name for name in self.expand(before).split() if name != "|"]
            if command.strip():
                rule.recipe.append((number, command.strip()))
            if not self.first and not target.startswith(".") and "%" not in target:
                self.first = target
            current.append(rule)
        return current

    def expand(self, text: str, own: Mapping[str, str] | None = None) -> str:
        """Expand plain variables; functions and unknown ones become `UNKNOWN`."""
        return self._expand_variables(text, own or {}, ()).replace(DOLLAR, "$")

    def _expand_variables(self, text: str, own: Mapping[str, str], within: tuple[str, ...]) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2] or found[3]
            if name is None:
                return DOLLAR
            name = name.strip()
            if name in own:
                return own[name]
            self._left -= 1
            if name in within or len(within) > DEEPEST or self._left < 0:
                return UNKNOWN
            if name in self.values:
                return self._expand_variables(self.values[name], own, (*within, name))
            if name in IMPLICIT:
                return IMPLICIT[name]
            # Unset variables are left to the shell parser, which notes them.
            return f"{DOLLAR}{{{name}}}" if NAME.fullmatch(name) else UNKNOWN

        for _ in range(DEEPEST):  # innermost first
            text, before = REFERENCE.sub(value, text)[:LONGEST], text
            if text == before:
                break
        return text

    def recipes(self, goals: Sequence[str]) -> tuple[list[tuple[str, int, str]], list[str]]:
        """Target, line and shell text of everything the goals run, in order; and missing goals."""
        found, missing, seen = list[tuple[str, int, str]](), list[str](), set[str]()
        default = self.expand(self.values.get(".DEFAULT_GOAL", "")) or self.first

        def visit(target: str, depth: int, asked: bool) -> None:
            if target in seen or len(seen) >= MOST_TARGETS or depth > DEEPEST:
                return
            seen.add(target)
            rule, stem = self.rule_of(target)
            if rule is None:
                if asked:
                    missing.append(target)
                return
            needs = [need.replace("%", stem) for need in rule.prerequisites]
            for need in needs:
                visit(need, depth + 1, False)
            own = {"@": target, "<": (needs or [""])[0], "^": " ".join(needs), "+": " ".join(needs), "*": stem, "?": ""}
            for number, line in rule.recipe:
                found.extend((target, number, self.expand(m[1], own)) for m in SHELL_CALL.finditer(line))
                found.append((target, number, self.expand(line, own).lstrip("@-+ \t")))

        for goal in goals or ([default] if default else []):
            visit(goal, 0, True)
        return found, missing

    def rule_of(self, target: str) -> tuple[MakeRule | None, str]:
        own = self.rules.get(target)
        if own is not None and own.recipe:
            return own, ""
        for name, rule in self.rules.items():
            if "%" in name and rule.recipe:
                begin, _, end = name.partition("%")
                if target.startswith(begin) and target.endswith(end) and len(target) > len(begin) + len(end):
                    return rule, target[len(begin) : len(target) - len(end)]
        return own, ""


IMPLICIT = {
    "CC": "cc", "CXX": "c++", "AR": "ar", "AS": "as", "LD": "ld", "SHELL": "/bin/sh", "INSTALL": "install",
    "MAKE": "make", "CURDIR": ".", "RM": "rm -f", "MAKEFLAGS": "", "MAKEFILE_LIST": "Makefile", "CFLAGS": "",
    "CXXFLAGS": "", "CPPFLAGS": "", "LDFLAGS": "", "LDLIBS": "", "VPATH": "", "MAKECMDGOALS": "", "ARFLAGS": "rv",
}  # fmt: skip
"""Variables that make predefines."""


def join_lines(text: str) -> list[tuple[int, str]]:
    """Join lines that end in a backslash; each has the number of its first. In a recipe the backslash stays: the shell
    reads it."""
    found, begun, parts = list[tuple[int, str]](), 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or number
        parts.append(line)
        if line.endswith("\\"):
            continue
        found.append((begun, _one(parts)))
        begun, parts = 0, []
    return [*found, (begun, _one(parts))] if parts else found


def _one(parts: Sequence[str]) -> str:
    if parts[0].startswith("\t"):
        return "\n".join(parts)
    return " ".join(part.removesuffix("\\") for part in parts)
