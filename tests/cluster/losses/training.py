"""A training that a test watches through a loss."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.apis import kinds
from tests.cluster.losses import jobs
from tests.cluster.losses.site import Site
from toolkit.simulator import pods

Keep = Callable[[str, object], None]
"""Puts a row of the table into the report of the tests: `-o junit_family=xunit1 --junitxml FILE`."""
BEGUN = 30
"""Step at which a checkpoint has been saved, and some steps since."""
_STEP, _RESUMED = re.compile(r"step (\d+): "), re.compile(r"resumed at step (\d+)")


@dataclass
class Training:
    """One job: when it was hit, and at which step."""

    site: Site
    kind: jobs.Name
    namespace: str
    name: str
    hit: float = 0.0
    """Seconds since 1970."""
    times: dict[str, float] = field(default_factory=dict)
    """What was seen -> seconds after the loss."""

    @property
    def ranks(self) -> list[dict[str, Any]]:
        """Its pods with GPUs that have not failed and are not being deleted."""
        found = self.site.ranks(self.name, self.namespace)
        return [pod for pod in found if pods.phase(pod) != "Failed" and not pods.deleting(pod)]

    @property
    def nodes(self) -> list[str]:
        """Their nodes."""
        return [pods.node_name(pod) for pod in self.ranks]

    @property
    def step(self) -> int:
        """The last step that it has printed, 0 before the first."""
        return max((step for _, step in self._numbers(_STEP)), default=0)

    def _numbers(self, pattern: re.Pattern[str]) -> list[tuple[float, int]]:
        return self.site.numbers(self.name, self.namespace, pattern)

    def begin(self) -> None:
        """Submit it."""
        self.site.submit(self.kind, self.name, self.namespace)

    def under_way(self) -> None:
        """Wait until it has a checkpoint and has trained some more steps."""
        self.site.api.eventually(lambda: self.step >= BEGUN)

    def strike(self, blow: Callable[[], object]) -> None:
        """Hit it."""
        self.hit = time.time()
        blow()

    def missed(self, node: str) -> None:
        """Wait until a node is not Ready any more."""
        self.site.api.eventually(lambda: not self.site.ready(node))
        conditions = self.site.api.get(kinds.NODE, node)["status"]["conditions"]
        (since,) = (one["lastTransitionTime"] for one in conditions if one["type"] == "Ready")
        self.times["noticed"] = datetime.fromisoformat(since).timestamp() - self.hit

    def resumed(self) -> bool:
        """Return whether it has resumed since it was hit."""
        return any(when > self.hit for when, _ in self._numbers(_RESUMED))

    def trains_again(self) -> int:
        """Wait until it has resumed; return the steps that it lost, no more than are between two checkpoints."""
        self.site.api.eventually(self.resumed, seconds=120)
        when, step = next(found for found in self._numbers(_RESUMED) if found[0] > self.hit)
        self.times["trains again"] = when - self.hit
        lost = max(reached for printed, reached in self._numbers(_STEP) if printed < when) - step
        assert 0 <= lost <= jobs.EVERY
        return lost

    def workload(self) -> dict[str, Any]:
        """Return its Workload."""
        found = self.site.api.list(kinds.WORKLOAD, self.namespace)["items"]
        return next(one for one in found if one["metadata"]["ownerReferences"][0]["name"] == self.name)

    def status(self) -> dict[str, Any]:
        """Return the status of the job."""
        status: dict[str, Any] = self.site.api.get(jobs.KINDS[self.kind], self.name, self.namespace)["status"]
        return status

    def met(self, condition: str) -> dict[str, Any] | None:
        """Return a condition of the job that is true."""
        found = self.status().get("conditions") or []
        return next((one for one in found if one["type"] == condition and one["status"] == "True"), None)

    def record(self, keep: Keep, fault: str, lost: int | str, says: str = "") -> None:
        """Keep what was measured."""
        seconds = {what: round(value, 1) for what, value in self.times.items()}
        keep(f"{fault} / {self.kind} / {self.namespace}", {**seconds, "steps lost": lost, "objects say": says})


def of_all_kinds(site: Site, namespace: str, name: str) -> dict[str, Training]:
    """Start a job of each kind, and wait until all train."""
    made: dict[str, Training] = {kind: Training(site, kind, namespace, f"{name}-{kind.lower()}") for kind in jobs.KINDS}
    for training in made.values():
        training.begin()
    for training in made.values():
        training.under_way()
    return made


def strike_last_ranks(trainings: Iterable[Training], blow: Callable[[dict[str, Any]], object]) -> dict[str, str]:
    """Hit the last rank of each job; return kind -> the node that it was on."""
    nodes: dict[str, str] = {}
    for training in trainings:
        rank = training.ranks[-1]
        nodes[training.kind] = pods.node_name(rank)
        training.strike(lambda one=rank: blow(one))  # type: ignore[misc]
    return nodes
