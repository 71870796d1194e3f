"""Pools: GPU machines of several kinds in one cluster."""

from collections import Counter
from typing import Any

import pytest

from components.jobs.mpi_job import MpiJobArgs
from core.apis import names
from stacks.layers.job_arguments import of_job
from stacks.loading.settings import load, parse
from stacks.resolved import jobs
from tests.support.recorded import ROOT, before, built, environment, of_kind, spec
from tests.support.stack_settings import changed, data

MIXED = load("mixed", ROOT)
RDMA = {f"rdma/shared_enp{bus}s0np0" for bus in (24, 64, 79, 94, 154, 192, 206, 220)}


def labels(node: str) -> dict[str, str]:
    """Return the labels that the stack gives a node."""
    (found,) = (
        item for item in of_kind(environment("mixed"), "NodePatch") if item.inputs["metadata"]["name"].startswith(node)
    )
    return dict(found.inputs["metadata"]["labels"])


def test_nodes_have_the_label_of_their_pool_before_any_driver() -> None:
    """The stack itself labels nodes by pool: GPU feature discovery's labels come late, and change with MIG."""
    assert {node: labels(node)[names.POOL] for node in ("dgx01", "l40s-02", "a100-01", "worker01")} == {
        "dgx01": "training",
        "l40s-02": "inference",
        "a100-01": "former",
        "worker01": "cpu",
    }
    assert labels("dgx01")[f"{names.NODE_ROLE}gpu"] == ""
    assert f"{names.NODE_ROLE}gpu" not in labels("l40s-01")


def test_a_pool_has_what_it_leaves_out_from_the_stack_and_null_is_none() -> None:
    """What a pool leaves out is the stack's; null of `tuning` is none."""
    training, inference, former = MIXED.gpu_pools
    assert (training.fabric, training.tuning, training.machine_config_pool) == (MIXED.fabric, MIXED.tuning, "gpu")
    assert (inference.tuning, former.tuning) == (None, None)
    assert [pool.fabric.kind for pool in MIXED.gpu_pools] == ["roce", "none", "none"]
    assert MIXED.tuning


def test_adapters_are_configured_on_the_pools_with_rdma_alone() -> None:
    """The NIC policy and the ports' policy select the pool with RDMA, and no other GPU node."""
    recorded = environment("mixed")
    (term,) = spec(recorded, "NicClusterPolicy")["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"] == [{"key": names.POOL, "operator": "In", "values": ["training"]}]
    ports = spec(recorded, "NodeNetworkConfigurationPolicy")
    assert ports["nodeSelector"] == {names.POOL: "training"}
    configs = {
        item.inputs["metadata"]["labels"][names.MACHINE_CONFIG_ROLE] for item in of_kind(recorded, "MachineConfig")
    }
    assert configs == {"gpu"}


def test_one_driver_serves_machines_that_take_the_same_module() -> None:
    """The open module is right for all where one kind needs it; of kinds that differ the operator chooses by node."""
    same = changed("mixed", **{f"pools__{pool}__driver": {"version": "595.91.07"} for pool in MIXED.pools})
    recorded = built(same)
    assert spec(recorded, "ClusterPolicy")["driver"]["kernelModuleType"] == "open"
    assert not of_kind(recorded, "NVIDIADriver")


def test_pools_whose_drivers_differ_have_an_object_each() -> None:
    """Each pool's NVIDIADriver selects its nodes alone; what it leaves out is the stack's, and its module its GPUs'."""
    recorded = built(changed("mixed", pools__former__driver={"version": "580.173.02", "auto_upgrade": True}))
    assert spec(recorded, "ClusterPolicy")["driver"] == {"enabled": True, "useNvidiaDriverCRD": True}
    drivers = {item.inputs["metadata"]["name"]: item.inputs["spec"] for item in of_kind(recorded, "NVIDIADriver")}
    assert {name: driver["nodeSelector"] for name, driver in drivers.items()} == {
        name: {names.POOL: name} for name in ("training", "inference", "former")
    }
    assert {name: (driver["version"], driver["upgradePolicy"]["autoUpgrade"]) for name, driver in drivers.items()} == {
        "training": ("595.91.07", False),
        "inference": ("595.91.07", False),
        "former": ("580.173.02", True),
    }
    assert {name: driver["kernelModuleType"] for name, driver in drivers.items()} == {
        "training": "open",
        "inference": "auto",
        "former": "auto",
    }
    assert {driver["repository"] for driver in drivers.values()} == {"nvcr.io/nvidia"}


