"""Operators that jobs depend on."""
