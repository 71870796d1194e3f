"""How ranks communicated, by the messages of NCCL: the requested transport, on every channel."""

import re
from collections import Counter
from collections.abc import Iterable

from core.apis.nccl import Transport
from core.hardware import topology
from core.wording import plural
from toolkit.evidence.criterion import NCCL, Criterion, Outcome, line_proofs, nccl_logs, passed, quoted_proofs
from toolkit.evidence.model import NcclLog
from toolkit.evidence.verdict import Job, Proof, Request, Status
from toolkit.evidence.wording import listed

NETWORKS = {Transport.TCP: "NET/Socket", Transport.INFINIBAND: "NET/IB", Transport.GPUDIRECT: "NET/IB"}

_DIRECT = ("P2P/", "NVLS")
"""What NCCL calls channels from GPU to GPU: over NVLink, as far as each GPU has it to each other."""
_COLLNET = "COLLNET/"
"""What reductions in switches go by: always between nodes, and no other rank is named in their lines."""
_NVLINK = "P2P/MNNVL"
"""NVLink between nodes, as of a rack of NVL72: NCCL takes it before any network."""
_LIBFABRIC = re.compile(r"libfabric|\bOFI\b", re.IGNORECASE)


def _several_pods(request: Request) -> bool:
    """Return whether ranks may be on several nodes, with no transport requested between them."""
    return (
        request.transport is None and request.shape is not None and request.shape.pods > 1 and len(request.nodes) != 1
    )


def is_over(route: str, network: str) -> bool:
    """Return whether the route of a channel is a network.

    InfiniBand has plugins beside NCCL's own way: NVIDIA's of HPC-X, which SHARP needs, is NET/IBext or NET/IBext_v8.
    """
    return route == network or route.startswith(f"{network}/") or (network == "NET/IB" and route.startswith(network))


def _is_ambiguous(route: str) -> bool:
    """Return whether a plugin chooses its network at run time: UCX does, InfiniBand or TCP."""
    return route.startswith("NET/UCX")


def _is_nvlink(route: str) -> bool:
    return route.startswith(_NVLINK)


def _description(route: str) -> str:
    return f"{route} (libfabric: EFA, not InfiniBand)" if _LIBFABRIC.search(route) else route


def first_lines(logs: Iterable[tuple[str, NcclLog]], *kinds: str) -> tuple[Proof, ...]:
    """Return the first line of each kind of message in each log."""
    return tuple(proof for file, log in logs for proof in quoted_proofs(file, *map(log.proofs.get, kinds)))


def _transport(job: Job) -> Outcome | None:
    transport = job.request.transport
    logs = nccl_logs(job)
    routes: Counter[str] = Counter()
    for _, log in logs:
        routes.update(log.between_nodes)
    measured = ", ".join(f"{_description(name)}: {channels}" for name, channels in sorted(routes.items()))
    nvlink_alone = bool(routes) and all(map(_is_nvlink, routes))
    if transport is None and nvlink_alone:
        return Outcome(Status.PASS, f"channels by {measured}", "a way between nodes", first_lines(logs, *routes))
    if transport is None:
        unnamed = all(map(_LIBFABRIC.search, routes))
        remedy = "which no `transport` names" if unnamed else "and no transport was requested: pass --transport"
        unrequested = f"channels by {measured}, {remedy}"
        return Outcome(Status.MISSING, unrequested, proofs=first_lines(logs, *routes)) if routes else None
    network = NETWORKS[transport]
    limit = f"{network} on every channel between nodes"
    if not routes:
        return Outcome(Status.MISSING, "no channel between nodes", limit)
    if nvlink_alone:
        unused = f"channels by {measured}: NVLink joins the nodes; NCCL_MNNVL_ENABLE=0 tests the network"
        return Outcome(Status.MISSING, unused, limit, first_lines(logs, *routes))
    others = [name for name in routes if not is_over(name, network) and not _is_nvlink(name)]
    proofs = first_lines(logs, *(others or routes))
    if others and all(map(_is_ambiguous, others)):
        return Outcome(Status.MISSING, f"channels by {measured}, which goes over what it finds", limit, proofs)
    return Outcome(passed(not others), f"channels by {measured}", limit, proofs)


def _nvlink_between_nodes(job: Job) -> Outcome | None:
    logs = nccl_logs(job)
    routes: Counter[str] = Counter()
    for _, log in logs:
        routes.update(log.between_nodes)
    whole = job.request.nvlink_nodes == "all"
    limit = f"{_NVLINK} on every channel between nodes" if whole else f"{_NVLINK} between the nodes of a rack"
    if not routes:
        return Outcome(Status.MISSING, "no channel between nodes", limit)
    others = [name for name in routes if not _is_nvlink(name)]
    measured = ", ".join(f"{_description(name)}: {channels}" for name, channels in sorted(routes.items()))
    joined = len(others) < len(routes)
    proofs = first_lines(logs, *((others if whole else ()) or routes))
    return Outcome(passed(joined and not (whole and others)), f"channels by {measured}", limit, proofs)


def _gpudirect(job: Job) -> Outcome | None:
    logs = nccl_logs(job)
    # Channels of one rank over the network, whichever rank is at the other end, use GPUDirect or do not.
    channels = sum(count for _, log in logs for name, count in log.between_nodes.items() if name.startswith("NET/"))
    direct = sum(log.gpudirect_between_nodes for _, log in logs)
    if not channels:
        return Outcome(Status.MISSING if not _any_between(logs) else Status.FAIL, "no channel over a network")
    reasons = line_proofs((file, line) for file, log in logs for line in log.gdr_unavailable[:2])
    proofs = (*first_lines(logs, "GDRDMA"), *reasons)
    return Outcome(passed(direct == channels), f"{direct} of {plural(channels, 'channel')} with GDRDMA", proofs=proofs)


