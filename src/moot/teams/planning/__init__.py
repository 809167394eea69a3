"""Planning: task complexity, who plans, plans as objects, and how plans adapt after a phase."""
