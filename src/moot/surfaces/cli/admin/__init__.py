"""Commands of `moot admin`: serve, token, acp, worker, fleet, store, branch."""
