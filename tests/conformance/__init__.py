"""Rendered objects against the schemas of other projects."""
