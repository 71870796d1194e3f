"""Counters that grow with time: they start at 0 with their process, as those of a driver do with the machine."""

from collections.abc import Hashable


class Counters:
    """Totals by key; times are in seconds and of one clock. Its caller takes care that only one thread uses it."""

    def __init__(self) -> None:
        self._totals: dict[Hashable, float] = {}
        self._seen: dict[Hashable, float] = {}

    def advance(self, key: Hashable, rate: float, now: float) -> float:
        """Add what a rate per second gives since the last call; return the total."""
        self.add(key, rate * (now - self._seen.get(key, now)))
        self._seen[key] = now
        return self.total(key)

    def add(self, key: Hashable, amount: float = 1.0) -> None:
        """Add an amount."""
        self._totals[key] = self.total(key) + amount

    def total(self, key: Hashable) -> float:
        """Return a total, 0 for a key that was never counted."""
        return self._totals.get(key, 0.0)
