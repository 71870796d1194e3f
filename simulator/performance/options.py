"""Options of a Python program's command line: --name=value, --name value, --name."""

from collections.abc import Mapping, Sequence


def options(words: Sequence[str]) -> Mapping[str, str]:
    """Return name -> value, without the dashes; an option without a value has an empty one."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            name, _, found_value = word.lstrip("-").partition("=")
            found[name] = found_value
            name = "" if "=" in word else name
        elif name:
            found[name] = word
            name = ""
    return found


def number(found: Mapping[str, str], name: str, otherwise: int) -> int:
    """Return the positive number that an option gives, `otherwise` where it gives none."""
    said = found.get(name, "")
    return int(said) if said.isdecimal() and int(said) > 0 else otherwise


def on(found: Mapping[str, str], name: str) -> bool:
    """Return whether a switch is on: --name, --name=true."""
    return name in found and found[name].lower() in ("", "1", "true", "yes", "t")
