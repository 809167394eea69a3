"""Commands of the panel Decisions: classify, choose, dismiss, vote."""
