"""Kueue's arithmetic: do pods fit into what a queue has left, and on which kind of machine. Pure functions.

The messages are those of sigs.k8s.io/kueue, pkg/scheduler/flavorassigner.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from policies import values
from simulator.actors.api import Object

Amounts = Mapping[str, Decimal]
Usage = Mapping[tuple[str, str], Decimal]
"""(flavor, resource) -> amount."""
ZERO = Decimal(0)


@dataclass(frozen=True)
class PodSet:
    """Pods of one template: what each of them asks for, resource -> amount."""

    name: str
    count: int
    each: Amounts

    @property
    def requests(self) -> dict[str, Decimal]:
        """What all of them ask for, without what they ask nothing of."""
        return {name: amount * self.count for name, amount in self.each.items() if amount}


@dataclass(frozen=True)
class Quota:
    """What a queue may hold of a resource of a flavor: its own, and what it may borrow and lend; None: no limit."""

    nominal: Decimal
    borrowing: Decimal | None = None
    lending: Decimal | None = None

    @property
    def lent(self) -> Decimal:
        """How much others may take."""
        return self.nominal if self.lending is None else min(self.nominal, self.lending)


@dataclass(frozen=True)
class Group:
    """Resources that come from the same flavor, which is the first that fits."""

    covered: tuple[str, ...]
    flavors: tuple[tuple[str, Mapping[str, Quota]], ...]


@dataclass(frozen=True)
class Queue:
    """A ClusterQueue: its quotas, who it shares them with, what it uses."""

    name: str
    cohort: str
    groups: tuple[Group, ...]
    usage: Usage

    def quota(self, flavor: str, resource: str) -> Quota | None:
        """Return the quota of a resource of a flavor, None where it has none."""
        for group in self.groups:
            for name, quotas in group.flavors:
                if name == flavor and resource in quotas:
                    return quotas[resource]
        return None


@dataclass(frozen=True)
class Assignment:
    """Flavor of every resource of every pod set, and what all use together."""

    flavors: Mapping[str, Mapping[str, str]]
    usage: Usage


def requests(template: Object) -> dict[str, Decimal]:
    """Return what a pod of a template asks for: the sum of its containers, or its largest init container."""
    spec = template.get("spec") or {}
    total: defaultdict[str, Decimal] = defaultdict(Decimal)
    for container in spec.get("containers") or []:
        for name, amount in _request(container).items():
            total[name] += amount
    for container in spec.get("initContainers") or []:
        for name, amount in _request(container).items():
            total[name] = max(total[name], amount)
    return dict(total)


def _request(container: Object) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    requested = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: values.amount(quantity) or ZERO for name, quantity in requested.items()}


def queue(cluster_queue: Object, usage: Usage) -> Queue:
    """Read a ClusterQueue of v1beta2, or of v1beta1, which has another name for the cohort."""
    spec = cluster_queue["spec"]
    groups = tuple(
        Group(
            tuple(group["coveredResources"]),
            tuple((flavor["name"], _quotas(flavor["resources"])) for flavor in group["flavors"]),
        )
        for group in spec.get("resourceGroups") or []
    )
    cohort = spec.get("cohortName") or spec.get("cohort") or ""
    return Queue(cluster_queue["metadata"]["name"], cohort, groups, usage)


def _quotas(resources: Iterable[Object]) -> dict[str, Quota]:
    return {
        one["name"]: Quota(
            values.amount(one["nominalQuota"]) or ZERO,
            values.amount(one.get("borrowingLimit")),
            values.amount(one.get("lendingLimit")),
        )
        for one in resources
    }


@dataclass(frozen=True)
class _Room:
    """What a queue has left, with the others of its cohort, and with what is `assumed` for the same job already."""

    own: Queue
    others: tuple[Queue, ...]
    assumed: Usage

    def most_and_free(self, flavor: str, resource: str, quota: Quota) -> tuple[Decimal, Decimal]:
        """Return what the queue could ever have of a resource, and what of it is free."""
        used = self.own.usage.get((flavor, resource), ZERO)
        most, free = quota.nominal, quota.nominal - used
        for other in self.others:
            theirs = other.quota(flavor, resource)
            if theirs is not None:
                kept = theirs.nominal - theirs.lent
                most += theirs.lent
                free += theirs.lent - max(other.usage.get((flavor, resource), ZERO) - kept, ZERO)
        if quota.borrowing is None:
            return most, free
        limit = quota.nominal + quota.borrowing
        return min(most, limit), min(free, limit - used)

    def lacks(self, flavor: str, resource: str, quota: Quota | None, amount: Decimal) -> str | None:
        """Return why a resource of a flavor does not do, None if it does."""
        if quota is None:
            return f"resource {resource} unavailable in ClusterQueue"
        before = self.assumed.get((flavor, resource), ZERO)
        most, free = self.most_and_free(flavor, resource, quota)
        if before + amount > most:
            return (
                f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests"
                f" ({shown(resource, before)}) + current podset request ({shown(resource, amount)}) > maximum capacity"
                f" ({shown(resource, most)})"
            )
        if before + amount > free:
            more = shown(resource, before + amount - free)
            return f"insufficient unused quota for {resource} in flavor {flavor}, {more} more needed"
        return None


def assign(pod_sets: Iterable[PodSet], own: Queue, others: Iterable[Queue]) -> Assignment | str:
    """Return the flavors for all pod sets, or why there are none, in Kueue's words; `others` share the cohort."""
    assumed: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    room = _Room(own, tuple(others), assumed)
    chosen: dict[str, dict[str, str]] = {}
    for pod_set in pod_sets:
        flavors = chosen[pod_set.name] = {}
        wanted = pod_set.requests
        for resource in sorted(wanted):
            if resource in flavors:
                continue
            group = next((one for one in own.groups if resource in one.covered), None)
            if group is None:
                return _pending(pod_set, [f"resource {resource} unavailable in ClusterQueue"])
            part = {name: wanted[name] for name in group.covered if name in wanted}
            flavor, reasons = _first(group, part, room)
            if flavor is None:
                return _pending(pod_set, reasons)
            for name, amount in part.items():
                assumed[flavor, name] += amount
                flavors[name] = flavor
    return Assignment(chosen, dict(assumed))


def _first(group: Group, wanted: Amounts, room: _Room) -> tuple[str | None, list[str]]:
    """Return the first flavor with room for all of `wanted`, or why none has."""
    reasons: list[str] = []
    for flavor, quotas in group.flavors:
        found = [room.lacks(flavor, name, quotas.get(name), amount) for name, amount in wanted.items()]
        why = [one for one in found if one]
        if not why:
            return flavor, []
        reasons += why
    return None, reasons


def _pending(pod_set: PodSet, reasons: Iterable[str]) -> str:
    return f"couldn't assign flavors to pod set {pod_set.name}: {', '.join(sorted(reasons))}"


def shown(resource: str, amount: Decimal) -> str:
    """Return an amount as a quantity: memory in whole binary units, CPUs in thousandths where need be."""
    if resource == "cpu" and amount % 1:
        return f"{int(amount * 1000)}m"
    if resource in {"memory", "ephemeral-storage"}:
        for unit, size in (("Gi", 1024**3), ("Mi", 1024**2), ("Ki", 1024)):
            if amount and amount % size == 0:
                return f"{int(amount // size)}{unit}"
    return f"{int(amount)}"
