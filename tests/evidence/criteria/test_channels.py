"""What NCCL tells of channels: by which plugin, of every run, and of every ring."""

import pytest

from evidence.judge import judge
from evidence.verdict import Ended, Job, Status, Verdict
from tests.evidence.criteria.cases import TABLE, TWO, changed, nccl, rings, told
from tests.support.mutated import read_text


def _verdicts(log: str) -> dict[str, Verdict]:
    job = Job(asked=TWO, ended=Ended.UNKNOWN, readings=read_text(log))
    return {verdict.criterion: verdict for verdict in judge([job])}


@pytest.mark.parametrize("plugin", ["IBext", "IBext_v8"])
def test_a_plugin_for_infiniband_is_infiniband(plugin: str) -> None:
    """Prevents NVIDIA's own plugin, which SHARP needs, from failing as no InfiniBand (NVIDIA/nccl 1357, 1814)."""
    found = _verdicts(changed(nccl(), ("NET/IB/0", f"NET/{plugin}/0")))
    assert found["transport-between-nodes"].status is Status.PASS
    assert found["gpudirect"].measured == "2 of 2 channels with GDRDMA"


def test_no_more_channels_have_gpudirect_than_there_are() -> None:
    """Prevents `8 of 6 channels`, where one channel goes by something else."""
    found = _verdicts(
        changed(nccl(), ("15[89000] -> 0[89000] [send] via NET/IB/0", "15[89000] -> 0[89000] [send] via NET/X/0"))
    )
    assert found["transport-between-nodes"].status is Status.FAIL
    direct, _, channels = found["gpudirect"].measured.split()[:3]
    assert int(direct) <= int(channels)


def test_efa_is_called_what_it_is() -> None:
    """Prevents ranks over EFA from failing as if InfiniBand were broken, without a word of why."""
    found = _verdicts(changed(nccl(), ("NET/IB/0", "NET/AWS Libfabric/0")))["transport-between-nodes"]
    assert (found.status, "EFA" in found.measured) == (Status.FAIL, True)
    assert any("libfabric" in cause for cause in found.causes)


def test_ucx_does_not_tell_what_it_goes_over() -> None:
    """Prevents UCX, which may go by TCP, from passing for InfiniBand, and from failing where it goes over that."""
    found = _verdicts(changed(nccl(), ("NET/IB/0", "NET/UCX/0")))
    assert found["transport-between-nodes"].status is Status.MISSING


@pytest.mark.parametrize(
    "line", ["Channel 00/0 : 6[6] -> 15[7] [receive] via NET/SocNET/IB/0/GDRDMAket/0", "Using network Socket"]
)
def test_another_network_in_a_damaged_line_is_seen(line: str) -> None:
    """Prevents ranks that mix their lines from hiding a socket."""
    found = _verdicts(f"{nccl()}nccl-test-mpi-worker-0:30:39 [0] NCCL INFO {line}\n")["no-other-network"]
    assert (found.status, len(found.proofs)) == (Status.FAIL, 1)


def test_an_hca_without_gpudirect_is_a_warning() -> None:
    """Prevents a line that says that an HCA lacks GPUDirect from being passed over where channels say otherwise."""
    said = "nccl-test-mpi-worker-0:30:30 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    assert _verdicts(f"{nccl()}{said}")["no-other-network"].status is Status.WARN


def test_rings_of_smaller_communicators_need_not_cross() -> None:
    """Prevents groups within a node, which have more rings, from making a sound job's evidence short."""
    within = rings(12, ranks=8)
    assert _verdicts(told(within + rings(1) + nccl(), TABLE))["every-ring-told"].status is Status.PASS
    assert "every-ring-told" not in _verdicts(told(within + nccl(), TABLE))
