"""Scans any number of files: in groups, on all cores, and only what changed."""

import os
from collections.abc import Callable, Sequence

from moot.core.types import Scan, SourceFile
from moot.edge.parallel_scan.cache import Cache
from moot.scan.groups import Group, groups, merge_scans
from moot.scan.installed import load_rule_packs
from moot.scan.traced import TracedScan

WORTH_IT = 400_000
"""Characters below which starting processes takes longer than the work."""

Tick = Callable[[int, int], None]
"""Files done, files in total."""


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan_files(files: Sequence[SourceFile], jobs: int | None, cache: Cache | None, tick: Tick) -> Scan:
    """The result is the same for any number of processes. `jobs` None: as many as pay off."""
    load_rule_packs()  # a broken package is the user's to fix, not a gap in every file
    asked = groups(files)
    parts = scan_groups(asked, jobs, cache, lambda done: tick(done, len(files)))
    return merge_scans(files, zip(asked, parts, strict=True))


def scan_groups(
    asked: Sequence[Group], jobs: int | None, cache: Cache | None, tick: Callable[[int], None]
) -> list[Scan]:
    """The results in the order of the groups; `tick` is told how many files are done."""
    found: dict[int, Scan] = {}
    done = 0

    def count(group: Group) -> None:
        nonlocal done
        done += len(group.own)
        tick(done)

    for place, group in enumerate(asked):
        if cache is not None and (known := cache.load(group)) is not None:
            found[place] = known
            count(group)
    left = [place for place in range(len(asked)) if place not in found]

    def note_scan(number: int, traced: TracedScan, complete: bool) -> None:
        place = left[number]
        found[place] = traced.scan
        if cache is not None and complete:
            cache.save(asked[place], traced)
        count(asked[place])

    if left:
        _look_at([asked[place] for place in left], jobs, note_scan)
        if cache is not None:
            cache.prune()
    return [found[place] for place in range(len(asked))]


def _look_at(left: Sequence[Group], jobs: int | None, seen: Callable[[int, TracedScan, bool], None]) -> None:
    from moot.edge.parallel_scan.worker import look, settle  # with the engine: kept results need none

    settle()
    if jobs is None:
        jobs = usable_cores() if sum(group.size for group in left) >= WORTH_IT else 1
    if jobs > 1 and len(left) > 1:
        from moot.edge.parallel_scan.pool import spread_over  # a few files need no processes

        spread_over(left, jobs, seen)
        return
    for number, group in enumerate(left):
        seen(number, *look(group))
