"""Fabrics, ways to GPUs and machines: what goes together."""

from typing import Any

import pytest
from pulumi import ResourceOptions

from stacks.layers import fabric
from stacks.loading.settings import load, parse
from tests.support.declared import declared, only
from tests.support.recorded import ROOT, environment, of_kind, spec
from tests.support.stack_settings import data, expect_refusal, only_pool


@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [
        ("dgx[01-04].lab", 4, "dgx01.lab", "dgx04.lab"),
        ("dgx[9-11]", 3, "dgx9", "dgx11"),
        ("dgx[1,3-4]", 3, "dgx1", "dgx4"),
        ("dgx7", 1, "dgx7", "dgx7"),
    ],
)
def test_a_range_of_names_is_as_many_nodes(name: str, count: int, first: str, last: str) -> None:
    """A range in a node's name stands for as many nodes."""
    content = data("robotic-drive-ethernet")
    content["nodes"][2]["name"] = name
    content["stages"] = []
    content["tenants"][0]["gpu_quota"] = 8
    machines = [node.name for node in parse(content, "test").gpu_nodes]
    assert (len(machines), machines[0], machines[-1]) == (count, first, last)


def test_superpod_has_its_140_machines() -> None:
    """The SuperPOD example has the 140 machines of the architecture."""
    pod = load("superpod-a100", ROOT)
    assert len(pod.gpu_nodes) == 140
    assert sum(node.gpus for node in pod.gpu_nodes) == 1120


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ("redpaper-4.4", {}),
        ("redpaper-today", {"NCCL_CROSS_NIC": "0"}),
        ("superpod-a100", {"NCCL_CROSS_NIC": "0", "NCCL_COLLNET_ENABLE": "1"}),
        ("nvaie-roce", {"NCCL_CROSS_NIC": "0", "NCCL_IB_TC": "106"}),
        ("robotic-drive-ethernet", {"NCCL_SOCKET_IFNAME": "eth0"}),
    ],
)
def test_nccl_is_told_of_the_fabric(stack: str, expected: dict[str, str]) -> None:
    """NCCL's variables follow from the fabric."""
    settings = load(stack, ROOT)
    assert fabric.environment(only_pool(settings), settings) == expected


def test_roce_without_networks_is_refused() -> None:
    """RoCE needs networks, without which pods have no address on a port."""
    content = data("nvaie-roce")
    del content["fabric"]["networks"]
    expect_refusal(content, "fabric.networks: is missing; add it")
    content["fabric"]["plugin"] = {"kind": "daemon-set", "image": "mellanox/k8s-rdma-shared-dev-plugin:v1"}
    expect_refusal(content, "fabric.plugin … 'network-operator' (value: 'daemon-set')")


@pytest.mark.parametrize(
    ("networks", "expected"),
    [
        ({"subnets": ["10.0.0.0/24", "10.0.0.128/25"]}, "networks … 10.0.0.0/24 and 10.0.0.128/25 overlap"),
        ({"subnets": ["10.0.0.0/24", "10.0.0.0/24"]}, "networks … 10.0.0.0/24 and 10.0.0.0/24 overlap"),
        ({"subnets": ["10.0.0.0/24"], "exclude": ["10.0.1.0/28"]}, "exclude: 10.0.1.0/28 … not part"),
        ({"subnets": ["10.0.0.0/31"]}, "networks … 10.0.0.0/31 … 2 pods"),
        ({"subnets": ["10.0.0.0/29"], "exclude": ["10.0.0.0/29"]}, "networks … 10.0.0.0/29 … 2 pods"),
    ],
)
def test_subnets_that_cannot_work_are_refused(networks: dict[str, Any], expected: str) -> None:
    """Subnets that overlap, or have no addresses for pods, are refused."""
    content = data("nvaie-roce")
    content["fabric"]["networks"] = networks
    expect_refusal(content, expected)


