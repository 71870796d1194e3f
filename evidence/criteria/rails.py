"""Which HCAs NCCL uses between nodes: all that lie beside the job's GPUs, each channel the same at both ends."""

from evidence.criteria.criterion import NCCL, Criterion, Found, listed, nccl_logs, passed
from evidence.criteria.transport import first_lines, hcas, uses_rdma
from evidence.verdict import Asked, Job, Proof, Status
from hardware.profiles import PROFILES


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
        proofs += first_lines(file, log, ["NET/IB : Using"])
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
    proofs = tuple(proof for file, log in crossed or logs for proof in first_lines(file, log, ["NET/IB : Using"]))
    used = listed(sorted({name for _, log in logs for name in log.used_devices}))
    return Found(Status.WARN if crossed else Status.PASS, listed(said, 4) if crossed else f"over {used}", proofs=proofs)


CRITERIA = (
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
)