def test_the_policy_and_its_drivers_wait_for_each_other_in_the_cluster() -> None:
    """Neither the ClusterPolicy nor an NVIDIADriver is declared after the other: the pods of both are needed."""
    recorded = built(changed("mixed", pools__former__driver={"version": "580.173.02"}))
    objects = [*of_kind(recorded, "ClusterPolicy"), *of_kind(recorded, "NVIDIADriver")]
    by_urn = {item.urn: item for item in recorded}
    urns = {item.urn for item in objects}
    assert len(objects) == len(MIXED.pools) + 1
    assert not [item.name for item in objects if urns & {other.urn for other in before(item, by_urn)}]
    (job,) = of_kind(recorded, "MPIJob")
    assert urns <= {other.urn for other in before(job, by_urn)}


def test_nodes_with_a_driver_of_their_own_have_no_object() -> None:
    """A pool whose driver is null is selected by no NVIDIADriver, and its simulated nodes have a driver themselves."""
    content = changed("mixed", pools__former__driver=None)
    assert {item.inputs["metadata"]["name"] for item in of_kind(built(content), "NVIDIADriver")} == {
        "training",
        "inference",
    }
    assert {pool.name: pool.host_driver for pool in parse(content, "test").gpu_pools} == {
        "training": False,
        "inference": False,
        "former": True,
    }


def second_fabric(**own: Any) -> dict[str, Any]:
    """Return the mixed stack with RDMA in a second pool, which has settings of its own."""
    pool = {"machine": "dgx-h100", "machine_config_pool": "worker", "tuning": None}
    return changed("mixed", pools__former=pool | own, stages=[])


def test_pools_whose_adapter_drivers_differ_have_a_policy_each() -> None:
    """Each pool's NicNodePolicy has driver and plugin for its nodes alone, after a NicClusterPolicy without them."""
    recorded = built(second_fabric(adapter_driver={"version": "doca3.2.0", "auto_upgrade": True}))
    assert {*spec(recorded, "NicClusterPolicy")} == {"tolerations", "nodeAffinity"}
    policies = {item.inputs["metadata"]["name"]: item for item in of_kind(recorded, "NicNodePolicy")}
    found = {name: item.inputs["spec"] for name, item in policies.items()}
    assert {name: each["nodeSelector"] for name, each in found.items()} == {
        name: {names.POOL: name} for name in ("training", "former")
    }
    drivers = {name: each["ofedDriver"] for name, each in found.items()}
    assert {name: (each["version"], each["upgradePolicy"]["autoUpgrade"]) for name, each in drivers.items()} == {
        "training": ("doca3.4.1-26.04-1.1.0.0-1", False),
        "former": ("doca3.2.0", True),
    }
    assert drivers["former"]["env"] == drivers["training"]["env"]
    assert all(each["rdmaSharedDevicePlugin"]["config"] for each in found.values())
    (cluster,) = of_kind(recorded, "NicClusterPolicy")
    by_urn = {item.urn: item for item in recorded}
    assert all(cluster.urn in {other.urn for other in before(item, by_urn)} for item in policies.values())


