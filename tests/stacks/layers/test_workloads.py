"""The workload layer: what a workload of the settings becomes."""

from typing import Any

import pytest

from components.jobs.gpu_job import GpuJobArgs
from components.jobs.job_volumes import ClaimVolume, MountOptions
from components.jobs.mpi_job import MpiJobArgs
from stacks.loading.settings import SettingsError, parse
from stacks.settings.workloads import JobWorkload, RdmaTestWorkload, StageDataWorkload
from tests.support.recorded import environment, of_kind, spec
from tests.support.stack_settings import MPI, SMOKE, example, first_args

IMAGE = {"image": "example/tf:1.0"}


def args_of(stack: str, workload: dict[str, Any], profile: str | None = None) -> MpiJobArgs | GpuJobArgs:
    """Return the arguments of a workload on the platform of a stack, with other machines if given."""
    data = example(stack, workload)
    if profile:
        data |= {"tuning": None, "ports": [], "fabric": {"kind": "ethernet"}}
        data["nodes"] = [node | ({"machine": profile} if "machine" in node else {}) for node in data["nodes"]]
    args = first_args(parse(data, "test"))
    assert isinstance(args, MpiJobArgs | GpuJobArgs)
    return args


def mpi(stack: str, workload: dict[str, Any], profile: str | None = None) -> MpiJobArgs:
    """Return the arguments of an MPI job."""
    found = args_of(stack, workload, profile)
    assert isinstance(found, MpiJobArgs)
    return found


@pytest.mark.parametrize("profile", ["dgx1-v100-32gb", "dgx2h", "sys-4029gp-tvrt"])
def test_machines_without_named_ports_run_over_ethernet(profile: str) -> None:
    """On Ethernet, jobs request neither devices nor IPC_LOCK."""
    found = mpi("robotic-drive-ethernet", MPI | IMAGE, profile)
    assert found.transport == "tcp"
    assert (found.rdma_resources, found.ib_hca, found.networks) == ((), None, ())
    assert found.environment["NCCL_SOCKET_IFNAME"] == "eth0"


def test_roce_jobs_join_a_network_for_each_port_and_look_for_their_address_there() -> None:
    """RoCE jobs join a network for each port, and find their GID there."""
    found = mpi("nvaie-roce", MPI | IMAGE)
    assert found.environment["NCCL_IB_TC"] == "106"
    assert len(found.networks) == len(found.rdma_resources) == len(found.v2beta1.roce_ports) == 8
    assert found.ib_hca == "=" + ",".join(found.v2beta1.roce_ports)
    assert mpi("prod", MPI | IMAGE).v2beta1.roce_ports == ()


def test_images_of_the_clusters_registry_are_pulled_by_the_account() -> None:
    """Pods with an image of the cluster's registry name no pull secret (che #19999)."""
    built = MPI | {"build": "multinode"}
    assert mpi("nvaie-roce", built).pull_secrets == ()
    assert mpi("nvaie-roce", MPI | IMAGE).pull_secrets == ("registries",)
    pushed = example("nvaie-roce", built)
    pushed["builds"][0]["to"] = {"kind": "registry", "image": "quay.io/lab/tf:1", "push_secret": "push"}
    args = first_args(parse(pushed, "test"))
    assert isinstance(args, MpiJobArgs)
    assert args.pull_secrets == ("registries",)


def test_jobs_of_today_name_their_ports_and_the_distance_of_their_machine() -> None:
    """Jobs of v2beta1 name compute ports and the GPUDirect level of the machine."""
    found = mpi("prod", MPI | IMAGE)
    assert found.gdr_level == "PXB"
    assert found.ib_hca == "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_6,mlx5_7,mlx5_8,mlx5_9"
    assert mpi("dev", MPI).ib_hca is None


def test_queues_secrets_and_classes_come_from_the_platform() -> None:
    """Jobs name the platform's queue, pull secret and their priority class."""
    for workload in (MPI | IMAGE, SMOKE):
        found = args_of("prod", workload | {"priority": "verification"})
        assert (found.pull_secrets, found.priority_class) == (("registries",), "verification")
        assert (found.v2beta1.queue if isinstance(found, MpiJobArgs) else found.queue) == "jobs"


def test_the_smoke_test_takes_an_image_that_the_gpus_know() -> None:
    """The smoke test's image supports the machine's GPUs."""
    assert args_of("dev", SMOKE).image.endswith("vectoradd-cuda10.2")
    assert "cuda12" in args_of("prod", SMOKE).image


def test_only_old_runtimes_are_told_what_they_need_of_the_driver() -> None:
    """Only pods of OpenShift 3.11 have variables for the runtime's hook."""
    assert args_of("supermicro-3.11", SMOKE).runtime_environment == {
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
        "NVIDIA_REQUIRE_CUDA": "cuda>=5.0",
    }
    assert args_of("dev", SMOKE).runtime_environment == {}


