"""The data sets of tenants: what is locked, as the state has it."""

import pulumi

from components.data_set_lock import DataSetLock, DataSetLockArgs
from stacks.locks import Locks


def build(locks: Locks, opts: pulumi.ResourceOptions) -> dict[tuple[str, str], DataSetLock]:
    """Declare what is locked; return it by namespace and name."""
    return {
        (namespace, name): DataSetLock(
            f"{namespace}.{name}-lock",
            DataSetLockArgs(
                namespace=namespace,
                data_set=name,
                digest=each.digest,
                frames=each.frames,
                files=each.files,
                bytes=each.bytes,
                frames_by_class=each.frames_by_class,
                splits={split: part.frames_by_class for split, part in each.splits.items()},
                as_of=each.as_of.isoformat(),
                choice=each.choice,
            ),
            opts=opts,
        )
        for (namespace, name), each in locks.items()
    }
