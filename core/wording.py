"""A number with its noun, as all messages and pages write it."""


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number of things: `1 node`, `1,200 nodes`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
