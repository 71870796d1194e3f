"""Whether the pod network takes large packets, and the ports of RoCE do, with what RDMA makes of their MTU."""

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, proofs_at, readings_of
from toolkit.evidence.model import NodeFacts
from toolkit.evidence.tools.network import NetDevices
from toolkit.evidence.tools.perftest.model import Perftest
from toolkit.evidence.verdict import RDMA_TEST, Job, Status
from toolkit.evidence.wording import listed

JUMBO_BYTES = 9000


def _pod_mtu(job: Job) -> Outcome | None:
    mtu = job.request.pod_mtu
    mtus = [
        (f"{row.name}: {row.mtu}", row.mtu, proofs_at(table.file, row.line))
        for table in readings_of(job, NetDevices)
        for row in table.rows
        if row.mtu is not None and row.name != "lo"
    ]
    mtus += [
        (f"pod network: {facts.pod_mtu}", facts.pod_mtu, ())
        for facts in readings_of(job, NodeFacts)
        if facts.pod_mtu is not None
    ]
    if not mtus:
        return Outcome(Status.MISSING, "no MTU", f">= {mtu} bytes") if mtu is not None else None
    too_small = [entry for entry in mtus if entry[1] < (mtu or JUMBO_BYTES)]
    status = Status.PASS if not too_small else Status.WARN if mtu is None else Status.FAIL
    limit = f">= {mtu} bytes" if mtu is not None else ""
    proofs = tuple(proof for _, _, proofs in too_small or mtus for proof in proofs)
    return Outcome(status, listed(text for text, _, _ in too_small or mtus), limit, proofs)


RDMA_MTUS = (4096, 2048, 1024, 512, 256)
"""Bytes of payload that a packet of RDMA may have; a port uses the largest that fits (IB specification)."""
AROUND_BYTES = 96
"""Bytes that Linux reserves around the payload of RoCE (iboe_get_mtu in include/rdma/ib_addr.h)."""
LEAST_BYTES = RDMA_MTUS[0] + AROUND_BYTES
POD_NETWORK = frozenset({"lo", "eth0"})


def rdma_mtu(mtu: int) -> int:
    """Return the payload, bytes, of RDMA's packets on an Ethernet port of an MTU; 0 where none fits."""
    return next((size for size in RDMA_MTUS if size + AROUND_BYTES <= mtu), 0)


def _port_mtu(job: Job) -> Outcome | None:
    mtu = job.request.port_mtu
    least = mtu or LEAST_BYTES
    ports = [
        (f"{row.name}: {row.mtu}", row.mtu >= least, proofs_at(table.file, row.line))
        for table in readings_of(job, NetDevices)
        for row in table.rows
        if row.mtu is not None and row.name not in POD_NETWORK
    ]
    packets = [
        (f"RDMA: {reading.mtu_bytes}", reading.mtu_bytes >= rdma_mtu(least), opening_proofs([reading]))
        for reading in readings_of(job, Perftest)
        if reading.mtu_bytes is not None
    ]
    mtus = ports + packets
    too_small = [entry for entry in mtus if not entry[1]]
    limit = f">= {least} bytes, of RDMA's packets {rdma_mtu(least)}"
    proofs = tuple(proof for _, _, lines in too_small or mtus for proof in lines)
    measured = listed(text for text, _, _ in too_small or mtus)
    if too_small:
        return Outcome(Status.FAIL if mtu is not None else Status.WARN, measured, limit, proofs)
    if not ports:
        # A packet shows what fits, and not the MTU: 4096 bytes are what it has from 4192 on.
        what = f"no MTU of the ports{f'; {measured}' if packets else ''}"
        return Outcome(Status.MISSING, what, limit, proofs) if mtu is not None else None
    return Outcome(Status.PASS, measured, limit, proofs)


CRITERIA = (
    Criterion(
        name="pod-mtu",
        title="The pod network carries large packets",
        limit=f"`pod_mtu` of the settings, else >= {JUMBO_BYTES} bytes",
        unit="bytes",
        tolerance="a warning where the settings give none: jobs run over the smaller MTU of an overlay, but slower",
        applies="over Ethernet, the nodes of a cluster, and jobs with ifconfig or ip link output",
        source="B-7.1",
        needs=("net-devices", "node-facts"),
        judge=_pod_mtu,
        when=lambda request: request.fabric == "ethernet",
    ),
    Criterion(
        name="port-mtu",
        title="RoCE ports carry large packets",
        limit=f"`fabric.ports.mtu` of the settings, else >= {LEAST_BYTES} bytes, which RDMA's largest packet needs",
        unit="bytes",
        tolerance="a warning where the settings do not set the ports' MTU",
        applies="the measuring side of the RDMA test over RoCE",
        source="N-1.3",
        needs=("net-devices", "perftest"),
        judge=_port_mtu,
        when=lambda request: request.fabric == "roce" and request.is_rdma_test and request.side == RDMA_TEST,
    ),
)
