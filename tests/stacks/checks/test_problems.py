"""Combinations of settings that parse and cannot work: each is refused by name, with its value and the remedy."""

from typing import Any

import pytest

from stacks import environment
from stacks.loading.settings import parse
from stacks.resolved import jobs
from tests.support.recorded import ROOT, component, spec
from tests.support.stack_settings import changed, data, expect_message, expect_refusal, message

NO_BOND = {"kind": "ethernet"}
JOB = {"kind": "job", "name": "it", "program": "pytorch-synthetic", "image": "example/pytorch:1"}


def test_a_quota_above_the_machines() -> None:
    """Without queues, too, a tenant has no more GPUs than there are; together tenants may have more."""
    without = changed("prod", queues=None, tenants__0__gpu_quota=33)
    expect_refusal(without, "tenants: gpu_quota 33 of adas … 32 GPUs …; lower it")


@pytest.mark.parametrize("reserved", [7, 400])
def test_cpus_that_no_kubelet_can_reserve_are_no_traceback(reserved: int) -> None:
    """Half a core, or more CPUs than there are, is refused with its value."""
    text = message(changed("prod", tuning__kubelet__reserved=reserved))
    expect_message(text, f"tuning.kubelet.reserved {reserved}: … ")


def test_a_tenant_without_gpus_of_its_own_has_a_queue() -> None:
    """A tenant that only borrows GPUs has a quota for its launchers."""
    wanted = parse(changed("prod", tenants__2__gpu_quota=0, tenants__0__gpu_quota=24), "test")
    recorded = component(lambda: environment.build(wanted, environment.placeholder_accounts(wanted, "nobody"), ROOT))
    (group,) = spec(recorded, "ClusterQueue", "simulation")["resourceGroups"]
    amounts = {each["name"]: each["nominalQuota"] for each in group["flavors"][0]["resources"]}
    assert (amounts["nvidia.com/gpu"], amounts["cpu"], amounts["memory"]) == ("0", "4", "8Gi")


@pytest.mark.parametrize(
    ("reserve", "expected"),
    [
        ({"cpus": 8, "memory_gib": 0}, "reserve.memory_gib 0: … dgx1-v100-16gb … 16 GiB"),
        ({"cpus": 8}, "reserve.cpus 8: … dgx1-v100-16gb … 9 CPUs"),
        ({"cpus": 80}, "reserve: … 80 CPUs"),
    ],
)
def test_nodes_keep_what_their_system_needs(reserve: dict[str, int], expected: str) -> None:
    """A reserve below what the kubelet and DaemonSets need is refused."""
    expect_refusal(changed("redpaper-today", reserve=reserve), expected)


def test_a_bond_is_made_where_nodes_are_labelled() -> None:
    """A bond needs node feature discovery, whose labels its policy selects."""
    plugin = {"enablement": "device-plugin", "image": "nvidia/k8s-device-plugin:v0.17"}
    without = changed("robotic-drive-ethernet", gpu=plugin, node_feature_discovery=None)
    expect_refusal(without, "node_feature_discovery … missing")
    assert parse(without | {"fabric": NO_BOND}, "test")


def test_the_rdma_plugin_needs_no_labels_of_node_feature_discovery() -> None:
    """The RDMA plugin selects nodes by the stack's own label, and the Network Operator by that of the adapters."""
    gpu = {"enablement": "device-plugin", "image": "nvidia/k8s-device-plugin:v0.17"}
    image = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.0"
    without = {"gpu": gpu, "node_feature_discovery": None, "fabric__plugin__driver": None}
    expect_refusal(changed("h200-infiniband", **without), "node_feature_discovery … missing")
    plugin = {"kind": "daemon-set", "image": image}
    assert parse(changed("h200-infiniband", **without | {"fabric__plugin": plugin}), "test")


