"""Measurements of the product against its own parts and against other servers."""