def test_ethernet_has_no_rdma_and_nobody_may_lock_memory() -> None:
    """On Ethernet there is no RDMA object, and no SCC with IPC_LOCK."""
    recorded = environment("robotic-drive-ethernet")
    assert not of_kind(recorded, "SecurityContextConstraints")
    assert not of_kind(recorded, "RoleBinding")[1:]
    assert "rdma/" not in str([item.inputs for item in recorded])
    assert "IPC_LOCK" not in str([item.inputs for item in recorded])
    assert "memlock" not in str([item.inputs for item in recorded])


def test_roce_gives_every_tenant_a_network_on_every_port() -> None:
    """On RoCE every tenant has a network on every port, and its workers join them."""
    recorded = environment("nvaie-roce")
    found = of_kind(recorded, "MacvlanNetwork")
    assert [item.inputs["spec"]["master"] for item in found] == [f"rail{port}" for port in range(8)]
    assert {item.inputs["spec"]["networkNamespace"] for item in found} == {"nvaie"}
    ports = spec(recorded, "NodeNetworkConfigurationPolicy")["desiredState"]["interfaces"]
    assert [(port["name"], port["mtu"]) for port in ports] == [(f"rail{port}", 9216) for port in range(8)]
    workers = [
        job.inputs["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"]
        for job in of_kind(recorded, "MPIJob")
    ]
    wanted = ",".join(f"nvaie-rail{port}" for port in range(8))
    assert all(each["k8s.v1.cni.cncf.io/networks"] == wanted for each in workers)


def test_rails_are_resources_of_the_same_name_everywhere() -> None:
    """Resources are named after the planes, on all machines."""
    policy = spec(environment("prod"), "NicClusterPolicy")["rdmaSharedDevicePlugin"]["config"]
    for rail in range(8):
        assert f'"resourceName": "shared_rail{rail}"' in policy
        assert f'"ifNames": [\n          "rail{rail}"' in policy


def test_old_gpus_keep_the_last_driver_that_knows_them() -> None:
    """V100s keep branch 580, and newer branches are refused."""
    driver = spec(environment("redpaper-today"), "ClusterPolicy")["driver"]
    assert driver["version"].startswith("580.")
    assert driver["kernelModuleType"] == "proprietary"
    assert driver["rdma"] == {"enabled": True, "useHostMofed": False}
    content = data("redpaper-today")
    content["gpu"]["driver"]["version"] = "595.91.07"
    expect_refusal(content, "gpu.driver.version 595.91.07 … Tesla V100-SXM2-16GB; give one of branch 580")


def test_one_wait_is_for_all_machine_configuration() -> None:
    """One wait covers all machine configuration of the pool."""
    recorded = environment("prod")
    waits, others = of_kind(recorded, "MachineConfigPoolPatch")
    assert (waits.inputs["metadata"]["name"], others.inputs["metadata"]["name"]) == ("gpu", "worker")
    awaited = waits.inputs["metadata"]["annotations"]["pulumi.com/waitFor"]
    for part in ("50-gpu-crio-memlock", "50-gpu-kernel-arguments", "50-gpu-rail-names", "99-gpu-generated-kubelet"):
        assert part in awaited


