"""Shows coverage and mutation score of tests."""

from pydantic import JsonValue

from moot.core.measures import Coverage, MutationScore
from moot.surfaces.cli.screen import out, plain
from moot.surfaces.code_checks.measurements import Watched

SHOWN = 10


def worth_json(seen: Watched) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {}
    if seen.coverage is not None:
        shares: dict[str, JsonValue] = {name: getattr(seen.coverage, name) for name in ("lines", "branches", "share")}
        fields["coverage"] = {**seen.coverage.model_dump(mode="json"), **shares}
    if seen.mutation is not None:
        fields["mutation"] = seen.mutation.model_dump(mode="json")
    return fields


def show_worth(seen: Watched) -> None:
    lines = [*(_coverage(seen.coverage) if seen.coverage else ()), *(_mutation(seen.mutation) if seen.mutation else ())]
    for line in lines:
        out().print(plain(line))


def _coverage(coverage: Coverage) -> list[str]:
    if coverage.problem:
        return [f"coverage not measured: {coverage.problem}"]
    branches = "it has no branches" if coverage.branches is None else f"{coverage.branches:.0%} of branches"
    lines = [f"coverage: {coverage.lines or 0:.0%} of lines, {branches}"]
    for file in coverage.files:
        gaps = [f"lines {_ranges(file.missed)}"] if file.missed else []
        gaps += [f"one side of the branches at {_ranges(tuple(sorted(set(file.open))))}"] if file.open else []
        lines += [f"  {file.file}: not covered: {'; '.join(gaps)}"] if gaps else []
    return lines


def _mutation(mutation: MutationScore) -> list[str]:
    if not mutation.mutants:
        said = "no score" if mutation.score is None else f"{mutation.score:.2f}"
        return [f"mutation score: {said}; {mutation.problem}"]
    killed, tried = mutation.count("killed"), mutation.count("killed") + mutation.count("survived")
    share = "no score" if mutation.score is None else f"{mutation.score:.2f}"
    lines = [f"mutation score: {share}; {killed} of {tried} faults noticed"]
    if skipped := mutation.count("not_applicable"):
        lines[0] += f", {skipped} not counted"
    left = [mutant for mutant in mutation.mutants if mutant.fate == "survived"]
    lines += [f"  not noticed: {m.file} line {m.line}: {m.what}" for m in left[:SHOWN]]
    return [*lines, *([f"  … and {len(left) - SHOWN} more"] if len(left) > SHOWN else [])]


def _ranges(lines: tuple[int, ...]) -> str:
    """`3-5, 9`"""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][-1] + 1:
            parts[-1].append(line)
        else:
            parts.append([line])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)
