"""The GPU operator: what it makes, where, and what it says of it."""

from typing import Any

import pytest

from components.gpu.gpu_operator import GpuDirect, GpuDriver, GpuOperatorArgs, spec
from core.hardware.gpus import Gpu
from core.hardware.profiles import PROFILES
from tests.support.machines import A100_SXM4_40GB, V100_SXM2_32GB
from toolkit.simulator.actors import gpu_operands, gpu_operator, gpus
from toolkit.simulator.actors.api import Object

A100, V100 = PROFILES["dgx-a100"], PROFILES["dgx1-v100-16gb"]
HAS_GPU = "feature.node.kubernetes.io/pci-10de.present"
PEERMEM = GpuDirect(mechanism="nvidia-peermem")


def policy(gpu: Gpu = A100_SXM4_40GB, version: str | None = "580.95.05", **changes: Any) -> Object:
    """Return the `spec` of a ClusterPolicy as our component writes it."""
    driver = GpuDriver(version=version) if version else None
    kind = {"gpu": gpu, "gpudirect": changes.pop("gpudirect", None)}
    return spec(GpuOperatorArgs.model_validate({"gpus": [kind], "driver": driver, **changes}))


def pod_of(part: str, wanted: Object) -> Object:
    """Return the pod of one of the operator's DaemonSets."""
    operand = next(each for each in gpu_operands.OPERANDS if each.part == part)
    body = gpu_operands.manifests(operand, "nvidia-gpu-operator", wanted)[-1][1]
    template: Object = body["spec"]["template"]
    return template


def node(labels: dict[str, str] | None = None, *, host: bool = False) -> Object:
    """Return a node with these labels."""
    marks = {"hpc.sim/host-driver": "true"} if host else {}
    return {"metadata": {"name": "n", "labels": labels or {}, "annotations": marks}}


@pytest.mark.parametrize(
    ("machine", "version", "module", "fault"),
    [
        (V100, "580.95.05", "proprietary", None),
        (V100, "580.95.05", "auto", None),
        (A100, "595.91.07", "open", None),
        (V100, "595.91.07", "proprietary", "580.xx Legacy drivers. The 595.91.07 NVIDIA driver will ignore this GPU"),
        (V100, "580.95.05", "open", "not supported by open nvidia.ko"),
        (None, "580.95.05", "auto", "No NVIDIA GPU found"),
    ],
)
def test_drivers_that_do_not_load(machine: Any, version: str, module: str, fault: str | None) -> None:
    """A driver that does not know the V100 does not drive it."""
    wanted = policy(version=version)
    wanted["driver"]["kernelModuleType"] = module
    found = gpus.driver_fault(machine, pod_of("driver", wanted))
    assert (found is None) if fault is None else (found is not None and fault in found and gpus.NOT_LOADED in found)


def test_a_driver_by_digest_is_taken_as_it_is() -> None:
    """No version is read out of a digest."""
    wanted = policy(V100_SXM2_32GB)
    wanted["driver"]["version"] = "sha256:" + "595" + "0" * 61
    assert pod_of("driver", wanted)["spec"]["containers"][0]["image"].startswith("nvcr.io/nvidia/driver@sha256:595")
    assert gpus.driver_fault(V100, pod_of("driver", wanted)) is None


def test_the_driver_waits_for_the_adapters_own_with_peermem_only() -> None:
    """A GPU driver with peermem waits for the network driver, and only then."""
    wait = "network.nvidia.com/operator.mofed.wait"
    label = {"nvidia.com/gpu.deploy.driver": "true"}
    direct = pod_of("driver", policy(V100_SXM2_32GB, gpudirect=PEERMEM))
    assert direct["spec"]["nodeSelector"] == label | {wait: "false"}
    assert [each["name"] for each in direct["spec"]["containers"]] == ["nvidia-driver-ctr", "nvidia-peermem-ctr"]
    host = policy(V100_SXM2_32GB, gpudirect=PEERMEM.model_copy(update={"host_ofed": True}))
    assert pod_of("driver", host)["spec"]["nodeSelector"] == label
    assert pod_of("driver", policy())["spec"]["nodeSelector"] == label


def test_feature_discovery_is_no_device_plugin() -> None:
    """Plugin and feature discovery are distinguished by their command: both have one image."""
    assert gpus.is_plugin(pod_of("device-plugin", policy()))
    assert not gpus.is_plugin(pod_of("gpu-feature-discovery", policy()))


def test_what_is_enabled_is_made() -> None:
    """Only what the ClusterPolicy enables is created."""

    def parts(wanted: Object) -> set[str]:
        return {each.part for each in gpu_operands.OPERANDS if each.enabled(wanted)}

    assert "driver" not in parts(policy(version=None))
    assert {"dcgm-exporter", "dcgm"} <= parts(policy())
    assert not {"dcgm-exporter", "dcgm", "node-status-exporter"} & parts(policy(monitoring=False))
    assert "mig-manager" in parts(policy(mig="single"))
    assert "mig-manager" not in parts(policy())


def test_a_new_driver_waits_for_the_pods_next_start() -> None:
    """A changed driver version does not restart the drivers below running jobs."""
    driver = next(each for each in gpu_operands.OPERANDS if each.part == "driver")
    body = gpu_operands.manifests(driver, "ns", policy())[-1][1]
    assert body["spec"]["updateStrategy"] == {"type": "OnDelete"}


