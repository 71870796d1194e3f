"""Whether the pod network takes large packets."""

from toolkit.evidence.criterion import Criterion, Outcome, proofs_at, readings_of
from toolkit.evidence.node_facts import NodeFacts
from toolkit.evidence.tools.net_devices import NetDevices
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

JUMBO_BYTES = 9000


def _mtu(job: Job) -> Outcome | None:
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
        judge=_mtu,
        when=lambda request: request.fabric == "ethernet",
    ),
)
