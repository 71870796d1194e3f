"""The Network Operator's policies: adapter driver, and every HCA as a resource, of all nodes or of some."""

import json
from typing import Any, Literal, Self

import pulumi
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide
from components.base.model import DnsName, ImageName, Installable, Model, Operand, Repository, Seconds
from components.base.scheduling import GPU_TAINT, LabelKey, LabelValue, Toleration
from components.base.timeouts import DEFAULTS
from components.fabric.rdma_device_plugin import NamedDevice, RdmaDevice, ResourceName, require_distinct
from core.apis import kinds, names

POLICY = "nic-cluster-policy"
"""The operator acts on the policy of this name only."""
REGISTRY = "nvcr.io/nvidia/mellanox"
HOST_DEVICE_PREFIX = "nvidia.com"
ROCE_MOST_PODS = 63
"""The operator's own number for RoCE, whose ports have 128 GIDs; InfiniBand has no such limit."""


_DRIVER_SWITCHES = ("UNLOAD_STORAGE_MODULES", "RESTORE_DRIVER_ON_POD_TERMINATION", "CREATE_IFNAMES_UDEV")
"""What its container does beside the driver: unload the node's NVMe and NFS over RDMA, which block unloading the node's
own driver; reload that one when the pod ends, else the ports disappear; and keep names of ports, which select them."""


class DocaDriver(Operand):
    """DOCA-OFED, the adapters' driver in a container, built for each node's kernel."""

    repository: Repository = Field(default=REGISTRY, description="registry and path of the image")
    image: ImageName = Field(default="doca-driver", description="image name below `repository`")
    auto_upgrade: bool = Field(
        default=False, description="let the operator drain and restart nodes one by one when the version changes"
    )


class SharedDevicePlugin(Operand):
    """The shared RDMA device plugin, which here selects devices by selectors."""

    repository: Repository = Field(default=REGISTRY, description="registry and path of the image")
    image: ImageName = Field(default="k8s-rdma-shared-dev-plugin", description="image name below `repository`")


class WholePort(NamedDevice):
    """One port that a single pod gets exclusively, for a HostDeviceNetwork."""

    resource_name: ResourceName = Field(description="becomes nvidia.com/<resource_name>")
    interfaces: tuple[str, ...] = Field(min_length=1, description="network interfaces of the node, e.g. ens1f0np0")


