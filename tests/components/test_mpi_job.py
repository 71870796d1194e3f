"""The MPI job builder."""

from typing import Any

import pytest

from apis import kinds
from apis.nccl import Transport
from components.layout import Layout
from components.mpi_job import MpiJob, MpiJobArgs, RunAs
from components.mpi_job_specs import mpirun, spec
from tests.support.recorded import component, environment, one

RDMA = tuple(f"rdma/shared_ib{port}" for port in range(4))


def arguments(**changes: Any) -> MpiJobArgs:
    """Return the arguments of the paper's two-node NCCL test, changed."""
    return MpiJobArgs.model_validate(
        {
            "kind": kinds.MPI_JOB_V1ALPHA2,
            "namespace": "adas",
            "job_name": "nccl-test-02x08",
            "layout": Layout(pods=2, gpus=8),
            "processes_per_pod": 1,
            "transport": Transport.GPUDIRECT,
            "command": ("/workspace/other/nccl/all_reduce_perf", "-g", "8"),
            "image": "nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
            "account": "mpi",
            "run_as": RunAs(uid=1075481000, gid=1075481000),
            "claim": "adas-data-pvc",
            "cpus": 72,
            "memory": "368Gi",
            "rdma_resources": RDMA,
        }
        | changes
    )


def worker(args: MpiJobArgs) -> Any:
    """Return the worker's container."""
    return spec(args)["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("transport", "disable", "level"),
    [(Transport.TCP, "1", "0"), (Transport.INFINIBAND, "0", "0"), (Transport.GPUDIRECT, "0", "1")],
)
def test_transport_is_the_papers_table(transport: Transport, disable: str, level: str) -> None:
    """Prevents a run that measures another transport than the one asked for (R-4.3-4)."""
    words = mpirun(arguments(transport=transport))
    assert f"NCCL_IB_DISABLE={disable}" in words
    assert f"NCCL_NET_GDR_LEVEL={level}" in words


def test_command_line_is_the_papers() -> None:
    """Prevents a flag from getting lost: without `-mca btl ^openib` Open MPI takes the HCAs for itself (R-4.4-7)."""
    assert mpirun(arguments()) == [
        *("mpirun", "-np", "2", "-bind-to", "none", "-map-by", "slot"),
        *("-x", "NCCL_DEBUG=INFO", "-x", "NCCL_IB_DISABLE=0", "-x", "NCCL_NET_GDR_LEVEL=1"),
        *("-x", "LD_LIBRARY_PATH", "-x", "PATH", "-mca", "pml", "ob1", "-mca", "btl", "^openib"),
        *("/workspace/other/nccl/all_reduce_perf", "-g", "8"),
    ]


def test_processes_and_slots_agree() -> None:
    """Prevents ranks that find no slot, or GPUs that no rank drives (R-4.3-2)."""
    args = arguments(processes_per_pod=8)
    assert spec(args)["slotsPerWorker"] == 8
    assert mpirun(args)[1:3] == ["-np", "16"]


def test_workers_lock_memory_and_take_one_of_each_hca() -> None:
    """Prevents `Couldn't allocate MR`, and a pod that eats several shares of one HCA."""
    container = worker(arguments())
    assert container["securityContext"]["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}
    limits = container["resources"]["limits"]
    assert limits == {"cpu": 72, "memory": "368Gi", "nvidia.com/gpu": 8, **dict.fromkeys(RDMA, 1)}


def test_tcp_jobs_ask_for_no_rdma_and_no_capability() -> None:
    """Prevents a privilege that nothing in the job uses."""
    container = worker(arguments(transport=Transport.TCP))
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not [resource for resource in container["resources"]["limits"] if resource.startswith("rdma/")]


def test_launcher_holds_no_gpu_and_no_device() -> None:
    """Prevents a launcher that waits for a ninth GPU (E-53)."""
    launcher = spec(arguments())["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    assert "resources" not in launcher
    assert launcher["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_no_container_can_gain_privileges() -> None:
    """Prevents a program of the image that is setuid root from leaving what the SCC allows (S-6.3)."""
    for replica in spec(arguments())["mpiReplicaSpecs"].values():
        for container in replica["template"]["spec"]["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_jobs_end() -> None:
    """Prevents a launcher that hangs from holding its GPUs for ever."""
    assert spec(arguments(deadline=600))["activeDeadlineSeconds"] == 600


def test_shared_memory_has_a_limit() -> None:
    """Prevents /dev/shm from taking the whole node's memory (platform facts, defect 11)."""
    volumes = spec(arguments(shm="4Gi"))["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["volumes"]
    assert {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "4Gi"}} in volumes


def recorded_job(**changes: Any) -> Any:
    """Return the registration of a job."""
    return one(component(lambda: MpiJob("job", arguments(**changes), lambda *_: "")), "MPIJob")


def test_a_changed_spec_replaces_the_job() -> None:
    """Prevents an update in place, which the operator ignores, from looking like a new run."""
    job = recorded_job()
    assert job.replace_on_changes == ("spec",)
    assert job.delete_before_replace
    assert job.ignore_changes == ()


def test_kept_jobs_wait_for_the_next_run() -> None:
    """Prevents a training of days from being thrown away by a changed image tag."""
    job = recorded_job(on_change="keep", run=3)
    assert job.ignore_changes == ("spec",)
    assert job.replacement_trigger == 3


def test_jobs_of_dev_come_one_after_another() -> None:
    """Prevents training from starting on a platform that failed its verification."""
    before = {
        name: [
            urn.split("::")[-1] for urn in one(environment("dev"), "MPIJob", name).dependencies if "workloads" in urn
        ]
        for name in ("nccl-test-01x08", "nccl-test-02x08", "tf2-resnet50-02x08x02")
    }
    assert before == {
        "nccl-test-01x08": ["adas-mofed-test-job-job"],
        "nccl-test-02x08": ["adas-nccl-test-01x08-job"],
        "tf2-resnet50-02x08x02": ["adas-nccl-test-16x01-job"],
    }


def test_jobs_wait_for_others_without_taking_inputs_from_them() -> None:
    """Prevents the engine from replacing every later job when an earlier one is run again.

    It replaces what takes an input from an object that is deleted before its replacement is made.
    """
    job = one(environment("dev"), "MPIJob", "nccl-test-02x08")
    assert job.property_dependencies == {}


@pytest.mark.parametrize(
    ("layout", "label"),
    [((1, 8, None), "01x08"), ((16, 1, 2), "16x01x02"), ((2, 8, 2), "02x08x02")],
)
def test_names_tell_the_layout(layout: tuple[int, int, int | None], label: str) -> None:
    """Prevents a job named after another layout than its own (R-4.3-2)."""
    pods, gpus, nodes = layout
    assert str(Layout(pods=pods, gpus=gpus, nodes=nodes)) == label