@pytest.mark.parametrize(
    ("stack", "gpus", "reserve", "expected"),
    [
        ("prod", 8, None, "NUMA node of dgx-a100 … 2 GPUs …; give at most 2"),
        ("prod", 4, None, "layout.gpus 4: tuning.kubelet.topology_policy … single-numa-node"),
        ("prod", 2, {"cpus": 32, "memory_gib": 400}, "layout.gpus 2 … 56 CPUs"),
        ("prod", 2, None, None),
        ("robotic-drive-ethernet", 8, None, "NUMA node of dgx1-v100-32gb … 4 GPUs …; give at most 4"),
        ("robotic-drive-ethernet", 4, None, None),
    ],
)
def test_layouts_fit_a_numa_node_where_they_must(
    stack: str, gpus: int, reserve: dict[str, int] | None, expected: str | None
) -> None:
    """With single-numa-node, pods that no NUMA node can hold are refused."""
    content = changed(stack, tuning__kubelet__topology_policy="single-numa-node", reserve=reserve)
    content["stages"] = [
        {"name": "all", "workloads": [JOB | {"tenant": content["tenants"][0]["namespace"], "gpus": gpus}]}
    ]
    if expected is None:
        assert parse(content, "test")
    else:
        expect_refusal(content, expected)


@pytest.mark.parametrize(
    ("stack", "settings", "expected"),
    [
        (
            "supermicro-3.11",
            {"priority_classes": [{"class_name": "training", "value": 1, "purpose": "training"}]},
            "priority_classes: OpenShift 3.11 … scheduling.k8s.io/v1 …; leave it out, or … release 4.4 … 4.20",
        ),
        (
            "dev",
            {"volumes": {"kind": "cache", "secret": "bucket"}},
            "storage.classes[0].volumes.kind: OpenShift 4.4 … cache; … independent-fileset, …",
        ),
        ("dev", {"expandable": True}, "storage.classes[0].expandable: OpenShift 4.4 …; leave it out"),
    ],
)
def test_releases_refuse_what_their_drivers_and_apis_lack(stack: str, settings: dict[str, Any], expected: str) -> None:
    """Settings that a release's driver or API does not support are refused."""
    if stack == "dev":
        scale = {"class_name": "scale", "file_system": "ess3000_4M", "cluster_id": "16217308676014575381"}
        settings = {"storage__classes": [scale | settings]}
    expect_refusal(changed(stack, **settings), expected)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/mnt/ess3000/adas", "tenants: volumes.data … perception … adas"),
        ("/mnt/ess3000//adas/", "tenants: volumes.data … perception … adas"),
        ("/mnt/ess3000/adas/maps", "perception … inside /mnt/ess3000/adas of adas"),
        ("/mnt/x/../ess3000", "adas … inside /mnt/x/../ess3000 of perception"),
        ("/mnt/ess3000/a;path=/b", "tenants[1].volumes[0].path"),
        ("/mnt/ess3000/adas2", None),
    ],
)
def test_a_directory_is_one_tenants(path: str, expected: str | None) -> None:
    """Two namespaces cannot share a directory, whose SELinux label is of one."""
    content = changed("prod", tenants__1__volumes__0__path=path)
    if expected is None:
        assert parse(content, "test")
    else:
        expect_refusal(content, expected)


@pytest.mark.parametrize("level", ["s0:c24,c27", "s0:c0027,c24"])
def test_the_order_of_categories_means_nothing(level: str) -> None:
    """One SELinux level is found twice in whatever order its categories are written."""
    expect_refusal(changed("prod", tenants__1__mcs=level), "tenants: mcs 's0:c27,c24' …; give each its own")


@pytest.mark.parametrize("level", ["s0:c5,c5", "s0:c9999,c1", "s0:c1024,c1", "s0:c1"])
def test_levels_have_two_categories_of_selinux(level: str) -> None:
    """A level needs two different categories of c0 to c1023."""
    assert "tenants[1].mcs" in message(changed("prod", tenants__1__mcs=level))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"machine_config_pool": "master"},
            "machine_config_pool master … worker … dgx04",
        ),
        ({"nodes__2__roles": ["master", "worker"]}, "machine_config_pool gpu: dgx01.hpc.example.com … master"),
        ({"nodes__2__roles": ["master"]}, "nodes: roles master of dgx01.hpc.example.com"),
        ({"machine_config_pool": "worker"}, "machine_config_pool worker … worker01.hpc.example.com"),
    ],
)
def test_gpu_nodes_are_in_the_pool_that_is_named(settings: dict[str, Any], expected: str) -> None:
    """The pool must be one whose configuration reaches all GPU nodes, and no others."""
    expect_refusal(changed("prod", **settings), expected)