def test_nodes_with_an_adapter_driver_of_their_own_get_the_plugin_alone() -> None:
    """A pool whose adapter driver is null has a policy without driver; pools that do not differ have none."""
    recorded = built(second_fabric(adapter_driver=None))
    found = {item.inputs["metadata"]["name"]: {*item.inputs["spec"]} for item in of_kind(recorded, "NicNodePolicy")}
    plugin = {"rdmaSharedDevicePlugin", "nodeSelector", "tolerations"}
    assert found == {"training": plugin | {"ofedDriver"}, "former": plugin}
    same = built(second_fabric(adapter_driver={"version": "doca3.4.1-26.04-1.1.0.0-1"}))
    assert not of_kind(same, "NicNodePolicy")
    assert "ofedDriver" in spec(same, "NicClusterPolicy")


TRAINING = {"key": "dedicated", "value": "training", "operator": "Equal", "effect": "NoSchedule"}
FORMER = {"key": "old", "operator": "Exists", "effect": "NoExecute"}
LOST = [
    {"key": f"node.kubernetes.io/{kind}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    for kind in ("not-ready", "unreachable")
]
"""Of jobs of several pods."""
GPUS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def tainted(**changes: Any) -> dict[str, Any]:
    """Return the mixed stack with taints on two of its pools, changed."""
    taints = {
        "training": [{"key": "dedicated", "value": "training"}],
        "former": [{"key": "old", "effect": "NoExecute"}],
    }
    return changed("mixed", **{f"pools__{pool}__taints": each for pool, each in taints.items()} | changes)


def test_what_runs_on_the_nodes_of_a_pool_tolerates_its_taints() -> None:
    """DaemonSets of the platform tolerate the taints of the pools that they run on, beside nvidia.com/gpu."""
    recorded = built(tainted())
    assert spec(recorded, "ClusterPolicy")["daemonsets"]["tolerations"] == [GPUS, TRAINING, FORMER]
    assert spec(recorded, "NicClusterPolicy")["tolerations"] == [GPUS, TRAINING]
    assert spec(recorded, "NMState")["tolerations"] == [GPUS, TRAINING]
    assert spec(recorded, "NodeFeatureDiscovery")["operand"]["workerTolerations"] == [FORMER]
    drivers = {item.inputs["metadata"]["name"]: item.inputs["spec"] for item in of_kind(recorded, "NVIDIADriver")}
    assert {name: each["tolerations"] for name, each in drivers.items()} == {
        "training": [GPUS, TRAINING],
        "inference": [GPUS],
        "former": [GPUS, FORMER],
    }


def test_clients_of_scale_tolerate_the_taints_of_their_nodes() -> None:
    """Container-native Storage Scale runs a client's pod on every worker, tainted or not."""
    content = data("prod") | {"site": None}
    for node in content["nodes"]:
        if profile := node.pop("machine", None):
            node["pool"] = "training"
            content["pools"] = {"training": {"machine": profile, "taints": [{"key": "dedicated", "value": "training"}]}}
    (daemon,) = (item.inputs["spec"]["daemon"] for item in of_kind(built(content), "Cluster"))
    assert daemon["tolerations"] == [TRAINING]


def test_jobs_tolerate_the_taints_of_their_pool_and_flavors_have_them() -> None:
    """Pods with GPUs tolerate their pool's taints, and Kueue keeps others off by those of the flavor."""
    recorded = built(tainted())
    (mpi,) = of_kind(recorded, "MPIJob")
    pods = {role: part["template"]["spec"] for role, part in mpi.inputs["spec"]["mpiReplicaSpecs"].items()}
    assert pods["Worker"]["tolerations"] == [TRAINING, *LOST]
    assert pods["Launcher"]["tolerations"] == LOST
    batch = {item.inputs["metadata"]["name"]: item.inputs["spec"]["template"] for item in of_kind(recorded, "Job")}
    found = {name: each["spec"].get("tolerations") for name, each in batch.items()}
    assert (found["sample-a100"], found["sample-l40s"], found["train-03x08"]) == ([FORMER], None, [TRAINING, *LOST])
    flavors = {item.inputs["metadata"]["name"]: item.inputs["spec"] for item in of_kind(recorded, "ResourceFlavor")}
    assert {name: each.get("nodeTaints") for name, each in flavors.items()} == {
        "cpu": None,
        "training": [{"key": "dedicated", "value": "training", "effect": "NoSchedule"}],
        "inference": None,
        "former": [{"key": "old", "effect": "NoExecute"}],
    }


def test_a_launcher_tolerates_its_pools_taints_where_all_workers_have_gpus() -> None:
    """Without workers for launchers, one runs on nodes of its own job's pool."""
    content = tainted(nodes__1={"name": "master04.mixed.example.com", "roles": ["master"]})
    (mpi,) = of_kind(built(content), "MPIJob")
    launcher = mpi.inputs["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    assert launcher["tolerations"] == [TRAINING, *LOST]


def test_a_queue_has_a_flavor_of_each_pool_and_one_for_launchers() -> None:
    """Each tenant's queue has its quota by pool; RDMA is of its pool alone, launchers run on nodes without GPUs."""
    queues = {
        item.inputs["metadata"]["name"]: item.inputs["spec"] for item in of_kind(environment("mixed"), "ClusterQueue")
    }
    (group,) = queues["research"]["resourceGroups"]
    amounts = {
        flavor["name"]: {entry["name"]: entry["nominalQuota"] for entry in flavor["resources"]}
        for flavor in group["flavors"]
    }
    assert {flavor: of["nvidia.com/gpu"] for flavor, of in amounts.items()} == {
        "cpu": "0",
        "training": "24",
        "inference": "0",
        "former": "2",
    }
    assert {*group["coveredResources"]} == {"nvidia.com/gpu", "cpu", "memory", *RDMA}
    rdma = {flavor: {of[name] for name in RDMA} for flavor, of in amounts.items()}
    assert rdma == {"cpu": {"0"}, "training": {"24"}, "inference": {"0"}, "former": {"0"}}
    assert (amounts["cpu"]["cpu"], amounts["inference"]["memory"]) == ("4", "0")
    flavors = {
        item.inputs["metadata"]["name"]: item.inputs["spec"] for item in of_kind(environment("mixed"), "ResourceFlavor")
    }
    assert {flavor: each["nodeLabels"][names.POOL] for flavor, each in flavors.items()} == {
        name: name for name in ("cpu", "training", "inference", "former")
    }


@pytest.mark.parametrize(
    ("quota", "limits", "most"),
    [
        ({"training": 24}, {"inference": "0", "former": "0"}, 32),
        ({"training": 24, "inference": 0}, {"former": "0"}, 32 + 8),
    ],
)
def test_a_tenant_borrows_of_pools_in_its_quota_alone(quota: dict[str, int], limits: dict[str, str], most: int) -> None:
    """Of a pool that its quota leaves out a tenant has nothing, lent or its own; with 0 it has what others lend."""
    recorded = built(changed("mixed", tenants__0__gpu_quota=quota, stages=[]))
    (group,) = spec(recorded, "ClusterQueue", "research")["resourceGroups"]
    borrowed = {
        flavor["name"]: {entry.get("borrowingLimit") for entry in flavor["resources"]} for flavor in group["flavors"]
    }
    assert borrowed == {name: {limits.get(name)} for name in ("cpu", "training", "inference", "former")}
    (amount,) = (
        item.inputs["spec"]["hard"]["requests.nvidia.com/gpu"]
        for item in of_kind(recorded, "ResourceQuota")
        if item.inputs["metadata"]["namespace"] == "research"
    )
    assert int(amount) == most


def test_pods_with_gpus_run_on_their_pool_and_launchers_anywhere() -> None:
    """The workers of a job have their pool's label as selector, and the launcher none."""
    (mpi,) = of_kind(environment("mixed"), "MPIJob")
    pods = {role: part["template"]["spec"] for role, part in mpi.inputs["spec"]["mpiReplicaSpecs"].items()}
    assert pods["Worker"]["nodeSelector"] == {names.POOL: "training"}
    assert "nodeSelector" not in pods["Launcher"]


def test_a_job_is_of_the_only_pool_of_its_tenant() -> None:
    """A job that names no pool is for the one of which its tenant has a quota; a node decides, too."""
    pools = {job.id: job.pool.name for job in jobs.every(MIXED)}
    assert pools["students/sample-a100"] == "former"
    content = data("mixed")
    bound = {
        "kind": "job",
        "tenant": "research",
        "name": "it",
        "program": "cuda-vector-add",
        "node": "dgx02.mixed.example.com",
    }
    content["stages"] = [{"name": "all", "workloads": [bound]}]
    (job,) = jobs.every(parse(content, "test"))
    assert job.pool.name == "training"


def test_what_a_job_has_follows_from_its_pool() -> None:
    """Shares, ports and transport are those of the pool's machine."""
    content = data("mixed")
    common = {"kind": "mpi", "tenant": "research", "program": "nccl-all-reduce", "image": "quay.io/example/nccl:1"}
    content["stages"] = [
        {
            "name": "all",
            "workloads": [
                common | {"name": "a", "pool": "training", "layout": "2x8"},
                common | {"name": "b", "pool": "former", "layout": "1x2"},
            ],
        }
    ]
    settings = parse(content, "test")
    one, other = (of_job(job, settings) for job in jobs.every(settings))
    assert isinstance(one, MpiJobArgs)
    assert isinstance(other, MpiJobArgs)
    assert (one.transport, {*one.rdma_resources}, len(one.networks)) == ("gpudirect", RDMA, 8)
    assert (other.transport, other.rdma_resources, other.networks, other.ib_hca) == ("tcp", (), (), None)
    assert (one.cpus, other.cpus) == (8 * 26, 2 * 28)


@pytest.mark.parametrize(("alert", "nodes"), [("GpuMissing", 3), ("NodePower", 1)])
def test_alerts_about_machines_are_of_their_pools_nodes(alert: str, nodes: int) -> None:
    """A node misses GPUs by its own machine's number; alerts that no machine decides are there once."""
    rules = spec(environment("mixed"), "PrometheusRule")["groups"][0]["rules"]
    expressions = [rule["expr"] for rule in rules if rule["alert"] == alert]
    assert len(expressions) == nodes
    assert all('{Hostname=~"' in expression for expression in expressions)
    assert len([rule for rule in rules if rule["alert"] == "GpuTooHot"]) == 1


def test_a_pool_of_all_nodes_declares_what_a_stack_without_pools_does() -> None:
    """With a pool of all GPU nodes the same kinds of objects are declared; workers without GPUs get a label besides."""
    plain = data("h100-roce") | {"stages": [], "site": None}
    nodes = [
        {**{key: value for key, value in node.items() if key != "machine"}, "pool": "training"}
        if "machine" in node
        else node
        for node in plain["nodes"]
    ]
    pooled = plain | {"pools": {"training": {"machine": "dgx-h100"}}, "nodes": nodes}
    without, with_pool = (Counter(item.type for item in built(content)) for content in (plain, pooled))
    assert with_pool - without == {"kubernetes:core/v1:NodePatch": 2}
    assert without - with_pool == Counter()


def test_parts_of_the_nodes_stay_when_a_stack_gets_pools() -> None:
    """Parts of the first pool keep their objects by their former names, so that no node restarts for that."""
    parts = ("NodePool", "Memlock", "KernelArguments", "KubeletConfig", "PoolRollout")
    former = {
        part: [name for item in environment("mixed") if item.type == f"hpc:nodes:{part}" for name in item.former_names]
        for part in parts
    }
    assert former == {
        "NodePool": ["gpu-pool"],
        "Memlock": ["memlock"],
        "KernelArguments": ["kernel-arguments"],
        "KubeletConfig": ["kubelet"],
        "PoolRollout": ["nodes"],
    }
