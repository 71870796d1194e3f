"""What is locked of a data set: on the cluster for all to see, and in the state, where reviews compare it."""

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component
from components.base.model import DnsName, Model
from core.apis.names import labels
from core.datasets.lock import Lock, text

KEY = "lock.json"


class DataSetLockArgs(Model):
    """One lock; the list of files is not in it."""

    namespace: DnsName = Field(description="namespace of the tenant whose jobs read the set")
    lock: Lock = Field(description="what `./hpc data select` wrote")


def config_map_name(data_set: str) -> str:
    """Return the name of the ConfigMap that has the lock of a data set."""
    return f"data-set-{data_set}"


class DataSetLock(Component):
    """A ConfigMap with the lock, as its file has it. Outputs: `digest`, of the list of files."""

    digest: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: DataSetLockArgs,
        namespace: pulumi.Input[str],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("storage:DataSetLock", name, args, opts)
        shown = config_map_name(args.lock.name)
        config_map = k8s.core.v1.ConfigMap(
            f"{name}-config",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=shown, namespace=namespace, labels=labels(shown, "storage")),
            data={KEY: text(args.lock)},
            opts=self.child(),
        )
        self.outputs(digest=config_map.metadata.name.apply(lambda _: args.lock.digest))
