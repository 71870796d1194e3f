"""Options of a Python program's command line: --name=value, --name value, --name."""

from collections.abc import Mapping, Sequence


def options(words: Sequence[str]) -> Mapping[str, str]:
    """Return name -> value, without the dashes; an option without a value has an empty one."""
    value_of: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            name, _, found_value = word.lstrip("-").partition("=")
            value_of[name] = found_value
            name = "" if "=" in word else name
        elif name:
            value_of[name] = word
            name = ""
    return value_of


DIGITS = 9
"""Most of a number that is believed; a command line may contain anything."""


def whole(text: str, otherwise: int) -> int:
    """Return a positive number, `otherwise` for what is none."""
    return int(text) if text.isdecimal() and len(text) <= DIGITS and int(text) > 0 else otherwise


def number(values: Mapping[str, str], name: str, otherwise: int) -> int:
    """Return the positive number that an option gives, `otherwise` where it gives none."""
    return whole(values.get(name, ""), otherwise)


def on(values: Mapping[str, str], name: str) -> bool:
    """Return whether a switch is on: --name, --name=true."""
    return name in values and values[name].lower() in ("", "1", "true", "yes", "t")
