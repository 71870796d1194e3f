"""The shared RDMA device plugin: turns every HCA into a resource that pods can ask for."""

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints, model_validator

from components.base import rights, waits
from components.base.component import Component
from components.base.model import DnsLabel, Image, Model, Seconds
from components.base.scheduling import GPU_TAINT, Toleration
from components.base.timeouts import DEFAULTS
from core.apis import names
from core.apis.names import labels
from core.wording import duplicates

CONFIG_MAP = "rdma-devices"
CONFIG_KEY = "config.json"
DAEMON_SET = "rdma-shared-dp-ds"
KUBELET_FOLDER = "/var/lib/kubelet/"

ResourceName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_]+$")]
"""What the plugin itself accepts; its webhook's rule is wider."""


class NamedDevice(Model):
    """One resource of a device plugin."""

    resource_name: ResourceName = Field(description="becomes rdma/<resource_name>")


class RdmaDevice(NamedDevice):
    """One resource, backed by the named interfaces."""

    hca_max: int = Field(default=100, ge=1, description="how many pods of one node may share it")
    devices: tuple[str, ...] = Field(min_length=1, description="network interfaces, e.g. ib0")


class RdmaDevicePluginArgs(Model):
    """What the plugin offers, and where it runs."""

    devices: tuple[RdmaDevice, ...] = Field(min_length=1, description="one for each resource")
    image: Image = Field(description="image of the plugin")
    namespace: DnsLabel = Field(default="kube-system", description="of the DaemonSet and its configuration")
    node_selector: dict[str, str] = Field(
        default={names.GPU_NODE: "true"},
        min_length=1,
        description="nodes whose adapters it offers. Not by a label of node feature discovery, which on OpenShift 4.4 "
        "ignores ports in InfiniBand mode; nor on all workers: before 1.0.0 it offers its resources without ports, too",
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(Toleration(key="CriticalAddonsOnly"), GPU_TAINT), description="taints that its pods tolerate"
    )
    ready_timeout: Seconds = Field(default=DEFAULTS.plugin, description="seconds until it runs on all nodes")

    @model_validator(mode="after")
    def _distinct_resources(self) -> Self:
        require_distinct(self.devices)
        return self


def require_distinct(devices: Sequence[NamedDevice]) -> None:
    """Raise ValueError where two devices have one name: a plugin ends at its start then."""
    if repeated := duplicates(device.resource_name for device in devices):
        raise ValueError(f"devices: resource_name {', '.join(repeated)} is given twice; give each device its own")


def config_json(devices: tuple[RdmaDevice, ...]) -> str:
    """Return the plugin's configuration in the form of 2020, which knows `devices` only."""
    entries = [
        {"resourceName": device.resource_name, "rdmaHcaMax": device.hca_max, "devices": list(device.devices)}
        for device in devices
    ]
    return json.dumps({"configList": entries}, indent=2) + "\n"


class RdmaDevicePlugin(Component):
    """ConfigMap, service account that may use the privileged SCC, and DaemonSet.

    The plugin reads its configuration at start only; a digest of it in the pod template restarts the pods when it
    changes. Outputs: `resources`, the names that pods can request, known when every pod of the DaemonSet is ready.
    """

    resources: pulumi.Output[list[str]]

    def __init__(self, name: str, args: RdmaDevicePluginArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("rdma:RdmaDevicePlugin", name, args, opts)
        self._args = args
        self._labels = labels(DAEMON_SET, "rdma")
        config = config_json(args.devices)
        config_map = k8s.core.v1.ConfigMap(
            f"{name}-config", metadata=self._meta(CONFIG_MAP), data={CONFIG_KEY: config}, opts=self.child()
        )
        account = rights.declare_privileged_account(self, name, DAEMON_SET, args.namespace, self._labels)
        daemon_set = k8s.apps.v1.DaemonSet(
            f"{name}-daemon-set",
            metadata=self._meta(DAEMON_SET, waits.at_most(args.ready_timeout)),
            spec=self._daemon_set(hashlib.sha256(config.encode()).hexdigest()),
            opts=self.child(config_map, *account),
        )
        offered = [names.RDMA_PREFIX + device.resource_name for device in args.devices]
        self.outputs(resources=daemon_set.id.apply(lambda _: offered))

    def _meta(self, name: str, annotations: dict[str, str] | None = None) -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(
            name=name, namespace=self._args.namespace, labels=self._labels, annotations=annotations
        )

    def _daemon_set(self, digest: str) -> "k8s.apps.v1.DaemonSetSpecArgs":
        selector = {"name": DAEMON_SET}
        core = k8s.core.v1
        return k8s.apps.v1.DaemonSetSpecArgs(
            selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
            template=core.PodTemplateSpecArgs(
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    labels={**selector, **self._labels}, annotations={names.CONFIG_DIGEST: digest}
                ),
                spec=core.PodSpecArgs(
                    service_account_name=DAEMON_SET,
                    host_network=True,
                    priority_class_name="system-node-critical",
                    node_selector=self._args.node_selector,
                    tolerations=[core.TolerationArgs(**toleration.manifest()) for toleration in self._args.tolerations],
                    containers=[
                        core.ContainerArgs(
                            name="k8s-rdma-shared-dp-ds",
                            image=self._args.image,
                            image_pull_policy="IfNotPresent",
                            security_context=core.SecurityContextArgs(privileged=True),
                            volume_mounts=[
                                core.VolumeMountArgs(name="kubelet", mount_path=KUBELET_FOLDER),
                                core.VolumeMountArgs(name="config", mount_path="/k8s-rdma-shared-dev-plugin"),
                            ],
                        )
                    ],
                    volumes=[
                        core.VolumeArgs(name="kubelet", host_path=core.HostPathVolumeSourceArgs(path=KUBELET_FOLDER)),
                        core.VolumeArgs(
                            name="config",
                            config_map=core.ConfigMapVolumeSourceArgs(
                                name=CONFIG_MAP, items=[core.KeyToPathArgs(key=CONFIG_KEY, path=CONFIG_KEY)]
                            ),
                        ),
                    ],
                ),
            ),
        )
