"""After an update: whether the driver pods of NVIDIA's operators have what their policies declare.

A ClusterPolicy, NVIDIADriver, NicClusterPolicy or NicNodePolicy does not report which change of it the operator has
seen: right after one its state is that of before, and the engine's wait may end by it.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.events import Account
from toolkit.cli.up.waits import driver_upgrades, pods, workloads
from toolkit.cli.up.waits.driver_upgrades import Driver
from toolkit.cli.up.waits.verdict import Look, Object

_PAUSE = 0.5
_DRIVERS = (
    (kinds.CLUSTER_POLICY, driver_upgrades.GPU),
    (kinds.NVIDIA_DRIVER, driver_upgrades.GPU_OF_POOL),
    (kinds.NIC_CLUSTER_POLICY, driver_upgrades.NETWORK),
    (kinds.NIC_NODE_POLICY, driver_upgrades.NETWORK_OF_POOL),
)


def kept(
    account: Account,
    cluster: Cluster,
    failed_after: float,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[str, ...]:
    """Return a message for each of the update's policies whose former driver stays until a user restarts its pods.

    It waits at most `failed_after` seconds for an operator to change its DaemonSet. An upgrade by the operator itself
    is printed, not waited for.
    """
    end = clock() + failed_after
    while True:
        look = _look(cluster)
        policies = [
            (kind, driver, policy)
            for kind, driver in _DRIVERS
            if _declared(kind, account.steps)
            for policy in look(kind)
        ]
        if clock() >= end or not any(_unseen(policy, driver, look) for _, driver, policy in policies):
            return tuple(_messages(policies, look))
        pause(_PAUSE)


def _messages(policies: Iterable[tuple[Kind, Driver, Object]], look: Look) -> Iterable[str]:
    for kind, driver, policy in policies:
        if (verdict := driver_upgrades.verdict(policy, driver, look)) is None:
            continue
        text = f"{kind.kind} {metadata.name(policy)}: {verdict.message}"
        if verdict.bad:
            yield text
        else:
            print_text(text)


def _declared(kind: Kind, steps: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
    """Whether the update has a policy of a kind, changed or not."""
    return any(
        str(step["type"]).startswith(f"kubernetes:{kind.group}/")
        and str(step["type"]).endswith(f":{kind.kind}")
        and step["op"] != "delete"
        for own in steps.values()
        for step in own
    )


def _unseen(policy: Object, driver: Driver, look: Look) -> bool:
    """Whether a driver's DaemonSet still lacks the version of its policy, which is a part of the image's tag."""
    version = read(policy, *driver.path, "version")
    images = [
        str(container.get("image"))
        for owner in workloads.owned(policy, look)
        if pods.is_on_delete(owner)
        for container in entries(owner, "spec", "template", "spec", "containers")
    ]
    return isinstance(version, str) and bool(images) and not any(version in image for image in images)


def _look(cluster: Cluster) -> Look:
    """Return how one reading lists kinds; what the user may not list is none."""
    listed: dict[tuple[Kind, str], Sequence[Object]] = {}

    def look(kind: Kind, namespace: str = "") -> Sequence[Object]:
        if (kind, namespace) not in listed:
            try:
                listed[kind, namespace] = cluster.list(kind, namespace)
            except RefusedError:
                listed[kind, namespace] = ()
        return listed[kind, namespace]

    return look
