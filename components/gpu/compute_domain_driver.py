"""NVIDIA's DRA driver for ComputeDomains alone, beside a ClusterPolicy whose device plugin offers the GPUs.

The way to NVL72 racks whose pods request nvidia.com/gpu: the driver's chart with `resources.gpus.enabled: false`
(kubernetes-sigs/dra-driver-nvidia-gpu v0.5.0, deployments/helm). Its definitions are of the GPU Operator's bundle.
Under a GPUCluster the operator brings all of this itself.
"""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base import rights, waits
from components.base.component import Component, CustomObject, cluster_wide, stateful
from components.base.model import DnsLabel, Image, Model, Seconds
from components.base.rights import Rule
from components.base.scheduling import GPU_TAINT, LabelKey, LabelValue, Toleration
from components.base.timeouts import DEFAULTS
from core.apis import devices, kinds
from core.apis.names import labels

NAME = "nvidia-dra-driver-gpu"
CONTROLLER, PLUGIN, DAEMON = f"{NAME}-controller", f"{NAME}-kubelet-plugin", "compute-domain-daemon-service-account"
"""Controller, kubelet plugin, and the account under whose name the controller starts daemons."""
_DRIVER_ROOT = "/run/nvidia/driver"
"""Where the GPU Operator's driver is on a node."""
_READ = ("get", "list", "watch")
_DOMAINS, _CLAIMS = kinds.COMPUTE_DOMAIN.group, kinds.RESOURCE_CLAIM_TEMPLATE.group
_RULES: Mapping[str, tuple[Rule, ...]] = {
    CONTROLLER: (
        (_DOMAINS, ("computedomains",), (*_READ, "update")),
        (_DOMAINS, ("computedomains/status",), ("update",)),
        (_CLAIMS, ("resourceclaimtemplates",), (*_READ, "create", "update", "delete")),
        ("", ("nodes",), (*_READ, "update")),
        ("", ("pods",), _READ),
    ),
    PLUGIN: (
        (_DOMAINS, ("computedomains",), _READ),
        (_CLAIMS, ("resourceclaims",), _READ),
        (_CLAIMS, ("resourceslices",), (*_READ, "create", "update", "delete")),
        ("", ("nodes",), (*_READ, "update", "patch")),
        ("", ("pods",), _READ),
    ),
    DAEMON: (
        (_DOMAINS, ("computedomains", "computedomains/status"), (*_READ, "update", "patch")),
        (_DOMAINS, ("computedomaincliques",), (*_READ, "create", "update", "patch")),
        ("", ("pods",), (*_READ, "patch")),
    ),
}
"""What each account may do in the cluster, as in the chart."""
_OWN_RULES: Mapping[str, tuple[Rule, ...]] = {
    CONTROLLER: (
        ("apps", ("daemonsets",), (*_READ, "create", "update", "patch", "delete")),
        (_DOMAINS, ("computedomaincliques",), (*_READ, "update")),
    ),
    PLUGIN: ((_DOMAINS, ("computedomaincliques",), ("get",)),),
}
"""What it may do in its own namespace."""
_OF_DRIVER = f"device.driver == '{devices.COMPUTE_DOMAIN_DRIVER}'"
_ATTRIBUTES = f"device.attributes['{devices.COMPUTE_DOMAIN_DRIVER}']"
CLASSES: Mapping[str, str] = {
    devices.DAEMON_CLASS: f"{_OF_DRIVER} && {_ATTRIBUTES}.type == 'daemon'",
    devices.CHANNEL_CLASS: f"{_OF_DRIVER} && {_ATTRIBUTES}.type == 'channel' && {_ATTRIBUTES}.id == 0",
}
"""DeviceClasses of the driver -> which of its devices each has."""


class ComputeDomainDriver(Model):
    """Which driver, as settings and the component have it."""

    image: Image = Field(
        default="registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.0",
        description="image of its controller, kubelet plugin and daemons",
    )
    namespace: DnsLabel = Field(default=NAME, description="where they run; the component creates it")


