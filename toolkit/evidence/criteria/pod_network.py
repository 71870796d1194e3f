"""Whether the pod network takes large packets."""

from toolkit.evidence.criterion import Criterion, Found, at, of
from toolkit.evidence.node_facts import NodeFacts
from toolkit.evidence.tools.net_devices import NetDevices
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

JUMBO_BYTES = 9000


def _mtu(job: Job) -> Found | None:
    wanted = job.request.pod_mtu
    found = [
        (f"{row.name}: {row.mtu}", row.mtu, at(one.file, row.line))
        for one in of(job, NetDevices)
        for row in one.rows
        if row.mtu is not None and row.name != "lo"
    ]
    found += [(f"pod network: {one.pod_mtu}", one.pod_mtu, ()) for one in of(job, NodeFacts) if one.pod_mtu is not None]
    if not found:
        return Found(Status.MISSING, "no MTU", f">= {wanted} bytes") if wanted is not None else None
    small = [one for one in found if one[1] < (wanted or JUMBO_BYTES)]
    status = Status.PASS if not small else Status.WARN if wanted is None else Status.FAIL
    limit = f">= {wanted} bytes" if wanted is not None else ""
    proofs = tuple(proof for _, _, proofs in small or found for proof in proofs)
    return Found(status, listed(text for text, _, _ in small or found), limit, proofs)


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
        look=_mtu,
        when=lambda request: request.fabric == "ethernet",
    ),
)
