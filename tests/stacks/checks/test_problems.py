"""Combinations of settings that parse and cannot work: each is refused by name, with its value and the remedy."""

from typing import Any

import pytest

from stacks import environment, images
from stacks.settings import parse
from stacks.workload_settings import JobWorkload
from tests.stacks.test_releases import data, message
from tests.support.recorded import ROOT, component, spec

NO_BOND = {"kind": "ethernet"}
JOB = {"kind": "job", "name": "it", "program": "pytorch-synthetic", "image": "example/pytorch:1"}


def changed(stack: str, **settings: Any) -> dict[str, Any]:
    """Return the data of a stack with other settings; a path has __ between its parts."""
    content = data(stack)
    for path, value in settings.items():
        *parents, last = path.split("__")
        part: Any = content
        for parent in parents:
            part = part[int(parent) if parent.isdecimal() else parent]
        part[int(last) if last.isdecimal() else last] = value
    return content


@pytest.mark.parametrize("reserved", [7, 400])
def test_cpus_that_no_kubelet_can_reserve_are_no_traceback(reserved: int) -> None:
    """Prevents half a core, or more CPUs than there are, from ending an update with a traceback."""
    text = message(changed("prod", tuning__kubelet__reserved=reserved))
    assert f"tuning.kubelet.reserved {reserved}: " in text


def test_a_tenant_without_gpus_of_its_own_has_a_queue() -> None:
    """Prevents a traceback for a tenant that only borrows."""
    wanted = parse(changed("prod", tenants__2__gpu_quota=0, tenants__0__gpu_quota=24), "test")
    recorded = component(lambda: environment.build(wanted, environment.nobody(wanted, "nobody"), ROOT))
    (group,) = spec(recorded, "ClusterQueue", "simulation")["resourceGroups"]
    amounts = {each["name"]: each["nominalQuota"] for each in group["flavors"][0]["resources"]}
    assert (amounts["nvidia.com/gpu"], amounts["cpu"], amounts["memory"]) == ("0", "4", "8Gi")


@pytest.mark.parametrize(
    ("reserve", "expected"),
    [
        ({"cpus": 8, "memory_gib": 0}, "reserve.memory_gib 0: system and DaemonSets of dgx1-v100-16gb need 16 GiB"),
        ({"cpus": 8}, "reserve.cpus 8: system and DaemonSets of dgx1-v100-16gb need 9 CPUs"),
        ({"cpus": 80}, "reserve: a reserve of 80 CPUs"),
    ],
)
def test_nodes_keep_what_their_system_needs(reserve: dict[str, int], expected: str) -> None:
    """Prevents pods with all GPUs of a machine that stay Pending: the kubelet and DaemonSets have the rest."""
    assert expected in message(changed("redpaper-today", reserve=reserve))


def test_a_bond_is_made_where_nodes_are_labelled() -> None:
    """Prevents a policy that selects no node, and says nothing: jobs run over one port or none."""
    plugin = {"enablement": "device-plugin", "image": "nvidia/k8s-device-plugin:v0.17"}
    without = changed("robotic-drive-ethernet", gpu=plugin, node_feature_discovery=None)
    assert "node_feature_discovery is missing" in message(without)
    assert parse(without | {"fabric": NO_BOND}, "test")


@pytest.mark.parametrize(
    ("stack", "gpus", "reserve", "expected"),
    [
        ("prod", 8, None, "a NUMA node of dgx-a100 has 2 GPUs: the nodes end its pods for ever; give at most 2"),
        ("prod", 4, None, "layout.gpus 4: tuning.kubelet.topology_policy is single-numa-node"),
        ("prod", 2, {"cpus": 32, "memory_gib": 400}, "layout.gpus 2 takes 56 CPUs"),
        ("prod", 2, None, None),
        ("robotic-drive-ethernet", 8, None, "a NUMA node of dgx1-v100-32gb has 4 GPUs"),
        ("robotic-drive-ethernet", 4, None, None),
    ],
)
def test_layouts_fit_a_numa_node_where_they_must(
    stack: str, gpus: int, reserve: dict[str, int] | None, expected: str | None
) -> None:
    """Prevents pods that end with TopologyAffinityError and are made again without end (N-4.3)."""
    content = changed(stack, tuning__kubelet__topology_policy="single-numa-node", reserve=reserve)
    content["stages"] = [
        {"name": "all", "workloads": [JOB | {"tenant": content["tenants"][0]["namespace"], "gpus": gpus}]}
    ]
    if expected is None:
        assert parse(content, "test")
    else:
        assert expected in message(content)


