"""The platforms of all stacks: ports and alerts of their machines, rights, grants and protection."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from stacks.loading.settings import load
from stacks.settings.gpu import GpuOperatorSettings
from tests.stacks.others import named
from tests.support.golden import STACKS as GOLDEN
from tests.support.recorded import OURS, ROOT, environment, of_kind, spec
from toolkit.render.manifests import manifests

STACKS = OURS
WITH_PLATFORM = [each for each in STACKS if load(each, ROOT).has_platform]
H100_BUSES = (24, 64, 79, 94, 154, 192, 206, 220)


def test_texts_that_differ_are_of_the_fabric() -> None:
    """RoCE's ports are Ethernet's (link type 1), and each stack offers the ports of its own machines."""
    files = spec(environment("nvaie-roce"), "MachineConfig", "50-gpu-rail-names")["config"]["storage"]["files"]
    assert files[0]["contents"]["source"].count("ATTR%7Btype%7D%3D%3D%221%22") == 8
    rules = spec(environment("h200-infiniband"), "MachineConfig", "50-gpu-rail-names")["config"]["storage"]["files"]
    for bus in ("18", "40", "4f", "5e", "9a", "c0", "ce", "dc"):
        assert f"0000%3A{bus}%3A00.0" in rules[0]["contents"]["source"]
    for stack, names in {
        "b200-infiniband": [f"shared_rail{port}" for port in range(8)],
        "h100-roce": [f"shared_enp{bus}s0np0" for bus in H100_BUSES],
        "nvaie-roce": [f"shared_rail{port}" for port in range(8)],
        "redpaper-today": [f"shared_ib{port}" for port in range(4)],
    }.items():
        config = spec(environment(stack), "NicClusterPolicy")["rdmaSharedDevicePlugin"]["config"]
        assert [line.split('"')[3] for line in config.splitlines() if "resourceName" in line] == names


@pytest.mark.parametrize(
    "stack", [each for each in WITH_PLATFORM if isinstance(load(each, ROOT).gpu, GpuOperatorSettings)]
)
def test_alerts_are_about_the_ports_and_gpus_of_the_stacks_machines(stack: str) -> None:
    """Alerts about ports name the machines' HCAs, and there are none on Ethernet; GPUs are counted by machine."""
    settings = load(stack, ROOT)
    rules: dict[str, list[str]] = {}
    for group in spec(environment(stack), "PrometheusRule", "gpus")["groups"]:
        for rule in group["rules"]:
            rules.setdefault(rule.get("alert"), []).append(rule["expr"])
    gpus = [int(expression.rpartition("< ")[2]) for expression in rules["GpuMissing"]]
    assert gpus == [pool.machine.gpus for pool in settings.gpu_pools]
    ports = [f'device=~"{"|".join(hca.name for hca in pool.hcas)}"' for pool in settings.gpu_pools if pool.hcas]
    down = rules.get("InfinibandPortDown", [])
    assert [devices in expression for devices, expression in zip(ports, down, strict=True)] == [True] * len(ports)


RIGHTS: Mapping[str, Mapping[str, set[str]]] = {
    "DaemonSet rdma-shared-dp-ds": {"4.4": {"hostNetwork", "hostPath /var/lib/kubelet/", "privileged", "escalation"}},
    "DaemonSet nvidia-device-plugin-daemonset": {"3.11": {"hostPath /var/lib/kubelet/device-plugins"}},
    "DaemonSet nvidia-dra-driver-gpu-kubelet-plugin": {
        "4.22": {
            *("privileged", "escalation", "hostPath /var/run/cdi", "hostPath /run/nvidia/driver"),
            *("hostPath /var/lib/kubelet/plugins", "hostPath /var/lib/kubelet/plugins_registry"),
        }
    },
}
"""Per release, what a pod of the platform has beyond an ordinary one; pods of the operators are not ours to declare."""


