"""Metrics of GPUs where no GPU Operator brings them: OpenShift 3.11 with the device plugin, 4.4.

NVIDIA's manifests of 2020 let the exporter run as a privileged pod of any namespace. Here it has a namespace and an SCC
of its own, and takes no GPU from jobs: the runtime's hook shows it all of them.
"""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base import rights, waits
from components.base.component import Component, CustomObject, stateful
from components.base.model import Image, Model, Seconds
from components.base.scheduling import Toleration
from components.base.timeouts import DEFAULTS
from components.monitoring.metrics import LIST_FILE, Generation, exporter_list
from core.apis import kinds, names
from core.apis.names import labels

NAME = "dcgm-exporter"
"""Its namespace, too: an own one, for the policies leave it to parts of the infrastructure."""
PORT = 9400
POD_RESOURCES = "/var/lib/kubelet/pod-resources"
"""Folder of the kubelet's socket that says which pod has which GPU: alpha in Kubernetes 1.13, on from 1.15."""
GENERATION: Generation = "2.0"
"""Of its metrics: the oldest one that it may be."""
NODE_AS_INSTANCE = {
    "sourceLabels": ["__meta_kubernetes_pod_node_name"],
    "targetLabel": "instance",
    "action": "replace",
}
"""As OpenShift names the targets of its node_exporter."""
PROMETHEUS = ("openshift-monitoring", "prometheus-k8s")
"""Namespace and service account of the cluster's own Prometheus."""

LISTS = "/etc/hpc-dcgm-exporter"
"""Folder of the list of metrics in the container, whose image has lists of its own elsewhere."""


class DcgmExporterImage(Model):
    """Which exporter."""

    image: Image = Field(
        description="NVIDIA's exporter image, release 2.0 or later, e.g. "
        "nvidia/dcgm-exporter:1.7.2-2.0.0-rc.9-ubuntu18.04"
    )


class DcgmExporterArgs(DcgmExporterImage):
    """Which exporter, where it runs, and what of it the cluster's release can read."""

    node_selector: dict[str, str] = Field(min_length=1, description="nodes with GPUs and driver")
    tolerations: tuple[Toleration, ...] = Field(
        default=(Toleration(key=names.GPU_RESOURCE, effect="NoSchedule"),),
        description="taints of nodes reserved for GPU jobs",
    )
    selinux_type: str = Field(
        pattern=r"^[a-z][a-z0-9_]*_t$",
        description="SELinux type that may open the GPUs' files and, with `pod_resources`, the kubelet's socket",
    )
    pod_resources: bool = Field(
        description="add to each metric the pod that has the GPU; false: the release's kubelet has no socket for it"
    )
    service_monitor: bool = Field(description="let the cluster's Prometheus scrape it; false: another one finds it")
    ready_timeout: Seconds = Field(default=DEFAULTS.plugin, description="seconds until it runs on all nodes")
    protect: bool = Field(default=False, description="refuse to delete its namespace")


def constraints(args: DcgmExporterArgs) -> dict[str, Any]:
    """Return the fields of its SCC: root of one SELinux type, folders of the node only where it reads one, no more."""
    no = ("allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts", "allowPrivilegedContainer")
    return {
        **dict.fromkeys(no, False),
        "allowHostDirVolumePlugin": args.pod_resources,
        "allowPrivilegeEscalation": False,
        "allowedCapabilities": [],
        "defaultAddCapabilities": [],
        "requiredDropCapabilities": ["ALL"],
        "fsGroup": {"type": "RunAsAny"},
        "runAsUser": {"type": "MustRunAs", "uid": 0},
        "seLinuxContext": {"type": "MustRunAs", "seLinuxOptions": {"type": args.selinux_type}},
        "supplementalGroups": {"type": "RunAsAny"},
        "groups": [],
        "users": [],
        "priority": 0,
        "readOnlyRootFilesystem": False,
        "volumes": ["configMap", "projected", "secret", *(["hostPath"] if args.pod_resources else [])],
    }


