"""Loop nests on multipliers below storage levels: memory hierarchies, and what a mapping onto them
costs."""
