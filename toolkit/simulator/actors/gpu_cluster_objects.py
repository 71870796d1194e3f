"""What GPU Operator 26.7 makes of a GPUCluster, by which GPUs are allocated by claims, as pure functions.

Source: NVIDIA/gpu-operator v26.7.0, manifests/state-dra-driver, state-dra-validation and state-dcgm-exporter, and the
golden files of internal/state. Not simulated: DCGM as a service of its own (`spec.dcgm`), rights for MPS, probes,
volumes.
"""

from collections.abc import Iterator, Mapping

from core.apis import kinds
from core.apis.devices import (
    CHANNEL_CLASS,
    COMPUTE_DOMAIN_DRIVER,
    DAEMON_CLASS,
    GPU_CLASS,
    GPU_DRIVER,
    MIG_CLASS,
    VFIO_CLASS,
)
from core.apis.names import GPU_DEPLOY
from toolkit.simulator.access.rbac import READ, Rule
from toolkit.simulator.actors import grants, resource_slice_policy
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.dra_plugin import LABELS_CLIQUE, PROGRAMS
from toolkit.simulator.actors.gpu_operands import (
    BY,
    DEFAULT_LIST,
    EXPORTER_IMAGE,
    TOLERATION,
    VALIDATOR_IMAGE,
    scraped,
)
from toolkit.simulator.actors.grants import Grant
from toolkit.simulator.manifests import daemon_set, deployment, manifest
from toolkit.simulator.metrics.dcgm_exporter import COLLECTORS

IMAGE = "nvcr.io/nvidia/dra-driver-nvidia-gpu:v0.5.0"
"""DRA_DRIVER_IMAGE of its Deployment: what it brings where the object names no part of an image."""
NAME = "nvidia-dra-driver"
PLUGIN, CONTROLLER = f"{NAME}-kubelet-plugin", f"{NAME}-controller"
PLUGIN_ACCOUNT, DAEMON_ACCOUNT = f"{NAME}-kubeletplugin", "compute-domain-daemon-service-account"
VALIDATOR, EXPORTER = "nvidia-dra-validator", "nvidia-dcgm-exporter-dra"
PARTS: Mapping[str, str] = {PLUGIN: "dra-driver", VALIDATOR: "dra-validator", EXPORTER: "dcgm-exporter-dra"}
"""DaemonSet -> its part of the nodes' labels."""
LABELS = tuple(f"{GPU_DEPLOY}{part}" for part in (*PARTS.values(), "dcgm-dra"))
"""What nodes with GPUs get, beside that of the driver."""
CLAIMING = (VALIDATOR, EXPORTER)
"""DaemonSets whose pods have claims: they end before the plugin does."""
_DOMAINS, _RESOURCES = "resource.nvidia.com", "resource.k8s.io"
_WRITE = ("create", "update", "delete")
PLUGIN_RULES = (
    Rule((_DOMAINS,), ("computedomains",), READ),
    Rule((_RESOURCES,), ("resourceclaims",), READ),
    Rule((_RESOURCES,), ("resourceslices",), (*READ, *_WRITE)),
    Rule(("",), ("nodes",), (*READ, "update", "patch")),
    Rule(("",), ("pods",), READ),
)
CONTROLLER_RULES = (
    Rule((_DOMAINS,), ("computedomains",), (*READ, "update")),
    Rule((_DOMAINS,), ("computedomains/status",), ("update",)),
    Rule((_RESOURCES,), ("resourceclaimtemplates",), (*READ, *_WRITE)),
    Rule(("coordination.k8s.io",), ("leases",), ("get", "create", "update")),
    Rule(("",), ("nodes",), (*READ, "update")),
    Rule(("",), ("pods",), READ),
)
DAEMON_RULES = (
    Rule((_DOMAINS,), ("computedomains", "computedomains/status"), (*READ, "update", "patch")),
    Rule((_DOMAINS,), ("computedomaincliques",), (*READ, "create", "update", "patch")),
    Rule(("",), ("pods",), (*READ, "patch")),
)
CLIQUES_OF_PLUGIN = (Rule((_DOMAINS,), ("computedomaincliques",), ("get",)),)
DAEMON_SETS_OF_CONTROLLER = (
    Rule(("apps",), ("daemonsets",), (*READ, "patch", *_WRITE)),
    Rule((_DOMAINS,), ("computedomaincliques",), (*READ, "update")),
)
_ALL: Mapping[str, list[str]] = {"volumes": ["*"], "allowedCapabilities": ["*"], "requiredDropCapabilities": []}
"""What all SCCs of the operator allow."""
OPERATOR_RULES = (*PLUGIN_RULES, *CONTROLLER_RULES, *DAEMON_RULES, *CLIQUES_OF_PLUGIN, *DAEMON_SETS_OF_CONTROLLER)
"""What it grants, it must have itself."""


