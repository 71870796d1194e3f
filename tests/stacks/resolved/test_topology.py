"""The levels of the fabric that Kueue knows: from the cabling or the settings to labels, queues and jobs."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from core.apis import topology as known
from stacks.loading.settings import Settings, parse
from stacks.resolved import jobs, placements, topology
from tests.support.recorded import built, environment
from tests.support.stack_settings import MPI, changed, data, example, only_pool
from toolkit.render.recorder import Registration

LEAF = known.LABELS["leaf"]


@cache
def pod() -> Settings:
    """Return the settings of the POD of the SuperPOD architecture."""
    return parse(data("superpod-a100"), "test")


def objects(recorded: Iterable[Registration], kind: str) -> list[dict[str, Any]]:
    """Return what a stack declares of a kind."""
    return [{**each.inputs} for each in recorded if each.type.rpartition(":")[2] == kind]


def test_machines_of_a_scalable_unit_are_on_one_leaf() -> None:
    """Seven units of twenty machines, whose nodes have a label for their unit."""
    found = topology.domains("leaf", only_pool(pod()), pod())
    assert [(path, len(nodes)) for path, nodes in found.items()] == [(f"pod-1-unit-{unit}", 20) for unit in range(1, 8)]
    labels = topology.labels(pod())
    assert labels["dgx020.pod.example.com"] == {LEAF: "pod-1-unit-1"}
    assert labels["dgx021.pod.example.com"] == {LEAF: "pod-1-unit-2"}
    assert "worker01.pod.example.com" not in labels


def test_several_pods_have_a_level_above() -> None:
    """Machines of another POD have other spine switches."""
    content = data("superpod-a100")
    content["nodes"][2]["name"] = "dgx[001-150].pod.example.com"
    settings = parse(content, "test")
    assert [level.name for level in topology.levels(only_pool(settings), settings)] == ["spine", "leaf"]
    assert [*topology.domains("leaf", only_pool(settings), settings)][-1] == "pod-2/pod-2-unit-1"


def test_a_place_in_the_settings_precedes_the_cabling() -> None:
    """A machine that was moved is where the settings have it, and others stay."""
    content = data("superpod-a100")
    content["nodes"][2]["name"] = "dgx[001-139].pod.example.com"
    content["nodes"].append(content["nodes"][2] | {"name": "dgx140.pod.example.com", "topology": {"leaf": "elsewhere"}})
    settings = parse(content, "test")
    found = topology.domains("leaf", only_pool(settings), settings)
    assert found["elsewhere"] == ("dgx140.pod.example.com",)
    assert len(found["pod-1-unit-7"]) == 19


def test_queues_know_the_levels_and_jobs_request_them() -> None:
    """Topology and flavor follow from the levels; jobs of several pods have the queues' request or their own."""
    content = environment("superpod-a100")
    (made,) = objects(content, "Topology")
    assert made["metadata"]["name"] == "leaf"
    assert made["spec"] == {"levels": [{"nodeLabel": LEAF}, {"nodeLabel": "kubernetes.io/hostname"}]}
    (flavor,) = objects(content, "ResourceFlavor")
    assert (flavor["metadata"]["name"], flavor["spec"]["topologyName"]) == ("dgx-a100-leaf", "leaf")
    nodes = {each["metadata"]["name"]: each["metadata"]["labels"] for each in objects(content, "NodePatch")}
    assert nodes["dgx140.pod.example.com"][LEAF] == "pod-1-unit-7"
    (job,) = objects(content, "MPIJob")
    replicas = job["spec"]["mpiReplicaSpecs"]
    assert replicas["Worker"]["template"]["metadata"]["annotations"][known.REQUIRED] == LEAF
    assert known.REQUIRED not in replicas["Launcher"]["template"]["metadata"]["annotations"]


def test_a_job_of_one_pod_requests_nothing() -> None:
    """It is close to itself; one of several has what the queues say."""
    work = MPI | {"build": "tensorflow"}
    content = example("superpod-a100", work | {"layout": {"pods": 1, "gpus": 8}})
    (stage,) = content["stages"]
    stage["workloads"].append(stage["workloads"][0] | {"name": "other", "layout": {"pods": 2, "gpus": 8}})
    preferred = {
        job["metadata"]["name"]: job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"].get(
            known.PREFERRED
        )
        for job in objects(built(content), "MPIJob")
    }
    assert preferred == {"it-01x08": None, "other-02x08": LEAF}