class HostDevicePlugin(Operand):
    """The SR-IOV device plugin, which hands out whole ports as well."""

    repository: Repository = Field(default=REGISTRY, description="registry and path of the image")
    image: ImageName = Field(default="sriov-network-device-plugin", description="image name below `repository`")
    devices: tuple[WholePort, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct_resources(self) -> Self:
        require_distinct(self.devices)
        return self


class AdapterStack(Model):
    """What the operator installs on nodes, as settings and the component have it."""

    shared: SharedDevicePlugin
    driver: DocaDriver | None = Field(
        description="None: the node's own driver, with which nvidia-peermem works only if it is Mellanox's"
    )


class AdapterPolicy(AdapterStack):
    """What a NicClusterPolicy and a NicNodePolicy have in common: driver and plugins of some nodes."""

    link_layer: Literal["InfiniBand", "Ethernet"] = Field(description="of the ports that are shared")
    devices: tuple[RdmaDevice, ...] = Field(
        min_length=1, description="the same as for RdmaDevicePlugin: jobs request the same resources of either"
    )
    host_devices: HostDevicePlugin | None = Field(default=None, description="None: no port is assigned exclusively")
    tolerations: tuple[Toleration, ...] = Field(
        default=(GPU_TAINT,),
        description="tolerations of all the operator's DaemonSets: nodes reserved for GPU jobs have the adapters",
    )
    ready_timeout: Seconds = Field(default=DEFAULTS.driver, description="seconds; the driver is compiled on every node")

    @model_validator(mode="after")
    def _fits_the_fabric(self) -> Self:
        require_distinct(self.devices)
        wrong = [device for device in self.devices if device.hca_max > ROCE_MOST_PODS]
        if self.link_layer == "Ethernet" and wrong:
            raise ValueError(
                f"devices: {wrong[0].resource_name} has hca_max {wrong[0].hca_max}, and a RoCE port serves "
                f"{ROCE_MOST_PODS} pods; give {ROCE_MOST_PODS} or less"
            )
        return self


class NetworkOperatorArgs(Installable, AdapterPolicy):
    """The one NicClusterPolicy of the cluster."""

    node_labels: dict[str, tuple[str, ...]] = Field(
        default={names.GPU_NODE: ("true",)},
        min_length=1,
        description="labels, each with the values of which they have one, of nodes that may get driver and plugins; "
        "the operator itself leaves out those without an adapter",
    )
    node_policies: bool = Field(
        default=False,
        description="NicNodePolicies bring driver and plugins, each to nodes of its own: the operator accepts a part "
        "in them or in the NicClusterPolicy, which has none then",
    )


def shared_config(devices: tuple[RdmaDevice, ...]) -> str:
    """Return the shared plugin's configuration in today's form: selectors in the place of devices."""
    entries = [
        {
            "resourceName": device.resource_name,
            "rdmaHcaMax": device.hca_max,
            "selectors": {"ifNames": list(device.devices)},
        }
        for device in devices
    ]
    return json.dumps({"configList": entries}, indent=2) + "\n"


def host_config(devices: tuple[WholePort, ...]) -> str:
    """Return the SR-IOV plugin's configuration; only ports that can do RDMA match."""
    entries = [
        {
            "resourcePrefix": HOST_DEVICE_PREFIX,
            "resourceName": device.resource_name,
            "selectors": {"pfNames": list(device.interfaces), "isRdma": True},
        }
        for device in devices
    ]
    return json.dumps({"resourceList": entries}, indent=2) + "\n"


def spec(args: NetworkOperatorArgs) -> dict[str, Any]:
    """Return the `spec` of NicClusterPolicy mellanox.com/v1alpha1."""
    return {
        **({} if args.node_policies else sections(args)),
        "tolerations": [toleration.manifest() for toleration in args.tolerations],
        "nodeAffinity": _affinity(args.node_labels),
    }


def sections(args: AdapterPolicy) -> dict[str, Any]:
    """Return the parts of `spec` that a NicClusterPolicy and a NicNodePolicy call the same: driver and plugins."""
    fields: dict[str, Any] = {"rdmaSharedDevicePlugin": {**_image(args.shared), "config": shared_config(args.devices)}}
    if args.driver:
        fields["ofedDriver"] = _driver(args.driver)
    if args.host_devices:
        fields["sriovDevicePlugin"] = {**_image(args.host_devices), "config": host_config(args.host_devices.devices)}
    return fields


def _image(operand: Operand) -> dict[str, str]:
    return {"repository": operand.repository, "image": operand.image, "version": operand.version}


def _driver(driver: DocaDriver) -> dict[str, Any]:
    return {
        **_image(driver),
        "env": [{"name": name, "value": "true"} for name in _DRIVER_SWITCHES],
        "upgradePolicy": {"autoUpgrade": driver.auto_upgrade, "maxParallelUpgrades": 1},
    }


def _affinity(selector: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    expressions = [{"key": key, "operator": "In", "values": [*values]} for key, values in sorted(selector.items())]
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    }


class NetworkOperator(Component):
    """The Network Operator's NicClusterPolicy: adapter driver, and every HCA as a resource.

    The NicClusterPolicy.

    Outputs: `resources`, the names that pods can request, as of RdmaDevicePlugin; known when the operator calls the
    policy ready.
    """

    resources: pulumi.Output[list[str]]

    def __init__(self, name: str, args: NetworkOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("rdma:NetworkOperator", name, args, opts)
        offered = [names.RDMA_PREFIX + device.resource_name for device in args.devices]
        if args.installed:
            self.outputs(resources=pulumi.Output.from_input(offered))
            return
        wait = waits.wait_for([waits.state_ready()], timeout=args.ready_timeout)
        metadata = cluster_wide(POLICY, "rdma", wait)
        policy = CustomObject(f"{name}-policy", kinds.NIC_CLUSTER_POLICY, metadata, {"spec": spec(args)}, self.child())
        self.outputs(resources=policy.id.apply(lambda _: offered))


MOST_LENGTH = 30
"""Characters of its name, which is part of its DaemonSets' names and labels."""


class NicNodePolicyArgs(AdapterPolicy):
    """Driver and plugins of the nodes with some labels, of which no other NicNodePolicy may select any."""

    policy_name: DnsName = Field(max_length=MOST_LENGTH, description="name of the NicNodePolicy; cluster-wide")
    node_selector: dict[LabelKey, LabelValue] = Field(
        min_length=1, description="labels of its nodes, which they have before any driver"
    )


def node_policy_spec(args: NicNodePolicyArgs) -> dict[str, Any]:
    """Return the `spec` of NicNodePolicy mellanox.com/v1alpha1."""
    return {
        **sections(args),
        "nodeSelector": args.node_selector,
        "tolerations": [toleration.manifest() for toleration in args.tolerations],
    }


class NicNodePolicy(Component):
    """Adapter driver and RDMA resources of some nodes: a NicNodePolicy, for clusters whose machines need several.

    A NicNodePolicy, which comes after a NicClusterPolicy that has none of its parts.

    Outputs: `resources`, the names that pods on its nodes can request, known when the operator calls it ready: the
    driver and the plugins run on every node that it selects.
    """

    resources: pulumi.Output[list[str]]

    def __init__(self, name: str, args: NicNodePolicyArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("rdma:NicNodePolicy", name, args, opts)
        offered = [names.RDMA_PREFIX + device.resource_name for device in args.devices]
        wait = waits.wait_for([waits.state_ready()], timeout=args.ready_timeout)
        metadata = cluster_wide(args.policy_name, "rdma", wait)
        policy = CustomObject(
            f"{name}-policy", kinds.NIC_NODE_POLICY, metadata, {"spec": node_policy_spec(args)}, self.child()
        )
        self.outputs(resources=policy.id.apply(lambda _: offered))
