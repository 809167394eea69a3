"""The scenarios, by name. Each plays on a `Ground` and returns an `Outcome`; `load.py` is the simplest."""

from collections.abc import Callable

from stress.scenarios import clocks, databases, disks, kills, leaks, load, network, providers, vanish
from stress.scene import Ground, Outcome

SCENARIOS: dict[str, Callable[[Ground], Outcome]] = {
    "load-sqlite": load.play_on_sqlite,
    "load-postgresql": load.play_on_postgresql,
    "providers": providers.play,
    "vanish": vanish.play,
    "clocks": clocks.play,
    "disk-store": disks.play_store,
    "disk-server": disks.play_server,
    "disk-sandbox": disks.play_sandbox,
    "database-restart": databases.play_restarts,
    "database-kill": databases.play_kills,
    "database-failover": databases.play_failover,
    "network": network.play,
    "kill-server": kills.play_server,
    "kill-fleet": kills.play_fleet,
    "leak-server": leaks.play_server,
    "leak-process": leaks.play_process,
}
