"""Messages by what they must contain, so that their wording is free."""

import re


def has(message: str, *parts: str) -> bool:
    """Return whether the parts are in a message in this order: the object, the value, the remedy."""
    return re.search(".*?".join(map(re.escape, parts)), message, re.DOTALL) is not None
