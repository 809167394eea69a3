"""Commands of the panel Agent safety: hook, route, guard, track, stats."""