@pytest.mark.parametrize(
    ("stack", "settings", "expected"),
    [
        (
            "supermicro-3.11",
            {"priority_classes": [{"class_name": "training", "value": 1, "purpose": "training"}]},
            "priority_classes: OpenShift 3.11 has not scheduling.k8s.io/v1 (Kubernetes 1.14); leave it out, or choose "
            "release 4.4 or 4.20",
        ),
        (
            "dev",
            {"volumes": {"kind": "cache", "secret": "bucket"}},
            "storage.classes.0.volumes.kind: OpenShift 4.4 has no cache; choose independent-fileset or",
        ),
        ("dev", {"expandable": True}, "storage.classes.0.expandable: OpenShift 4.4 has not a resizer in version 2.0"),
    ],
)
def test_releases_refuse_what_their_drivers_and_apis_lack(stack: str, settings: dict[str, Any], expected: str) -> None:
    """Prevents a class whose claims stay Pending, and a kind that the API server does not know."""
    if stack == "dev":
        scale = {"class_name": "scale", "file_system": "ess3000_4M", "cluster_id": "16217308676014575381"}
        settings = {"storage__classes": [scale | settings]}
    assert expected in message(changed(stack, **settings))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/gpfs/ess3000_4M/adas", "is that of "),
        ("/gpfs/ess3000_4M//adas/", "is that of "),
        ("/gpfs/ess3000_4M/adas/maps", "perception is inside /gpfs/ess3000_4M/adas of adas"),
        ("/gpfs/x/../ess3000_4M", "adas is inside /gpfs/x/../ess3000_4M of perception"),
        ("/gpfs/ess3000_4M/a;path=/b", "tenants.1.data.path"),
        ("/gpfs/ess3000_4M/adas2", None),
    ],
)
def test_a_directory_is_one_tenants(path: str, expected: str | None) -> None:
    """Prevents two namespaces that take each other's access by their SELinux levels (platform-facts 1.9)."""
    content = changed("prod", tenants__1__data__path=path)
    if expected is None:
        assert parse(content, "test")
    else:
        assert expected in message(content)


@pytest.mark.parametrize("level", ["s0:c24,c27", "s0:c0027,c24"])
def test_the_order_of_categories_means_nothing(level: str) -> None:
    """Prevents two tenants with one SELinux level that is written in two ways (E-17)."""
    assert "tenants: mcs 's0:c27,c24' is given twice" in message(changed("prod", tenants__1__mcs=level))


@pytest.mark.parametrize("level", ["s0:c5,c5", "s0:c9999,c1", "s0:c1024,c1", "s0:c1"])
def test_levels_have_two_categories_of_selinux(level: str) -> None:
    """Prevents a level that no process can have, or that lets a tenant read others' files."""
    assert "tenants.1.mcs" in message(changed("prod", tenants__1__mcs=level))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"machine_config_pool": "master"},
            "machine_config_pool master has no machine that is a worker only, as dgx04",
        ),
        ({"nodes__2__roles": ["master", "worker"]}, "machine_config_pool gpu: dgx01.hpc.example.com is a master, too"),
        ({"nodes__2__roles": ["master"]}, "nodes: roles master of dgx01.hpc.example.com keep jobs away from its GPUs"),
        ({"machine_config_pool": "worker"}, "machine_config_pool worker has worker01.hpc.example.com in it, too"),
    ],
)
def test_gpu_nodes_are_in_the_pool_that_is_named(settings: dict[str, Any], expected: str) -> None:
    """Prevents a machine configuration that never reaches the GPU nodes, and an update that waits for it."""
    assert expected in message(changed("prod", **settings))


