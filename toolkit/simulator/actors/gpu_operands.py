"""What the GPU operator makes from a ClusterPolicy: a DaemonSet for each of its states, as pure functions."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.apis import kinds
from core.apis.names import GPU_DEPLOY, NODE_FEATURE, OFED_WAIT
from toolkit.simulator.access.rbac import READ, Rule
from toolkit.simulator.actors import grants, images
from toolkit.simulator.actors.api import SERVICE, Object
from toolkit.simulator.actors.devices import MIG_STRATEGY
from toolkit.simulator.actors.gpus import MODULE_TYPE
from toolkit.simulator.actors.package import PRIVILEGED
from toolkit.simulator.manifests import daemon_set, manifest
from toolkit.simulator.metrics.dcgm_exporter import COLLECTORS

BY = "GPU operator"
ON_DELETE = "OnDelete"
MPS_CAPABLE = "nvidia.com/mps.capable"
"""GPU feature discovery's label of a node whose GPUs several processes share at the same time."""
OSTREE_VERSION = f"{NODE_FEATURE}system-os_release.OSTREE_VERSION"
"""Node Feature Discovery's label: the version of the node's system, as the Driver Toolkit's tags have it."""
TOOLKIT_CONTAINER = "openshift-driver-toolkit-ctr"
VALIDATOR_IMAGE = "nvcr.io/nvidia/cloud-native/gpu-operator-validator:v26.7.0"
TOOLKIT_IMAGE = "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0"
PLUGIN_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
DCGM_IMAGE = "nvcr.io/nvidia/cloud-native/dcgm:4.6.0"
EXPORTER_IMAGE = "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3"
MIG_MANAGER_IMAGE = "nvcr.io/nvidia/cloud-native/k8s-mig-manager"
EXPORTER = "nvidia-dcgm-exporter"
METRICS_FILE = "dcgm-metrics.csv"
"""Key of the ConfigMap that a ClusterPolicy names for the exporter."""
DEFAULT_LIST = "dcp-metrics-included.csv"
"""List of the exporter's image."""
METRICS_PORT = "gpu-metrics"
TOOLKIT = "quay.io/openshift-release-dev/ocp-v4.0-art-dev:driver-toolkit"
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""What its DaemonSets tolerate where the policy names nothing."""
SYSTEM = "rhcos4.20"
"""What the operator appends to the driver's tag."""


@dataclass(frozen=True)
class Operand:
    """One state of the operator: its name there, its part of the node's labels, its DaemonSet."""

    state: str
    part: str
    daemon_set: str
    enabled: Callable[[Object], bool]
    pod: Callable[[Object], Object]
    nodes: tuple[Rule, ...] = ()
    """Rights on nodes."""

    @property
    def label(self) -> str:
        """The node label that the DaemonSet selects."""
        return GPU_DEPLOY + self.part


def _section(name: str, *, default: bool) -> Callable[[Object], bool]:
    return lambda spec: bool((spec.get(name) or {}).get("enabled", default))


def _pod(image: str, name: str, validations: tuple[str, ...] = (), **container: object) -> Object:
    whole = {"name": name, "image": image, "securityContext": {"privileged": True}, **container}
    checks = [
        {"name": validation, "image": VALIDATOR_IMAGE, "securityContext": {"privileged": True}}
        for validation in validations
    ]
    return {"containers": [whole]} | ({"initContainers": checks} if checks else {})


_plugin = _section("devicePlugin", default=True)
DEFAULT_DRIVER = "nvcr.io/nvidia/driver:580.105.08"
"""What the operator brings where the policy names no part of an image (DRIVER_IMAGE of its Deployment)."""
_AFTER = ("toolkit-validation",)


