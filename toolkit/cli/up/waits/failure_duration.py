"""How long a failure has lasted: only what does not pass by itself ends an update."""

from dataclasses import dataclass

from toolkit.cli.up.waits.verdict import Verdict

RECOVERED = 15.0
"""Seconds that something must be better for, to count as recovered: a container that ends and is started again runs
for a moment in between. Longer than the first of the kubelet's pauses between restarts, 10 s, and than a round."""


@dataclass
class FailureDuration:
    """The verdicts on one object, as they came."""

    failed_after: float
    """Seconds that a failure must last which its operator may recover from."""
    _key: str = ""
    _since: float = 0.0
    _better: float | None = None
    """When it was better for the first time since it failed last."""

    def take(self, verdict: Verdict, now: float) -> bool:
        """Take the verdict of `now`, in seconds; return whether it ends the update."""
        if verdict.state == "failed":
            return True
        if verdict.state != "failing":
            self._better = now if self._better is None else self._better
            return False
        recovered = self._better is not None and now - self._better > RECOVERED
        if verdict.key != self._key or recovered:
            self._key, self._since = verdict.key, now
        self._better = None
        return now - self._since >= self.failed_after
