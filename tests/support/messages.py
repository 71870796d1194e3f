"""Messages by what they must contain, so that their wording is free."""

import re


def has(message: str, *parts: str) -> bool:
    """Return whether the parts are in a message in this order: the object, the value, the remedy."""
    return re.search(".*?".join(map(re.escape, parts)), message, re.DOTALL) is not None


class like:
    """What equals every message that begins with its first part, and has the others, between ` ... `, in order."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __eq__(self, message: object) -> bool:
        """Return whether a message has the parts."""
        first, *others = self._pattern.split(" ... ")
        return isinstance(message, str) and message.startswith(first) and has(message, first, *others)

    def __hash__(self) -> int:
        """Refuse: equal messages may have different patterns."""
        raise TypeError("a pattern has no hash")

    def __repr__(self) -> str:
        """Return the pattern, as a failed assertion shows it."""
        return f"like({self._pattern!r})"
