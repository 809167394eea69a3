"""Starting and running a session, shared by all surfaces: settings, plan, wiring, host, estimate."""
