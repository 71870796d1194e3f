"""What pods of all kinds of jobs have in common."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from components.jobs import gpu_job, mpi_job, torch_job
from core.apis.nccl import Transport
from tests.components import kit

Build = Callable[..., Any]


def _batch(**changes: Any) -> Any:
    return gpu_job.spec(kit.gpu_job(**changes))["template"]["spec"]


def _torch(**changes: Any) -> Any:
    return torch_job.spec(kit.torch_job(**changes))["template"]["spec"]


def _mpi(args: Build, role: str, **changes: Any) -> Any:
    return mpi_job.spec(args(**changes))["mpiReplicaSpecs"][role]["template"]["spec"]


SPANNING: Mapping[str, Build] = {
    "torch": _torch,
    "v1alpha2": partial(_mpi, kit.mpi_job, "Worker"),
    "v2beta1": partial(_mpi, kit.mpi_job_v2beta1, "Worker"),
}
PROGRAMS: Mapping[str, Build] = {"batch": _batch, **SPANNING}
"""Pods in which the program of a job runs; a TrainJob's is compared with that of torch by its own tests."""
LAUNCHERS: Mapping[str, Build] = {
    "launcher of v1alpha2": partial(_mpi, kit.mpi_job, "Launcher"),
    "launcher of v2beta1": partial(_mpi, kit.mpi_job_v2beta1, "Launcher"),
}
PODS = {**PROGRAMS, **LAUNCHERS}


@pytest.mark.parametrize("kind", PODS)
def test_all_pods_name_their_secrets_and_class(kind: str) -> None:
    """Pull secrets and priority class are named if given, launchers' too."""
    pod = PODS[kind](pull_secrets=("registries",), priority_class="training")
    assert (pod["imagePullSecrets"], pod["priorityClassName"]) == ([{"name": "registries"}], "training")
    assert not {"imagePullSecrets", "priorityClassName", "affinity"} & {*PODS[kind]()}


@pytest.mark.parametrize("kind", PODS)
def test_the_program_has_its_ports_and_resources(kind: str) -> None:
    """Its ports have the protocol, which Kueue would otherwise add; a launcher, which does not run it, has neither."""
    (found,) = PODS[kind](ports={"metrics": 9100}, further={"ephemeral-storage": "200Gi"})["containers"]
    has = kind in PROGRAMS
    ports = [each for each in found.get("ports", []) if each["name"] == "metrics"]
    assert ports == [{"name": "metrics", "containerPort": 9100, "protocol": "TCP"}] * has
    assert found.get("resources", {}).get("limits", {}).get("ephemeral-storage") == ("200Gi" if has else None)


@pytest.mark.parametrize("kind", SPANNING)
def test_rdma_needs_devices_and_locked_memory(kind: str) -> None:
    """With RDMA a pod has one share of each device, and IPC_LOCK; over TCP, or without devices, neither."""
    (found,) = SPANNING[kind]()["containers"]
    assert found["securityContext"]["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}
    limits = found["resources"]["limits"]
    assert {name: count for name, count in limits.items() if "/" in name} == {
        "nvidia.com/gpu": "8",
        **dict.fromkeys(kit.RDMA, "1"),
    }
    for without in ({}, {"rdma_resources": ()}):
        (plain,) = SPANNING[kind](transport=Transport.TCP, **without)["containers"]
        assert plain["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {name for name in plain["resources"]["limits"] if "/" in name} == {"nvidia.com/gpu"}


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_launchers_take_no_device_and_no_capability(kind: str) -> None:
    """A launcher requests no GPU, device or capability."""
    (found,) = LAUNCHERS[kind]()["containers"]
    assert not [name for name in found.get("resources", {}).get("limits", {}) if "/" in name]
    assert found["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("kind", [kind for kind in PODS if "v1alpha2" not in kind])
def test_nothing_needs_root_or_a_token(kind: str) -> None:
    """Pods meet SCC restricted-v2, and have no API token."""
    pod = PODS[kind](**({} if kind in {"batch", *LAUNCHERS} else {"transport": Transport.TCP}))
    (found,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert found["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsUser": 1075481000,
        "runAsGroup": 1075481000,
    }
