"""Fabrics, ways to GPUs and machines: what goes together."""

from typing import Any

import pytest
from pulumi import ResourceOptions

from stacks import fabric
from stacks.settings import load, parse
from tests.stacks.test_releases import data, message
from tests.support.declared import declared, only
from tests.support.recorded import ROOT, environment, of_kind, one, spec


@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [("dgx[01-04].lab", 4, "dgx01.lab", "dgx04.lab"), ("dgx[9-11]", 3, "dgx9", "dgx11"), ("dgx7", 1, "dgx7", "dgx7")],
)
def test_a_range_of_names_is_as_many_nodes(name: str, count: int, first: str, last: str) -> None:
    """Prevents 140 lines that are alike, and names that are counted wrongly."""
    content = data("robotic-drive-ethernet")
    content["nodes"][2]["name"] = name
    content["stages"] = []
    content["tenants"][0]["gpu_quota"] = 8
    machines = [node.name for node in parse(content, "test").gpu_nodes]
    assert (len(machines), machines[0], machines[-1]) == (count, first, last)


@pytest.mark.parametrize("name", ["dgx[04-01]", "dgx[1-9999]"])
def test_a_range_that_cannot_be_meant_is_refused(name: str) -> None:
    """Prevents a cluster without nodes, or a file that takes all memory."""
    content = data("robotic-drive-ethernet")
    content["nodes"][2]["name"] = name
    assert f"name {name!r}: the range" in message(content)


def test_superpod_has_its_140_machines() -> None:
    """Prevents the POD of D-3.1 from shrinking."""
    pod = load("superpod-a100", ROOT)
    assert len(pod.gpu_nodes) == 140
    assert sum(pod.free.values()) == 1120


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
    """Prevents a job that falls back to another network, or waits for one that is not there."""
    assert fabric.environment(load(stack, ROOT)) == expected


def test_roce_without_networks_is_refused() -> None:
    """Prevents pods that have a port and no address on it: all its addresses read as zero."""
    content = data("nvaie-roce")
    del content["fabric"]["networks"]
    assert "fabric.networks: Field required" in message(content)
    content["fabric"]["plugin"] = {"kind": "daemon-set", "image": "mellanox/k8s-rdma-shared-dev-plugin:v1"}
    assert "Input should be 'network-operator' (value: 'daemon-set')" in message(content)


@pytest.mark.parametrize(
    ("networks", "expected"),
    [
        ({"subnets": ["10.0.0.0/24", "10.0.0.128/25"]}, "10.0.0.0/24 and 10.0.0.128/25 overlap"),
        ({"subnets": ["10.0.0.0/24", "10.0.0.0/24"]}, "10.0.0.0/24 and 10.0.0.0/24 overlap"),
        ({"subnets": ["10.0.0.0/24"], "exclude": ["10.0.1.0/28"]}, "exclude: 10.0.1.0/28 is not part of one"),
        ({"subnets": ["10.0.0.0/31"]}, "10.0.0.0/31 has no addresses for 2 pods"),
        ({"subnets": ["10.0.0.0/29"], "exclude": ["10.0.0.0/29"]}, "10.0.0.0/29 has no addresses for 2 pods"),
    ],
)
def test_subnets_that_cannot_work_are_refused(networks: dict[str, Any], expected: str) -> None:
    """Prevents two ports with one address, an address of a switch that a pod gets, and pods without any."""
    content = data("nvaie-roce")
    content["fabric"]["networks"] = networks
    assert expected in message(content)


def test_ethernet_has_no_rdma_and_nobody_may_lock_memory() -> None:
    """Prevents a right that nothing on the platform needs."""
    recorded = environment("robotic-drive-ethernet")
    assert not of_kind(recorded, "SecurityContextConstraints")
    assert not of_kind(recorded, "RoleBinding")[1:]
    assert "rdma/" not in str([item.inputs for item in recorded])
    assert "IPC_LOCK" not in str([item.inputs for item in recorded])
    assert "memlock" not in str([item.inputs for item in recorded])


def test_roce_gives_every_tenant_a_network_on_every_port() -> None:
    """Prevents pods without an address on a port: RoCE then has no GID there, and NCCL leaves the port out."""
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
    """Prevents a resource that means another plane on another machine (D-3.6)."""
    policy = spec(environment("prod"), "NicClusterPolicy")["rdmaSharedDevicePlugin"]["config"]
    for rail in range(8):
        assert f'"resourceName": "shared_rail{rail}"' in policy
        assert f'"ifNames": [\n          "rail{rail}"' in policy


def test_old_gpus_keep_the_last_driver_that_knows_them() -> None:
    """Prevents a V100 that a newer branch does not drive (platform-facts 1.1)."""
    driver = spec(environment("redpaper-today"), "ClusterPolicy")["driver"]
    assert driver["version"].startswith("580.")
    assert driver["kernelModuleType"] == "proprietary"
    assert driver["rdma"] == {"enabled": True, "useHostMofed": False}
    content = data("redpaper-today")
    content["gpu"]["driver"]["version"] = "595.91.07"
    assert "gpu.driver.version 595.91.07 does not know Tesla V100-SXM2-16GB; give one of branch 580" in message(content)


