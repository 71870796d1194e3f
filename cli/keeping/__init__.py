"""Keeping a stack's state: its backend, copies of it, and the key of its secrets."""
