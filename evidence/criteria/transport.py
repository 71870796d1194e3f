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


def _proofs(file: str, log: NcclLog, kinds: Iterable[str]) -> tuple[Proof, ...]:
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
        proofs = tuple(proof for file, log in logs for proof in _proofs(file, log, seen))
        said = f"channels by {measured}, and nobody said by what they were to be: say --transport"
        return Found(Status.MISSING, said, proofs=proofs) if seen else None
    wanted = NETWORKS[asked]
    limit = f"{wanted} on every channel between nodes"
    if not seen:
        return Found(Status.MISSING, "no channel between nodes", limit)
    strange = [name for name in seen if not is_over(name, wanted)]
    proofs = tuple(proof for file, log in logs for proof in _proofs(file, log, strange or [*seen]))
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
        for proof in (*_proofs(file, log, ["GDRDMA"]), *quoted(file, *log.gdr_unavailable[:2]))
    )
    return Found(passed(direct == channels), f"{direct} of {channels} channels with GDRDMA", proofs=proofs)


def _any_between(logs: Iterable[tuple[str, NcclLog]]) -> bool:
    return any(log.between_nodes for _, log in logs)


def _hcas_used(job: Job) -> Found | None:
    wanted = hcas(job.asked)
    if not wanted:
        return None
    limit = f"{listed(sorted(wanted))} on every host"
    lacking: list[str] = []
    proofs: list[Proof] = []
    hosts = 0
    for file, log in nccl_logs(job):
        by_host = dict(log.devices_by_host) or ({"": log.devices} if log.devices else {})
        hosts += len(by_host)
        for host, devices in sorted(by_host.items()):
            if absent := wanted - {*devices}:
                lacking.append(f"{host or file} lacks {listed(sorted(absent))}")
        proofs += _proofs(file, log, ["NET/IB : Using"])
    if not hosts:
        sockets = any(log.between_nodes for _, log in nccl_logs(job))
        return Found(Status.FAIL if sockets else Status.MISSING, "no HCA is named", limit)
    pods = job.asked.shape.pods if job.asked.shape else hosts
    if not lacking and hosts < pods:
        return Found(Status.MISSING, f"all on {hosts} of {pods} hosts", limit, tuple(proofs))
    if not lacking and (idle := _idle(job, len(wanted))) is not None:
        return Found(*idle, limit, tuple(proofs), short=True)
    return Found(passed(not lacking), listed(lacking, 4) if lacking else f"all on {hosts} hosts", limit, tuple(proofs))


def _idle(job: Job, count: int) -> tuple[Status, str] | None:
    """Say which HCAs alone have channels; None: enough for the job's GPUs and for its channels, or it is not known.

    Few channels need not use all: it is a failure where one HCA has twice as many as there are HCAs.
    """
    used = {name: channels for _, log in nccl_logs(job) for name, channels in log.used_devices.items()}
    channels = sum(used.values())
    if not used or channels < count or len(used) >= _beside(job.asked, count):
        return None
    alone = len(used) == 1 and channels >= 2 * count
    said = ", ".join(f"{name}: {channels}" for name, channels in sorted(used.items()))
    return Status.FAIL if alone else Status.WARN, f"all {count} named, and channels over {said} alone"


def _beside(asked: Asked, count: int) -> int:
    """Return how many of a node's HCAs lie beside the GPUs that a job has of it."""
    profile = PROFILES.get(asked.profile or "")
    if profile is None or asked.shape is None:
        return count
    nodes = len(asked.nodes) or -(-asked.shape.total // profile.gpus)
    gpus = max(1, min(asked.shape.total // nodes, profile.gpus))
    if asked.shape.gpus == 1:
        # A GPU alone takes the first of those that are equally near.
        count = min(count, len({hca.gpus for hca in profile.hcas}) or count)
    return -(-gpus * count // profile.gpus)


def _has_whole_nodes(asked: Asked) -> bool:
    """Whether each pod has all GPUs of its node: ranks with one GPU each keep to the HCA beside it, whichever it is."""
    profile = PROFILES.get(asked.profile or "")
    return profile is not None and asked.shape is not None and asked.shape.gpus == profile.gpus


def _same_hca(job: Job) -> Found | None:
    logs = [(file, log) for file, log in nccl_logs(job) if len(log.used_devices) > 1]
    if not logs:
        return None
    crossed = [(file, log) for file, log in logs if log.crossed_devices]
    said = [f"{pair}: {count} channels" for _, log in crossed for pair, count in log.crossed_devices.items()]
    proofs = tuple(proof for file, log in crossed or logs for proof in _proofs(file, log, ["NET/IB : Using"]))
    used = listed(sorted({name for _, log in logs for name in log.used_devices}))
    return Found(Status.WARN if crossed else Status.PASS, listed(said, 4) if crossed else f"over {used}", proofs=proofs)


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
    proofs = tuple(proof for file, log in logs for proof in _proofs(file, log, ["Init COMPLETE"]))
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
        name="hcas-used",
        title="NCCL uses every HCA on every host",
        limit="every HCA that the pods were given, else every one of the profile: each is named, and has channels",
        unit="HCAs",
        tolerance="HCAs that lie beside no GPU of the job; where few channels use few HCAs it is a warning, and where "
        "one alone has twice as many channels as there are HCAs a failure",
        applies="jobs over RDMA whose HCAs are known",
        source="R-4.4-9, R-4.3-8",
        needs=(NCCL,),
        look=_hcas_used,
        when=lambda asked: uses_rdma(asked) and bool(hcas(asked)),
    ),
    Criterion(
        name="same-hca",
        title="Each channel stays on one plane of the fabric",
        limit="the same HCA at both ends",
        unit="channels",
        tolerance="a warning: it costs hops where planes are apart; channels with an unknown end are not compared",
        applies="jobs over RDMA in pods with all GPUs of their nodes, whose channels use several HCAs",
        source="D-3.6",
        needs=(NCCL,),
        look=_same_hca,
        when=lambda asked: uses_rdma(asked) and _has_whole_nodes(asked),
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
