"""A cluster with several kinds of GPU machines, and an example with pools on a cluster of one kind."""

from typing import Any

import pytest

from stacks.loading import settings
from stacks.releases import RELEASES
from stacks.resolved.jobs import every
from tests.support.messages import has
from tests.support.recorded import ROOT
from tests.toolkit.cli.init.kit import CONTEXT, api, cluster, dgx, node, obj
from toolkit.cli.init import examples, reading
from toolkit.cli.init.composition import Composition, compose
from toolkit.cli.init.facts import Connection
from toolkit.cli.init.machine_kinds import shared_out
from toolkit.cli.init.machines import grouped
from toolkit.cli.init.settings_file import text_of

MASTERS = [node(f"m{number}", "master") for number in (1, 2, 3)]
H100 = [dgx(f"gpu-0{number}.lab") for number in (1, 2, 3, 4)]
REACHED = Connection("kubeconfig", CONTEXT)


def a100(name: str, machine: str = "DGXA100", ports: str = "0207") -> dict[str, Any]:
    """Return a DGX A100, whose ports are for InfiniBand."""
    found = dgx(name, product="NVIDIA-A100-SXM4-40GB", machine=machine, cpus=256, gib=1006)
    labels = found["metadata"]["labels"]
    labels[f"feature.node.kubernetes.io/pci-{ports}_15b3.present"] = labels.pop(
        "feature.node.kubernetes.io/pci-0200_15b3.present"
    )
    return found


def l40s(name: str) -> dict[str, Any]:
    """Return a server with four L40S, which no known machine is."""
    found = dgx(name, product="NVIDIA-L40S", machine="SYS-521GE-TNRT", cpus=128, gib=503)
    found["metadata"]["labels"]["nvidia.com/gpu.count"] = "4"
    return found


def composed(*nodes: Any, example: str = "", **changed: Any) -> Composition:
    """Return the settings of a stack on a cluster of these nodes, from an example or from the nearest one."""
    found = reading.read(api(cluster(NODE=[*MASTERS, *nodes], **changed)))
    groups = grouped(found.nodes)
    chosen = examples.read(example, ROOT) if example else examples.chosen(groups, RELEASES["4.20"], ROOT)
    return compose("site", found, REACHED, groups, chosen)


def by_place(made: Composition) -> dict[str, Any]:
    """Return decisions by their place."""
    return {each.place: each for each in made.decisions}


def test_machines_of_two_kinds_are_two_pools() -> None:
    """A pool has a machine's name and machine; one with other ports has neither fabric nor tuning."""
    made = composed(node("w1"), *H100, a100("old-1"), a100("old-2"))
    assert made.settings["pools"] == {
        "dgx-h100": {"machine": "dgx-h100"},
        "dgx-a100": {
            "machine": "dgx-a100",
            "machine_config_pool": "worker",
            "tuning": None,
            "fabric": {"kind": "none"},
        },
    }
    assert [(each["name"], each.get("pool")) for each in made.settings["nodes"]] == [
        ("m[1-3]", None),
        ("w1", None),
        ("gpu-[01-04].lab", "dgx-h100"),
        ("old-[1-2]", "dgx-a100"),
    ]
    assert not any("machine" in each for each in made.settings["nodes"])
    assert by_place(made)["pools"].mark == "REVIEW"
    assert has(by_place(made)["pools.dgx-a100.fabric"].text, "jobs of one node", "roce")


TAINT = {"key": "dedicated", "value": "training", "effect": "NoSchedule"}


