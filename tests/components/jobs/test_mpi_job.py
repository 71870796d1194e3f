"""The MPI job builder."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs.layout import Layout
from components.jobs.mpi_job import MpiJob, MpiJobArgs, mpirun, spec
from core.apis.names import NETWORKS
from core.apis.nccl import Transport
from tests.components.kit import mpi_job as arguments
from tests.support.recorded import component, environment, only_object


def worker(args: MpiJobArgs) -> Any:
    """Return the worker's container."""
    return spec(args)["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("transport", "disable", "level"),
    [(Transport.TCP, "1", "0"), (Transport.INFINIBAND, "0", "0"), (Transport.GPUDIRECT, "0", "1")],
)
def test_transport_is_the_papers_table(transport: Transport, disable: str, level: str) -> None:
    """Variables of each transport are those of the Redpaper."""
    words = mpirun(arguments(transport=transport))
    assert f"NCCL_IB_DISABLE={disable}" in words
    assert f"NCCL_NET_GDR_LEVEL={level}" in words


def test_command_line_is_the_papers() -> None:
    """The command line of v1alpha2 is the Redpaper's, with all flags."""
    assert mpirun(arguments()) == [
        *("mpirun", "-np", "2", "-bind-to", "none", "-map-by", "slot"),
        *("-x", "NCCL_DEBUG=INFO", "-x", "NCCL_IB_DISABLE=0", "-x", "NCCL_NET_GDR_LEVEL=1"),
        *("-x", "LD_LIBRARY_PATH", "-x", "PATH", "-mca", "pml", "ob1", "-mca", "btl", "^openib"),
        *("/workspace/other/nccl/all_reduce_perf", "-g", "8"),
    ]


def test_processes_and_slots_agree() -> None:
    """Each slot of the workers gets one process."""
    args = arguments(processes_per_pod=8)
    assert spec(args)["slotsPerWorker"] == 8
    assert mpirun(args)[1:3] == ["-np", "16"]