def _driver(spec: Object) -> Object:
    driver = spec.get("driver") or {}
    repository, name, version = (str(driver.get(part) or "") for part in ("repository", "image", "version"))
    image = f"{repository}/{name}" + (f"@{version}" if version.startswith("sha256:") else f":{version}-{SYSTEM}")
    if not (repository or name or version):
        image = f"{DEFAULT_DRIVER}-{SYSTEM}"
    module = [{"name": MODULE_TYPE, "value": driver.get("kernelModuleType") or "auto"}]
    pod = _pod(image, "nvidia-driver-ctr", env=module)
    more = {
        "nvidia-peermem-ctr": _rdma(spec),
        "nvidia-fs-ctr": _section("gds", default=False)(spec),
        "nvidia-gdrcopy-ctr": _section("gdrcopy", default=False)(spec),
    }
    pod["containers"] += [
        {"name": name, "image": image, "securityContext": {"privileged": True}}
        for name, enabled in more.items()
        if enabled
    ]
    pod["hostPID"] = True
    if _rdma(spec) and not (driver["rdma"]).get("useHostMofed"):
        pod["nodeSelector"] = {OFED_WAIT: "false"}
    return pod


def _rdma(spec: Object) -> bool:
    return bool(((spec.get("driver") or {}).get("rdma") or {}).get("enabled"))


def _exporter(spec: Object) -> Object:
    name = ((spec.get("dcgmExporter") or {}).get("config") or {}).get("name")
    path = f"/etc/dcgm-exporter/{METRICS_FILE if name else DEFAULT_LIST}"
    pod = _pod(EXPORTER_IMAGE, EXPORTER, _AFTER, env=[{"name": COLLECTORS, "value": path}])
    if name:
        (container,) = pod["containers"]
        container["volumeMounts"] = [{"name": "metrics-config", "mountPath": path, "subPath": METRICS_FILE}]
        pod["volumes"] = [{"name": "metrics-config", "configMap": {"name": name}}]
    return pod


def _strategy(spec: Object) -> list[Object]:
    return [{"name": MIG_STRATEGY, "value": (spec.get("mig") or {}).get("strategy") or "none"}]


_NODES = (Rule(("",), ("nodes",), (*READ, "patch", "update")),)


def _policy_has_driver(spec: Object) -> bool:
    """Return whether the policy itself brings the driver, not objects of kind NVIDIADriver."""
    objects = (spec.get("driver") or {}).get("useNvidiaDriverCRD")
    return _section("driver", default=True)(spec) and not objects


DRIVER = Operand("state-driver", "driver", "nvidia-driver-daemonset", _policy_has_driver, _driver)
OPERANDS = (
    DRIVER,
    Operand(
        "state-container-toolkit",
        "container-toolkit",
        "nvidia-container-toolkit-daemonset",
        _section("toolkit", default=True),
        lambda _: _pod(TOOLKIT_IMAGE, "nvidia-container-toolkit-ctr", ("driver-validation",)) | {"hostPID": True},
    ),
    Operand(
        "state-operator-validation",
        "operator-validator",
        "nvidia-operator-validator",
        lambda _: True,
        lambda spec: _pod(
            VALIDATOR_IMAGE,
            "nvidia-operator-validator",
            ("driver-validation", *_AFTER, *(("plugin-validation",) if _plugin(spec) else ())),
        ),
    ),
    Operand(
        "state-device-plugin",
        "device-plugin",
        "nvidia-device-plugin-daemonset",
        _plugin,
        lambda spec: _pod(PLUGIN_IMAGE, "nvidia-device-plugin", _AFTER, env=_strategy(spec)),
    ),
    Operand(
        "state-mps-control-daemon",
        "device-plugin",
        "nvidia-device-plugin-mps-control-daemon",
        _plugin,
        lambda spec: (
            _pod(PLUGIN_IMAGE, "mps-control-daemon-ctr", _AFTER, command=[images.SHARING_DAEMON], env=_strategy(spec))
            | {"nodeSelector": {MPS_CAPABLE: "true"}, "hostPID": True}
        ),
    ),
    Operand(
        "state-dcgm",
        "dcgm",
        "nvidia-dcgm",
        _section("dcgm", default=True),
        lambda _: _pod(DCGM_IMAGE, "nvidia-dcgm-ctr", _AFTER),
    ),
    Operand(
        "state-dcgm-exporter",
        "dcgm-exporter",
        EXPORTER,
        _section("dcgmExporter", default=True),
        _exporter,
    ),
    Operand(
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        _section("gfd", default=True),
        lambda spec: _pod(
            PLUGIN_IMAGE, "gpu-feature-discovery", _AFTER, command=[images.FEATURE_DISCOVERY], env=_strategy(spec)
        ),
    ),
    Operand(
        "state-mig-manager",
        "mig-manager",
        "nvidia-mig-manager",
        _section("migManager", default=True),
        lambda _: _pod(MIG_MANAGER_IMAGE, "nvidia-mig-manager", _AFTER) | {"hostPID": True},
        _NODES,
    ),
    Operand(
        "state-node-status-exporter",
        "node-status-exporter",
        "nvidia-node-status-exporter",
        _section("nodeStatusExporter", default=False),
        lambda _: _pod(VALIDATOR_IMAGE, "nvidia-node-status-exporter", command=["nvidia-validator", "metrics"]),
    ),
)