def test_queues_cover_everything_that_jobs_ask_for() -> None:
    """Queues have a quota of every resource that jobs request."""
    recorded = environment("prod")
    queue = spec(recorded, "ClusterQueue", "adas")
    covered = set(queue["resourceGroups"][0]["coveredResources"])
    for job in of_kind(recorded, "MPIJob"):
        assert job.inputs["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobs"
        for replica in job.inputs["spec"]["mpiReplicaSpecs"].values():
            for container in replica["template"]["spec"]["containers"]:
                assert set(container["resources"]["limits"]) <= covered


def test_prod_can_lend_and_the_namespace_does_not_forbid_it() -> None:
    """With a cohort, a namespace's quota allows what Kueue lends."""
    quotas = of_kind(environment("prod"), "ResourceQuota")
    assert {item.inputs["spec"]["hard"]["requests.nvidia.com/gpu"] for item in quotas} == {"32"}


@pytest.mark.parametrize(
    ("stack", "change", "expected"),
    [
        ("redpaper-today", {"machine_config_pool": "worker"}, "machine_config_pool worker … worker03"),
        ("redpaper-today", {"node_feature_discovery": None}, "node_feature_discovery … missing"),
        (
            "redpaper-today",
            {"tuning": {"rail_names": True}},
            "PCI addresses … dgx1-v100-16gb … turn it off … `machines`",
        ),
        ("prod", {"mpi_operator": None}, "queues: Kueue … MPI jobs"),
        (
            "nvaie-roce",
            {"tuning": {"rail_names": False}},
            "ibp12s0 of dgx-a100 … InfiniBand mode; write `link_layer: Ethernet` … `machines` … tuning.rail_names",
        ),
        ("robotic-drive-ethernet", {"storage": None, "tenants": "directory"}, "data … directory, … storage … missing"),
    ],
)
def test_settings_that_do_not_go_together(stack: str, change: dict[str, Any], expected: str) -> None:
    """Combinations on which no job could start are refused."""
    content = data(stack)
    if change.get("tenants") == "directory":
        directory = {
            "name": "data",
            "kind": "directory",
            "volume": "v",
            "claim": "c",
            "path": "/gpfs/x",
            "capacity": "1Gi",
        }
        content["tenants"][0]["volumes"] = [directory]
        change = {}
    expect_refusal(content | change, expected)


def test_gpudirect_of_old_gpus_needs_mellanoxs_driver() -> None:
    """nvidia-peermem needs Mellanox's driver."""
    content = data("redpaper-today")
    content["fabric"]["plugin"]["driver"] = None
    expect_refusal(content, "GPUDirect with Tesla V100-SXM2-16GB … Mellanox's own driver")
    content["fabric"]["plugin"]["host_ofed"] = True
    assert spec_of_driver(content) == {"enabled": True, "useHostMofed": True}


def spec_of_driver(content: dict[str, Any]) -> Any:
    """Return the RDMA part of the GPU driver's spec."""
    from components.gpu.gpu_operator import GpuKind, GpuOperatorArgs  # noqa: PLC0415
    from components.gpu.gpu_operator import spec as policy  # noqa: PLC0415
    from stacks.layers import gpus  # noqa: PLC0415

    pool = only_pool(parse(content, "test"))
    driver = content["gpu"]["driver"]
    args = GpuOperatorArgs(gpus=(GpuKind(gpu=pool.machine.gpu, gpudirect=gpus.gpudirect(pool)),), driver=driver)
    return policy(args)["driver"]["rdma"]


def test_machines_without_named_ports_say_how_to_name_them() -> None:
    """A DGX-2H, whose ports no document names, needs `ports`."""
    content = data("redpaper-today")
    content["tuning"] = {"kubelet": None}
    for node in content["nodes"][-2:]:
        node["machine"] = "dgx2h"
    expect_refusal(content, "8 ports of dgx2h; name them in `ports`, or … ethernet")


def test_nodes_without_scale_keep_no_pagepool() -> None:
    """Nodes without Storage Scale reserve no memory for a client; with its pods they do, and no further CPUs."""
    with_scale, without = (only_pool(load(stack, ROOT)).reserved for stack in ("prod", "superpod-a100"))
    assert (with_scale.memory_gib, without.memory_gib) == (48, 32)
    assert with_scale.cpus == without.cpus


def test_a_bond_is_made_of_ports_as_the_nodes_call_them() -> None:
    """A bond names ports after the planes where udev renames them."""
    content = data("nvaie-roce")
    operator = content["fabric"]["ports"]["operator"]
    content["fabric"] = {"kind": "ethernet", "bond": {"operator": operator}}
    content["stages"] = []
    settings = parse(content, "test")
    policy = only(declared(lambda: fabric.build(settings, ResourceOptions())), "NodeNetworkConfigurationPolicy")
    (bond, *ports) = policy["spec"]["desiredState"]["interfaces"]
    assert [port["name"] for port in ports] == [f"rail{port}" for port in range(8)]
    assert bond["link-aggregation"]["port"] == [port["name"] for port in ports]
