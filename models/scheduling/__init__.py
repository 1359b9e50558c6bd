"""Which rows a model computes next, and what it need not compute at all.

``Scheduler`` is a state machine without threads, clock or model: the time is an argument, and a
forward is a value that somebody else runs. ``Runner`` drives it with an event loop and an engine.
"""