def test_no_container_can_gain_privileges() -> None:
    """No container allows privilege escalation."""
    for replica in spec(arguments())["mpiReplicaSpecs"].values():
        for container in replica["template"]["spec"]["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_jobs_end() -> None:
    """A job has a deadline."""
    assert spec(arguments(deadline=600))["activeDeadlineSeconds"] == 600


def test_shared_memory_has_a_limit() -> None:
    """The volume at /dev/shm has a limit (platform facts, defect 11)."""
    volumes = spec(arguments(shm="4Gi"))["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["volumes"]
    assert {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "4Gi"}} in volumes


def recorded_job(**changes: Any) -> Any:
    """Return the registration of a job."""
    return only_object(component(lambda: MpiJob("job", arguments(**changes), lambda *_: "")), "MPIJob")


def test_a_changed_spec_replaces_the_job() -> None:
    """A changed spec or queue replaces the job."""
    job = recorded_job()
    assert {"spec", 'metadata.labels["kueue.x-k8s.io/queue-name"]'} <= {*job.replace_on_changes}
    assert job.delete_before_replace
    assert job.ignore_changes == ()


def test_kept_jobs_wait_for_the_next_run() -> None:
    """With on_change keep, only a new run replaces the job."""
    job = recorded_job(on_change="keep", run=3)
    assert job.ignore_changes == ("spec", 'metadata.labels["kueue.x-k8s.io/queue-name"]')
    assert job.replacement_trigger == 3


@pytest.mark.parametrize("on_change", ["keep", "replace"])
def test_another_generation_is_another_job(on_change: str) -> None:
    """Another API version replaces the job."""
    assert "apiVersion" in recorded_job(on_change=on_change).replace_on_changes


def test_jobs_of_dev_come_one_after_another() -> None:
    """Each stage depends on the outcome of the one before."""
    before = {
        name: [
            urn.split("::")[-1]
            for urn in only_object(environment("dev"), "MPIJob", name).dependencies
            if "workloads" in urn
        ]
        for name in ("nccl-test-01x08", "nccl-test-02x08", "tf2-resnet50-01x08x01")
    }
    assert before == {
        "nccl-test-01x08": ["adas-nv-nccl-dgx01-job", "adas-nv-nccl-dgx02-job"],
        "nccl-test-02x08": ["adas-nccl-test-01x08-job"],
        "tf2-resnet50-01x08x01": ["adas-nccl-test-16x01-job"],
    }


def test_jobs_wait_for_others_without_taking_inputs_from_them() -> None:
    """Jobs depend on earlier ones without inputs from them, which would replace them, too."""
    job = only_object(environment("dev"), "MPIJob", "nccl-test-02x08")
    assert job.property_dependencies == {}


def test_without_rdma_devices_only_tcp_is_left() -> None:
    """Transports with RDMA are refused without RDMA resources."""
    with pytest.raises(ValidationError, match=r"transport gpudirect needs RDMA devices.*use tcp"):
        arguments(rdma_resources=())


def test_further_variables_reach_every_rank() -> None:
    """Further variables are exported to all ranks by mpirun."""
    words = mpirun(arguments(environment={"NCCL_IB_GID_INDEX": "3", "NCCL_DEBUG": "WARN"}))
    exports = [words[index + 1] for index, word in enumerate(words) if word == "-x"]
    assert "NCCL_IB_GID_INDEX=3" in exports
    assert [export for export in exports if export.startswith("NCCL_DEBUG")] == ["NCCL_DEBUG=WARN"]


@pytest.mark.parametrize("name", ["NCCL_IB_DISABLE", "NCCL_NET_GDR_LEVEL", "NCCL_IB_HCA", "PATH"])
def test_further_variables_leave_the_transport_alone(name: str) -> None:
    """Variables that the transport sets cannot be overridden."""
    with pytest.raises(ValidationError, match=rf"environment: {name}=1 would override.*leave it out"):
        arguments(environment={name: "1"})


def test_workers_and_not_the_launcher_join_the_second_networks() -> None:
    """Only workers join secondary networks."""
    roles = spec(arguments(networks=("adas-ens1", "adas-ens2")))["mpiReplicaSpecs"]
    assert roles["Worker"]["template"]["metadata"]["annotations"] == {NETWORKS: "adas-ens1,adas-ens2"}
    assert "metadata" not in roles["Launcher"]["template"]
    assert "metadata" not in spec(arguments())["mpiReplicaSpecs"]["Worker"]["template"]


def test_without_volumes_there_is_no_data() -> None:
    """Without volumes of the tenant, only shared memory is mounted."""
    args = arguments(volumes={}, mounts={})
    assert [mount["mountPath"] for mount in worker(args)["volumeMounts"]] == ["/dev/shm"]  # noqa: S108 - shared memory
    volumes = spec(args)["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["volumes"]
    assert [volume["name"] for volume in volumes] == ["dshm"]


def test_the_claim_is_mounted_where_the_program_looks() -> None:
    """The claim is mounted at the folders of `mounts`."""
    mounts = worker(arguments(mounts={"/efs": "", "/coco": "coco2017"}))["volumeMounts"]
    assert mounts[:2] == [
        {"name": "data", "mountPath": "/efs"},
        {"name": "data", "mountPath": "/coco", "subPath": "coco2017"},
    ]


def test_the_runtimes_hook_is_told_beside_the_drivers() -> None:
    """Variables of the runtime's hook stand beside IBV_DRIVERS."""
    found = worker(arguments(runtime_environment={"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}))["env"]
    assert [each["name"] for each in found] == ["IBV_DRIVERS", "NVIDIA_DRIVER_CAPABILITIES"]


def test_a_job_can_be_bound_to_one_node() -> None:
    """A job with `node` has the affinity to that node."""
    pod = spec(arguments(node="dgx01"))["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms[0]["matchFields"][0]["values"] == ["dgx01"]
    assert "matchExpressions" not in terms[0]


@pytest.mark.parametrize("node", [None, "dgx01"])
def test_a_job_keeps_off_unfit_nodes(node: str | None) -> None:
    """With `fit_nodes` a node must be without the label, beside being the job's own."""
    pod = spec(arguments(fit_nodes=True, node=node))["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "hpc.pulumi/unfit", "operator": "DoesNotExist"}]
    assert ("matchFields" in term) is (node is not None)


def test_debugging_tells_of_starting_and_connecting() -> None:
    """`debug` makes Open MPI log how it starts and connects."""
    words = mpirun(arguments(debug=True))
    assert words[words.index("plm_base_verbose") - 1 :][:6] == [
        *("-mca", "plm_base_verbose", "100", "-mca", "btl_base_verbose", "30")
    ]
    assert "plm_base_verbose" not in mpirun(arguments())


@pytest.mark.parametrize(
    ("layout", "label"),
    [((1, 8, None), "01x08"), ((16, 1, 2), "16x01x02"), ((2, 8, 2), "02x08x02")],
)
def test_names_tell_the_layout(layout: tuple[int, int, int | None], label: str) -> None:
    """A job's name ends with its layout."""
    pods, gpus, nodes = layout
    assert str(Layout(pods=pods, gpus=gpus, nodes=nodes)) == label


def test_a_failed_launcher_keeps_its_log() -> None:
    """A failed launcher's pod is retained with its log."""
    assert spec(arguments())["mpiReplicaSpecs"]["Launcher"]["restartPolicy"] == "Never"