def has_domains(spec: Object) -> bool:
    """Return whether a GPUCluster's `spec` wants ComputeDomains, which is the default."""
    return bool((_driver(spec).get("computeDomains") or {}).get("enabled", True))


def has_exporter(spec: Object) -> bool:
    """Return whether it wants NVIDIA's exporter, which is the default."""
    return bool((spec.get("dcgmExporter") or {}).get("enabled", True))


def daemon_sets(spec: Object) -> tuple[str, ...]:
    """Return the DaemonSets of a GPUCluster."""
    return tuple(name for name in PARTS if name != EXPORTER or has_exporter(spec))


def manifests(spec: Object, namespace: str) -> Grant:
    """Return all objects of a GPUCluster."""
    return [
        *_rights(spec, namespace),
        *resource_slice_policy.policy(
            f"resourceslices-policy-{NAME}", f"system:serviceaccount:{namespace}:{PLUGIN_ACCOUNT}"
        ),
        *_classes(spec),
        _plugin(spec, namespace),
        *([_controller(spec, namespace)] if has_domains(spec) else []),
        *_validator(spec, namespace),
        *(_exporter(spec, namespace) if has_exporter(spec) else []),
    ]


def _driver(spec: Object) -> Object:
    return spec.get("draDriver") or {}


def image(spec: Object) -> str:
    """Return the driver's image; without any of its parts it is the operator's own."""
    driver = _driver(spec)
    repository, name, version = (str(driver.get(part) or "") for part in ("repository", "image", "version"))
    if not (repository or name or version):
        return IMAGE
    return f"{repository}/{name}{'@' if version.startswith('sha256:') else ':'}{version}"


def _rights(spec: Object, namespace: str) -> Iterator[tuple[kinds.Kind, Object]]:
    yield from grants.account(namespace, PLUGIN_ACCOUNT, CLIQUES_OF_PLUGIN)
    yield from grants.cluster_wide(PLUGIN_ACCOUNT, namespace, PLUGIN_ACCOUNT, PLUGIN_RULES)
    accounts = (PLUGIN_ACCOUNT, *((DAEMON_ACCOUNT,) if has_domains(spec) else ()))
    yield grants.scc(NAME, namespace, accounts, allowHostPorts=True, **_ALL)
    if has_domains(spec):
        yield from grants.account(namespace, CONTROLLER, DAEMON_SETS_OF_CONTROLLER)
        yield from grants.cluster_wide(CONTROLLER, namespace, CONTROLLER, CONTROLLER_RULES)
        yield grants.service_account(namespace, DAEMON_ACCOUNT)
        yield from grants.cluster_wide("compute-domain-daemon", namespace, DAEMON_ACCOUNT, DAEMON_RULES)


def _classes(spec: Object) -> Iterator[tuple[kinds.Kind, Object]]:
    for name, kind in ((GPU_CLASS, "gpu"), (MIG_CLASS, "mig"), (VFIO_CLASS, "vfio")):
        yield _class(name, GPU_DRIVER, f".type == '{kind}'")
    if has_domains(spec):
        yield _class(DAEMON_CLASS, COMPUTE_DOMAIN_DRIVER, ".type == 'daemon'")
        yield _class(CHANNEL_CLASS, COMPUTE_DOMAIN_DRIVER, ".type == 'channel'", ".id == 0")


def _class(name: str, driver: str, *tests: str) -> tuple[kinds.Kind, Object]:
    attributes = (f"device.attributes['{driver}']{test}" for test in tests)
    expression = " && ".join((f"device.driver == '{driver}'", *attributes))
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return kinds.DEVICE_CLASS, manifest(kinds.DEVICE_CLASS, name, spec=spec)


def _gates(spec: Object) -> list[Object]:
    gates = _driver(spec).get("featureGates") or {}
    text = ",".join(f"{name}={str(on).lower()}" for name, on in sorted(gates.items()))
    return [{"name": "FEATURE_GATES", "value": text}] if gates else []


def _plugin(spec: Object, namespace: str) -> tuple[kinds.Kind, Object]:
    """Return the DaemonSet of the plugin: a container for GPUs, and one for ComputeDomains."""
    names = {GPU_DRIVER: "gpus", **({COMPUTE_DOMAIN_DRIVER: "compute-domains"} if has_domains(spec) else {})}
    containers = []
    for driver, name in names.items():
        env = [{"name": LABELS_CLIQUE, "value": "true"}] if driver == COMPUTE_DOMAIN_DRIVER else []
        script = f'exec {PROGRAMS[driver]} -v "${{LOG_VERBOSITY}}"'
        containers.append(
            {
                "name": name,
                "image": image(spec),
                "command": ["bash", "-c"],
                "args": [script],
                "env": [*env, *_gates(spec)],
                "securityContext": {"privileged": True},
            }
        )
    validation = {"name": "driver-validation", "image": VALIDATOR_IMAGE, "command": ["nvidia-validator"]}
    pod = {
        "initContainers": [{**validation, "securityContext": {"privileged": True, "runAsUser": 0}}],
        "containers": containers,
        "serviceAccountName": PLUGIN_ACCOUNT,
    }
    return _daemon_set(spec, namespace, PLUGIN, pod)