class DcgmExporter(Component):
    """Namespace, account with its SCC, list of metrics, DaemonSet, Service, and the monitor of the Prometheus.

    Outputs: `service`, name of the Service, known when every pod of the DaemonSet is ready.
    """

    service: pulumi.Output[str]

    def __init__(self, name: str, args: DcgmExporterArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:DcgmExporter", name, args, opts)
        self._labels = labels(NAME, "monitoring")
        scraped = {names.CLUSTER_MONITORING: "true"} if args.service_monitor else {}
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=NAME,
                labels={**self._labels, **scraped},
                # A cluster's default selector would keep the pods from GPU nodes; 3.11's installer sets one.
                annotations={names.PROJECT_NODE_SELECTOR: ""},
            ),
            opts=self.child(**stateful(protect=args.protect)),
        )
        inside = namespace.metadata.name
        listed = k8s.core.v1.ConfigMap(
            f"{name}-metrics",
            metadata=self._meta(inside),
            data={LIST_FILE: exporter_list(GENERATION)},
            opts=self.child(),
        )
        before = [listed, *self._account(name, args, inside)]
        daemon_set = k8s.apps.v1.DaemonSet(
            f"{name}-daemon-set",
            metadata=self._meta(inside, waits.at_most(args.ready_timeout)),
            spec=_daemon_set(args, self._labels),
            opts=self.child(*before),
        )
        # A Prometheus that reads no monitors finds it by the customary annotations.
        found_by = {} if args.service_monitor else {"prometheus.io/scrape": "true", "prometheus.io/port": str(PORT)}
        service = k8s.core.v1.Service(
            f"{name}-service",
            metadata=self._meta(inside, {**found_by, names.SKIP_AWAIT: "true"}),
            spec=k8s.core.v1.ServiceSpecArgs(
                selector={"app.kubernetes.io/name": NAME},
                ports=[k8s.core.v1.ServicePortArgs(name="metrics", port=PORT, target_port=PORT)],
            ),
            opts=self.child(),
        )
        if args.service_monitor:
            self._monitor(name, inside)
        ready = pulumi.Output.all(daemon_set.id, service.id)
        self.outputs(service=ready.apply(lambda _: NAME))

    def _meta(
        self, namespace: pulumi.Input[str] | None = None, annotations: dict[str, str] | None = None
    ) -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(
            name=NAME, namespace=namespace, labels=self._labels, annotations=annotations or {}
        )

    def _rights_metadata(self, called: str, inside: pulumi.Output[str]) -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(name=called, namespace=inside, labels=self._labels)

    def _account(self, name: str, args: DcgmExporterArgs, inside: pulumi.Output[str]) -> list[pulumi.Resource]:
        scc = CustomObject(
            f"{name}-constraints",
            kinds.SECURITY_CONTEXT_CONSTRAINTS,
            self._meta(),
            constraints(args),
            self.child(),
        )
        account = k8s.core.v1.ServiceAccount(f"{name}-account", metadata=self._meta(inside), opts=self.child())
        meta = self._rights_metadata(NAME, inside)
        return [scc, account, rights.grant(self, f"{name}-{NAME}", meta, rights.use_of(NAME), account)]

    def _monitor(self, name: str, inside: pulumi.Output[str]) -> None:
        """Declare the ServiceMonitor, and what the cluster's Prometheus may list to find the pods."""
        scrape = f"{NAME}-scrape"
        find = rights.rules([("", ("services", "endpoints", "pods"), ("get", "list", "watch"))])
        rights.grant(self, f"{name}-{scrape}", self._rights_metadata(scrape, inside), find, PROMETHEUS)
        CustomObject(
            f"{name}-monitor",
            kinds.SERVICE_MONITOR,
            self._meta(inside),
            {
                "spec": {
                    "selector": {"matchLabels": {"app.kubernetes.io/name": NAME}},
                    # It writes no label with the node's name.
                    "endpoints": [{"port": "metrics", "interval": "15s", "relabelings": [NODE_AS_INSTANCE]}],
                }
            },
            self.child(),
        )


def environment(args: DcgmExporterArgs) -> dict[str, str]:
    """Return the variables: the hook gives the container the files of all GPUs, and no GPU is requested.

    It listens on its default port: of the variable for it releases of 2020 expect different forms.
    """
    return {
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "utility",
        "DCGM_EXPORTER_KUBERNETES": "true" if args.pod_resources else "false",
        "DCGM_EXPORTER_COLLECTORS": f"{LISTS}/{LIST_FILE}",
    }


def _daemon_set(args: DcgmExporterArgs, own_labels: dict[str, str]) -> "k8s.apps.v1.DaemonSetSpecArgs":
    core = k8s.core.v1
    mounts = [core.VolumeMountArgs(name="metrics", mount_path=LISTS, read_only=True)]
    volumes = [core.VolumeArgs(name="metrics", config_map=core.ConfigMapVolumeSourceArgs(name=NAME))]
    if args.pod_resources:
        mounts.append(core.VolumeMountArgs(name="pod-resources", mount_path=POD_RESOURCES, read_only=True))
        source = core.HostPathVolumeSourceArgs(path=POD_RESOURCES, type="Directory")
        volumes.append(core.VolumeArgs(name="pod-resources", host_path=source))
    return k8s.apps.v1.DaemonSetSpecArgs(
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels={"app.kubernetes.io/name": NAME}),
        update_strategy=k8s.apps.v1.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
        template=core.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(labels=own_labels),
            spec=core.PodSpecArgs(
                service_account_name=NAME,
                node_selector=args.node_selector,
                tolerations=[core.TolerationArgs(**toleration.manifest()) for toleration in args.tolerations],
                containers=[
                    core.ContainerArgs(
                        name=NAME,
                        image=args.image,
                        image_pull_policy="IfNotPresent",
                        env=[core.EnvVarArgs(name=key, value=value) for key, value in environment(args).items()],
                        ports=[core.ContainerPortArgs(name="metrics", container_port=PORT)],
                        readiness_probe=core.ProbeArgs(
                            http_get=core.HTTPGetActionArgs(path="/metrics", port=PORT), initial_delay_seconds=5
                        ),
                        # Root rules restricted SCCs out; SELinux type and level come from its own.
                        security_context=core.SecurityContextArgs(
                            run_as_user=0,
                            allow_privilege_escalation=False,
                            capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                        ),
                        volume_mounts=mounts,
                    )
                ],
                volumes=volumes,
            ),
        ),
    )
