"""How nodes and adapters are set up, where a pair of logs does not say it all."""

import pytest

from tests.toolkit.evidence.criteria.cases import (
    ANY,
    BY_NAME,
    DGX,
    ESXI,
    ETHERNET,
    NODES,
    SECOND_PORT,
    Side,
    changed,
    cluster_node,
    document,
    status,
)
from tests.toolkit.evidence.tools.logs import BOND
from toolkit.evidence.judge import evaluate
from toolkit.evidence.model import NodeFacts
from toolkit.evidence.verdict import Status

HEAD = "3b:00.0 Ethernet controller: Mellanox Technologies MT28908 Family [ConnectX-6]\n"
OTHER = "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
"""In the form of `lspci -vvv` of pciutils."""
CAPABILITY = (
    "\tCapabilities: [480 v1] Address Translation Service (ATS)\n\t\tATSCtl: Enable+, Smallest Translation Unit: 00\n"
)


def test_newer_gpus_need_no_module() -> None:
    """GPUs that an HCA reaches by dma-buf need no module."""
    lsmod = changed(document("lsmod/r-3.2.3-3.log"), ("nv_peer_mem 13163 0\n", ""))
    assert status("peer-memory", lsmod, DGX) is Status.FAIL
    assert status("peer-memory", lsmod, DGX.model_copy(update={"profile": "dgx-a100"})) is None


@pytest.mark.parametrize(
    ("gpus", "instances", "expected"),
    [
        (0, {"1g.5gb": 56}, Status.PASS),
        (8, {}, Status.FAIL),
        (0, {"1g.5gb": 49}, Status.FAIL),
        (0, {"1g.5gb": 56, "2g.10gb": 1}, Status.FAIL),
    ],
)
def test_divided_nodes_offer_instances(gpus: int, instances: dict[str, int], expected: Status) -> None:
    """A node with MIG offers the instances of the settings, all of them, and no whole GPU."""
    request = NODES.model_copy(update={"nodes": ("dgx01",), "divided": {"dgx01": {"1g.5gb": 56}}})
    node = cluster_node("dgx01").model_copy(update={"gpus": gpus, "instances": instances})
    verdict = evaluate(BY_NAME["nodes-offer"], Side("", request, (node,)).job())
    assert verdict is not None
    assert verdict.status is expected
    undivided = NODES.model_copy(update={"nodes": ("dgx01",)})
    found = evaluate(BY_NAME["nodes-offer"], Side("", undivided, (node,)).job())
    assert found is not None
    assert (found.status is Status.PASS) == (not instances)


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        (("a=b:NoSchedule",), ("a=b:NoSchedule",), Status.PASS),
        ((), (), Status.PASS),
        (("a=b:NoSchedule",), (), Status.FAIL),
        (("a=b:NoSchedule",), ("a=c:NoSchedule",), Status.FAIL),
        ((), ("repair:NoExecute",), Status.FAIL),
        (None, ("repair:NoExecute",), None),
    ],
)
def test_nodes_have_the_taints_of_their_pool(
    wanted: tuple[str, ...] | None, found: tuple[str, ...], expected: Status | None
) -> None:
    """A taint of the pool that a node lacks, or another one, is a fault; without pools nothing is known of taints."""
    request = NODES.model_copy(update={"taints": wanted})
    node = cluster_node("dgx01").model_copy(update={"taints": found})
    verdict = evaluate(BY_NAME["nodes-tainted"], Side("", request, (node,)).job())
    assert (verdict.status if verdict else None) == expected


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [(True, True, Status.PASS), (True, False, Status.FAIL), (True, None, Status.PASS), (False, False, Status.PASS)],
)
def test_nodes_have_the_label_of_feature_discovery(wanted: bool, found: bool | None, expected: Status) -> None:
    """Where the stack has node feature discovery, its label for a GPU is on each node that has one."""
    request = NODES.model_copy(update={"feature_labels": wanted, "nodes": ("dgx01",)})
    node = cluster_node("dgx01").model_copy(update={"found_gpu": found})
    verdict = evaluate(BY_NAME["nodes-offer"], Side("", request, (node,)).job())
    assert verdict is not None
    assert verdict.status is expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Tesla-V100-SXM2-16GB", Status.PASS),
        ("NVIDIA-V100-SXM2-16GB-SHARED", Status.PASS),
        (None, Status.PASS),
        ("NVIDIA-L40S", Status.FAIL),
    ],
)
def test_labels_name_the_gpus_of_the_machine(label: str | None, expected: Status) -> None:
    """A node whose product label names other GPUs than its machine has is another machine, with as many GPUs."""
    request = NODES.model_copy(update={"nodes": ("dgx01",)})
    node = cluster_node("dgx01").model_copy(update={"gpu_model": label})
    verdict = evaluate(BY_NAME["nodes-offer"], Side("", request, (node,)).job())
    assert verdict is not None
    assert verdict.status is expected
    assert ("dgx01: GPUs NVIDIA-L40S, not V100" in verdict.measured) is (expected is Status.FAIL)