def compiled_with_toolkit(version: str) -> Operand:
    """Return the driver of the nodes with one version of the system, compiled in OpenShift's image for that."""

    def pod(spec: Object) -> Object:
        made = _driver(spec)
        toolkit = {"name": TOOLKIT_CONTAINER, "image": TOOLKIT, "securityContext": {"privileged": True}}
        selector = {**made.get("nodeSelector", {}), OSTREE_VERSION: version}
        return made | {"containers": [*made["containers"], toolkit], "nodeSelector": selector}

    return replace(DRIVER, daemon_set=f"{DRIVER.daemon_set}-{version}", pod=pod)


def manifests(operand: Operand, namespace: str, spec: Object) -> grants.Grant:
    """Return account, rights and DaemonSet of a state."""
    common = spec.get("daemonsets") or {}
    pod = operand.pod(spec)
    pod["serviceAccountName"] = operand.daemon_set
    pod["nodeSelector"] = {operand.label: "true", **pod.get("nodeSelector", {})}
    pod["tolerations"] = common.get("tolerations") or [TOLERATION]
    if priority := common.get("priorityClassName"):
        pod["priorityClassName"] = priority
    kind, body = daemon_set(namespace, operand.daemon_set, pod, BY)
    if operand.part == "driver" or common.get("updateStrategy") == ON_DELETE:
        # The new driver comes with the pod's next start: a change must not take the GPUs from jobs that run.
        body["spec"]["updateStrategy"] = {"type": ON_DELETE}
    wide = grants.cluster_wide(operand.daemon_set, namespace, operand.daemon_set, operand.nodes)
    return [
        *grants.account(namespace, operand.daemon_set, (PRIVILEGED,)),
        *(wide if operand.nodes else []),
        (kind, body),
        *(scraped(namespace, EXPORTER, spec) if operand.daemon_set == EXPORTER else []),
    ]


def scraped(namespace: str, name: str, spec: Object) -> grants.Grant:
    """Return an exporter's Service, and where its object wants it what the cluster's Prometheus finds it by."""
    ports = [{"name": METRICS_PORT, "port": 9400, "targetPort": 9400}]
    service = manifest(
        SERVICE,
        name,
        namespace,
        labels={"app": name},
        spec={"selector": {"app": name}, "ports": ports},
    )
    made: grants.Grant = [(SERVICE, service)]
    if not (((spec.get("dcgmExporter") or {}).get("serviceMonitor") or {}).get("enabled")):
        return made
    selector = {"matchLabels": {"app": name}}
    endpoints = [{"port": METRICS_PORT, "path": "/metrics", "interval": "15s"}]
    monitor = manifest(kinds.SERVICE_MONITOR, name, namespace, spec={"selector": selector, "endpoints": endpoints})
    return [*made, *grants.prometheus(namespace, f"{name}-prometheus"), (kinds.SERVICE_MONITOR, monitor)]
