"""Tenants: which are added, removed and changed, and what they have."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.kinds import CLUSTER_QUEUE, LOCAL_QUEUE, PERSISTENT_VOLUME_CLAIM, RESOURCE_QUOTA
from core.wording import plural
from policies.manifests.values import read
from toolkit.review.indexed_review import IndexedReview, Side
from toolkit.review.model import Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names
from toolkit.review.subjects.capacity import gpu_quota, queue_quota

TYPE = "hpc:tenants:Tenant"
_FACTS = (
    "user ids",
    "SELinux level",
    "GPUs at most",
    "guaranteed GPUs",
    "queue",
    "data",
    "default resources of containers",
    "reachable from",
)


class Tenants:
    """The tenants of one side, by namespace, each with what it has, in words."""

    def __init__(self, side: Side) -> None:
        self._claims = _by_namespace(side.of(PERSISTENT_VOLUME_CLAIM))
        self._quotas = _by_namespace(side.of(RESOURCE_QUOTA))
        self._queues = _by_namespace(side.of(LOCAL_QUEUE))
        self._cluster_queues = {queue.object_name: queue for queue in side.of(CLUSTER_QUEUE)}
        self.tenants = {
            str(tenant.inputs.get("namespace") or tenant.name): tenant for tenant in side.components.get(TYPE, ())
        }

    def facts(self, namespace: str) -> dict[str, str]:
        """Return what a tenant has; empty where there is no such tenant."""
        tenant = self.tenants.get(namespace)
        if tenant is None:
            return {}
        facts = dict(zip(_FACTS, self._values(namespace, tenant.inputs), strict=True))
        return {fact: words for fact, words in facts.items() if words}

    def _values(self, namespace: str, inputs: Mapping[str, Any]) -> Iterator[str]:
        start, size = (read(inputs, "uid_range", key) for key in ("start", "size"))
        yield (
            f"{name(start)} and the {size or 10_000:,} from it"
            if isinstance(start, int) and isinstance(size, int | None)
            else ""
        )
        mcs = inputs.get("mcs")
        yield name(mcs) if isinstance(mcs, str) and mcs else ""
        quotas = [
            quota_gpus for quota in self._quotas.get(namespace, ()) if (quota_gpus := gpu_quota(quota)) is not None
        ]
        yield f"{min(quotas):,}" if quotas else ""
        queues = [str(read(queue.inputs, "spec", "clusterQueue")) for queue in self._queues.get(namespace, ())]
        guaranteed = [queue_quota(self._cluster_queues[queue]) for queue in queues if queue in self._cluster_queues]
        yield f"{sum(guaranteed):,}" if guaranteed else ""
        yield names(queue.object_name for queue in self._queues.get(namespace, ()))
        yield names(map(_claim, self._claims.get(namespace, ())), 3)
        resources = inputs.get("container_resources")
        yield name(", ".join(f"{key} {resources[key]}" for key in resources)) if isinstance(resources, Mapping) else ""
        yield self._reachable(inputs)

    def _reachable(self, inputs: Mapping[str, Any]) -> str:
        if not inputs.get("isolated"):
            return "everywhere"
        others = inputs.get("reachable_from")
        return f"itself and {names(others)}" if isinstance(others, list) and others else "itself"


def find(indexed: IndexedReview) -> Section | None:
    """Report which tenants are added, removed and changed."""
    if not indexed.review.changed:
        return None
    old, new = Tenants(indexed.before), Tenants(indexed.after)
    lines = []
    for namespace in sorted({*old.tenants, *new.tenants}):
        was, will = old.facts(namespace), new.facts(namespace)
        details = [f"{fact}: {words}" for fact, words in will.items() if words != was.get(fact)]
        if not was:
            lines.append(Line(f"{name(namespace)} is new", tuple(details)))
        elif not will:
            lines.append(Line(f"{name(namespace)} goes", alarm=True))
        elif was != will:
            fact_changes = [
                f"{fact}: {will.get(fact, 'none')} (was {was.get(fact, 'none')})"
                for fact in _FACTS
                if will.get(fact) != was.get(fact)
            ]
            sensitive = any(was.get(fact) != will.get(fact) for fact in ("user ids", "SELinux level"))
            lines.append(Line(f"{name(namespace)} changes: {'; '.join(fact_changes)}", alarm=sensitive))
    title = f"Tenants ({plural(len(new.tenants), 'tenant')}, before {len(old.tenants):,})"
    return section(title if len(new.tenants) != len(old.tenants) else "Tenants", lines)


def _claim(claim: Resource) -> str:
    size = read(claim.inputs, "spec", "resources", "requests", "storage")
    return f"{claim.object_name}, {size}" if size else claim.object_name


def _by_namespace(resources: list[Resource]) -> dict[str, list[Resource]]:
    by_namespace: dict[str, list[Resource]] = {}
    for resource in resources:
        by_namespace.setdefault(resource.namespace, []).append(resource)
    return by_namespace
