"""GPUs for pods where the driver is installed on the host: the Supermicro reference, on OpenShift 3.11.

The printed file is of an API group that Kubernetes 1.16 has taken away, has no selector, and an annotation for its
priority that no release reads any longer.
"""

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base import rights, waits
from components.base.component import Component
from components.base.model import DnsLabel, Image, Model, Seconds
from components.base.scheduling import Toleration
from components.base.timeouts import DEFAULTS
from core.apis import names
from core.apis.names import labels

DAEMON_SET = "nvidia-device-plugin-daemonset"
FOLDER = "/var/lib/kubelet/device-plugins"
"""Where the kubelet's socket for plugins is."""


class GpuDevicePluginArgs(Model):
    """Which plugin, and where it runs."""

    image: Image = Field(description="of NVIDIA's device plugin; the document's of 2018 is of version 1.11")
    namespace: DnsLabel = Field(default="kube-system", description="of the DaemonSet")
    node_selector: dict[str, str] = Field(
        default={names.GPU_ACCELERATOR: "true", names.GPU_NODE: "true"},
        min_length=1,
        description="nodes with GPUs and driver, those of the stack alone",
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(Toleration(key=names.GPU_RESOURCE, effect="NoSchedule"), Toleration(key="CriticalAddonsOnly")),
        description="taints of nodes reserved for GPU jobs",
    )
    selinux_type: str = Field(
        default="nvidia_container_t",
        pattern=r"^[a-z][a-z0-9_]*_t$",
        description="SELinux type of the policy nvidia-container.pp on the nodes, which may open GPUs' files",
    )
    environment: dict[str, str] = Field(
        default={"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "utility"},
        description="by which the runtime's hook of 3.11 gives a container the driver's files",
    )
    ready_timeout: Seconds = Field(default=DEFAULTS.plugin, description="seconds until it runs on all nodes")


class GpuDevicePlugin(Component):
    """Service account that may use the privileged SCC, and DaemonSet; its container is not privileged itself.

    The SCC is for the folder of the node and the SELinux type, which smaller ones refuse. Outputs: `resource`, what
    pods can request, known when every pod of the DaemonSet is ready.
    """

    resource: pulumi.Output[str]

    def __init__(self, name: str, args: GpuDevicePluginArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:GpuDevicePlugin", name, args, opts)
        own_labels = labels(DAEMON_SET, "gpu")
        account = rights.declare_privileged_account(self, name, DAEMON_SET, args.namespace, own_labels)
        daemon_set = k8s.apps.v1.DaemonSet(
            f"{name}-daemon-set",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=DAEMON_SET,
                namespace=args.namespace,
                labels=own_labels,
                annotations=waits.at_most(args.ready_timeout),
            ),
            spec=_daemon_set(args, own_labels),
            opts=self.child(*account),
        )
        self.outputs(resource=daemon_set.id.apply(lambda _: names.GPU_RESOURCE))


def _daemon_set(args: GpuDevicePluginArgs, own_labels: dict[str, str]) -> "k8s.apps.v1.DaemonSetSpecArgs":
    selector = {"name": "nvidia-device-plugin-ds"}
    core = k8s.core.v1
    return k8s.apps.v1.DaemonSetSpecArgs(
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
        update_strategy=k8s.apps.v1.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
        template=core.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(labels={**selector, **own_labels}),
            spec=core.PodSpecArgs(
                service_account_name=DAEMON_SET,
                priority_class_name="system-node-critical",
                node_selector=args.node_selector,
                tolerations=[core.TolerationArgs(**toleration.manifest()) for toleration in args.tolerations],
                containers=[
                    core.ContainerArgs(
                        name="nvidia-device-plugin-ctr",
                        image=args.image,
                        image_pull_policy="IfNotPresent",
                        env=[core.EnvVarArgs(name=key, value=value) for key, value in args.environment.items()],
                        security_context=core.SecurityContextArgs(
                            allow_privilege_escalation=False,
                            capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                            se_linux_options=core.SELinuxOptionsArgs(type=args.selinux_type),
                        ),
                        volume_mounts=[core.VolumeMountArgs(name="device-plugins", mount_path=FOLDER)],
                    )
                ],
                volumes=[core.VolumeArgs(name="device-plugins", host_path=core.HostPathVolumeSourceArgs(path=FOLDER))],
            ),
        ),
    )
