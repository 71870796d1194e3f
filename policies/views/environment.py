"""Environment variables of containers. What is not known elsewhere in a container's environment is no matter here."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from policies.manifests.pods import Container
from policies.manifests.values import Path, Unknown, brief, is_mapping


class Variable(NamedTuple):
    """One variable with a value of its own; `place` is the value's, relative to the container."""

    name: str
    value: str
    place: Path


def variables(container: Container, selects: Callable[[str], Any]) -> Iterator[Variable]:
    """Yield the variables whose names fit `selects` and whose values are written down as text."""
    for index, name in container.once(_named_variables):
        if selects(name):
            value = container.read("env", index, "value")
            if value is not None and not isinstance(value, Unknown):
                yield Variable(name, value if isinstance(value, str) else brief(value), ("env", index, "value"))


def _named_variables(container: Container) -> list[tuple[int, str]]:
    """Return the variables that have names: their places in the list, and the names."""
    entries = container.tree.get("env")
    if isinstance(entries, Unknown):
        container.read("env")
    names: list[tuple[int, str]] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not is_mapping(entry):
            container.read("env", index)
        elif isinstance(name := entry.get("name"), str):
            names.append((index, name))
    return names