@pytest.mark.parametrize("ports", [False, True])
def test_infiniband_needs_ports_of_infiniband(*, ports: bool) -> None:
    """Prevents a subnet manager that finds nothing: the adapters of a SYS-4029GP-TVRT are Ethernet's."""
    content = changed("redpaper-today", tuning=None, machine_config_pool="worker")
    for node in content["nodes"]:
        if "profile" in node:
            node["profile"] = "sys-4029gp-tvrt"
    if ports:
        content["ports"] = [
            {"name": f"mlx5_{port}", "netdev": f"ens{port}", "numa": 0, "gpus": [], "rate_gbps": 25, "distance": None}
            for port in range(4)
        ]
    assert "25 Gb/s) are Ethernet's; choose roce or ethernet" in message(content)


def test_ports_that_contradict_the_machine_say_why() -> None:
    """Prevents `1 validation error`, and rules about machines that have no ports."""
    content = data("robotic-drive-ethernet")
    del content["ports"][3]
    assert "ports: dgx1-v100-32gb: hcas: name all 4 ports or none, not 3" in message(content)


def test_the_release_names_the_clusters_registry() -> None:
    """Prevents an image that is built on 3.11 and that no pod finds."""
    content = data("supermicro-3.11")
    base = "nvidia/cuda:10.1-cudnn7-devel-ubi8"
    content["builds"] = [
        {
            "tenant": "nvidia",
            "name": "torch",
            "tag": "1",
            "base": base,
            "source": {"kind": "pytorch", "pytorch": "v1.1.0"},
        }
    ]
    content["stages"] = [{"name": "all", "workloads": [JOB | {"tenant": "nvidia", "image": None, "build": "torch"}]}]
    settings = parse(content, "test")
    (workload,) = settings.stages[0].workloads
    assert isinstance(workload, JobWorkload)
    assert images.image(workload, settings) == "docker-registry.default.svc:5000/nvidia/torch:1"


def test_a_cohort_lends_what_its_tenants_have() -> None:
    """Prevents a job that Kueue never admits: GPUs that are in nobody's quota are nobody's to lend."""
    text = message(changed("prod", tenants__2__gpu_quota=0))
    assert "layout 04x08 takes 32 GPUs, and tenant adas has a gpu_quota of 24" in text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"tenants__0__uid_range": {"start": 1075480000, "size": 2**31}}, "goes beyond 2147483647, the last id"),
        ({"tenants__0__run_as_gid": 2**32}, "tenants.0.run_as_gid: Input should be less than or equal to 2147483647"),
        ({"tuning__further_arguments": ["two words"]}, "tuning.further_arguments.0"),
    ],
)
def test_what_nodes_and_pods_refuse_is_refused_before(settings: dict[str, Any], expected: str) -> None:
    """Prevents pods that the API server refuses after everything else is there, and a traceback from a component."""
    assert expected in message(changed("prod", **settings))


@pytest.mark.parametrize(("hca_max", "refused"), [(8, True), (9, True), (10, False)])
def test_a_port_is_offered_to_all_pods_of_a_node(hca_max: int, refused: bool) -> None:
    """Prevents settings that the pack refuses only at the update: a node of prod has 8 GPUs, and 2 pods of a test."""
    wrong = changed("prod", fabric__hca_max=hca_max)
    if not refused:
        assert parse(wrong, "test").fabric
        return
    told = (
        f"fabric.hca_max {hca_max} is less than the 8 pods with GPUs and 2 of RDMA tests that a node can hold; give 10"
    )
    assert told in message(wrong)