def test_jobs_that_require_a_leaf_are_placed_in_one() -> None:
    """A layout fits in one unit, and two jobs that only one unit can hold are of different waves."""
    content = changed("superpod-a100", tenants__0__gpu_quota=240, tenants__1__gpu_quota=0, tenants__2__gpu_quota=0)
    content["nodes"][2]["name"] = "dgx[001-030].pod.example.com"
    content["queues"]["launchers"]["cpus"] = 400
    work = MPI | {"tenant": "language", "build": "tensorflow", "topology": {"required": "leaf"}}
    sizes = {"a": 12, "b": 11, "c": 8}
    workloads = [work | {"name": name, "layout": {"pods": pods, "gpus": 8}} for name, pods in sizes.items()]
    content["stages"] = [{"name": "all", "workloads": workloads}]
    settings = parse(content, "test")
    found = {each.job.rpartition("/")[2]: each for each in placements.placements(settings)}
    assert [(name, each.wave) for name, each in found.items()] == [("a-12x08", 1), ("b-11x08", 2), ("c-08x08", 2)]
    units = topology.domains("leaf", only_pool(settings), settings)
    for each in found.values():
        assert any({node for node, _ in each.on} <= {*nodes} for nodes in units.values())


def pools(request: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the data of three pools, of which the first alone has a fabric, with its nodes on two leaves."""
    content = data("mixed")
    content["queues"]["topology"] = {"jobs": request} if request else {}
    nodes = {entry.get("pool"): entry for entry in content["nodes"]}
    content["nodes"].remove(nodes["training"])
    for leaf, machines in (("leaf-1", "dgx[01-02]"), ("leaf-2", "dgx[03-04]")):
        place = {"name": f"{machines}.mixed.example.com", "topology": {"leaf": leaf}}
        content["nodes"].append(nodes["training"] | place)
    return content


def test_a_pool_has_the_levels_of_its_own_fabric() -> None:
    """Each flavor has a Topology: that of its pool's levels, or the hosts alone where no fabric joins the nodes."""
    content = built(pools())
    flavors = {each["metadata"]["name"]: each["spec"]["topologyName"] for each in objects(content, "ResourceFlavor")}
    assert flavors == {
        "cpu-host": "host",
        "training-leaf": "leaf",
        "inference-host": "host",
        "former-host": "host",
    }
    levels = {each["metadata"]["name"]: each["spec"]["levels"] for each in objects(content, "Topology")}
    assert levels == {
        "leaf": [{"nodeLabel": LEAF}, {"nodeLabel": known.HOSTNAME}],
        "host": [{"nodeLabel": known.HOSTNAME}],
    }
    labels = {each["metadata"]["name"]: each["metadata"]["labels"] for each in objects(content, "NodePatch")}
    placed = {node.partition(".")[0]: of[LEAF] for node, of in labels.items() if LEAF in of}
    assert placed == {"dgx01": "leaf-1", "dgx02": "leaf-1", "dgx03": "leaf-2", "dgx04": "leaf-2"}


def test_the_request_of_all_jobs_is_for_pools_with_its_level() -> None:
    """Jobs of a pool without that level request nothing; a level that every pool has is requested everywhere."""
    work = {"kind": "mpi", "program": "nccl-all-reduce", "image": "quay.io/example/nccl:1", "layout": "2x1"}
    of_training = work | {"tenant": "research", "name": "a", "pool": "training"}
    of_inference = work | {"tenant": "products", "name": "b", "pool": "inference", "layout": "1x4"}
    requested = {}
    for level in ("leaf", "host"):
        content = pools({"preferred": level})
        content["stages"] = [{"name": "all", "workloads": [of_training, of_inference]}]
        settings = parse(content, "test")
        requested[level] = [job.closeness is not None for job in jobs.every(settings)]
    assert requested == {"leaf": [True, False], "host": [True, True]}


def test_domains_of_the_cabling_are_a_pools_own() -> None:
    """Two pools that a document cables alike have no domain in common."""
    content = data("superpod-a100") | {"stages": [], "site": None, "pools": {}}
    nodes = content["nodes"].pop(2)
    for pool, hosts in (("older", "a[001-030]"), ("newer", "b[001-030]")):
        content["pools"][pool] = {"machine": "dgx-a100"}
        own = {"name": f"{hosts}.pod.example.com", "pool": pool}
        content["nodes"].append({key: value for key, value in nodes.items() if key != "machine"} | own)
    for tenant in content["tenants"]:
        tenant["gpu_quota"] = {"older": 8}
    settings = parse(content, "test")
    found = {pool.name: [*topology.domains("leaf", pool, settings)] for pool in settings.gpu_pools}
    assert found == {
        "older": ["older-pod-1-unit-1", "older-pod-1-unit-2"],
        "newer": ["newer-pod-1-unit-1", "newer-pod-1-unit-2"],
    }
    labels = topology.labels(settings)
    assert labels["a030.pod.example.com"] == {LEAF: "older-pod-1-unit-2"}
    assert labels["b001.pod.example.com"] == {LEAF: "newer-pod-1-unit-1"}