def tainted(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return nodes with a taint of the site, beside one of Kubernetes."""
    own = [TAINT, {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    return [node | {"spec": {"taints": own}} for node in nodes]


def test_taints_are_those_of_all_nodes_of_a_pool() -> None:
    """A taint that all nodes of a kind have is the pool's; one of some nodes is named with those that lack it."""
    made = composed(node("w1"), *tainted(*H100), *tainted(a100("old-1")), a100("old-2"))
    found = made.settings["pools"]
    assert (found["dgx-h100"]["taints"], "taints" in found["dgx-a100"]) == ([TAINT], False)
    (text,) = (each.text for each in made.decisions if "the taint" in each.text)
    assert has(text, "dedicated=training:NoSchedule", "not on old-2")


def test_taints_of_one_kind_of_machine_need_a_pool() -> None:
    """Jobs of a stack without pools tolerate no taint, so that the user has to decide."""
    made = composed(node("w1"), *tainted(*H100))
    (decision,) = (each for each in made.decisions if "the taint" in each.text)
    assert has(decision.text, "dedicated=training:NoSchedule", "give these nodes a pool with `taints`")
    assert made.settings["nodes"][int(decision.path[1])]["machine"] == "dgx-h100"
    assert not any("taint" in each.text for each in composed(node("w1"), *H100).decisions)


@pytest.mark.parametrize("example", ["h100-roce", "mixed"])
def test_settings_with_pools_are_valid(example: str) -> None:
    """Quotas are by pool, within what each has; each job names the pool that stands for the example's machine."""
    made = composed(*H100, a100("old-1"), a100("old-2"), example=example)
    loaded = settings.parse(made.settings, "Pulumi.site.yaml", "site")
    sizes = {"dgx-h100": 32, "dgx-a100": 16}
    assert {pool.name: sum(pool.free.values()) for pool in loaded.gpu_pools} == sizes
    for pool in loaded.gpu_pools:
        assert 0 < sum(loaded.gpu_quota(tenant, pool) for tenant in loaded.tenants) <= sizes[pool.name]
    pools = {job.workload.name: job.pool.name for job in every(loaded)}
    assert pools["nccl-test"] == "dgx-h100"
    if example == "mixed":
        assert (pools["sample-h100"], pools["evaluation"]) == ("dgx-h100", "dgx-a100")


def test_ports_of_the_same_fabric_are_tuned_in_a_pool_of_their_own() -> None:
    """A second machine with as many ports of the layer is on the fabric, with a MachineConfigPool for its tuning."""
    made = composed(*H100, a100("old-1", ports="0200"), example="h100-roce")
    assert made.settings["pools"]["dgx-a100"] == {"machine": "dgx-a100", "machine_config_pool": "dgx-a100"}


def test_an_unknown_machine_is_a_pool_with_a_file() -> None:
    """An unknown machine's pool has the name of the machine and the file to complete."""
    made = composed(*H100, l40s("inf-1"), l40s("inf-2"))
    pool = made.settings["pools"]["sys-521ge-tnrt"]
    assert (pool["machine"], pool["fabric"]) == ("site-sys-521ge-tnrt", {"kind": "none"})
    assert has(by_place(made)["pools.sys-521ge-tnrt.machine"].text, "complete machines/site-sys-521ge-tnrt.yaml")


def test_a_machine_that_the_facts_leave_open_is_chosen_in_its_pool() -> None:
    """Where several machines fit, the pool has no machine, and lists them at the place where one is to be."""
    open_one = dgx("x1", product="NVIDIA-H200", machine="")
    made = composed(*H100, open_one, example="h100-roce")
    text = text_of("site", reading.read(api(cluster())), CONTEXT, "h100-roce", made)
    assert "      nvidia-h200:\n        # DECIDE: which machine these are" in text
    assert "        # machine: dgx-h200\n        machine_config_pool: " in text


def test_nodes_that_may_be_in_a_pool_are_left_to_decide() -> None:
    """Nodes without the firmware's name, which may be of a pool's machine, are in none: the file lists the pool."""
    made = composed(*H100, a100("old-1"), dgx("x1", machine=""), example="h100-roce")
    assert [*made.settings["pools"]] == ["dgx-h100", "dgx-a100"]
    (index,) = (number for number, each in enumerate(made.settings["nodes"]) if each["name"] == "x1")
    decision = by_place(made)[f"nodes[{index}].roles"]
    assert (decision.mark, decision.options) == ("DECIDE", ("pool: dgx-h100",))


def test_a_teams_quota_is_shared_out_and_to_be_decided() -> None:
    """A ResourceQuota of GPUs does not say of which pool: it is shared out, as a whole, and marked."""
    ids = {"openshift.io/sa.scc.uid-range": "1000790000/10000", "openshift.io/sa.scc.mcs": "s0:c28,c12"}
    quota = obj("team-quota", "vision", spec={"hard": {"requests.nvidia.com/gpu": "40"}})
    made = composed(*H100, a100("old-1"), NAMESPACE=[obj("vision", annotations=ids)], RESOURCE_QUOTA=[quota])
    assert made.settings["tenants"][0]["gpu_quota"] == {"dgx-h100": 32, "dgx-a100": 8}
    decision = by_place(made)["tenants[0].gpu_quota"]
    assert decision.mark == "DECIDE"
    assert has(decision.text, "team-quota has 40 GPUs", "dgx-h100, dgx-a100")
    settings.parse(made.settings, "Pulumi.site.yaml", "site")


def test_a_cluster_in_use_with_several_kinds_is_valid() -> None:
    """On a cluster in use pools differ in nothing that it does not have; MIG is a strategy that they can share."""
    policy = obj("gpu-cluster-policy", spec={"driver": {"enabled": True}, "mig": {"strategy": "single"}})
    made = composed(*H100, a100("old-1"), CLUSTER_POLICY=[policy])
    assert made.settings["pools"] == {name: {"machine": name} for name in ("dgx-h100", "dgx-a100")}
    assert (made.settings["gpu"]["mig"], by_place(made)["gpu.mig"].mark) == ("mixed", "DECIDE")
    settings.parse(made.settings, "Pulumi.site.yaml", "site")


@pytest.mark.parametrize(
    ("total", "shares"),
    [(3, {"a": 3}), (10, {"a": 8, "b": 2}), (20, {"a": 12, "b": 8}), (0, {"a": 0})],
)
def test_what_is_shared_out_stays_together(total: int, shares: dict[str, int]) -> None:
    """GPUs are taken of the first pools as far as these go; what no pool holds stays with the first."""
    assert shared_out(total, {"a": 8, "b": 8}) == shares


def test_an_example_with_pools_fits_one_kind_of_machine() -> None:
    """On machines of one kind an example's pools are plain settings: of its pool with that machine, or of its first."""
    made = composed(*H100, example="mixed")
    loaded = settings.parse(made.settings, "Pulumi.site.yaml", "site")
    assert not loaded.pools
    assert (loaded.machine_config_pool, loaded.fabric.kind, loaded.tuning is None) == ("gpu", "roce", False)
    assert [tenant.gpu_quota for tenant in loaded.tenants] == [18, 11, 1]
    assert {job.pool.declared for job in every(loaded)} == {False}


def test_an_example_with_pools_is_for_several_kinds() -> None:
    """On machines of several kinds, one of which it has, it is the nearest; on those of one kind it never is."""

    def chosen(*nodes: Any) -> bool:
        groups = grouped(reading.read(api(cluster(NODE=[*nodes]))).nodes)
        return bool(examples.chosen(groups, RELEASES["4.21"], ROOT).settings.pools)

    assert (chosen(*H100, l40s("inf-1")), chosen(*H100), chosen(l40s("inf-1"))) == (True, False, False)