def _pods(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if isinstance(part.get("containers"), list):
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _pods(each)


def _rights(pod: Mapping[str, Any]) -> set[str]:
    found = {key for key in ("hostNetwork", "hostPID", "hostIPC") if pod.get(key)}
    found |= {f"hostPath {each['hostPath']['path']}" for each in pod.get("volumes", ()) if "hostPath" in each}
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        context = container.get("securityContext", {})
        capabilities = context.get("capabilities", {})
        found |= {"privileged"} if context.get("privileged") else set()
        found |= {"escalation"} if context.get("allowPrivilegeEscalation") is not False else set()
        found |= (
            {"capabilities kept"} if capabilities.get("drop") != ["ALL"] and not context.get("privileged") else set()
        )
        found |= {*capabilities.get("add", ())}
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_pods_have_no_right_beyond_those_named(stack: str) -> None:
    """No host path, host namespace, privilege or capability but the plugins', and IPC_LOCK where RDMA is used."""
    settings = load(stack, ROOT)
    for manifest in manifests(environment(stack)):
        for pod in _pods(manifest.get("spec")):
            # A TrainJob has its pods' devices beside what it patches.
            uses_rdma = "rdma/" in str(manifest["spec"] if manifest["kind"] == "TrainJob" else pod)
            expected = RIGHTS.get(f"{manifest['kind']} {manifest['metadata']['name']}", {}).get(
                settings.release, {"IPC_LOCK"} if uses_rdma else set()
            )
            assert _rights(pod) == expected, f"{manifest['kind']} {manifest['metadata']['name']}"


@pytest.mark.parametrize("stack", STACKS)
def test_accounts_hold_the_roles_named(stack: str) -> None:
    """Only the operator's and plugins' accounts hold a role of the platform, and a tenant's that of its own SCC."""
    settings = load(stack, ROOT)
    expected: set[tuple[str, str]] = set()
    if settings.has_platform and settings.mpi_operator:
        expected |= {("ClusterRole mpi-operator", "mpi-operator/mpi-operator")}
        expected |= set() if settings.version.historical else {("Role mpi-operator", "mpi-operator/mpi-operator")}
    if settings.has_platform and settings.trainer:
        account = "kubeflow-system/trainer-controller-manager"
        expected |= {(f"{kind} trainer-controller-manager", account) for kind in ("ClusterRole", "Role")}
    plugin = {"4.4": "rdma-shared-dp-ds", "3.11": "nvidia-device-plugin-daemonset"}.get(settings.release)
    expected |= {(f"Role {plugin}", f"kube-system/{plugin}")} if plugin else set()
    if not isinstance(settings.gpu, GpuOperatorSettings) and settings.gpu.exporter:
        expected |= {("Role dcgm-exporter", "dcgm-exporter/dcgm-exporter")}
    if isinstance(settings.gpu, GpuOperatorSettings) and settings.gpu.compute_domains and settings.has_platform:
        driver = "nvidia-dra-driver-gpu"
        for account in (
            f"{driver}-controller",
            f"{driver}-kubelet-plugin",
            "compute-domain-daemon-service-account",
        ):
            expected |= {(f"{kind} {account}", f"{driver}/{account}") for kind in ("ClusterRole", "Role")}
    if settings.has_tenants and settings.rdma_resources:
        expected |= {("Role mpi", f"{tenant.namespace}/mpi") for tenant in settings.tenants if tenant.rdma}
    if settings.suite:
        expected |= {("Role suite-runner", f"{settings.suite.tenant}/suite-runner")}
    recorded = environment(stack)
    found = set()
    for binding in (*of_kind(recorded, "RoleBinding"), *of_kind(recorded, "ClusterRoleBinding")):
        role = binding.inputs["roleRef"]
        for subject in binding.inputs["subjects"]:
            assert subject["kind"] == "ServiceAccount"
            found.add((f"{role['kind']} {role['name']}", f"{subject['namespace']}/{subject['name']}"))
    assert found == expected


def test_the_plugin_of_3_11_uses_one_scc_and_nothing_else() -> None:
    """Its role names the SCC; an unnamed rule would be one for all of them."""
    (role,) = (each for each in of_kind(environment("supermicro-3.11"), "Role") if each.name.startswith("gpus-"))
    (rule,) = role.inputs["rules"]
    assert (rule["resources"], rule["resourceNames"], rule["verbs"]) == (
        ["securitycontextconstraints"],
        ["privileged"],
        ["use"],
    )


DATA = ("PersistentVolume", "PersistentVolumeClaim")
PROTECTED = (
    *("Namespace", "Secret", "SecurityContextConstraints", "CustomResourceDefinition", "MachineConfigPool"),
    *DATA,
)


@pytest.mark.parametrize("stack", STACKS)
def test_protection_follows_the_setting(stack: str) -> None:
    """Shared and stateful objects are protected, and data kept, where the stack says so; others can be destroyed."""
    recorded = [item for item in environment(stack) if not item.type.endswith(":ClusterServiceVersionPatch")]
    if not load(stack, ROOT).protect:
        assert not any(item.protect or item.retain_on_delete for item in recorded)
        return
    for kind in PROTECTED:
        assert all(item.protect for item in of_kind(recorded, kind)), kind
    for kind in DATA:
        assert all(item.retain_on_delete for item in of_kind(recorded, kind)), kind


def test_prod_is_protected() -> None:
    """Production has an object of every kind that is protected."""
    assert load("prod", ROOT).protect
    assert all(of_kind(environment("prod"), kind) for kind in PROTECTED)


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack not in GOLDEN])
def test_apis_are_those_of_the_release(stack: str) -> None:
    """A kind has the API version of the golden stack of its release; MPIJob's is named."""
    release = load(stack, ROOT).version
    alike = {"3.11": None, "4.4": "dev"}.get(release.name, "prod")
    if alike:
        golden = {each["kind"]: each["apiVersion"] for each in manifests(environment(alike))}
        for manifest in manifests(environment(stack)):
            assert golden.get(manifest["kind"], manifest["apiVersion"]) == manifest["apiVersion"]
    wanted = {"4.4": {"kubeflow.org/v1alpha2"}, "3.11": set()}.get(release.name, {"kubeflow.org/v2beta1"})
    assert {each["apiVersion"] for each in manifests(environment(stack)) if each["kind"] == "MPIJob"} <= wanted