@pytest.mark.parametrize(("shares", "expected"), [(100, Status.PASS), (None, Status.PASS), (64, Status.FAIL)])
def test_each_hca_is_offered_as_often_as_pods_share_it(shares: int | None, expected: Status) -> None:
    """A node offers each HCA as many times as the settings have pods share it."""
    request = NODES.model_copy(update={"hca_shares": shares, "nodes": ("dgx01",)})
    verdict = evaluate(BY_NAME["nodes-offer"], Side("", request, (cluster_node("dgx01"),)).job())
    assert verdict is not None
    assert verdict.status is expected
    assert (f"of {shares} each" in verdict.limit) is (shares is not None)


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ({}, "pass 2 nodes"),
        ({"roles": ("control-plane", "infra")}, "pass 2 nodes"),
        ({"ready": False}, "fail master01: not Ready"),
        ({"roles": ("worker",)}, "fail master01: no master"),
        ({"gpus": 8}, "fail master01: 8 GPUs"),
        (None, "fail master01 does not exist"),
    ],
)
def test_nodes_without_gpus_are_judged(master: dict[str, object] | None, expected: str) -> None:
    """They are there, Ready, in the roles of the settings, and offer no GPU."""
    request = NODES.model_copy(update={"roles": {"dgx01": ("worker",), "master01": ("master",)}})
    plain = cluster_node("master01", roles=("master",)).model_copy(update={"gpus": 0, "rdma": {}} | (master or {}))
    job = Side("", request, (cluster_node("dgx01"),)).job()
    (facts,) = [reading for reading in job.readings if isinstance(reading, NodeFacts)]
    with_others = facts.model_copy(update={"others": () if master is None else (plain,)})
    verdict = evaluate(BY_NAME["nodes-in-roles"], job.model_copy(update={"readings": (with_others,)}))
    assert verdict is not None
    assert f"{verdict.status} {verdict.measured}" == expected


def test_a_bond_has_ports() -> None:
    """A bond without a port fails."""
    bond = changed(BOND, *SECOND_PORT)
    assert status("bond-up", bond, ETHERNET) is Status.PASS
    assert status("bond-up", bond[: bond.index("Slave Interface")], ETHERNET) is Status.MISSING


def test_an_adapter_without_ats_is_seen() -> None:
    """An adapter without the ATS capability fails."""
    assert status("ats-device", HEAD + OTHER + CAPABILITY, ANY) is Status.PASS
    assert status("ats-device", HEAD + OTHER, ANY) is Status.FAIL
    assert status("ats-device", f"{HEAD}\tCapabilities: <access denied>\n", ANY) is Status.MISSING
    assert status("ats-device", changed(HEAD, ("Ethernet", "Infiniband")) + OTHER, ANY) is None


def test_numa_nodes_that_are_not_shown_are_not_the_same() -> None:
    """Devices without a NUMA node in the output are missing evidence."""
    assert status("same-numa-node", ESXI, ANY) is Status.PASS
    assert status("same-numa-node", ESXI.replace("NUMA Node: 0", "NUMA Node: -1"), ANY) is Status.MISSING


@pytest.mark.parametrize(
    ("image", "kernel", "wanted", "expected"),
    [
        (
            "Red Hat Enterprise Linux CoreOS 44.81.202004250133-0 (Ootpa)",
            "4.18.0-147.8.1.el8_1.x86_64",
            "RHCOS",
            Status.PASS,
        ),
        (
            "Red Hat Enterprise Linux CoreOS 44.81.202004250133-0 (Ootpa)",
            "4.18.0-147.8.1.el8_1.x86_64",
            "RHEL 7.6",
            Status.FAIL,
        ),
        # The Redpaper's own answer: the kernel has the release.
        ("OpenShift Enterprise", "3.10.0-957.27.2.el7.x86_64", "RHEL 7.6", Status.PASS),
        ("OpenShift Enterprise", "3.10.0-1062.el7.x86_64", "RHEL 7.6", Status.FAIL),
        ("OpenShift Enterprise", "3.10.0-957.27.2.el7.x86_64", "RHCOS", Status.FAIL),
        ("Red Hat Enterprise Linux Server 7.6 (Maipo)", "3.10.0-957.27.2.el7.x86_64", "RHEL 7", Status.PASS),
        ("Red Hat Enterprise Linux 8.10 (Ootpa)", "4.18.0-553.el8_10.x86_64", "RHEL 8.1", Status.FAIL),
        ("Ubuntu 20.04.6 LTS", "5.4.0", "RHCOS", Status.FAIL),
        ("simulated", "simulated", "RHCOS", None),
    ],
)
def test_nodes_have_the_system_of_their_role(image: str, kernel: str, wanted: str, expected: Status | None) -> None:
    """A node's system is that of its role and of the settings, with its minor release; a simulated node has none."""
    request = NODES.model_copy(update={"systems": {"dgx01": wanted}})
    node = cluster_node("dgx01", system=image, kernel=kernel)
    verdict = evaluate(BY_NAME["nodes-in-systems"], Side("", request, (node,)).job())
    assert (verdict.status if verdict else None) == expected
    if expected is Status.FAIL:
        assert verdict
        assert f"not {wanted}" in str(verdict.measured)
