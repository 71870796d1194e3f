"""Kueue's Workloads: what was decided of every job, and what the admitted ones hold."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from decimal import Decimal

from policies import values
from simulator.actors import kueue_jobs, pods, sim_kinds
from simulator.actors.api import Api, ApiError, Object
from simulator.actors.conditions import stated
from simulator.actors.informer import Informer, Key, key_of
from simulator.actors.kueue_jobs import Framework
from simulator.actors.kueue_quota import Usage


class Workloads:
    """The Workloads as last written or seen: an own decision must count before the watch reports it."""

    def __init__(self, api: Api, cache: Callable[[], Informer]) -> None:
        self._api = api
        self._cache = cache
        self._latest: dict[Key, Object] = {}

    def forget(self, key: Key) -> None:
        """Take note that a Workload is gone."""
        self._latest.pop(key, None)

    def of(self, framework: Framework, job: Object) -> Object | None:
        """Return the Workload of a job, None before there is one."""
        key = (job["metadata"]["namespace"], kueue_jobs.workload_name(framework, job))
        seen = self._cache().get(key[1], key[0])
        mine = self._latest.get(key)
        return mine if seen is None or (mine is not None and _version(mine) > _version(seen)) else seen

    def make(self, framework: Framework, job: Object, queue: str) -> Object:
        """Make or renew the Workload of a job."""
        return self._keep(self._api.apply(sim_kinds.WORKLOAD, kueue_jobs.workload(framework, job, queue)))

    def state(self, workload: Object, conditions: dict[str, tuple[str, str, str]], **further: Object) -> Object:
        """Write what was decided; return the Workload as it is then."""
        status: Object = {"conditions": stated(workload, conditions), **further}
        try:
            return self._keep(self._api.set_status(sim_kinds.WORKLOAD, workload, status))
        except ApiError as error:
            if error.missing:  # it went with its job
                return workload
            raise

    def remove_orphans(self, alive: Container[str]) -> None:
        """Take Workloads along with their jobs; the garbage collector may take half a minute, and they hold quota."""
        for workload in self.items():
            meta = workload["metadata"]
            uid = pods.labels(workload).get(kueue_jobs.JOB_UID)
            if uid is not None and uid not in alive:
                self._api.delete(sim_kinds.WORKLOAD, meta["name"], meta["namespace"])
                self.forget(key_of(workload))

    def usage(self) -> dict[str, Usage]:
        """Return what the admitted jobs of every ClusterQueue hold."""
        return held(self.items())

    def items(self) -> list[Object]:
        """Return all of them."""
        found = dict(self._latest)
        for seen in self._cache().items():
            mine = found.get(key_of(seen))
            if mine is None or _version(mine) < _version(seen):
                found[key_of(seen)] = seen
        return list(found.values())

    def _keep(self, workload: Object) -> Object:
        self._latest[key_of(workload)] = workload
        return workload


def held(workloads: Iterable[Object]) -> dict[str, Usage]:
    """Return what those of the Workloads hold that are admitted and not finished, for every ClusterQueue."""
    used: defaultdict[str, defaultdict[tuple[str, str], Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for workload in workloads:
        found = admission(workload)
        if found and not pods.condition(workload, "Finished"):
            for part in found["podSetAssignments"]:
                for resource, flavor in part["flavors"].items():
                    amount = values.amount(part["resourceUsage"][resource]) or Decimal(0)
                    used[found["clusterQueue"]][flavor, resource] += amount
    return {name: dict(amounts) for name, amounts in used.items()}


def admission(workload: Object) -> Object | None:
    """Return to which ClusterQueue a Workload was admitted, and with what; None before."""
    return (workload.get("status") or {}).get("admission")


def _version(obj: Object) -> int:
    return int(obj["metadata"]["resourceVersion"])
