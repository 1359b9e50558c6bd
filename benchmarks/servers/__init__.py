"""The same engine behind several fronts, each a process of its own."""
