"""The PyTorch job builder."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs.torch_job import TorchJob, command, spec
from core.apis import names
from tests.components.kit import torch_job as arguments
from tests.support.declared import declared, faults, only

ROCE = {"roce_ports": ("mlx5_0", "mlx5_1")}


def container(**changes: Any) -> Any:
    """Return the only container of a pod."""
    (found,) = spec(arguments(**changes))["template"]["spec"]["containers"]
    return found


def environment(**changes: Any) -> dict[str, Any]:
    """Return the container's variables."""
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container(**changes)["env"]}


@pytest.mark.parametrize("changes", [{}, ROCE, {"transport": "tcp", "rdma_resources": ()}])
def test_our_own_rules_have_nothing_against_it(changes: dict[str, Any]) -> None:
    """The policies have no finding about a PyTorch job."""
    assert faults(declared(lambda: TorchJob("job", arguments(**changes), lambda *_: ""))) == []


def test_pods_find_each_other_by_the_service() -> None:
    """The rendezvous is the first pod by its name, with the environment of Kubeflow's torch policy."""
    found = environment()
    assert {name: value for name, value in found.items() if name.startswith("PET_")} == {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "8",
        "PET_MASTER_ADDR": "train-02x08-0.train-02x08-pods",
        "PET_MASTER_PORT": "29500",
        "PET_NODE_RANK": {"fieldRef": {"fieldPath": f"metadata.annotations['{names.COMPLETION_INDEX}']"}},
    }
    declares = declared(lambda: TorchJob("job", arguments(), lambda *_: ""))
    service = only(declares, "Service")["spec"]
    assert (service["clusterIP"], service["publishNotReadyAddresses"]) == ("None", True)
    assert service["selector"] == {"job-name": "train-02x08"}
    job = only(declares, "Job")["spec"]
    assert (job["completionMode"], job["completions"], job["parallelism"]) == ("Indexed", 2, 2)
    assert job["template"]["spec"]["subdomain"] == only(declares, "Service")["metadata"]["name"]


def test_without_rdma_nccl_uses_sockets() -> None:
    """The variables are those of the transport."""
    assert (environment()["NCCL_IB_DISABLE"], environment(transport="tcp")["NCCL_IB_DISABLE"]) == ("0", "1")


def test_on_roce_each_pod_looks_for_its_own_address() -> None:
    """The index of the pod's address is found before torchrun starts; on InfiniBand torchrun starts at once."""
    assert command(arguments()) == ["torchrun", "train.py", "--epochs=1"]
    shell, option, script = command(arguments(**ROCE))
    assert (shell, option) == ("/bin/sh", "-c")
    assert script.endswith("export NCCL_IB_GID_INDEX=$index;exec torchrun train.py --epochs=1")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"command": ()}, "command"),
        ({"job_name": "a" * 59}, "-pods, the Service of its pods, must be a DNS-1035 label; shorten"),
        ({"job_name": "2nd"}, "2nd-pods, the Service of its pods, must be a DNS-1035 label"),
        ({"environment": {"PET_NNODES": "4"}}, "environment: PET_NNODES=4 would override"),
        (
            {"environment": {"PET_RDZV_BACKEND": "static"}, "resilience": {"limit": 1}},
            "environment: PET_RDZV_BACKEND=static would override",
        ),
        ({"environment": {"NCCL_IB_GID_INDEX": "3"}, **ROCE}, "NCCL_IB_GID_INDEX=3 would override"),
    ],
)
def test_what_the_job_sets_itself_is_refused(changes: dict[str, Any], expected: str) -> None:
    """Names that do not fit, and variables that the job sets, are refused."""
    with pytest.raises(ValidationError, match=expected):
        arguments(**changes)


def test_torchrun_restarts_all_processes() -> None:
    """The job itself is not retried: torchrun starts the processes of all pods again, and gives them a new store."""
    own = environment(resilience={"limit": 3})
    assert {name: own[name] for name in own.keys() - environment().keys()} == {
        "PET_MAX_RESTARTS": "3",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ID": "train-02x08",
        "PET_RDZV_ENDPOINT": "train-02x08-0.train-02x08-pods.adas.svc.cluster.local:29500",
        "PET_RDZV_CONF": "read_timeout=600",
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }
    assert spec(arguments(resilience={"limit": 3}))["backoffLimit"] == 0
