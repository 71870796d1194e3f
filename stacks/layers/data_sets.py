"""The data sets of tenants: what is locked, on the cluster and in the state."""

from collections.abc import Mapping

import pulumi

from components.storage.data_set_lock import DataSetLock, DataSetLockArgs
from components.tenants.tenant import Tenant
from stacks.resolved.locked_data import Locked


def build(
    locks: Locked, teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions
) -> dict[tuple[str, str], DataSetLock]:
    """Declare what is locked; return it by namespace and name."""
    return {
        (namespace, name): DataSetLock(
            # No namespace has a dot: no two tenants get resources of one name.
            f"{namespace}.{name}-lock",
            DataSetLockArgs(namespace=namespace, lock=lock),
            teams[namespace].namespace,
            opts=opts,
        )
        for (namespace, name), lock in locks.items()
    }
