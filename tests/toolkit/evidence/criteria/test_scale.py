"""Spectrum Scale: its nodes and its settings."""

import pytest

from tests.toolkit.evidence.criteria.cases import DGX, ETHERNET, NODES, changed, document, judged, status
from toolkit.evidence.verdict import Request, Status

CLUSTER, CONFIG = document("mmlscluster/r-3.3-2.log"), document("mmlsconfig/r-3.3-7.log")
PORTS = "verbsPorts mlx5_0/1 mlx5_1/1 mlx5_2/1 mlx5_3/1"


def _settings(log: str, request: Request = DGX) -> tuple[Status, str]:
    found = judged(log, request)["scale-settings"]
    return found.status, found.measured


@pytest.mark.parametrize(
    ("old", "new", "measured"),
    [
        ("enforceFilesetQuotaOnRoot yes\n", "", "enforceFilesetQuotaOnRoot: not set"),
        (
            "controlSetxattrImmutableSELinux yes",
            "controlSetxattrImmutableSELinux no",
            "controlSetxattrImmutableSELinux: no",
        ),
        ("pagepool 128G", "pagepool 131073M", "pagepool: 131073M, planned 128G [dgx]"),
        ("pagepool 128G", "pagepool 30%", "pagepool: 30%, planned 128G [dgx]"),
        ("verbsRdma enable\n", "", "verbsRdma: not set [dgx]"),
        (PORTS, "verbsPorts mlx5_0/1 mlx5_1/1 mlx5_2/1", "verbsPorts without mlx5_3 [dgx]"),
        (PORTS, f"{PORTS} mlx5_9/1", "verbsPorts with mlx5_9 [dgx]"),
        (f"{PORTS}\n", "", "verbsPorts without mlx5_0, mlx5_1, mlx5_2, mlx5_3 [dgx]"),
    ],
)
def test_each_setting_that_is_not_as_planned_fails_alone(old: str, new: str, measured: str) -> None:
    """Each setting that differs from the plan fails on its own."""
    assert _settings(changed(CONFIG, (old, new))) == (Status.FAIL, measured)


@pytest.mark.parametrize("pool", ["131072M", "64G", "25%", "dynamic"])
def test_a_pagepool_that_leaves_pods_their_memory_passes(pool: str) -> None:
    """A pagepool passes in every notation, up to its limit."""
    assert _settings(changed(CONFIG, ("pagepool 128G", f"pagepool {pool}")))[0] is Status.PASS


def test_rdma_is_for_infiniband() -> None:
    """Over Ethernet, verbs are not required."""
    over_ethernet = ETHERNET.model_copy(update={"profile": DGX.profile})
    assert _settings(changed(CONFIG, ("verbsRdma enable", "verbsRdma disable")), over_ethernet)[0] is Status.PASS


def test_what_a_cut_list_does_not_show_is_missing() -> None:
    """Settings behind the end of a cut log are missing evidence."""
    assert _settings(CONFIG.partition("[common]")[0])[0] is Status.MISSING


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("dgx02.ocp4.scale.ibm.com", Status.PASS),
        ("dgx02", Status.PASS),
        ("dgx022", Status.MISSING),
    ],
)
def test_nodes_are_looked_for_by_their_first_name(node: str, expected: Status) -> None:
    """Nodes are compared by their short names, and a shortened list is missing evidence."""
    request = NODES.model_copy(update={"nodes": (node,)})
    assert status("scale-members", CLUSTER, request) is expected
