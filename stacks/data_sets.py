"""The data sets of tenants: what is locked, as the state has it."""

import pulumi

from components.data_set_lock import DataSetLock, DataSetLockArgs
from stacks.locks import Locks


def build(locks: Locks, opts: pulumi.ResourceOptions) -> dict[tuple[str, str], DataSetLock]:
    """Declare what is locked; return it by namespace and name."""
    return {
        (namespace, name): DataSetLock(
            # No namespace has a dot: no two tenants get resources of one name.
            f"{namespace}.{name}-lock",
            DataSetLockArgs(namespace=namespace, lock=each),
            opts=opts,
        )
        for (namespace, name), each in locks.items()
    }
