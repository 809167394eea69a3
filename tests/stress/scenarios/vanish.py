"""Agents that never answer again, in the middle of a team: a leader, a relay, a leaf."""

from stress.clients import Order
from stress.history import Rules
from stress.provider import Fault
from stress.scene import Ground, Outcome, check, hold

ROLES = ("proposer", "critic", "reviewer", "optimizer", "moderator")
SHAPES = ("chain", "tree", "star", "graph_mesh")


def play(ground: Ground) -> Outcome:
    """One debate for each topology, each role that vanishes, and how many answers it gives before."""
    with ground.stand(MOOT_CALL_TIMEOUT="1.5", MOOT_RETRIES="1") as stand:
        server = stand.serve()
        faults, orders = list[Fault](), list[Order]()
        for shape in SHAPES[: ground.of(3, 4)]:
            for role in ROLES[:: ground.of(2, 1)]:
                for after in (0, 2)[: ground.of(1, 2)]:
                    tag = f"stress-{shape}-{len(orders)}"
                    faults.append(Fault(("hang",), model=role, tag=tag, after=after))
                    orders.append(team_of_five(tag, shape))
        stand.provider.order(0.05, *faults)
        seen = hold(stand, server.url, orders)
        found = check(stand, seen, Rules(unanswered=True))
        silent = [each.order.tag for each in seen if each.result is not None and not each.result["result"]["degraded"]]
        found.troubles += [f"{tag}: the result does not say that an agent was gone" for tag in silent]
        return Outcome(f"{len(orders)} debates of five seats at once", "one seat never answers again", found)


def team_of_five(tag: str, shape: str) -> Order:
    team = [{"role": role, "model": f"openai:{role}"} for role in ROLES]
    task = {"task": f"Should {tag} be written in Go or in Rust?", "kind": "topic", "team": team}
    return Order(tag, {"protocol": "debate", "input": task, "rules": {"topology": shape}})
