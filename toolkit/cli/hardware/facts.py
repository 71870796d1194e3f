"""Facts of one node, each with the line that gives it; lines that contradict each other."""

from typing import Any, NamedTuple

MOST_CPUS = 8192
"""Logical CPUs that Linux can have (CONFIG_NR_CPUS): a larger number is damaged."""
NODE = "the node"


class Fact(NamedTuple):
    """A value, and where it is from."""

    value: Any
    place: str


class Contradiction(NamedTuple):
    """Two lines that do not agree."""

    subject: str
    what: str
    text: str
    """Both values with their places."""


class Facts:
    """Facts of one node by subject and property."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], Fact] = {}
        self.contradictions: dict[str, Contradiction] = {}
        """What is contradicted -> the first two lines that do not agree."""
        self.incomplete: list[str] = []
        """Outputs that are cut or damaged, and what they lack."""

    def add(self, subject: str, what: str, value: Any, place: str) -> None:
        """Record a fact; None is not known. Another value of the same is a contradiction, and the first one stays."""
        if value is None:
            return
        fact = self._facts.setdefault((subject, what), Fact(value, place))
        if fact.value != value:
            self.contradict(subject, what, fact, Fact(value, place))

    def contradict(self, subject: str, what: str, fact: Fact, other: Fact) -> None:
        """Record that two lines do not agree."""
        title = what if subject == NODE else f"{subject}: {what}"
        text = f"{title}: {fact.value} ({fact.place}), but {other.value} ({other.place})"
        self.contradictions.setdefault(title, Contradiction(subject, what, text))

    def get(self, subject: str, what: str) -> Any:
        """Return a value; None when it is not known."""
        fact = self.fact(subject, what)
        return fact.value if fact is not None else None

    def fact(self, subject: str, what: str) -> Fact | None:
        """Return a value with its place."""
        return self._facts.get((subject, what))

    def properties(self, subject: str) -> list[str]:
        """Return what is known of a subject."""
        return [what for name, what in self._facts if name == subject]

    def subjects(self, what: str) -> list[str]:
        """Return the subjects of which a property is known, in the order of their numbers."""
        return sorted(
            (name for name, property_name in self._facts if property_name == what), key=lambda name: (len(name), name)
        )
