"""Runs the steps of a GitHub action or job on this machine, in order, as GitHub's own runner does: expressions are
resolved, files carry outputs, variables, paths and the summary from step to step, scripts run in its shells. An action
of somebody else is not run: what it was given is kept."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"\s*(\|\||&&|==|!=|!|\(|\)|'(?:[^']|'')*'|[\w.*-]+)")
SHELLS = {"": ("bash", "-e"), "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail")}
FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")


@dataclass
class StepRun:
    name: str
    code: int
    said: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    """What an action of somebody else is given."""


@dataclass
class ActionRunner:
    folder: Path
    """The checkout."""
    scratch: Path
    """The runner's own files."""
    context: dict[str, Any]
    env: dict[str, str]
    ran: list[StepRun] = field(default_factory=list)
    failed: bool = False

    def run(self, steps: list[dict[str, Any]]) -> bool:
        """Whether the job succeeds."""
        self.context.setdefault("steps", {})
        for number, step in enumerate(steps):
            if self._is_due(str(step.get("if", "success()"))):
                done = self._run_step(number, step)
                self.ran.append(done)
                self.failed = self.failed or (done.code != 0 and not step.get("continue-on-error"))
        return not self.failed

    @property
    def summary(self) -> str:
        return "".join(path.read_text() for path in sorted(self.scratch.glob("*-GITHUB_STEP_SUMMARY")))

    def _is_due(self, condition: str) -> bool:
        inner = condition.strip().removeprefix("${{").removesuffix("}}").strip()
        always = "always()" in inner
        due = is_true(self._evaluate(inner.replace("success()", "'x'").replace("always()", "'x'")))
        return due and (always or not self.failed)

    def _run_step(self, number: int, step: Mapping[str, Any]) -> StepRun:
        name = str(step.get("name") or step.get("uses") or f"step {number}")
        if "uses" in step:
            given = {key: self._fill(str(value)) for key, value in step.get("with", {}).items()}
            return StepRun(name, 0, given=given)
        files = {each: self.scratch / f"{number}-{each}" for each in FILES}
        for path in files.values():
            path.touch()
        own = {key: self._fill(str(value)) for key, value in step.get("env", {}).items()}
        script = self.scratch / f"{number}.sh"
        script.write_text(self._fill(step["run"]))
        done = subprocess.run(
            [*SHELLS[step.get("shell", "")], str(script)],
            cwd=self.folder,
            env={**self.env, **own, **{each: str(path) for each, path in files.items()}},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self._take_over(step.get("id"), files)
        return StepRun(name, done.returncode, done.stdout + done.stderr)

    def _take_over(self, id: str | None, files: Mapping[str, Path]) -> None:
        if id:
            self.context["steps"][id] = {"outputs": dict(read_pairs(files["GITHUB_OUTPUT"]))}
        self.env |= dict(read_pairs(files["GITHUB_ENV"]))
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.env["PATH"] = f"{line}:{self.env['PATH']}"

    def _fill(self, text: str) -> str:
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: show(self._evaluate(found[1])), text)

    def _evaluate(self, text: str) -> Any:
        return Expression(text, self.context).value()


class Expression:
    """As much of the language as a composite action needs. What it does not know is an error."""

    def __init__(self, text: str, context: Mapping[str, Any]) -> None:
        rest = TOKEN.sub("", text).strip()
        assert not rest, f"cannot read {rest!r} in {text!r}"
        self._tokens, self._context = TOKEN.findall(text), context

    def value(self) -> Any:
        found = self._either()
        assert not self._tokens, f"left over: {self._tokens}"
        return found

    def _take(self, *wanted: str) -> str:
        return self._tokens.pop(0) if self._tokens and self._tokens[0] in wanted else ""

    def _either(self) -> Any:
        left = self._both()
        while self._take("||"):
            right = self._both()
            left = left if is_true(left) else right
        return left

    def _both(self) -> Any:
        left = self._compare()
        while self._take("&&"):
            right = self._compare()
            left = right if is_true(left) else left
        return left

    def _compare(self) -> Any:
        left = self._single()
        if sign := self._take("==", "!="):
            return (show(left).lower() == show(self._single()).lower()) == (sign == "==")
        return left

    def _single(self) -> Any:
        if self._take("!"):
            return not is_true(self._single())
        if self._take("("):
            found = self._either()
            assert self._take(")")
            return found
        token = self._tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        found = self._context
        for part in token.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found


def is_true(value: Any) -> bool:
    return value not in (None, False, "", 0)


def show(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """`name=value`, or `name<<END` with lines up to END."""
    lines = iter(path.read_text().splitlines())
    for line in lines:
        name, sign, value = line.partition("=")
        if "<<" in name:
            name, _, end = line.partition("<<")
            held = []
            for each in lines:
                if each == end:
                    break
                held.append(each)
            yield name, "\n".join(held)
        else:
            assert sign, f"the runner refuses {line!r}"
            yield name, value
