"""What pods must be: their user, and their interfaces."""

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.criteria.expected import RDMA_TEST
from evidence.criteria.transport import hcas
from evidence.node_facts import NodeFacts
from evidence.tools.net_devices import NetDevices
from evidence.tools.whoami import WhoAmI
from evidence.verdict import Asked, Job, Status

JUMBO_BYTES = 9000
_ROOT = ("0", "root")


def _rdma(asked: Asked) -> bool:
    return asked.fabric in ("infiniband", "roce")


def _user(job: Job) -> Found | None:
    found = [one for one in of(job, WhoAmI) if one.user is not None or one.uid is not None]
    if not found:
        return Found(Status.MISSING, "no user")
    root = [one for one in found if one.uid == 0 or one.user in _ROOT]
    outside = [one for one in found if one.of_namespace is False]
    status = Status.FAIL if root else Status.WARN if outside else Status.PASS
    measured = listed(sorted({str(one.uid if one.uid is not None else one.user) for one in root or outside or found}))
    return Found(status, measured, proofs=tuple(proof for one in found for proof in at(one.file, one.line)))


def _interfaces(job: Job) -> Found | None:
    found = of(job, NetDevices)
    # Each pod by itself: one that lacks a port is not made whole by another.
    names = [{row.name for row in one.rows} - {"lo"} for one in found]
    ports = [each - {"eth0"} for each in names]
    if job.asked.fabric == "roce":
        count = len(hcas(job.asked))
        least = min(names, key=len)
        good = all(len(each) >= count for each in ports)
        return Found(passed(good), listed(sorted(least)), f"eth0, and {count} ports", begins(found), short=True)
    status = Status.PASS if not any(ports) and any(names) else Status.WARN
    return Found(status, listed(sorted(set().union(*names))), "eth0 alone", begins(found))


def _mtu(job: Job) -> Found | None:
    wanted = job.asked.pod_mtu
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
        name="unprivileged-user",
        title="The pod runs as a user of its namespace",
        limit="not root, in the range of the namespace",
        unit="",
        tolerance="an id outside the ranges that OpenShift gives is a warning",
        applies="jobs that show whoami or id",
        source="R-4.1-3, E-17",
        needs=("whoami",),
        look=_user,
    ),
    Criterion(
        name="pod-interfaces",
        title="The pod has the interfaces that its fabric means it to have",
        limit="InfiniBand: eth0 alone; RoCE: eth0, and one for each HCA",
        unit="interfaces",
        tolerance="further ones are a warning",
        applies="the RDMA test",
        source="R-4.1-5, B-7.2",
        needs=("net-devices",),
        look=_interfaces,
        when=lambda asked: asked.program == RDMA_TEST and _rdma(asked),
    ),
    Criterion(
        name="pod-mtu",
        title="The pod network takes large packets",
        limit=f"what the settings say (`pod_mtu`), else >= {JUMBO_BYTES} bytes",
        unit="bytes",
        tolerance="a warning where the settings do not say: an overlay has less, and jobs run, slower",
        applies="the nodes of a cluster, and jobs that show ifconfig or ip link, over Ethernet",
        source="B-7.1",
        needs=("net-devices", "node-facts"),
        look=_mtu,
        when=lambda asked: asked.fabric == "ethernet",
    ),
)
