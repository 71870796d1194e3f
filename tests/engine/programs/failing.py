"""Fails the way programs do."""


def build() -> None:
    """Divide by zero."""
    raise ZeroDivisionError("the plan has no nodes")


build()