@pytest.mark.parametrize("ports", [False, True])
def test_infiniband_needs_ports_of_infiniband(*, ports: bool) -> None:
    """InfiniBand is refused on the Ethernet adapters of a SYS-4029GP-TVRT."""
    content = changed("redpaper-today", tuning=None, machine_config_pool="worker")
    for node in content["nodes"]:
        if "machine" in node:
            node["machine"] = "sys-4029gp-tvrt"
    if ports:
        content["ports"] = [
            {"name": f"mlx5_{port}", "netdev": f"ens{port}", "numa": 0, "gpus": [], "rate_gbps": 25, "distance": None}
            for port in range(4)
        ]
    expect_refusal(content, "fabric … 25 Gb/s … Ethernet's; … roce or ethernet")


def test_ports_that_contradict_the_machine_say_why() -> None:
    """Ports that contradict the machine hide the rules that depend on them."""
    content = data("robotic-drive-ethernet")
    del content["ports"][3]
    expect_refusal(content, "ports: dgx1-v100-32gb: name all 4 ports or none, not 3")


def test_the_release_names_the_clusters_registry() -> None:
    """Images built on 3.11 are named by that release's registry."""
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
    (job,) = jobs.every(settings)
    assert isinstance(job, jobs.ProgramJob)
    assert job.image == "docker-registry.default.svc:5000/nvidia/torch:1"


def test_a_cohort_lends_what_its_tenants_have() -> None:
    """A cohort lends no GPUs outside its tenants' quotas: the message has the tenant's own quota, and all of them."""
    expect_refusal(
        changed("prod", tenants__2__gpu_quota=0),
        "layout 04x08 … 32 GPUs … tenant adas, whose gpu_quota is 16, may hold 24 at most … cohort …; lower … raise",
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"tenants__0__uid_range": {"start": 1075480000, "size": 2**31}}, "tenants … uid_range … 2147483647"),
        ({"tenants__0__run_as_gid": 2**32}, "tenants[0].run_as_gid: … 2147483647"),
        ({"tuning__further_arguments": ["two words"]}, "tuning.further_arguments[0]"),
    ],
)
def test_what_nodes_and_pods_refuse_is_refused_before(settings: dict[str, Any], expected: str) -> None:
    """What nodes or pods would refuse later is refused with the settings."""
    expect_refusal(changed("prod", **settings), expected)


@pytest.mark.parametrize(("hca_max", "refused"), [(8, True), (9, True), (10, False)])
def test_a_port_is_offered_to_all_pods_of_a_node(hca_max: int, refused: bool) -> None:
    """hca_max must cover all pods with GPUs of a node, and two of each RDMA test."""
    wrong = changed("prod", fabric__hca_max=hca_max)
    if not refused:
        assert parse(wrong, "test").fabric
        return
    expect_refusal(wrong, f"fabric.hca_max {hca_max} … 8 pods … 2 of RDMA tests …; give 10")


def test_a_hosted_control_plane_needs_no_machine_configs() -> None:
    """Tuning and a pool are refused where NodePools configure the nodes; without them no MachineConfig is declared."""
    hosted = changed("h100-roce", cluster__hosted=True)
    expect_refusal(hosted, "tuning needs MachineConfigs … NodePools")
    refused = message(changed("nvaie-roce", cluster__hosted=True, tuning=None, machine_config_pool="worker"))
    assert "name them in `ports`" in refused
    assert "tuning.rail_names" not in refused
    wanted = parse(changed("h100-roce", cluster__hosted=True, tuning=None, machine_config_pool="worker"), "test")
    recorded = component(lambda: environment.build(wanted, environment.placeholder_accounts(wanted, "nobody"), ROOT))
    assert not [item.name for item in recorded if "machineconfiguration" in item.type]
