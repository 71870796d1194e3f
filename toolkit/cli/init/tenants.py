"""Tenants of an example on a cluster: unused ids, the GPUs that exist, storage that the cluster offers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.tenants.tenant import TenantNamespace
from core.wording import plural, some
from toolkit.cli.init.decision import REVIEW, Decision
from toolkit.cli.init.facts import Cluster, Namespace
from toolkit.cli.init.machine_kinds import shared_out

_BLOCK = 10_000
"""Ids of a namespace's range: as many as OpenShift gives."""
_CATEGORIES = 1024
_CLAIM = "claim"
_QUOTA = TenantNamespace.model_fields["quota_name"].default


def fit(settings: dict[str, Any], cluster: Cluster, gpus: int | Mapping[str, int], stack: str) -> Iterator[Decision]:
    """Change the tenants, in place; yield what is left to decide. `gpus` is how many there are, 0: not known.

    Where the stack has pools, `gpus` is by pool, and so are the quotas.

    Where namespaces have a quota of GPUs, these are the tenants, as they are; else they are the example's.
    """
    teams = {
        name: namespace
        for name, namespace in sorted(cluster.namespaces.items())
        if namespace.quota and namespace.uid_range
    }
    if teams and settings.get("tenants"):
        settings["tenants"] = [_tenant(name, namespace) for name, namespace in teams.items()]
        yield Decision(
            ("tenants",),
            f"these namespaces have a quota of GPUs: {some([*teams])}. `./hpc state adopt --stack {stack}` imports "
            "them as they are",
            mark=REVIEW,
        )
        if isinstance(gpus, Mapping):
            yield from _by_pool(settings["tenants"], teams, gpus)
        return
    tenants = settings.get("tenants", [])
    taken = [namespace.uid_range for namespace in cluster.namespaces.values() if namespace.uid_range]
    levels = {namespace.mcs for namespace in cluster.namespaces.values() if namespace.mcs}
    quotas = _quotas([tenant["gpu_quota"] for tenant in tenants], gpus)
    for index, tenant in enumerate(tenants):
        namespace = cluster.namespaces.get(tenant["namespace"])
        _set_ids(
            tenant,
            namespace.uid_range if namespace and namespace.uid_range else _free_block(tenant["uid_range"], taken),
        )
        tenant["mcs"] = namespace.mcs if namespace and namespace.mcs else _free_level(tenant["mcs"], levels)
        tenant["gpu_quota"] = quotas[index]
        if namespace is not None:
            yield Decision(
                ("tenants", index),
                f"the cluster has a namespace {tenant['namespace']} already: give another name, here and in builds and "
                f"stages, or import it with `./hpc state adopt --stack {stack}`",
            )
        yield from _claims(tenant, index, settings, cluster)


def _tenant(name: str, namespace: Namespace) -> dict[str, Any]:
    """Return the settings of a team that exists, with all that the cluster says of it."""
    assert namespace.uid_range is not None  # noqa: S101 - it is a team by that
    assert namespace.quota is not None  # noqa: S101
    first, size = namespace.uid_range
    quota, gpus = namespace.quota
    return {
        "namespace": name,
        "uid_range": {"start": first} | ({"size": size} if size != _BLOCK else {}),
        **({"mcs": namespace.mcs} if namespace.mcs else {}),
        "run_as_uid": first,
        "run_as_gid": first,
        "gpu_quota": gpus,
        **({"quota_name": quota} if quota != _QUOTA else {}),
    }


def _by_pool(
    tenants: Sequence[dict[str, Any]], teams: Mapping[str, Namespace], gpus: Mapping[str, int]
) -> Iterator[Decision]:
    """Share out quotas that do not say of which pool they are, in place."""
    for index, tenant in enumerate(tenants):
        total = tenant["gpu_quota"]
        tenant["gpu_quota"] = shared_out(total, gpus)
        name, _ = teams[tenant["namespace"]].quota or ("", 0)
        yield Decision(
            ("tenants", index, "gpu_quota"),
            f"ResourceQuota {name} has {plural(total, 'GPU')} and does not say of which pool: share them out, of "
            f"{', '.join(gpus)}; together {total}, it stays as it is",
        )


def _quotas(own: Sequence[int | Mapping[str, int]], gpus: int | Mapping[str, int]) -> Sequence[int | dict[str, int]]:
    """Return the tenants' GPUs: as the example has them, as far as there are as many."""
    if isinstance(gpus, int):
        return _amounts(own, [quota if isinstance(quota, int) else sum(quota.values()) for quota in own], gpus)
    by_pool = {
        name: _amounts(own, [quota if isinstance(quota, int) else quota.get(name, 0) for quota in own], size)
        for name, size in gpus.items()
    }
    rows = [{name: amounts[index] for name, amounts in by_pool.items()} for index in range(len(own))]
    return [{name: amount for name, amount in row.items() if amount} or dict.fromkeys([*gpus][:1], 0) for row in rows]


def _amounts(own: Sequence[int | Mapping[str, int]], amounts: Sequence[int], size: int) -> Sequence[int]:
    """Return amounts for which there are GPUs: at most an equal share, but of quotas by pool in their proportion."""
    if not size:
        return amounts
    if all(isinstance(quota, int) for quota in own):
        return [min(amount, size // len(own)) for amount in amounts]
    return [amount * min(size, sum(amounts)) // (sum(amounts) or 1) for amount in amounts]


def _free_block(own: dict[str, Any], taken: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the next block of ids that no namespace has, and take it."""
    first, size = own["start"], own.get("size", _BLOCK)
    while any(first < other + length and other < first + size for other, length in taken):
        first += size
    taken.append((first, size))
    return first, size


def _set_ids(tenant: dict[str, Any], block: tuple[int, int]) -> None:
    """Give a tenant a block of ids; who owns the data keeps the place in it."""
    first, size = block
    own = tenant["uid_range"]
    for field in ("run_as_uid", "run_as_gid"):
        tenant[field] += first - own["start"]
    tenant["uid_range"] = {"start": first} | ({"size": size} if size != _BLOCK else {})


def _free_level(level: str, levels: set[str]) -> str:
    """Return the next SELinux level that no namespace has, and take it."""
    high, low = sorted((int(part) for part in level.removeprefix("s0:c").split(",c")), reverse=True)
    while f"s0:c{high},c{low}" in levels and high < _CATEGORIES - 1:
        high, low = (high, low + 1) if low + 1 < high else (high + 1, 0)
    levels.add(f"s0:c{high},c{low}")
    return f"s0:c{high},c{low}"


def _claims(tenant: dict[str, Any], index: int, settings: dict[str, Any], cluster: Cluster) -> Iterator[Decision]:
    if not cluster.storage_classes:
        return
    ours = {
        storage_class["class_name"]
        for storage_class in (settings.get("storage") or {}).get("classes", ())
        if "class_name" in storage_class
    }
    class_names = [storage_class.name for storage_class in cluster.storage_classes]
    default = next((entry.name for entry in cluster.storage_classes if entry.default), class_names[0])
    for number, volume in enumerate(tenant.get("volumes", ())):
        if volume["kind"] != _CLAIM or volume["storage_class"] in ours:
            continue
        if volume["storage_class"] not in class_names:
            volume["storage_class"] = default
        yield Decision(
            ("tenants", index, "volumes", number, "storage_class"),
            f"a class whose volumes many nodes can mount (ReadWriteMany); the cluster has {some(class_names)}",
        )
