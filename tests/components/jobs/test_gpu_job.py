"""The batch job builder."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs.gpu_job import GpuJob, spec
from tests.components.kit import gpu_job as arguments
from tests.support.declared import declared, faults, only
from tests.support.recorded import component, only_object


def pod(**changes: Any) -> Any:
    """Return the pod."""
    return spec(arguments(**changes))["template"]["spec"]


def container(**changes: Any) -> Any:
    """Return its only container."""
    (found,) = pod(**changes)["containers"]
    return found


@pytest.mark.parametrize(
    "changes", [{}, {"volumes": {}, "mounts": {}, "gpus": 1, "seccomp": False}, {"gpus": 1, "instance": "1g.5gb"}]
)
def test_our_own_rules_have_nothing_against_it(changes: dict[str, Any]) -> None:
    """The policies have no finding about a batch job."""
    assert faults(declared(lambda: GpuJob("job", arguments(**changes), lambda *_: ""))) == []


def test_gpus_are_requested_and_limited_alike() -> None:
    """Requests and limits of GPUs are equal."""
    resources = container()["resources"]
    assert resources["limits"] == resources["requests"] == {"cpu": "72", "memory": "368Gi", "nvidia.com/gpu": "8"}


def test_an_instance_is_in_the_place_of_gpus() -> None:
    """A MIG instance is requested and limited alike, and no whole GPU beside it."""
    resources = container(gpus=1, instance="1g.5gb")["resources"]
    assert resources["limits"] == resources["requests"]
    assert {name for name in resources["limits"] if name.startswith("nvidia")} == {"nvidia.com/mig-1g.5gb"}


def test_rdma_devices_come_with_locked_memory_and_their_networks() -> None:
    """A pod with devices takes one each, may lock memory and joins their networks; another has none of it."""
    with_devices = {"rdma_resources": ("rdma/shared_ib0", "rdma/shared_ib1"), "networks": ("training/rail0",)}
    template = spec(arguments(**with_devices))["template"]
    (found,) = template["spec"]["containers"]
    limits = found["resources"]["limits"]
    assert {name: count for name, count in limits.items() if name.startswith("rdma/")} == {
        "rdma/shared_ib0": "1",
        "rdma/shared_ib1": "1",
    }
    assert found["securityContext"]["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}
    assert template["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/networks": "training/rail0"}
    assert "add" not in container()["securityContext"]["capabilities"]


def test_data_comes_from_a_claim_and_shared_memory_is_bounded() -> None:
    """Data is a claim, and /dev/shm has a limit."""
    assert [(each["mountPath"], each.get("subPath")) for each in container()["volumeMounts"]] == [
        ("/data", None),
        ("/coco", "coco2017"),
        ("/dev/shm", None),  # noqa: S108 - shared memory, not a temp file
    ]
    assert pod()["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "mlperf-data"}},
        {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
    ]


def test_old_constraints_are_not_asked_for_seccomp() -> None:
    """Without seccomp, no profile is requested, as SCCs before 4.11 demand."""
    assert pod(seccomp=False)["securityContext"] == {"runAsNonRoot": True}


def test_it_ends_and_is_not_retried() -> None:
    """A job has a deadline and no retries."""
    found = spec(arguments(deadline=600))
    assert (found["backoffLimit"], found["activeDeadlineSeconds"]) == (0, 600)
    assert pod()["restartPolicy"] == "Never"
    assert container()["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_variables_of_program_and_runtime_reach_the_container() -> None:
    """Variables of program and runtime hook reach the container."""
    found = container(runtime_environment={"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"})
    assert {each["name"]: each["value"] for each in found["env"]} == {
        "NEXP": "1",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    }
    assert found["workingDir"] == "/workspace/object_detection"
    with pytest.raises(ValidationError, match="the device plugin sets which GPUs"):
        arguments(runtime_environment={"NVIDIA_VISIBLE_DEVICES": "all"})


def test_a_queue_is_named_only_if_wanted() -> None:
    """The label of the queue is there only with one."""
    job, plain = (
        only(declared(lambda given=given: GpuJob("job", arguments(queue=given), lambda *_: "")), "Job")  # type: ignore[misc]
        for given in ("jobs", None)
    )
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobs"
    assert "kueue.x-k8s.io/queue-name" not in plain["metadata"]["labels"]


def test_the_provider_follows_it_to_either_end() -> None:
    """The provider waits for success or failure."""
    job = only_object(component(lambda: GpuJob("job", arguments(run=2), lambda *_: "")), "Job")
    assert "Failed" in job.inputs["metadata"]["annotations"]["pulumi.com/waitFor"]
    assert job.replacement_trigger == 2
    assert job.delete_before_replace
