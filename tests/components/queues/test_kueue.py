"""Queues of jobs."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from components.base.scheduling import Taint, Toleration, TopologyLevel
from components.queues.kueue import Queues, QueuesArgs, cluster_queue_spec
from components.queues.quota import Quota, quota_of
from core.hardware.placement import Share
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.machines import DGX_A100
from tests.support.queues import queues_of
from tests.support.recorded import component, of_kind

RAILS = tuple(f"rdma/rail{index}" for index in range(8))
QUOTA = Quota(gpus=16, cpus=320, memory_gib=1600)
TENANTS = {"adas": QUOTA, "maps": QUOTA}
FLAVOR: dict[str, Any] = {"node_labels": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}, "rdma": RAILS}
FULL: dict[str, Any] = {
    "cohort": "tenants",
    "reclaim": "LowerPriority",
    "preempt": "LowerOrNewerEqualPriority",
    "strategy": "StrictFIFO",
    "tolerations": (Toleration(key="nvidia.com/gpu", effect="NoSchedule"),),
    "taints": (Taint(key="dedicated", value="training"), Taint(key="old", effect="NoExecute")),
    "levels": (TopologyLevel(name="leaf"),),
}


def arguments(tenants: Mapping[str, Quota] = TENANTS, **changed: Any) -> QueuesArgs:
    """Return the arguments of queues over machines of one kind."""
    return QueuesArgs.model_validate(queues_of(tenants, **{**FLAVOR, **changed}))


def queues(tenants: Mapping[str, Quota] = TENANTS, **changed: Any) -> list[Manifest]:
    """Return what the queues consist of."""
    args = arguments(tenants, **changed)
    return declared(lambda: Queues("queues", args))


@pytest.mark.parametrize("changed", [{}, FULL], ids=["plain", "full"])
def test_they_have_the_shape_of_their_definitions(changed: dict[str, Any]) -> None:
    """The objects match their definitions, and the policies have no finding."""
    found = queues(**changed)
    expected = [*["ClusterQueue"] * 2, *["LocalQueue"] * 2, "ResourceFlavor", *["Topology"] * ("levels" in changed)]
    assert [manifest["kind"] for manifest in found] == expected
    assert {manifest["apiVersion"] for manifest in found} == {"kueue.x-k8s.io/v1beta2"}
    expect_conformity(*found)
    assert faults(found) == []


def test_everything_that_a_job_asks_for_is_covered() -> None:
    """A queue has a quota of every resource that jobs request."""
    further = QUOTA.model_copy(update={"further": {"ephemeral-storage": "1Ti"}})
    found = queues({"adas": further})
    (group,) = only(found, "ClusterQueue")["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    assert group["coveredResources"] == ["nvidia.com/gpu", "cpu", "memory", *RAILS, "ephemeral-storage"]
    assert [entry["name"] for entry in flavor["resources"]] == group["coveredResources"]
    amounts = {entry["name"]: entry["nominalQuota"] for entry in flavor["resources"]}
    assert amounts["nvidia.com/gpu"] == amounts["rdma/rail7"] == "16"
    assert (amounts["cpu"], amounts["memory"], amounts["ephemeral-storage"]) == ("320", "1600Gi", "1Ti")


def test_a_queue_is_its_tenants_alone() -> None:
    """A ClusterQueue admits its tenant's namespace alone."""
    for found in queues():
        if found["kind"] == "ClusterQueue":
            name = found["metadata"]["name"]
            assert found["spec"]["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": name}}
        if found["kind"] == "LocalQueue":
            assert found["spec"] == {"clusterQueue": found["metadata"]["namespace"]}


