"""The levels of the fabric that Kueue knows: from the cabling or the settings to labels, queues and jobs."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from apis import topology as known
from rendering.recorder import Registration
from stacks import placements, topology
from stacks.settings import Settings, parse
from tests.support.recorded import built, environment
from tests.support.stack_settings import MPI, changed, data, example

LEAF = known.LABELS["leaf"]


@cache
def pod() -> Settings:
    """Return the settings of the POD of the SuperPOD architecture."""
    return parse(data("superpod-a100"), "test")


def objects(recorded: Iterable[Registration], kind: str) -> list[dict[str, Any]]:
    """Return what a stack declares of a kind."""
    return [{**each.inputs} for each in recorded if each.type.rpartition(":")[2] == kind]


def test_machines_of_a_scalable_unit_are_on_one_leaf() -> None:
    """Seven units of twenty machines, whose nodes have a label for their unit (D-3.5, D-3.6)."""
    found = topology.domains("leaf", pod())
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
    assert [level.name for level in topology.levels(settings)] == ["spine", "leaf"]
    assert [*topology.domains("leaf", settings)][-1] == "pod-2/pod-2-unit-1"


def test_a_place_in_the_settings_precedes_the_cabling() -> None:
    """A machine that was moved is where the settings have it, and others stay."""
    content = data("superpod-a100")
    content["nodes"][2]["name"] = "dgx[001-139].pod.example.com"
    content["nodes"].append(content["nodes"][2] | {"name": "dgx140.pod.example.com", "topology": {"leaf": "elsewhere"}})
    found = topology.domains("leaf", parse(content, "test"))
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
    jobs = [work | {"name": name, "layout": {"pods": pods, "gpus": 8}} for name, pods in sizes.items()]
    content["stages"] = [{"name": "all", "workloads": jobs}]
    settings = parse(content, "test")
    found = {each.job.rpartition("/")[2]: each for each in placements.placements(settings)}
    assert [(name, each.wave) for name, each in found.items()] == [("a-12x08", 1), ("b-11x08", 2), ("c-08x08", 2)]
    units = topology.domains("leaf", settings)
    for each in found.values():
        assert any({node for node, _ in each.on} <= {*nodes} for nodes in units.values())