def test_one_wait_is_for_all_machine_configuration() -> None:
    """Prevents drivers and jobs on nodes that restart once more for the part that nobody waited for."""
    recorded = environment("prod")
    (waits,) = of_kind(recorded, "MachineConfigPoolPatch")
    awaited = waits.inputs["metadata"]["annotations"]["pulumi.com/waitFor"]
    for part in ("50-gpu-crio-memlock", "50-gpu-kernel-arguments", "50-gpu-rail-names", "99-gpu-generated-kubelet"):
        assert part in awaited


def test_queues_cover_everything_that_jobs_ask_for() -> None:
    """Prevents a resource without a quota, for which Kueue keeps jobs waiting for ever."""
    recorded = environment("prod")
    queue = spec(recorded, "ClusterQueue", "adas")
    covered = set(queue["resourceGroups"][0]["coveredResources"])
    for job in of_kind(recorded, "MPIJob"):
        assert job.inputs["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobs"
        for replica in job.inputs["spec"]["mpiReplicaSpecs"].values():
            for container in replica["template"]["spec"]["containers"]:
                assert set(container["resources"]["limits"]) <= covered


def test_prod_can_lend_and_the_namespace_does_not_forbid_it() -> None:
    """Prevents a quota of the namespace that refuses the pods of a job that Kueue has admitted."""
    quotas = of_kind(environment("prod"), "ResourceQuota")
    assert {item.inputs["spec"]["hard"]["requests.nvidia.com/gpu"] for item in quotas} == {"32"}


@pytest.mark.parametrize(
    ("stack", "change", "expected"),
    [
        ("redpaper-today", {"machine_config_pool": "worker"}, "machine_config_pool worker has worker03"),
        ("redpaper-today", {"node_feature_discovery": None}, "node_feature_discovery is missing"),
        (
            "redpaper-today",
            {"tuning": {"rail_names": True}},
            "no PCI addresses of the ports of dgx1-v100-16gb are known",
        ),
        ("prod", {"mpi_operator": None}, "queues: Kueue is made for MPI jobs here"),
        ("nvaie-roce", {"tuning": {"rail_names": False}}, "is the name of a port in InfiniBand mode"),
        ("robotic-drive-ethernet", {"storage": None, "tenants": "directory"}, "is a directory, and storage is missing"),
    ],
)
def test_settings_that_do_not_go_together(stack: str, change: dict[str, Any], expected: str) -> None:
    """Prevents a platform that comes up and on which no job starts."""
    content = data(stack)
    if change.get("tenants") == "directory":
        directory = {"kind": "directory", "volume": "v", "claim": "c", "path": "/gpfs/x", "capacity": "1Gi"}
        content["tenants"][0]["data"] = directory
        change = {}
    assert expected in message(content | change)


def test_gpudirect_of_old_gpus_needs_mellanoxs_driver() -> None:
    """Prevents nvidia-peermem without the driver that it needs: jobs then copy through the host, without a word."""
    content = data("redpaper-today")
    content["fabric"]["plugin"]["driver"] = None
    assert "GPUDirect with Tesla V100-SXM2-16GB needs Mellanox's own driver" in message(content)
    content["fabric"]["plugin"]["host_ofed"] = True
    assert spec_of_driver(content) == {"enabled": True, "useHostMofed": True}


def spec_of_driver(content: dict[str, Any]) -> Any:
    """Return what the GPU driver is told of RDMA."""
    from components.gpu_operator import GpuOperatorArgs  # noqa: PLC0415
    from components.gpu_operator import spec as policy  # noqa: PLC0415
    from stacks import gpus  # noqa: PLC0415

    settings = parse(content, "test")
    driver = content["gpu"]["driver"]
    args = GpuOperatorArgs(gpu=settings.profile.gpu, driver=driver, gpudirect=gpus.gpudirect(settings))
    return policy(args)["driver"]["rdma"]


def test_machines_without_named_ports_say_how_to_name_them() -> None:
    """Prevents a guess at the names of a DGX-2H's ports, which no document gives."""
    content = data("redpaper-today")
    content["tuning"] = {"kubelet": None}
    for node in content["nodes"][-2:]:
        node["profile"] = "dgx2h"
    assert "no document names the 8 ports of dgx2h; name them in `ports`, or choose ethernet" in message(content)


def test_protected_kinds_of_prod_are_protected() -> None:
    """Prevents an update of production from taking its nodes out of their pool."""
    assert one(environment("prod"), "MachineConfigPool").protect


def test_nodes_without_scale_keep_no_pagepool() -> None:
    """Prevents a quarter of each machine's memory from being kept for a file system that is not there."""
    with_scale, without = load("prod", ROOT).reserved, load("superpod-a100", ROOT).reserved
    assert (with_scale.memory_gib, without.memory_gib) == (288, 32)
    assert with_scale.cpus == without.cpus


def test_a_bond_is_made_of_ports_as_the_nodes_call_them() -> None:
    """Prevents a policy that fails on every node, because udev has given the ports the names of the planes."""
    content = data("nvaie-roce")
    operator = content["fabric"]["ports"]["operator"]
    content["fabric"] = {"kind": "ethernet", "bond": {"operator": operator}}
    content["stages"] = []
    settings = parse(content, "test")
    policy = only(declared(lambda: fabric.build(settings, ResourceOptions())), "NodeNetworkConfigurationPolicy")
    (bond, *ports) = policy["spec"]["desiredState"]["interfaces"]
    assert [port["name"] for port in ports] == [f"rail{port}" for port in range(8)]
    assert bond["link-aggregation"]["port"] == [port["name"] for port in ports]
