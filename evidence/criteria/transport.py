"""How ranks talked to each other, by what NCCL said: the transport that was asked for, on every channel."""

import re
from collections.abc import Iterable

from apis.nccl import Transport
from evidence.criteria.criterion import NCCL, Criterion, Found, listed, nccl_logs, passed, quoted
from evidence.model import NcclLog
from evidence.verdict import Asked, Job, Proof, Status
from hardware.profiles import PROFILES

NETWORKS = {Transport.TCP: "NET/Socket", Transport.INFINIBAND: "NET/IB", Transport.GPUDIRECT: "NET/IB"}

_LIBFABRIC = re.compile(r"libfabric|\bOFI\b", re.IGNORECASE)


def between_nodes(asked: Asked) -> bool:
    """Whether ranks are on several nodes, as far as it is known."""
    return asked.transport is not None and (len(asked.nodes) != 1 or _more_than_a_node(asked))


def _more_than_a_node(asked: Asked) -> bool:
    """Whether one node has too few GPUs for a job: then others are not known."""
    profile = PROFILES.get(asked.profile or "")
    return profile is not None and asked.shape is not None and asked.shape.total > profile.gpus


def _several_pods(asked: Asked) -> bool:
    """Whether ranks may be on several nodes, and nobody said what between them."""
    return asked.transport is None and asked.shape is not None and asked.shape.pods > 1 and len(asked.nodes) != 1


def uses_rdma(asked: Asked) -> bool:
    """Whether RDMA was asked for between nodes."""
    return asked.transport is not None and asked.transport.uses_rdma and between_nodes(asked)


def hcas(asked: Asked) -> frozenset[str]:
    """Return the HCAs that each pod was to use: those it was given, else all of the profile."""
    profile = PROFILES.get(asked.profile or "")
    return frozenset(asked.devices or (hca.name for hca in (profile.hcas if profile else ())))


def is_over(seen: str, wanted: str) -> bool:
    """Tell whether what a channel goes by is a network.

    InfiniBand has plugins beside NCCL's own way: NVIDIA's of HPC-X, which SHARP needs, is NET/IBext or NET/IBext_v8.
    """
    return seen == wanted or seen.startswith(f"{wanted}/") or (wanted == "NET/IB" and seen.startswith(wanted))


def _is_untold(seen: str) -> bool:
    """Tell whether a network goes by whatever it finds: UCX does, over InfiniBand or TCP."""
    return seen.startswith("NET/UCX")


def _called(seen: str) -> str:
    return f"{seen} (libfabric: EFA, not InfiniBand)" if _LIBFABRIC.search(seen) else seen


def first_lines(file: str, log: NcclLog, kinds: Iterable[str]) -> tuple[Proof, ...]:
    """Return the first line of each kind of message."""
    return quoted(file, *(log.proofs.get(kind) for kind in kinds))


def _transport(job: Job) -> Found | None:
    asked = job.asked.transport
    logs = nccl_logs(job)
    seen: dict[str, int] = {}
    for _, log in logs:
        for name, channels in log.between_nodes.items():
            seen[name] = seen.get(name, 0) + channels
    measured = ", ".join(f"{_called(name)}: {channels}" for name, channels in sorted(seen.items()))
    if asked is None:
        proofs = tuple(proof for file, log in logs for proof in first_lines(file, log, seen))
        said = f"channels by {measured}, and nobody said by what they were to be: say --transport"
        return Found(Status.MISSING, said, proofs=proofs) if seen else None
    wanted = NETWORKS[asked]
    limit = f"{wanted} on every channel between nodes"
    if not seen:
        return Found(Status.MISSING, "no channel between nodes", limit)
    strange = [name for name in seen if not is_over(name, wanted)]
    proofs = tuple(proof for file, log in logs for proof in first_lines(file, log, strange or [*seen]))
    if strange and all(map(_is_untold, strange)):
        return Found(Status.MISSING, f"channels by {measured}, which goes over what it finds", limit, proofs)
    return Found(passed(not strange), f"channels by {measured}", limit, proofs)