@pytest.mark.parametrize(("stack", "expected"), [("dev", False), ("supermicro-3.11", False), ("prod", True)])
def test_seccomp_follows_the_constraints_of_the_release(stack: str, expected: bool) -> None:
    """Pods request seccomp only where their SCC requires it."""
    found = args_of(stack, SMOKE)
    assert isinstance(found, GpuJobArgs)
    assert found.seccomp is expected


def test_a_job_has_data_only_where_its_program_wants_it() -> None:
    """Only jobs whose program needs data mount the claim."""
    assert args_of("dev", SMOKE).volumes == {}
    mask_rcnn = args_of("supermicro-3.11", SMOKE | {"program": "mask-rcnn", "gpus": 8} | IMAGE)
    assert mask_rcnn.volumes == {"data": ClaimVolume(kind="claim", claim="mlperf")}
    assert mask_rcnn.mounts == {"/data": MountOptions(), "/coco": MountOptions(folder="coco2017")}


def test_launchers_of_large_jobs_can_have_more() -> None:
    """A launcher's resources can be set for v2beta1, and only there."""
    larger = {"launcher": {"cpu": "2", "memory": "8Gi"}}
    assert mpi("prod", MPI | IMAGE | larger).v2beta1.launcher.memory == "8Gi"
    assert mpi("prod", MPI | IMAGE).v2beta1.launcher.memory == "1Gi"
    with pytest.raises(SettingsError, match="MPIJob v1alpha2 does not support queue, suspension, ttl, launcher"):
        mpi("dev", MPI | larger)


def test_full_precision_turns_tf32_off() -> None:
    """Precision fp32 turns TF32 off."""
    found = args_of("prod", MPI | IMAGE | {"precision": "fp32"})
    assert found.environment["NVIDIA_TF32_OVERRIDE"] == "0"
    assert "NVIDIA_TF32_OVERRIDE" not in args_of("prod", MPI | IMAGE).environment


def test_further_variables_of_a_workload_come_last() -> None:
    """A workload's own variables override those of program and platform."""
    found = mpi("robotic-drive-ethernet", MPI | IMAGE | {"environment": {"NCCL_SOCKET_IFNAME": "net1"}})
    assert found.environment["NCCL_SOCKET_IFNAME"] == "net1"


def test_batch_jobs_are_gated_like_others() -> None:
    """Later stages wait for the result of batch jobs, too."""
    recorded = environment("supermicro-3.11")
    jobs = {item.inputs["metadata"]["name"]: item for item in of_kind(recorded, "Job")}
    assert [urn for urn in jobs["maskrcnn"].dependencies if urn.endswith("nvidia-cuda-vector-add-job")]
    assert spec(recorded, "Job", "maskrcnn")["backoffLimit"] == 0


def test_a_job_with_a_range_of_nodes_is_one_on_each() -> None:
    """A range in `node` of a job is a job on each node, called after it; of another kind it is not a name of a node."""
    content = example("h100-roce", {"kind": "job", "name": "test", "program": "preflight", "gpus": 8, **IMAGE})
    (workload,) = content["stages"][0]["workloads"]
    workload["node"] = "dgx[02-04].h100.example.com"
    found = parse(content, "test").stages[0].workloads
    names = [(one.name, one.node) for one in found if isinstance(one, JobWorkload)]
    assert names == [(f"test-dgx0{number}", f"dgx0{number}.h100.example.com") for number in (2, 3, 4)]
    workload["node"] = "dgx[03-02].h100.example.com"
    with pytest.raises(SettingsError, match=r"dgx\[03-02\]\S+: the range 03-02 ends before it starts"):
        parse(content, "test")
    with pytest.raises(SettingsError, match=r"stages\[0\]\.workloads\[0\].*node"):
        parse(example("h100-roce", MPI | IMAGE | {"node": "dgx[02-04].h100.example.com"}), "test")


@pytest.mark.parametrize("workload", [MPI, SMOKE, {**MPI, "kind": "torch", "program": "torch-resnet50"}])
def test_a_stage_can_demand_fit_nodes(workload: dict[str, Any]) -> None:
    """Jobs of such a stage do not start on nodes with the label, of a job for one node on no other either."""
    content = example("h100-roce", workload | IMAGE)
    content["stages"][0]["fit_nodes"] = True
    (found,) = parse(content, "test").stages[0].workloads
    assert not isinstance(found, RdmaTestWorkload | StageDataWorkload)
    assert found.fit_nodes
    content["stages"][0]["fit_nodes"] = False
    (found,) = parse(content, "test").stages[0].workloads
    assert not isinstance(found, RdmaTestWorkload | StageDataWorkload)
    assert not found.fit_nodes
