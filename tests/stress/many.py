"""`many.py WAVES EACH`: sessions of the library, wave after wave in this one process; after each, a line of JSON with
what the process holds."""

import asyncio
import json
import os
import sys
from pathlib import Path

from holdings import count_holdings

import moot


def measure() -> dict[str, float]:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    memory = int(status["VmRSS"].split()[0]) / 1024
    return {"memory": memory, "files": len(os.listdir("/proc/self/fd")), **count_holdings()}


async def run_waves(waves: int, each: int) -> None:
    limit = asyncio.Semaphore(50)

    async def one(number: int) -> None:
        async with limit:
            await moot.vet(f"drop table stress-many-{number}", stakes="high")

    for wave in range(waves):
        await asyncio.gather(*(one(wave * each + n) for n in range(each)))
        sys.stdout.write(json.dumps(measure()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(run_waves(int(sys.argv[1]), int(sys.argv[2])))