def _reaches_gpus(request: Request) -> bool:
    """Return whether GPUDirect is requested, and the machine has no GPU that reaches ports over the sockets only."""
    far = request.machine is not None and topology.out_of_reach(request.machine)
    return request.transport is Transport.GPUDIRECT and request.spans_nodes and not far


def _any_between(logs: Iterable[tuple[str, NcclLog]]) -> bool:
    """Return whether any channel between nodes is over something else than NVLink."""
    return any(not _is_nvlink(name) for _, log in logs for name in log.between_nodes)


def _initialised(job: Job) -> Outcome | None:
    logs = [(file, log) for file, log in nccl_logs(job) if log.nranks is not None]
    if not logs:
        return Outcome(Status.MISSING, "no communicator")
    shape = job.request.shape
    wrong = [
        f"{log.initialised} of {plural(log.nranks or 0, 'rank')}"
        for _, log in logs
        if log.initialised != log.nranks or (shape is not None and log.nranks != shape.total)
    ]
    limit = f"{plural(shape.total, 'rank')}, each Init COMPLETE" if shape else ""
    proofs = first_lines(logs, "Init COMPLETE")
    short = all(log.nranks == (shape.total if shape else log.nranks) for _, log in logs)
    measured = listed(wrong or sorted({f"{log.initialised} of {plural(log.nranks or 0, 'rank')}" for _, log in logs}))
    return Outcome(passed(not wrong), measured, limit, proofs, short)


def _within(job: Job) -> Outcome | None:
    logs = nccl_logs(job)
    channels_by_kind: Counter[str] = Counter()
    for _, log in logs:
        channels_by_kind.update(log.transports)
        channels_by_kind.subtract(log.between_nodes)
    within = {name: count for name, count in channels_by_kind.items() if count and not name.startswith(_COLLNET)}
    if not within:
        return None
    measured = ", ".join(f"{name}: {count}" for name, count in sorted(within.items()))
    others = [name for name in within if not name.startswith(_DIRECT)]
    return Outcome(passed(not others), f"channels by {measured}", proofs=first_lines(logs, *(others or within)))


def _has_switches(request: Request) -> bool:
    """Return whether every two GPUs of a pod are joined by NVLink; alone in its pod a GPU cannot see others."""
    machine, shape = request.machine, request.shape
    return machine is not None and shape is not None and shape.gpus > 1 and machine.nvlink.shape in ("switched", "mesh")


def _sharp(job: Job) -> Outcome | None:
    logs = [(file, log) for file, log in nccl_logs(job) if log.collnet is not None]
    if not logs:
        return Outcome(Status.FAIL, "NCCL prints nothing of CollNet")
    in_use = all(log.collnet for _, log in logs)
    lines = ((file, kind, line) for file, log in logs for kind, line in log.proofs.items())
    proofs = line_proofs((file, line) for file, kind, line in lines if "collnet" in kind.lower())
    return Outcome(passed(in_use), "CollNet in use" if in_use else "CollNet not in use", proofs=proofs)


CRITERIA = (
    Criterion(
        name="transport-between-nodes",
        title="Ranks on different nodes use the requested transport",
        limit="the requested transport, on every channel between nodes",
        unit="channels",
        applies="jobs on several nodes; where several pods have channels between them and no transport is known, pass "
        "--transport; where NVLink joins all nodes (MNNVL), no network is judged",
        source="R-4.3-4, R-4.4-9, R-4.4-12, B-6.3",
        needs=(NCCL,),
        judge=_transport,
        when=lambda request: request.spans_nodes or _several_pods(request),
    ),
    Criterion(
        name="nvlink-between-nodes",
        title="NVLink joins the nodes of a rack",
        limit="P2P/MNNVL on every channel between nodes; of a job over several racks on some",
        unit="channels",
        applies="jobs in a ComputeDomain, on machines whose NVLink joins several",
        source="NVIDIA/nccl, src/transport/p2p.cc; docs.nvidia.com/multi-node-nvlink-systems",
        needs=(NCCL,),
        judge=_nvlink_between_nodes,
        when=lambda request: request.nvlink_nodes is not None,
    ),
    Criterion(
        name="transport-within-a-node",
        title="GPUs of one pod exchange data directly",
        limit="P2P on every channel within a node, not through host memory (SHM) or over a network",
        unit="channels",
        applies="jobs with several GPUs in a pod, on machines whose GPUs are all joined by NVLink",
        source="R-4.3-7, D-2.3; measured (docs/reference/measured.md)",
        needs=(NCCL,),
        judge=_within,
        missed=False,
        when=_has_switches,
    ),
    Criterion(
        name="gpudirect",
        title="HCAs read and write GPU memory directly",
        limit="GDRDMA on every channel over a network between nodes",
        unit="channels",
        applies="jobs on several nodes that request GPUDirect, on machines where every GPU reaches a port by it",
        source="R-4.3-4, R-4.4-12",
        needs=(NCCL,),
        judge=_gpudirect,
        when=_reaches_gpus,
    ),
    Criterion(
        name="ranks-initialised",
        title="Every rank has joined its communicator",
        limit="Init COMPLETE from all ranks, and as many ranks as GPUs",
        unit="ranks",
        applies="programs whose NCCL log shows communicators",
        source="B-6.3, B-1.2",
        needs=(NCCL,),
        judge=_initialised,
    ),
    Criterion(
        name="sharp",
        title="Switches perform the reductions",
        limit="CollNet in use",
        applies="jobs over a fabric with SHARP, on several nodes",
        source="D-3.8, D-4.1",
        needs=(NCCL,),
        judge=_sharp,
        when=lambda request: request.sharp and request.uses_rdma,
    ),
)