def test_no_running_job_is_ended_unless_said() -> None:
    """By default no running job is preempted."""
    args = arguments()
    spec = cluster_queue_spec(args, args.tenants[0])
    assert spec["preemption"] == {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never"}
    assert "cohortName" not in spec


def test_an_urgent_job_preempts_where_the_tenant_wants_it() -> None:
    """With preempt, a waiting job may suspend running jobs of its tenant's own queue, and still none of others."""
    args = arguments(preempt="LowerPriority")
    spec = cluster_queue_spec(args, args.tenants[0])
    assert spec["preemption"] == {"reclaimWithinCohort": "Never", "withinClusterQueue": "LowerPriority"}


def test_flavor_comes_first_and_an_active_queue_is_waited_for() -> None:
    """Queues come after the flavor, and the provider waits until they are active."""
    recorded = component(lambda: Queues("queues", arguments()))
    for kind, before in (("ClusterQueue", "ResourceFlavor"), ("LocalQueue", "ClusterQueue")):
        for item in of_kind(recorded, kind):
            assert [urn for urn in item.dependencies if f":{before}::" in urn]
            assert item.inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Active"


def test_levels_of_the_fabric_are_a_topology_of_the_flavor() -> None:
    """The flavor names a Topology from the widest level to the hosts, which is there before it.

    Neither can be changed in place: with other levels both have another name.
    """
    levels = (TopologyLevel(name="spine"), TopologyLevel(name="rack", label="example.com/rack"))
    recorded = component(lambda: Queues("queues", arguments(levels=levels)))
    (flavor,) = of_kind(recorded, "ResourceFlavor")
    (made,) = of_kind(recorded, "Topology")
    assert [urn for urn in flavor.dependencies if ":Topology::" in urn]
    labels = ["network.topology.nvidia.com/spine", "example.com/rack", "kubernetes.io/hostname"]
    assert [level["nodeLabel"] for level in made.inputs["spec"]["levels"]] == labels
    assert flavor.inputs["spec"]["topologyName"] == made.inputs["metadata"]["name"] == "spine-rack"
    assert flavor.inputs["metadata"]["name"] == "dgx-a100-spine-rack"
    for queue in of_kind(recorded, "ClusterQueue"):
        assert queue.inputs["spec"]["resourceGroups"][0]["flavors"][0]["name"] == "dgx-a100-spine-rack"


def test_a_quota_may_never_borrow() -> None:
    """In a cohort a flavor without a limit borrows all that is lent, even with a quota of 0."""
    quota = Quota(gpus=0, cpus=8, memory_gib=16, borrows=False)
    limits = {}
    for cohort in (None, "tenants"):
        args = arguments({"net": quota, "adas": QUOTA}, cohort=cohort)
        for tenant in args.tenants:
            (group,) = cluster_queue_spec(args, tenant)["resourceGroups"]
            (flavor,) = group["flavors"]
            limits[cohort, tenant.namespace] = {entry.get("borrowingLimit") for entry in flavor["resources"]}
    assert limits == {
        (None, "net"): {None},
        (None, "adas"): {None},
        ("tenants", "net"): {"0"},
        ("tenants", "adas"): {None},
    }


def test_flavors_of_a_queue_all_have_a_topology_or_none() -> None:
    """Kueue admits no pods without a request to flavors with a Topology, if a flavor of their queue has none."""
    args = queues_of(TENANTS, **FLAVOR)
    (flavor,) = args["flavors"]
    tenants = [{"namespace": "adas", "quotas": {"dgx-a100": QUOTA, "cpu": QUOTA}}]
    plain = {"name": "cpu", "node_labels": {"example.com/pool": "cpu"}}
    both = {"flavors": [plain, flavor | {"levels": (TopologyLevel(name="leaf"),)}], "tenants": tenants}
    with pytest.raises(ValidationError, match=r"levels of cpu are None, .* give it \(\), the hosts alone"):
        QueuesArgs.model_validate(both)
    both["flavors"][0]["levels"] = ()
    assert [flavor.flavor_name for flavor in QueuesArgs.model_validate(both).flavors] == ["cpu-host", "dgx-a100-leaf"]


def test_rdma_may_have_a_quota_of_its_own() -> None:
    """A quota of RDMA resources may differ from that of GPUs."""
    quota = Quota(gpus=0, cpus=8, memory_gib=16, rdma_pods=2)
    args = arguments({"net": quota})
    (group,) = cluster_queue_spec(args, args.tenants[0])["resourceGroups"]
    assert {"name": "rdma/rail0", "nominalQuota": "2"} in group["flavors"][0]["resources"]


def test_quota_of_whole_machines_has_room_for_their_jobs() -> None:
    """The quota of whole machines has the CPUs and memory of their jobs and launchers."""
    quota = quota_of(DGX_A100, 16, Share(cpus=4, memory_gib=8))
    assert quota == Quota(gpus=16, cpus=2 * 128 + 4, memory_gib=2 * 736 + 8)


def test_a_tenant_without_gpus_has_room_for_its_launchers() -> None:
    """A tenant without GPUs has the launchers' quota."""
    assert quota_of(DGX_A100, 0, Share(cpus=4, memory_gib=8)) == Quota(gpus=0, cpus=4, memory_gib=8)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reclaim": "Any"}, "reclaim Any has no effect without a cohort"),
        ({"tenants": [{"namespace": "adas", "quotas": {"dgx-a100": QUOTA}}] * 2}, "adas is given twice"),
        ({"tenants": [{"namespace": "adas", "quotas": {}}]}, "adas has no quota of dgx-a100"),
        ({"rdma": ("shared_ib0",)}, "rdma"),
        ({"levels": (TopologyLevel(name="leaf"),) * 2}, "name leaf is given twice; give each level its own"),
        ({"tenants": queues_of({"a": QUOTA.model_copy(update={"further": {"cpu": "1"}})})["tenants"]}, "cpu"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any], message: str) -> None:
    """Settings without effect, duplicates and wrong names are refused."""
    with pytest.raises(ValidationError, match=message):
        QueuesArgs.model_validate(queues_of(TENANTS, **{**FLAVOR, **wrong}))