def _controller(spec: Object, namespace: str) -> tuple[kinds.Kind, Object]:
    fields = {"POD_NAME": "metadata.name", "NAMESPACE": "metadata.namespace"}
    values = {"LOG_VERBOSITY": "4", "LOG_VERBOSITY_CD_DAEMON": "4", "IMAGE_NAME": image(spec)}
    container = {
        "name": "compute-domain",
        "image": image(spec),
        "command": ["compute-domain-controller", "-v", "$(LOG_VERBOSITY)"],
        "env": [
            *({"name": name, "value": value} for name, value in values.items()),
            *({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()),
            *_gates(spec),
        ],
    }
    masters = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
    tolerations = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in masters]
    pod = {
        "containers": [container],
        "serviceAccountName": CONTROLLER,
        "priorityClassName": "system-node-critical",
        "tolerations": [*tolerations, TOLERATION],
    }
    return deployment(namespace, CONTROLLER, pod, BY)


def _validator(spec: Object, namespace: str) -> Iterator[tuple[kinds.Kind, Object]]:
    """Yield the pods that see one GPU of each node, whoever has it, and the rights of them."""
    yield grants.service_account(namespace, VALIDATOR)
    yield grants.scc(VALIDATOR, namespace, (VALIDATOR,), allowHostPorts=False, **_ALL)
    yield _template(namespace, f"{VALIDATOR}-gpu", "validation-gpu", {"allocationMode": "ExactCount", "count": 1})
    claims = {"claims": [{"name": "validation-gpu"}]}
    check = {"name": "gpu-validation", "image": VALIDATOR_IMAGE, "command": ["sh", "-c", "nvidia-smi -L"]}
    pod = {
        "initContainers": [{**check, "resources": claims}],
        "containers": [{"name": VALIDATOR, "image": VALIDATOR_IMAGE, "command": ["sh", "-c", "sleep 86400"]}],
        "serviceAccountName": VALIDATOR,
        "resourceClaims": [{"name": "validation-gpu", "resourceClaimTemplateName": f"{VALIDATOR}-gpu"}],
    }
    yield _daemon_set(spec, namespace, VALIDATOR, pod)


def _exporter(spec: Object, namespace: str) -> Iterator[tuple[kinds.Kind, Object]]:
    """Yield the exporter, whose pods see all GPUs of their nodes, and what a Prometheus finds it by."""
    yield grants.service_account(namespace, EXPORTER)
    yield grants.scc(EXPORTER, namespace, (EXPORTER,), allowHostPorts=False, **_ALL)
    yield _template(namespace, "nvidia-dcgm-exporter-admin", "admin-gpus", {"allocationMode": "All"})
    yield from scraped(namespace, EXPORTER, spec)
    container = {
        "name": EXPORTER,
        "image": EXPORTER_IMAGE,
        "env": [
            {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
            {"name": "KUBERNETES_ENABLE_DRA", "value": "true"},
            {"name": COLLECTORS, "value": f"/etc/dcgm-exporter/{DEFAULT_LIST}"},
        ],
        "resources": {"claims": [{"name": "admin-gpus"}]},
        "securityContext": {"privileged": True},
    }
    pod = {
        "containers": [container],
        "serviceAccountName": EXPORTER,
        "resourceClaims": [{"name": "admin-gpus", "resourceClaimTemplateName": "nvidia-dcgm-exporter-admin"}],
    }
    yield _daemon_set(spec, namespace, EXPORTER, pod)


def _template(namespace: str, name: str, request: str, exactly: Object) -> tuple[kinds.Kind, Object]:
    whole = {"name": request, "exactly": {"deviceClassName": GPU_CLASS, "adminAccess": True, **exactly}}
    spec = {"spec": {"devices": {"requests": [whole]}}}
    return kinds.RESOURCE_CLAIM_TEMPLATE, manifest(kinds.RESOURCE_CLAIM_TEMPLATE, name, namespace, spec=spec)


def _daemon_set(spec: Object, namespace: str, name: str, pod: Object) -> tuple[kinds.Kind, Object]:
    common = spec.get("daemonsets") or {}
    whole = {
        **pod,
        "nodeSelector": {f"{GPU_DEPLOY}{PARTS[name]}": "true"},
        "tolerations": common.get("tolerations") or [TOLERATION],
        "priorityClassName": common.get("priorityClassName") or "system-node-critical",
    }
    return daemon_set(namespace, name, whole, BY)