class ComputeDomainDriverArgs(ComputeDomainDriver):
    """Which driver, and the nodes that it serves."""

    node_selector: dict[LabelKey, LabelValue] = Field(min_length=1, description="nodes of the racks")
    tolerations: tuple[Toleration, ...] = Field(default=(GPU_TAINT,), description="taints of those nodes")
    ready_timeout: Seconds = Field(default=DEFAULTS.plugin, description="seconds until it runs on all nodes")
    protect: bool = Field(
        default=False, description="refuse to delete its namespace: jobs' domains would stay for ever"
    )


class ComputeDomains(Component):
    """Namespace, accounts with their rights, DeviceClasses, controller and kubelet plugin.

    The plugin may use the SCC privileged, and the daemons anyuid, as in the chart. Outputs: `channel_class`, the
    DeviceClass of channels, known when controller and plugin are ready on all nodes.
    """

    channel_class: pulumi.Output[str]

    def __init__(self, name: str, args: ComputeDomainDriverArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:ComputeDomains", name, args, opts)
        self._labels = labels(NAME, "gpu")
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=args.namespace, labels=self._labels),
            opts=self.child(**stateful(protect=args.protect)),
        )
        self._inside = namespace.metadata.name
        before = [resource for account in _RULES for resource in self._account(name, account)]
        before += [self._device_class(name, device_class) for device_class in CLASSES]
        controller = k8s.apps.v1.Deployment(
            f"{name}-controller",
            metadata=self._meta(CONTROLLER, waits.at_most(args.ready_timeout)),
            spec=_controller(args, self._labels),
            opts=self.child(*before),
        )
        plugin = k8s.apps.v1.DaemonSet(
            f"{name}-plugin",
            metadata=self._meta(PLUGIN, waits.at_most(args.ready_timeout)),
            spec=_plugin(args, self._labels),
            opts=self.child(*before),
        )
        ready = pulumi.Output.all(controller.id, plugin.id)
        self.outputs(channel_class=ready.apply(lambda _: devices.CHANNEL_CLASS))

    def _meta(self, name: str, annotations: Mapping[str, str] | None = None) -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(
            name=name, namespace=self._inside, labels=self._labels, annotations=annotations
        )

    def _account(self, name: str, account_name: str) -> list[pulumi.CustomResource]:
        part = f"{name}-{account_name.removeprefix(f'{NAME}-')}"
        account = k8s.core.v1.ServiceAccount(f"{part}-account", metadata=self._meta(account_name), opts=self.child())
        everywhere = k8s.meta.v1.ObjectMetaArgs(name=account_name, labels=self._labels)
        granted = rights.grant_everywhere(
            self, f"{part}-cluster", everywhere, rights.rules(_RULES[account_name]), account
        )
        own = [*rights.rules(_OWN_RULES.get(account_name, ()))]
        if account_name in _SCCS:
            own += rights.use_of(_SCCS[account_name])
        return [account, granted, rights.grant(self, part, self._meta(account_name), own, account)]

    def _device_class(self, name: str, device_class: str) -> CustomObject:
        metadata = cluster_wide(device_class, "gpu")
        selector = {"cel": {"expression": CLASSES[device_class]}}
        part = device_class.partition(".")[0]
        return CustomObject(
            f"{name}-{part}", kinds.DEVICE_CLASS, metadata, {"spec": {"selectors": [selector]}}, self.child()
        )


_SCCS = {PLUGIN: rights.PRIVILEGED, DAEMON: "anyuid"}


def _controller(args: ComputeDomainDriverArgs, own_labels: Mapping[str, str]) -> "k8s.apps.v1.DeploymentSpecArgs":
    selector = _selector("controller")
    environment = {"LOG_VERBOSITY": "4", "LOG_VERBOSITY_CD_DAEMON": "4", "IMAGE_NAME": args.image, **_NO_GPUS}
    core = k8s.core.v1
    return k8s.apps.v1.DeploymentSpecArgs(
        replicas=1,
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
        template=core.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(labels={**own_labels, **selector}),
            spec=core.PodSpecArgs(
                service_account_name=CONTROLLER,
                priority_class_name="system-cluster-critical",
                containers=[
                    core.ContainerArgs(
                        name="compute-domain",
                        image=args.image,
                        image_pull_policy="IfNotPresent",
                        command=["compute-domain-controller", "-v", "$(LOG_VERBOSITY)"],
                        env=[*_variables(environment), _of_pod("POD_NAME", "name"), _of_pod("NAMESPACE", "namespace")],
                        security_context=core.SecurityContextArgs(
                            allow_privilege_escalation=False, capabilities=core.CapabilitiesArgs(drop=["ALL"])
                        ),
                    )
                ],
            ),
        ),
    )