OTHERS = [stack for stack in OURS if stack not in GOLDEN]


@pytest.mark.parametrize("stack", OTHERS)
def test_launchers_take_no_device(stack: str) -> None:
    """A launcher asks for neither GPUs nor RDMA devices."""
    for name, job in named(stack, "MPIJob").items():
        assert "nvidia.com/gpu" not in str(job["spec"]["mpiReplicaSpecs"]["Launcher"]), name
        assert "rdma/" not in str(job["spec"]["mpiReplicaSpecs"]["Launcher"]), name


@pytest.mark.parametrize("stack", OTHERS)
def test_namespaces_have_the_ids_and_the_level_of_their_tenants(stack: str) -> None:
    """User ids, SELinux level, and the pod security that admits IPC_LOCK only where RDMA needs it."""
    settings = load(stack, ROOT)
    found = {
        item.inputs["metadata"]["name"]: item.inputs["metadata"] for item in of_kind(environment(stack), "Namespace")
    }
    for tenant in settings.tenants:
        ids = f"{tenant.uid_range.start}/{tenant.uid_range.size}"
        assert found[tenant.namespace]["annotations"] == {
            "openshift.io/sa.scc.mcs": tenant.mcs,
            "openshift.io/sa.scc.supplemental-groups": ids,
            "openshift.io/sa.scc.uid-range": ids,
        }
        level = found[tenant.namespace]["labels"].get("pod-security.kubernetes.io/enforce")
        today = "privileged" if settings.rdma_resources and tenant.rdma else "restricted"
        assert level == (None if settings.version.historical else today)