def test_only_nodes_with_gpus_get_labels() -> None:
    """Operands run on nodes with NFD's label, and go with it."""
    assert gpu_operator.node_labels(node(), policy()) == {}
    found = gpu_operator.node_labels(node({HAS_GPU: "true"}), policy())
    assert found["nvidia.com/gpu.deploy.driver"] == "true"
    assert found["nvidia.com/gpu.present"] == "true"
    assert "nvidia.com/gpu.deploy.mig-manager" not in found
    capable = node({HAS_GPU: "true", "nvidia.com/mig.capable": "true"})
    assert gpu_operator.node_labels(capable, policy())["nvidia.com/gpu.deploy.mig-manager"] == "true"
    had = node({"nvidia.com/gpu.deploy.driver": "true", "nvidia.com/gpu.present": "true", "else": "1"})
    gone = {"nvidia.com/gpu.deploy.driver": None, "nvidia.com/gpu.present": "false"}
    assert gpu_operator.node_labels(had, policy()) == gone
    assert gpu_operator.node_labels(node({HAS_GPU: "true", "nvidia.com/gpu.present": "true"}), None) == {}


def test_a_user_keeps_the_operands_from_a_node() -> None:
    """A node with GPUs whose label of all operands is false has no label of an operand; the user's stays."""
    off = "nvidia.com/gpu.deploy.operands"
    had = node({HAS_GPU: "true", off: "false", "nvidia.com/gpu.deploy.driver": "true"})
    wanted = {"nvidia.com/gpu.deploy.driver": None, "nvidia.com/gpu.present": "true"}
    assert gpu_operator.node_labels(had, policy()) == wanted


def test_a_node_with_its_own_driver_gets_no_other() -> None:
    """A node has one driver."""
    found = gpu_operator.node_labels(node({HAS_GPU: "true"}, host=True), policy())
    assert found["nvidia.com/gpu.deploy.driver"] == "pre-installed"
    assert found["nvidia.com/gpu.deploy.device-plugin"] == "true"


def daemon_set(desired: int, available: int, *, observed: int = 1, updated: int | None = None) -> Object:
    """Return a DaemonSet of generation 1; with `updated` pods of the present template its strategy is OnDelete."""
    status = {"observedGeneration": observed, "desiredNumberScheduled": desired, "numberAvailable": available}
    if updated is None:
        return {"metadata": {"generation": 1}, "status": status}
    spec = {"updateStrategy": {"type": "OnDelete"}}
    return {"metadata": {"generation": 1}, "spec": spec, "status": status | {"updatedNumberScheduled": updated}}


@pytest.mark.parametrize(
    ("labels", "sets", "state", "reason"),
    [
        ({}, {}, "ready", "NFDLabelsMissing"),
        ({"feature.node.kubernetes.io/kernel-version.full": "5"}, {}, "ready", "NoGPUNodes"),
        ({HAS_GPU: "true"}, {"state-driver": None}, "notReady", "OperandNotReady"),
        ({HAS_GPU: "true"}, {"state-driver": daemon_set(2, 1)}, "notReady", "OperandNotReady"),
        ({HAS_GPU: "true"}, {"state-driver": daemon_set(0, 0, observed=0)}, "notReady", "OperandNotReady"),
        ({HAS_GPU: "true"}, {"state-driver": daemon_set(2, 2, updated=1)}, "notReady", "OperandNotReady"),
        ({HAS_GPU: "true"}, {"state-driver": daemon_set(2, 2, updated=2)}, "ready", "Reconciled"),
        ({HAS_GPU: "true"}, {"state-driver": daemon_set(0, 0), "x": daemon_set(1, 1)}, "ready", "Reconciled"),
    ],
)
def test_state_of_a_policy(labels: dict[str, str], sets: dict[str, Object | None], state: str, reason: str) -> None:
    """A ClusterPolicy is ready when all its pods are, with the present driver, and where no node has a GPU."""
    found = gpu_operator.status({"metadata": {"name": "p"}}, sets, [node(labels)])
    assert found["state"] == state
    assert reason in {one["reason"] for one in found["conditions"]}
    if state == "notReady":
        assert (
            "states not ready: [state-driver" in next(one for one in found["conditions"] if one["message"])["message"]
        )


def test_the_exporter_has_the_list_and_the_monitor_of_its_policy() -> None:
    """The list is mounted where the policy names one, and only a policy that wants it gets a monitor."""
    operand = next(each for each in gpu_operands.OPERANDS if each.part == "dcgm-exporter")
    wishes: tuple[dict[str, Any], ...] = ({"monitoring": False}, {"metrics": "hpc-dcgm-metrics"})
    for more in wishes:
        wanted = policy(**more)
        made = {body["kind"]: body for _, body in gpu_operands.manifests(operand, "gpus", wanted)}
        pod = made["DaemonSet"]["spec"]["template"]["spec"]
        assert [each["configMap"]["name"] for each in pod.get("volumes", ())] == [*filter(None, [more.get("metrics")])]
        assert ("ServiceMonitor" in made) == ("metrics" in more)
        assert "Service" in made
