"""Vet every action of a folder of YAML files, two at a time: `vet_actions.py FOLDER provider:model STORE [SECONDS]`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import yaml

from moot import MootError, VetRules, vet
from moot.core.types import Limits


async def main(actions: dict[str, dict[str, Any]], model: str, store: Path, patience: float) -> None:
    gate = asyncio.Semaphore(2)

    async def one(name: str, given: dict[str, Any]) -> None:
        rules = VetRules(rounds=given.pop("rounds", 1), timeout=patience)
        limits = Limits(call_timeout=patience)
        async with gate:
            try:
                result = await vet(
                    **given, rules=rules, limits=limits, model=model, store=store, memory=store.parent / "memory"
                )
                line = f"{result.resolution} in {result.duration:.0f} s, {result.rationale}; {result.session_id}"
            except MootError as error:
                line = str(error)
        sys.stdout.write(f"{name}: {line}\n")
        sys.stdout.flush()

    await asyncio.gather(*(one(name, given) for name, given in actions.items()))


if __name__ == "__main__":
    folder, model, store, *seconds = sys.argv[1:]
    files = {
        path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*.yaml"))
    }
    asyncio.run(main(files, model, Path(store).absolute(), float(seconds[0]) if seconds else 300.0))
