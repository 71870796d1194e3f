"""What NCCL prints of channels: by which plugin, of every run, and of every ring."""

import pytest

from core.hardware.profiles import to_json
from tests.support.machines import pcie_server
from tests.toolkit.evidence.criteria.cases import TABLE, TWO, beside, changed, judged, nccl, rings
from toolkit.evidence.verdict import Status


@pytest.mark.parametrize("plugin", ["IBext", "IBext_v8"])
def test_a_plugin_for_infiniband_is_infiniband(plugin: str) -> None:
    """NVIDIA's own plugin, which SHARP needs, counts as InfiniBand (NVIDIA/nccl 1357, 1814)."""
    found = judged(changed(nccl(), ("NET/IB/0", f"NET/{plugin}/0")), TWO)
    assert found["transport-between-nodes"].status is Status.PASS
    assert found["gpudirect"].measured == "2 of 2 channels with GDRDMA"


def test_no_more_channels_have_gpudirect_than_there_are() -> None:
    """Channels with GPUDirect are counted among those over a network only."""
    found = judged(
        changed(nccl(), ("15[89000] -> 0[89000] [send] via NET/IB/0", "15[89000] -> 0[89000] [send] via NET/X/0")), TWO
    )
    assert found["transport-between-nodes"].status is Status.FAIL
    direct, _, channels = found["gpudirect"].measured.split()[:3]
    assert int(direct) <= int(channels)


def test_efa_is_called_what_it_is() -> None:
    """Ranks over EFA fail a request for InfiniBand, with EFA named as the reason; without one no option helps."""
    found = judged(changed(nccl(), ("NET/IB/0", "NET/AWS Libfabric/0")), TWO)["transport-between-nodes"]
    assert (found.status, "EFA" in found.measured) == (Status.FAIL, True)
    assert any("libfabric" in cause for cause in found.causes)
    unasked = TWO.model_copy(update={"transport": None})
    found = judged(changed(nccl(), ("NET/IB/0", "NET/AWS Libfabric/0")), unasked)["transport-between-nodes"]
    assert (found.status, "--transport" in found.measured) == (Status.MISSING, False)


def test_ucx_does_not_tell_what_it_goes_over() -> None:
    """UCX, which may use TCP, is missing evidence: neither a pass nor a failure."""
    found = judged(changed(nccl(), ("NET/IB/0", "NET/UCX/0")), TWO)
    assert found["transport-between-nodes"].status is Status.MISSING


@pytest.mark.parametrize(
    "line", ["Channel 00/0 : 6[6] -> 15[7] [receive] via NET/SocNET/IB/0/GDRDMAket/0", "Using network Socket"]
)
def test_another_network_in_a_damaged_line_is_seen(line: str) -> None:
    """A socket in lines that ranks mixed fails the job."""
    found = judged(f"{nccl()}nccl-test-mpi-worker-0:30:39 [0] NCCL INFO {line}\n", TWO)["no-other-network"]
    assert (found.status, len(found.proofs)) == (Status.FAIL, 1)


def test_gpus_that_reach_no_port_need_no_gpudirect() -> None:
    """On a machine with GPUs that reach every port over the sockets only, channels without GDRDMA are no failure."""
    log = nccl().replace("NET/IB/0/GDRDMA", "NET/IB/0")
    assert judged(log, TWO)["gpudirect"].status is Status.FAIL
    far = pcie_server("SYS SYS NODE NODE", "SYS SYS NODE NODE")
    assert "gpudirect" not in judged(log, TWO.model_copy(update={"own_machine": to_json(far)}))
    near = pcie_server("NODE NODE SYS SYS", "SYS SYS NODE NODE")
    assert judged(log, TWO.model_copy(update={"own_machine": to_json(near)}))["gpudirect"].status is Status.FAIL


def test_an_hca_without_gpudirect_is_a_warning() -> None:
    """A message that an HCA lacks GPUDirect is a warning where channels use it."""
    said = "nccl-test-mpi-worker-0:30:30 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    assert judged(f"{nccl()}{said}", TWO)["no-other-network"].status is Status.WARN


def test_rings_of_smaller_communicators_need_not_cross() -> None:
    """Groups within a node, which have more rings, do not make a job's evidence incomplete."""
    within = rings(12, ranks=8)
    assert judged(beside(within + rings(1) + nccl(), TABLE), TWO)["channels-of-every-ring"].status is Status.PASS
    assert "channels-of-every-ring" not in judged(beside(within + nccl(), TABLE), TWO)
