"""Decision models: typed questions, the engines that answer them, and their scheduling.

Nothing here knows the router (``serve_app``), HTTP or Ray.
"""
