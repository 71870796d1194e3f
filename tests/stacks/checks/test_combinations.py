"""What is wrong only together: path, value and remedy of each."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.support.stack_settings import changed, data, expect_refusal, message

ADAS = {
    "kind": "job",
    "tenant": "adas",
    "name": "it",
    "program": "pytorch-synthetic",
    "image": "example/pytorch:1",
    "gpus": 1,
}
MPI = {
    "kind": "mpi",
    "tenant": "adas",
    "name": "it",
    "program": "nccl-all-reduce",
    "image": "example/nccl:1",
    "layout": {"pods": 2, "gpus": 8},
}
BIG = MPI | {"launcher": {"cpu": "16", "memory": "64Gi"}}


def stages(*workloads: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one stage of these workloads."""
    return [{"name": "all", "workloads": list(workloads)}]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    # Volumes
    (
        "dev",
        {"nodes__6__scale_client": False},
        "nodes: scale_client is false of dgx02.ocp4.scale.ibm.com, … adas … Spectrum Scale",
    ),
    (
        "dev",
        {"storage__clusters__1__id": "16217308676014575381"},
        "storage.clusters: id '16217308676014575381' …; give each its own",
    ),
    (
        "dev",
        {"storage__clusters__1__secret": "csisecret-local"},
        "storage.clusters: secret 'csisecret-local' …; give each its own",
    ),
    (
        "dev",
        {"storage__classes": [{"class_name": "scale", "file_system": "ess3000_4M", "cluster_id": "17"}]},
        "storage.classes: cluster_id 17 of scale … storage.clusters … 16217308676014575381, 215057217487177715 …; "
        "correct it, or give that cluster's GUI",
    ),
    # Container-native Storage Scale
    (
        "prod",
        {"storage__classes__0__cluster_id": "17"},
        "storage.classes: cluster_id 17 of scale-scratch … storage.remote.id and storage.cluster_id "
        "(8027419560331176409, 215057217487177715); correct it",
    ),
    (
        "prod",
        {"release": "4.18", "nodes__1__scale_client": True},
        "nodes: scale_client true of worker01.hpc.example.com: … container-native … never beside …; leave scale_client",
    ),
    (
        "prod",
        {"nodes__0__name": "master01.hpc.example.com"},
        "storage.kind container-native: 1 of the nodes are masters, and it needs 3; add some",
    ),
    (
        "prod",
        {"nodes__1__name": "worker[001-125].hpc.example.com"},
        "storage.kind container-native: the cluster has 129 workers, and needs 3 to 128; use other storage, or several",
    ),
    (
        "redpaper-today",
        {"nodes__3__roles": ["master"], "nodes__4__roles": ["master"]},
        "storage.kind container-native: the cluster has 2 workers, and needs 3 to 128; add some",
    ),
    (
        "prod",
        {"storage__version": "5.2.2.1", "storage__rdma": {"link": "roce", "ports": ["mlx5_0/1"]}},
        "storage.rdma.link roce: version 5.2.2.1 …; use 5.2.3.0 or later, or leave storage.rdma out",
    ),
    (
        "prod",
        {"tenants__0__volumes__0__path": "/gpfs/ess3000_4M/adas"},
        "tenants: volumes.data.path /gpfs/ess3000_4M/adas of adas is not below /mnt/ess3000 …; correct it",
    ),
    (
        "prod",
        {"tenants__0__volumes__0__path": "/mnt/ess3000/../adas"},
        "tenants: volumes.data.path /mnt/ess3000/../adas of adas is not below /mnt/ess3000",
    ),
    (
        "prod",
        {"storage__cluster_id": None},
        "storage.cluster_id is missing, and data of adas, perception is a directory …; update without these tenants",
    ),
    # Queues
    (
        "prod",
        {"queues__cohort": None, "stages": stages(BIG)},
        "queues.launchers.cpus 4: job adas/it-02x08 … 272 CPUs … 260 …; give 16, or lower `launcher`",
    ),
    (
        "prod",
        {"queues__cohort": None, "stages": stages(BIG)},
        "queues.launchers.memory_gib 8: job adas/it-02x08 … 2016 GiB … 1960 …; give ",
    ),
    (
        "prod",
        {
            "queues__launchers": {"cpus": 1, "memory_gib": 8},
            "stages": stages(
                *(
                    MPI
                    | {"name": name, "layout": {"pods": 2, "gpus": 8}, "launcher": {"cpu": "1700m", "memory": "1Gi"}}
                    for name in ("one", "two")
                )
            ),
        },
        "queues.launchers.cpus 1: job adas/one-02x08, adas/two-02x08 … together",
    ),
    (
        "prod",
        {
            "queues__launchers": {"cpus": 1, "memory_gib": 8},
            "stages": [
                {
                    "name": name,
                    "workloads": [
                        MPI | {"name": name, "wait": "started", "launcher": {"cpu": "1700m", "memory": "1Gi"}}
                    ],
                }
                for name in ("one", "two")
            ],
        },
        "adas/one-02x08, adas/two-02x08 … 515.4 CPUs … 515 …; give 2, or lower `launcher`",
    ),
    (
        "prod",
        {"queues__cohort": None, "queues__reclaim": "Any"},
        "queues: reclaim Any has no effect without a cohort, in which tenants lend; name one",
    ),
    # Isolation
    (
        "prod",
        {"tenants__1__isolated": False, "tenants__1__reachable_from": ["monitoring"]},
        "tenants[1]: reachable_from monitoring has no effect in perception, which is not isolated; set "
        "isolated, or leave it out",
    ),
    # Memory of NUMA nodes
    (
        "prod",
        {"tuning__kubelet": {"memory_manager": True, "topology_policy": "restricted"}, "stages": stages(ADAS)},
        "stages: job it: tuning.kubelet … memory_manager … topology_policy restricted … dgx-a100 … 124 GiB … 2 of its "
        "pods … 122 each …; raise reserve.memory_gib to 528",
    ),
    (
        "prod",
        {
            "tuning__kubelet": {"memory_manager": True, "topology_policy": "single-numa-node"},
            "stages": stages(ADAS | {"gpus": 2}),
        },
        "stages: job it: … single-numa-node … 124 GiB … 1 of its pods … 244 each",
    ),
    # Drivers
    (
        "prod",
        {"gpu__driver__version": "418.40.04"},
        "gpu.driver.version 418.40.04 … A100-SXM4-40GB; give one of branch 450 or later",
    ),
    (
        "prod",
        {"gpu__driver__version": "470.57.02"},
        "gpu.driver.version 470.57.02 … open kernel module … A100-SXM4-40GB …; give one of branch 515 or later",
    ),
    (
        "redpaper-today",
        {"gpu__driver__version": "375.26"},
        "gpu.driver.version 375.26 … Tesla V100-SXM2-16GB; give one of branch 580, or an older one",
    ),
    ("prod", {"gpu__driver": None}, "gpu.gdrcopy true … gpu.driver"),
    ("prod", {"gpu__driver": None, "gpu__gdrcopy": False, "gpu__gds": True}, "gpu.gds true … gpu.driver"),
    ("prod", {"gpu__gds_file_systems": {"weka": "wekafs"}}, "gpu.gds_file_systems weka: gpu.gds is off; turn it on"),
    (
        "redpaper-today",
        {"gpu__gds": True},
        "gpu.gds true: Tesla V100-SXM2-16GB is too old for the driver …; set it to false",
    ),
    (
        "prod",
        {"gpu__mig": "mixed"},
        "gpu.mig mixed: … `stages` …; … `free_gpus`",
    ),
    ("redpaper-today", {"gpu__mig": "single"}, "gpu.mig single: Tesla V100-SXM2-16GB …; give none"),
    (
        "dev",
        {"fabric__plugin__host_ofed": False, "fabric__plugin__host_ofed_version": "4.7-3.2.9.0"},
        "fabric.plugin … host_ofed_version 4.7-3.2.9.0: host_ofed is off …; set it, or leave",
    ),
    (
        "nvaie-roce",
        {"builds__0__source__ofed": {"version": "5.2-2.2.4.0"}},
        "builds[0].source.ofed.sha256: is missing; add it",
    ),
    (
        "nvaie-roce",
        {"builds__0__source__ofed": {"version": "5.2-2.2.4.0", "sha256": "ab" * 32}},
        "builds: source.ofed of nvaie/multinode: … has MLNX_OFED 5.2-2.2.4.0, and the nodes have …; build it with",
    ),
    # Images
    (
        "prod",
        {"mpi_operator__image": "mpioperator/mpi-operator:v0.2.3"},
        "mpi_operator.image mpioperator/mpi-operator:v0.2.3 … MPIJob v2beta1 … OpenShift 4.20 …; give 0.3.0 or later, "
        "e.g. mpioperator/mpi-operator:0.8.2",
    ),
    (
        "dev",
        {"mpi_operator__image": "registry.example.com:5000/mpi-operator:0.8.2"},
        "mpi_operator.image … MPIJob v1alpha2 … OpenShift 4.4 …; give mpioperator/mpi-operator:v0.2.3",
    ),
    (
        "redpaper-today",
        {"builds__0__at_once": False},
        "builds: at_once false of adas/tensorflow … job nccl-test …; leave at_once out, or build it and name it as "
        "the job's `image`, image-registry.",
    ),
    (
        "supermicro-3.11",
        {"builds__0__tag": "latest"},
        "builds[0]: tag latest means another image after every build; give each content a tag of its own",
    ),
    # Names
    (
        "prod",
        {"gpu__operator__namespace": "openshift-nfd"},
        "node_feature_discovery.namespace and gpu.operator.namespace: … openshift-nfd; give each its own",
    ),
    (
        "prod",
        {"fabric__plugin__operator__namespace": "nvidia-gpu-operator"},
        "gpu.operator.namespace and fabric.plugin.operator.namespace: … nvidia-gpu-operator; give each its own",
    ),
    (
        "prod",
        {"queues__operator__namespace": "openshift-operators"},
        "queues.operator.namespace openshift-operators … OpenShift's own …; give another, e.g. kueue-operator",
    ),
    (
        "prod",
        {"tenants__1__namespace": "mpi-operator", "builds": [], "stages": []},
        "mpi_operator and tenants: namespace of mpi-operator: … mpi-operator; give each its own",
    ),
    (
        "prod",
        {"tenants__1__namespace": "openshift-nfd", "builds": [], "stages": []},
        "tenants: namespace openshift-nfd … the system …; give the tenant's",
    ),
    (
        "prod",
        {"tenants__1__namespace": "kube-system", "builds": [], "stages": []},
        "tenants: namespace kube-system … the system …; give the tenant's",
    ),
    (
        "prod",
        {"priority_classes__1__class_name": "verification", "stages": []},
        "priority_classes: class_name 'verification' …; give each its own",
    ),
    # Bonds
    (
        "robotic-drive-ethernet",
        {"fabric__bond__ports": ["ens1", "ens1"]},
        "fabric.bond.ports: 'ens1' …; give each its own",
    ),
    (
        "robotic-drive-ethernet",
        {"fabric__bond__interface": "ens1"},
        "fabric.bond.interface ens1 … ports; give it a name of its own, e.g. bond0",
    ),
    # Machines
    (
        "dev",
        {"nodes": [{"name": "worker01", "roles": ["worker"]}]},
        "nodes: … machine …; give the GPU nodes theirs",
    ),
    (
        "dev",
        {"nodes__5__machine": "dgx-a100"},
        "nodes: machine dgx-a100 and dgx1-v100-16gb: … need `pools`; give each kind a pool … and each node its `pool`",
    ),
]