def _gpudirect(job: Job) -> Found | None:
    logs = nccl_logs(job)
    # Channels of one rank over the network, whichever rank is at the other end, use GPUDirect or do not.
    channels = sum(count for _, log in logs for name, count in log.between_nodes.items() if name.startswith("NET/"))
    direct = sum(log.gpudirect_between_nodes for _, log in logs)
    if not channels:
        return Found(Status.MISSING if not _any_between(logs) else Status.FAIL, "no channel over a network")
    proofs = tuple(
        proof
        for file, log in logs
        for proof in (*first_lines(file, log, ["GDRDMA"]), *quoted(file, *log.gdr_unavailable[:2]))
    )
    return Found(passed(direct == channels), f"{direct} of {channels} channels with GDRDMA", proofs=proofs)


def _any_between(logs: Iterable[tuple[str, NcclLog]]) -> bool:
    return any(log.between_nodes for _, log in logs)


def _initialised(job: Job) -> Found | None:
    logs = [(file, log) for file, log in nccl_logs(job) if log.nranks is not None]
    if not logs:
        return Found(Status.MISSING, "no communicator")
    shape = job.asked.shape
    wrong = [
        f"{log.initialised} of {log.nranks} ranks"
        for _, log in logs
        if log.initialised != log.nranks or (shape is not None and log.nranks != shape.total)
    ]
    limit = f"{shape.total} ranks, each Init COMPLETE" if shape else ""
    proofs = tuple(proof for file, log in logs for proof in first_lines(file, log, ["Init COMPLETE"]))
    short = all(log.nranks == (shape.total if shape else log.nranks) for _, log in logs)
    measured = listed(wrong or sorted({f"{log.initialised} of {log.nranks} ranks" for _, log in logs}))
    return Found(passed(not wrong), measured, limit, proofs, short)


def _sharp(job: Job) -> Found | None:
    said = [(file, log) for file, log in nccl_logs(job) if log.collnet is not None]
    if not said:
        return Found(Status.FAIL, "NCCL does not tell of CollNet")
    good = all(log.collnet for _, log in said)
    proofs = tuple(
        Proof(file=file, line=one.line, text=one.text)
        for file, log in said
        for kind, one in log.proofs.items()
        if "collnet" in kind.lower()
    )
    return Found(passed(good), "CollNet in use" if good else "CollNet not in use", proofs=proofs)


CRITERIA = (
    Criterion(
        name="transport-between-nodes",
        title="Ranks on different nodes talk over what was asked for",
        limit="the transport asked for, on every channel between nodes",
        unit="channels",
        tolerance="",
        applies="jobs on several nodes; where several pods have channels between them, what was asked for must be said",
        source="R-4.3-4, R-4.4-9, R-4.4-12, B-6.3",
        needs=(NCCL,),
        look=_transport,
        when=lambda asked: between_nodes(asked) or _several_pods(asked),
    ),
    Criterion(
        name="gpudirect",
        title="The network reads and writes the memory of the GPUs itself",
        limit="GDRDMA on every channel over a network between nodes",
        unit="channels",
        tolerance="",
        applies="jobs on several nodes that asked for GPUDirect",
        source="R-4.3-4, R-4.4-12",
        needs=(NCCL,),
        look=_gpudirect,
        when=lambda asked: asked.transport is Transport.GPUDIRECT and between_nodes(asked),
    ),
    Criterion(
        name="ranks-initialised",
        title="Every rank has joined its communicator",
        limit="Init COMPLETE of all ranks, and as many ranks as GPUs",
        unit="ranks",
        tolerance="",
        applies="programs that NCCL tells of",
        source="B-6.3, B-1.2",
        needs=(NCCL,),
        look=_initialised,
    ),
    Criterion(
        name="sharp",
        title="Switches reduce what ranks send",
        limit="CollNet in use",
        unit="",
        tolerance="",
        applies="jobs over a fabric with SHARP, on several nodes",
        source="D-3.8, D-4.1",
        needs=(NCCL,),
        look=_sharp,
        when=lambda asked: asked.sharp and uses_rdma(asked),
    ),
)
