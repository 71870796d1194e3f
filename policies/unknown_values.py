"""Which unknown values of an object a rule depends on."""

from policies.values import Path, Unknown


class ReadLog:
    """The unknown values that one examination of an object has read.

    The checker makes one for each rule and object, examines a view of the object that writes into it (`Obj.logged`),
    and reports what it holds as undetermined. Objects that are read without a log record nothing.
    """

    def __init__(self, unknown: tuple[Unknown, ...]) -> None:
        self._unknown = unknown
        self._read: dict[Unknown, None] = {}

    @property
    def values(self) -> tuple[Unknown, ...]:
        """The values that were read, each once, in the order of the first reads."""
        return tuple(self._read)

    def add(self, path: Path, depth: int | None = None) -> None:
        """Record a read at `path`: the unknown values at it, above it, and at most `depth` levels below it."""
        for value in self._unknown:
            if (depth is None or len(value.path) <= len(path) + depth) and overlap(value.path, path):
                self._read[value] = None


def overlap(path: Path, other: Path) -> bool:
    """Return whether one path is the other, or leads to it."""
    length = min(len(path), len(other))
    return path[:length] == other[:length]