def _plugin(args: ComputeDomainDriverArgs, own_labels: Mapping[str, str]) -> "k8s.apps.v1.DaemonSetSpecArgs":
    """Return the DaemonSet of the container `compute-domains`; that of GPUs is left out with `resources.gpus`."""
    selector, core = _selector("kubelet-plugin"), k8s.core.v1
    folders = {
        "plugins-registry": ("/var/lib/kubelet/plugins_registry", None),
        "plugins": ("/var/lib/kubelet/plugins", "Bidirectional"),
        "cdi": ("/var/run/cdi", None),
        "driver-root": (_DRIVER_ROOT, "HostToContainer"),
    }
    environment = {
        "LOG_VERBOSITY": "4",
        "NVIDIA_DRIVER_ROOT": _DRIVER_ROOT,
        "CDI_ROOT": "/var/run/cdi",
        "NVIDIA_MIG_CONFIG_DEVICES": "all",
        # GPU feature discovery sets the label of cliques under a ClusterPolicy.
        "GPU_CLIQUE_LABEL_ENABLED": "false",
        "HEALTHCHECK_PORT": str(_HEALTH_PORT),
        **_NO_GPUS,
    }
    alive = core.GRPCActionArgs(port=_HEALTH_PORT, service="liveness")
    node = core.EnvVarArgs(
        name="NODE_NAME",
        value_from=core.EnvVarSourceArgs(field_ref=core.ObjectFieldSelectorArgs(field_path="spec.nodeName")),
    )
    container = core.ContainerArgs(
        name="compute-domains",
        image=args.image,
        image_pull_policy="IfNotPresent",
        command=["compute-domain-kubelet-plugin", "-v", "$(LOG_VERBOSITY)"],
        env=[*_variables(environment), node, _of_pod("NAMESPACE", "namespace")],
        startup_probe=core.ProbeArgs(grpc=alive, failure_threshold=600, period_seconds=1, timeout_seconds=10),
        liveness_probe=core.ProbeArgs(grpc=alive, failure_threshold=3, period_seconds=10, timeout_seconds=10),
        security_context=core.SecurityContextArgs(privileged=True),
        volume_mounts=[
            core.VolumeMountArgs(
                name=volume,
                mount_path="/driver-root" if volume == "driver-root" else path,
                mount_propagation=propagation,
                read_only=volume == "driver-root" or None,
            )
            for volume, (path, propagation) in folders.items()
        ],
    )
    return k8s.apps.v1.DaemonSetSpecArgs(
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
        template=core.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(labels={**own_labels, **selector}),
            spec=core.PodSpecArgs(
                service_account_name=PLUGIN,
                priority_class_name="system-node-critical",
                node_selector=args.node_selector,
                tolerations=[core.TolerationArgs(**toleration.manifest()) for toleration in args.tolerations],
                containers=[container],
                volumes=[
                    core.VolumeArgs(name=volume, host_path=core.HostPathVolumeSourceArgs(path=path))
                    for volume, (path, _) in folders.items()
                ],
            ),
        ),
    )


_HEALTH_PORT = 51515
_NO_GPUS = {"NVIDIA_VISIBLE_DEVICES": "void"}
"""Keeps the runtime's hook from giving the container GPUs."""


def _selector(part: str) -> dict[str, str]:
    return {"dra-driver-nvidia-gpu-component": part}


def _variables(environment: Mapping[str, str]) -> "list[k8s.core.v1.EnvVarArgs]":
    return [k8s.core.v1.EnvVarArgs(name=name, value=value) for name, value in environment.items()]


def _of_pod(variable: str, field: str) -> Any:
    source = k8s.core.v1.ObjectFieldSelectorArgs(field_path=f"metadata.{field}")
    return k8s.core.v1.EnvVarArgs(name=variable, value_from=k8s.core.v1.EnvVarSourceArgs(field_ref=source))
