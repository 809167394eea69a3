"""Commands of the panel Set-up: tutorial, doctor, team, tools, lessons, install, trust, mcp, completion."""