@pytest.mark.parametrize(("stack", "settings", "expected"), REFUSED)
def test_what_cannot_work_is_refused(stack: str, settings: dict[str, Any], expected: str) -> None:
    """Settings that cannot work together are refused with path, value and remedy (images and drivers)."""
    expect_refusal(changed(stack, **settings), expected)


ALLOWED: list[tuple[str, dict[str, Any]]] = [
    # In a cohort the launchers' shares of all tenants are one.
    ("prod", {"stages": stages(MPI | {"launcher": {"cpu": "12", "memory": "24Gi"}})}),
    # GPUs of no tenant leave their CPUs to launchers.
    ("prod", {"queues__cohort": None, "stages": stages(BIG | {"layout": {"pods": 1, "gpus": 8}})}),
    ("prod", {"tuning__kubelet": {"memory_manager": True}, "stages": stages(ADAS)}),
    (
        "prod",
        {
            "tuning__kubelet": {"memory_manager": True, "topology_policy": "restricted"},
            "reserve": {"cpus": 32, "memory_gib": 528},
            "stages": stages(ADAS),
        },
    ),
    ("prod", {"gpu__driver__version": "535.309.01"}),
    ("prod", {"gpu__driver": None, "gpu__gdrcopy": False}),
    ("prod", {"gpu__gds": True, "gpu__gds_file_systems": {"weka": "wekafs"}}),
    ("prod", {"gpu__mig": "mixed", "stages": []}),
    (
        "prod",
        {
            "gpu__mig": "mixed",
            "nodes__2__free_gpus": 4,
            **{f"tenants__{tenant}__gpu_quota": 4 for tenant in range(3)},
            "stages": stages(ADAS),
        },
    ),
    ("prod", {"mpi_operator__image": "example.com/mpi-operator:latest"}),
    ("prod", {"mpi_operator__image": "example.com/operator-of-mpi:v0.2.3"}),
    ("dev", {"nodes__6__scale_client": False, "nodes__6__free_gpus": 0, "stages": []}),
    ("redpaper-today", {"builds__0__at_once": False, "stages": []}),
]


@pytest.mark.parametrize(("stack", "settings"), ALLOWED)
def test_what_works_is_not_refused(stack: str, settings: dict[str, Any]) -> None:
    """Settings that work together are accepted."""
    assert parse(changed(stack, **settings), "test")


def test_every_problem_has_a_line() -> None:
    """The count of the first line is the number of lines, one for each problem."""
    content = changed("prod", gpu__mig="mixed", gpu__driver=None, tenants__1__mcs=data("prod")["tenants"][0]["mcs"])
    first, *lines = message(content).splitlines()
    assert first == f"Pulumi.test.yaml: {len(lines)} wrong"
    assert len(lines) == 3
    assert all(line.startswith("  ") for line in lines)


def test_a_duplicate_tenant_hides_what_follows() -> None:
    """Which of two tenants of one name has a job is not known, so that nothing else is said of its jobs."""
    content = data("dev")
    (tenant,) = content["tenants"]
    text = message({**content, "tenants": [tenant, {**tenant, "gpu_quota": 4}]})
    assert text.splitlines()[1:] == ["  tenants: namespace 'adas' is given twice; give each its own"]
