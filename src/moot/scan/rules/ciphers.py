"""What a key and the first block of a message have to do with each other."""

from moot.scan.engine.values import Val


def is_cut_of(key: Val, value: Val) -> bool:
    """Whether an initialisation vector is a part of the key: the same for every message, and half of the secret."""
    origins = {taint.origin.partition("|")[0] for taint in key.taints}
    return bool(origins) and all(taint.origin.partition("|")[0] in origins for taint in value.taints)
